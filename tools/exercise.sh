#!/usr/bin/env bash
# The exercises: a list of them, a copy to work on, and the check of that copy.
#   exercise.sh list     all exercises and how far each is
#   exercise.sh NAME     the first call makes the student's copy and prints the task; every later call checks
#                        the copy. RESET=1 moves the copy aside and makes a fresh one. RUN=1 builds the copy in both
#                        builds and runs it, and checks nothing.
# A copy is never overwritten: exercises/NAME/PROGRAM.cu or exercises/NAME/answer.txt. Beside it lie .hints,
# the numbers of the hints that are open in the order in which they opened, and .passed, a checksum of the
# copy that passed. The check is tests/exercises/NAME/check.sh with the functions of judge.sh.
# Environment (see Makefile): ROOT BUILD CXX CC HOST_FLAGS MFMA FMA OPENMP; FRESH, a number, repeats the input
# that a check made up; for RUN=1 DEFS, and RUN_SANITIZE (address, thread or undefined).
# Status: 0 the copy was made, passed, or ran (whatever it found); 1 it did not pass, or does not compile;
#   2 nothing was made, checked or run.
set -euo pipefail
export LC_ALL=C DEVICE=cpu SANITIZE=

cd "$ROOT"
lessons=(day68 precision pi tree)

refuse() {
    echo "$*" >&2
    exit 2
}

# The names, a line each, in the order of the lessons.
names() {
    local lesson file
    for lesson in "${lessons[@]}"; do
        for file in "exercises/$lesson"-*/exercise; do
            [ ! -e "$file" ] || basename "$(dirname "$file")"
        done
    done
}
key() { sed -n "s/^$1: //p" "$folder/exercise"; }

# What an exercise is, from its name: folder, kind (and the word for it that a student reads), program, source and
# the student's copy.
look_up() {
    folder=exercises/$1
    kind=$(key kind)
    program=$(key program)
    kind_word=${kind/mend/fix}
    case $kind in
    mend) copy=$folder/${program##*/}.cu ;;
    *) copy=$folder/answer.txt ;;
    esac
}
# A link that leads nowhere is there too, and is the student's.
is_there() { [ -e "$copy" ] || [ -L "$copy" ]; }
title() { sed -n '1s/^# [^:]*: //p' "$folder/task.md"; }
task() { sed '1d' "$folder/task.md" | sed '/./,$!d'; }
checksum() { cksum <"$copy" 2>/dev/null || true; }

# Hints are paragraphs; one that begins with `when: REGEX` opens when a report matches.
hint_count() { awk 'BEGIN { RS = "" } END { print NR }' "$folder/hints.txt"; }
hint_text() { awk -v n="$1" 'BEGIN { RS = "" } NR == n' "$folder/hints.txt" | sed '1{/^when: /d;}'; }
hint_when() { awk -v n="$1" 'BEGIN { RS = "" } NR == n' "$folder/hints.txt" | sed -n '1s/^when: //p'; }
open_hints() { [ ! -r "$folder/.hints" ] || grep -xE '[0-9]+' "$folder/.hints" || true; }
is_open() { open_hints | grep -x "$1" >/dev/null; }

state() {
    local hints
    if ! is_there; then
        echo 'not begun'
    elif [ -e "$folder/.passed" ]; then
        if [ "$(checksum)" = "$(cat "$folder/.passed")" ]; then echo passed; else echo 'passed, changed since'; fi
    else
        hints=$(open_hints | grep -c . || true)
        case $hints in
        0) echo begun ;;
        1) echo 'begun, 1 hint open' ;;
        *) echo "begun, $hints hints open" ;;
        esac
    fi
}

# The first exercise that has not passed, starting behind the one that is named.
next_name() {
    local name
    for name in $(names | sed "1,/^$1\$/d") $(names); do
        look_up "$name"
        case $(state) in passed*) ;; *) echo "$name" && return ;; esac
    done
}

list() {
    local name now all=0 passed=0 next
    printf '%-11s %-4s %-41s %s\n' name kind title state
    for name in $(names); do
        look_up "$name"
        now=$(state)
        all=$((all + 1))
        case $now in passed*) passed=$((passed + 1)) ;; esac
        printf '%-11s %-4s %-41.41s %s\n' "$name" "$kind_word" "$(title)" "$now"
    done
    next=$(next_name '')
    echo "$passed of $all passed.${next:+ Next: make exercise N=$next}"
}

