#!/usr/bin/env bash
# Runs programs in both builds, judges what each prints, and ends with one table.
#   run.sh LESSON/PROGRAM ...
# Environment (see Makefile): ROOT BUILD DEVICE DEVICE_WHY FMA, the programs' parameters DEFS PI_FP_T
# PI_FP_HEADER PI_LOG2_TERMS, and LESSON_GIVEN or V, either of which prints the whole outputs.
# Whole outputs lie in BUILD/DEVICE/fmad/NAME.txt and BUILD/DEVICE/nofmad/NAME.txt, stderr in NAME.err.
# Status
#   0   all that ran passed, and one ran
#   1   a gate failed, or an output is not what expected_output/ says
#   2   a program could not do its work, crashed, gave no verdict or did not build
#   77  every program was skipped
set -euo pipefail

cd "$ROOT"
BUILD=${BUILD#"$ROOT"/} # shorter to read
outputs=$BUILD/$DEVICE
read -r -a lessons <<<"${LESSONS:-day68_reproducibility precision_reduction fpmp_pi canonical_tree}"
verbose=${LESSON_GIVEN:-}${V:-}
match=$BUILD/tools/match
[[ $match == /* ]] || match=./$match

ran=0 failed=0 broken=0 skipped=0
table=()
all_moved=() # shown after the table
terminal=no
[ ! -t 1 ] || terminal=yes
red='' green='' plain=''
if [ $terminal = yes ] && [ -z "${NO_COLOR:-}" ]; then
    red=$'\033[31m' green=$'\033[32m' plain=$'\033[0m'
fi

# The line that says what runs now, on a terminal alone: overwritten by the next one, and at the end gone.
progress() {
    if [ $terminal = yes ] && [ -z "$verbose" ]; then printf '\r\033[K%s' "$*"; fi
}

# row COLOUR program build gates 'run hash' 'partials hash' expected
row() {
    local line
    printf -v line '%-20s %-7s %-10s %-19s %-19s %s' "${@:2}"
    line=${line%"${line##*[! ]}"}
    table+=("${1:+$1}$line${1:+$plain}")
}

# The hash that a file's line `NAME hash: 0x...` holds; - where there is none, or a free one.
hash_of() {
    if [ -e "$2" ]; then sed -n "s/^$1 hash: \(0x[0-9a-f]*\).*/\1/p" "$2" | head -n 1 | grep . || echo -
    else echo -; fi
}

# same or different, of two hashes; - where one is missing.
compare() {
    if [ "$1" = - ] || [ "$2" = - ]; then echo -
    elif [ "$1" = "$2" ]; then echo same
    else echo different; fi
}

# Do the programs of this lesson run with other parameters than the expected files' own?
other_parameters() {
    case $program in
        fpmp_pi/*) [ -n "${DEFS:-}${PI_FP_T:-}${PI_FP_HEADER:-}${PI_LOG2_TERMS:-}" ] ;;
        *) [ -n "${DEFS:-}" ] ;;
    esac
}

# Runs $program in $build and leaves what it printed in $out and $err, its exit status in $status.
run_program() {
    status=0
    rm -f "$out" "$err"
    "$outputs/$build/$name" >"$out.$$" 2>"$err.$$" || status=$?
    mv "$out.$$" "$out"
    mv "$err.$$" "$err"
}

# The verdicts on one run: $gates and $expected for the table, $fault (failed, broken or nothing),
# $notes, what match said, and $nearest, the file to show movements against.
judge() {
    local matched=0 contraction=fused signal
    [ "$build" = fmad ] || contraction=separate
    gates=$(sed -n 's/^gates passed: /passed /p' "$out")
    expected='' fault='' notes='' nearest=''
    case $status in
        0 | 1) ;;
        77)
            gates=skipped expected=$(head -n 1 "$err")
            return
            ;;
        *)
            gates="ERROR $status" fault=broken expected=$(head -n 1 "$err")
            if [ $status -gt 128 ] && signal=$(kill -l $((status - 128)) 2>/dev/null); then
                expected="ended by signal SIG${signal#SIG}"
            fi
            return
            ;;
    esac
    if [ $status -eq 1 ]; then
        gates="FAILED $(grep -c '^gate: .*FAILED$' "$out" || true)" fault=failed
    elif [ -z "$gates" ]; then
        # Whatever ended it before finish() is no success.
        gates=ERROR expected='no verdict: status 0 without `gates passed:`' fault=broken
        return
    fi
    notes=$("$match" expected_output "$out" 2>&1) || matched=$?
    nearest=$("$match" --nearest expected_output "$out" 2>/dev/null) || nearest=''
    case $matched in
        0) expected='as expected' ;;
        1) expected=DIFFERS ;;
        *) expected='NOTHING PINNED' ;;
    esac
    if [ $matched -ne 0 ]; then
        if other_parameters; then
            expected='nothing pinned for this' notes=''
        else
            fault=failed
        fi
    else
        notes='' nearest=''
    fi
    # match goes by what the output says of itself, so that is compared with what was built.
    if ! grep -qx "contraction: $contraction" "$out"; then expected="NOT $contraction" fault=failed; fi
}

# What moved against the pinned values, field by field; the table gets their number.
show_moved() {
    local moved
    [ -n "$nearest" ] || return 0
    moved=$(LC_ALL=C awk -f tools/moved.awk "$nearest" "$out")
    all_moved+=("$(printf 'moved, %s, build %s, against %s:\n%s' "$name" "$build" "$nearest" "$moved")")
    moved=$(tail -n 1 <<<"$moved")
    expected="$expected; ${moved%,*}"
}

# What a run's end calls for.
show_advice() {
    if grep -qE 'error (209|222)\b' "$err"; then
        echo 'try: make run ARCH=sm_NN, which builds for the card itself (make doctor names it)' >&2
    fi
}

# The output of a run and everything that is wrong with it. A line `== NAME, build BUILD` and one with
# the verdict stand around the output: match takes such logs apart by them.
report() {
    progress ''
    if [ -n "$verbose" ]; then
        printf '\n== %s, build %s\n' "$program" "$build"
        if [ -s "$out" ]; then
            cat "$out"
            [ -z "$(tail -c 1 "$out")" ] || echo
        fi
    fi
    if [ -n "$verbose$fault" ]; then
        printf '== %s, build %s: %s\n' "$program" "$build" "$gates${expected:+, $expected}"
    fi
    if [ -n "$verbose$fault" ] && [ -e "$err" ]; then
        [ -n "$verbose" ] || grep '^gate: .*FAILED$' "$out" >&2 || true
        cat "$err" >&2
        show_advice
    fi
    [ -z "$notes" ] || printf '%s\n' "$notes" >&2
}

# One program in one build: run, judged, reported, and its row of the table.
one() {
    local colour=$green
    out=$outputs/$build/$name.txt err=$outputs/$build/$name.err
    gates='' expected='' fault='' notes='' nearest='' status=0
    if [ "$build-$DEVICE-$FMA" = fmad-cpu-no ]; then
        rm -f "$out" "$err"
        row '' "$name" "$build" 'left out' - - 'this CPU has no FMA'
        return
    fi
    if [ ! -x "$outputs/$build/$name" ]; then
        rm -f "$out" "$err"
        gates=ERROR expected='did not build' fault=broken
    else
        progress "running $name, build $build"
        run_program
        judge
    fi
    report
    show_moved
    case $fault-$status in
        failed-*) failed=$((failed + 1)) ran=$((ran + 1)) colour=$red ;;
        broken-*) broken=$((broken + 1)) colour=$red ;;
        -77) skipped=$((skipped + 1)) colour='' ;;
        *) ran=$((ran + 1)) ;;
    esac
    row "$colour" "$name" "$build" "$gates" "$(hash_of run "$out")" "$(hash_of partials "$out")" "$expected"
}

# The third row: whether the two builds agree in each hash, and whether the two expected files that
# match found for them do. An expected file with a free hash says nothing.
compare_builds() {
    local a=$outputs/fmad/$name.txt b=$outputs/nofmad/$name.txt
    local pinned_a='' pinned_b='' hash found wanted all_found='' all_wanted='' colour=''
    if [ -e "$a" ] && [ -e "$b" ]; then
        pinned_a=$("$match" --which expected_output "$a" 2>/dev/null) || true
        pinned_b=$("$match" --which expected_output "$b" 2>/dev/null) || true
    fi
    for hash in run partials; do
        found=$(compare "$(hash_of $hash "$a")" "$(hash_of $hash "$b")")
        wanted=$(compare "$(hash_of $hash "$pinned_a")" "$(hash_of $hash "$pinned_b")")
        [ "$wanted" = - ] || [ "$wanted" = "$found" ] || colour=$red
        all_found="$all_found $found" all_wanted="$all_wanted, $wanted"
    done
    # shellcheck disable=SC2086 # two words, two columns
    row "$colour" '' builds '' $all_found "${all_wanted#, }"
}

# What a student does next, after one lesson.
show_next() {
    local lesson=${1%%/*} section next='' i
    for program in "$@"; do [ "${program%%/*}" = "$lesson" ] || return 0; done
    [ -e "$lesson/README.md" ] || return 0
    for i in "${!lessons[@]}"; do
        if [ "${lessons[i]}" = "$lesson" ]; then next=${lessons[i + 1]:-}; fi
    done
    if [ $((failed + broken)) -gt 0 ]; then
        section=$(sed -n 's/^## \(Symptoms.*\)/\1/p' "$lesson/README.md" | head -n 1)
        echo "next: read $lesson/README.md${section:+, section \"$section\"}"
    else
        section=$(sed -n 's/^## \(What was found.*\)/\1/p' "$lesson/README.md" | head -n 1)
        echo "next: read $lesson/README.md${section:+, section \"$section\"}, then its exercises${next:+; the next lesson: make run LESSON=$next}"
    fi
}

echo "device: $DEVICE ($DEVICE_WHY)"
trap 'rm -f "$outputs"/*/*.txt.$$ "$outputs"/*/*.err.$$' EXIT
mkdir -p "$outputs/fmad" "$outputs/nofmad"
row '' program build gates 'run hash' 'partials hash' expected
for program in "$@"; do
    name=${program##*/}
    for build in fmad nofmad; do one; done
    compare_builds
done
progress ''

printf '\n'
printf '%s\n' "${table[@]}"
for moved in ${all_moved[@]+"${all_moved[@]}"}; do printf '\n%s\n' "$moved"; done
echo "whole outputs: $outputs/fmad/NAME.txt, $outputs/nofmad/NAME.txt"
[ $skipped -eq 0 ] || echo "skipped for want of a card: try: make run DEVICE=cpu" >&2
[ -z "${LESSON_GIVEN:-}" ] || show_next "$@"
if [ $broken -gt 0 ]; then exit 2; fi
if [ $failed -gt 0 ]; then exit 1; fi
if [ $ran -eq 0 ]; then
    echo "every program was skipped, so nothing was shown" >&2
    exit 77
fi