# start FILE: writes the start of the exercise into FILE.
start() {
    local start patch lesson=${program%%/*}
    start=$(key start)
    if [ -n "$start" ]; then
        cp "$folder/$start" "$1"
        return
    fi
    patch=$(key fault)
    patch=tests/${patch%%/*}/faults/${patch#*/}.patch
    command -v patch >/dev/null || refuse 'make exercise needs patch to plant a fault (Debian: apt-get install patch)'
    mkdir -p "$work/start/$lesson"
    cp "$lesson"/*.cu "$work/start/$lesson"
    # Without fuzz: a fault that is planted somewhere else is another exercise.
    (cd "$work/start" && patch -p1 -F0 -s -N) <"$patch" >"$work/patch.log" 2>&1 ||
        refuse "$name: the fault $patch does not fit $program.cu any more: $(head -n 1 "$work/patch.log")"
    cp "$work/start/$program.cu" "$1"
}

# Puts the start where the copy belongs: only whole, and only where nothing is.
make_copy() {
    local new=$folder/.start.$$
    trap 'rm -f "$folder/.start.$$"; rm -rf "$work"' EXIT
    : 2>/dev/null >"$new" || refuse "$folder cannot be written: the exercises need a checkout of your own"
    start "$new"
    chmod u+w "$new"
    [ -z "$1" ] || move_aside
    # Not over a copy that another call has made by now; not every file system has hard links.
    mv -n "$new" "$copy" 2>/dev/null || true
    [ ! -e "$new" ] || refuse "$copy could not be made"
}

move_aside() {
    local number=1 stem=${copy%.*} extension=${copy##*.}
    while [ -e "$stem.$number.$extension" ] || [ -L "$stem.$number.$extension" ]; do number=$((number + 1)); done
    mv "$copy" "$stem.$number.$extension"
    rm -f "$folder/.hints"
    echo "Your copy is now $stem.$number.$extension; no hint is open."
}

begin() {
    make_copy "$1"
    echo "$name: $(title)"
    echo
    task
    echo
    echo "Edit this file:  $copy"
    [ "$kind" != mend ] || echo "Run it:          make exercise N=$name RUN=1"
    echo "Then check it:   make exercise N=$name"
}

# Runs the check. Its status: 0 passed; 1 not, and work/report holds `INPUT|REASON`; 2 it could not be checked.
judge() {
    local status=0
    (
        # shellcheck disable=SC2034 # what judge.sh and check.sh read
        N=$name LESSON=${program%%/*} PROGRAM=${program##*/} SRC=$PWD/$copy WORK=$work/judge STOP=1 SEED=$seed
        CHECKS=$PWD/tests/exercises/$name
        mkdir "$WORK"
        . tools/judge.sh
        . "$CHECKS/check.sh"
    ) >"$work/words" 2>&1 || status=$?
    if [ -s "$work/judge/failures" ]; then
        head -n 1 "$work/judge/failures" >"$work/report"
        return 1
    fi
    # A check is silent when all is well: what says something else did not check.
    if grep -v '^waiting for another make' "$work/words" >&2 || [ "$status" -ne 0 ]; then return 2; fi
}

show_report() {
    echo "  input   $(cut -d "|" -f 1 "$work/report")"
    echo "  reason  $(cut -d "|" -f 2- "$work/report")"
    # Only a program is tried with an input that was made up.
    case $kind-$(cat "$work/report") in
    mend-build\ * | mend-the\ lesson*) ;;
    mend-*) echo "  again   make exercise N=$name FRESH=$seed" ;;
    esac
}

show_hints() {
    local n shown=0 all
    all=$(hint_count)
    for n in $(open_hints); do
        [ "$n" -le "$all" ] || continue
        shown=$((shown + 1))
        echo
        echo "Hint $shown of $all"
        hint_text "$n" | sed 's/^/  /'
    done
}

# Opens the hint that belongs to the report, or the next one in turn.
open_hint() {
    local n when in_turn='' all
    all=$(hint_count)
    for ((n = 1; n <= all; n++)); do
        ! is_open "$n" || continue
        when=$(hint_when "$n")
        if [ -z "$when" ]; then
            in_turn=${in_turn:-$n}
        elif grep -qE -- "$when" "$work/report"; then
            echo "$n" >>"$folder/.hints"
            return
        fi
    done
    [ -z "$in_turn" ] || echo "$in_turn" >>"$folder/.hints"
}

refuse_what_is_no_copy() {
    [ ! -L "$copy" ] || [ -e "$copy" ] || refuse "$copy is a link that leads nowhere; RESET=1 moves it aside and makes a fresh copy"
    [ -f "$copy" ] || refuse "$copy is not a file; RESET=1 moves it aside and makes a fresh copy"
    [ -r "$copy" ] || refuse "$copy cannot be read; RESET=1 moves it aside and makes a fresh copy"
    [ -s "$copy" ] || refuse "$copy is empty; RESET=1 moves it aside and makes a fresh copy"
}

# Builds the copy and runs it, as `make run` does with the lesson's program. With a sanitizer in one build: it finds
# the same in both.
run_copy() {
    local build builds=nofmad runtime=$BUILD/cpu/runtime status=0 words openmp='' flags=()
    [ "$kind" = mend ] || refuse "$name has no program to run: its task names what to run"
    is_there || refuse "$name is not begun: make exercise N=$name"
    refuse_what_is_no_copy
    words=$(DEFS=${DEFS:-} bash tools/defs_flags.sh "${program%%/*}")
    case $words in 'error '*) refuse "${words#error }" ;; esac
    # Its words are quoted for a shell.
    eval "flags=($words)"
    case ${RUN_SANITIZE:-} in
    '')
        [ "${FMA:-yes}" != yes ] || builds='fmad nofmad'
        [ "${program%%/*}-${OPENMP:-}" != canonical_tree-yes ] || openmp=-fopenmp
        ;;
    address | thread | undefined)
        runtime=$BUILD/cpu-$RUN_SANITIZE/cpu/runtime
        env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL -u DEFS -u LESSON -u RUN "${MAKE:-make}" -s --no-print-directory DEVICE=cpu \
            BUILD="$BUILD/cpu-$RUN_SANITIZE" SANITIZE="$RUN_SANITIZE" test-tools >/dev/null || exit 2
        ;;
    *) refuse "unknown SANITIZE '$RUN_SANITIZE': one of address, thread, undefined" ;;
    esac
    for build in $builds; do
        # shellcheck disable=SC2086 # none or one word
        if ! RUNTIME=$runtime SANITIZE=${RUN_SANITIZE:-} bash tools/compile.sh "$copy" "$work/$build" "$build" $openmp \
            ${flags[@]+"${flags[@]}"}; then
            echo "$copy does not compile"
            exit 1
        fi
    done
    for build in $builds; do
        status=0
        echo "== $copy, build $build${RUN_SANITIZE:+, SANITIZE=$RUN_SANITIZE}"
        "$work/$build" || status=$?
        echo "== ended with status $status"
    done
    echo "Nothing was checked: make exercise N=$name does that."
    [ ! -e "$program.cu" ] || echo "The lesson's own output, to compare with: make run DEVICE=cpu LESSON=${program%%/*}"
}

check() {
    local status=0 next
    refuse_what_is_no_copy
    bash tools/as_committed.sh "${program%%/*}" || exit 2
    seed=${FRESH:-$(date +%s)}
    judge || status=$?
    case $status in
    0)
        checksum >"$folder/.passed"
        echo "$name: passed"
        next=$(next_name "$name")
        if [ -n "$next" ]; then echo "Next: make exercise N=$next"; else echo 'All exercises are passed.'; fi
        ;;
    1)
        echo "$name: not passed yet"
        show_report
        # What does not compile, or is a form that is not filled in, is no answer yet.
        grep -q '^build ' "$work/report" || [ -e "$work/judge/no_answer" ] || open_hint
        show_hints
        echo
        echo "The task: $folder/task.md. Edit $copy, then: make exercise N=$name"
        ;;
    *) echo "$name: could not be checked" >&2 ;;
    esac
    return "$status"
}

if [ "${1:-}" = list ]; then
    list
    exit
fi
name=${1:-}
[ -n "$name" ] && names | grep -xF -- "$name" >/dev/null ||
    refuse "make exercise needs N=name, ${name:+not '$name', }one of: $(names | tr '\n' ' ' | sed 's/ $//')"
case ${RESET:-} in '' | 1) ;; *) refuse "RESET is 1 or nothing, not '$RESET'" ;; esac
case ${RUN:-} in '' | 1) ;; *) refuse "RUN is 1 or nothing, not '$RUN'" ;; esac
case ${FRESH:-} in *[!0-9]*) refuse "FRESH must be a number, not '$FRESH'" ;; esac
case $BUILD in /*) ;; *) BUILD=$ROOT/$BUILD ;; esac
mkdir -p "$BUILD/tmp"
work=$(mktemp -d "$BUILD/tmp/exercise.XXXXXX")
trap 'rm -rf "$work"' EXIT
look_up "$name"
if [ -n "${RUN:-}" ]; then
    run_copy
elif ! is_there; then
    begin ''
elif [ -n "${RESET:-}" ]; then
    begin aside
else
    check
fi
