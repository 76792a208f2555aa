# The exercises' folders are whole, and tools/exercise.sh with exercises made up here. Whether each real one
# accepts what is right and refuses what is wrong takes minutes: tests/long/exercises.bats.
load helper

names() { echo day68-{1..6} precision-{1..5} pi-{1..5} tree-{1..5}; }
key() { sed -n "s/^$2: //p" "$ROOT/exercises/$1/exercise"; }
# complain NAME WORDS
complain() { echo "$1: ${*:2}"; false; }

@test "each exercise is whole: keys, a task of at most ten lines, three hints, a check, right and wrong answers" {
    cd "$ROOT"
    local name program file
    assert_equal "$(cd exercises && printf '%s\n' *-*/ | sort | tr -d '/\n')" "$(names | tr ' ' '\n' | sort | tr -d '\n')"
    for name in $(names); do
        run grep -vE '^(kind: (mend|find|say)|(program|fault): [a-z0-9_]+/[a-z0-9_]+|start: [a-z0-9_.]+)$' "exercises/$name/exercise"
        assert_equal "$name: $output" "$name: "
        assert_equal "$name: $(key "$name" kind | wc -l), $(key "$name" program | wc -l)" "$name: 1, 1"
        assert_equal "$name: $(($(key "$name" fault | wc -l) + $(key "$name" start | wc -l)))" "$name: 1"
        program=$(key "$name" program)
        [ -e "${program%%/*}/README.md" ] || complain "$name" "no lesson ${program%%/*}"
        head -n 1 "exercises/$name/task.md" | grep -qE "^# $name: .{1,41}\$" || complain "$name" "its title is not '# $name: ' and at most 41 characters"
        [ "$(sed 1d "exercises/$name/task.md" | grep -c .)" -le 10 ] || complain "$name" 'its task has more than ten lines'
        [ "$(awk 'BEGIN { RS = "" } END { print NR }' "exercises/$name/hints.txt")" -ge 3 ] || complain "$name" 'fewer than three hints'
        # Hints that open for some reports alone must not be all there is.
        [ "$(awk 'BEGIN { RS = "" } !/^when: / { ++n } END { print n + 0 }' "exercises/$name/hints.txt")" -ge 1 ] || complain "$name" 'no hint that opens in turn'
        # The status is 2 for a regular expression that is none.
        while read -r file; do
            run grep -E -- "$file" /dev/null
            assert_equal "$name: $file: $status" "$name: $file: 1"
        done < <(sed -n 's/^when: //p' "exercises/$name/hints.txt")
        [ -s "tests/exercises/$name/check.sh" ] || complain "$name" 'no check.sh'
        ls "tests/exercises/$name/wrong/"* >/dev/null || complain "$name" 'no wrong answer'
        [ "$(key "$name" kind)-$(key "$name" start)" = mend- ] || ls "tests/exercises/$name/right/"* >/dev/null || complain "$name" 'no right answer'
    done
}

@test "each start can be made, and each answer that is a patch fits" {
    cd "$ROOT"
    local name program patch file
    for name in $(names); do
        program=$(key "$name" program)
        patch=$(key "$name" fault)
        file=$(key "$name" start)
        if [ -n "$file" ]; then
            [ -s "exercises/$name/$file" ] || complain "$name" "no $file"
        else
            patch -p1 -F0 -s -N --dry-run -r - <"tests/${patch%%/*}/faults/${patch#*/}.patch" || complain "$name" "its fault $patch does not apply"
        fi
        [ "$(key "$name" kind)" = mend ] || grep -q '^[^#].*: *$' "exercises/$name/$file" || complain "$name" 'no form with lines to fill in'
        for file in "tests/exercises/$name"/{right,wrong}/*; do
            [ -e "$file" ] || continue
            case $file in
            *.patch)
                changed=$(sed -n 's/^+++ b\///p' "$file" | cut -f1)
                case $changed in "tests/exercises/$name/right/"*) ;; *) assert_equal "$name: $changed" "$name: $program.cu" ;; esac
                patch -p1 -F0 -s -N --dry-run -r - <"$file" || complain "$name" "$file does not apply"
                ;;
            *.cu | *.txt) ;;
            *) complain "$name" "what is $file?" ;;
            esac
        done
        for file in "tests/exercises/$name"/wrong/*; do
            grep -qE '^(// |# )?hint: ...' "$file" || complain "$name" "$file does not say its hint"
        done
    done
}

@test "exercises/README.md lists the exercises as they are" {
    local name
    for name in $(names); do
        echo "| $name | $(key "$name" kind | sed 's/mend/fix/') | $(sed -n '1s/^# [^:]*: //p' "$ROOT/exercises/$name/task.md") |"
    done >"$BATS_TEST_TMPDIR/rows"
    run diff "$BATS_TEST_TMPDIR/rows" <(sed -n '/^| --- /,$p' "$ROOT/exercises/README.md" | sed 1d)
    assert_output ''
}

# ---- A tree with the tools, a lesson of one program and two exercises ------------------------------

setup() {
    tree=$BATS_TEST_TMPDIR/tree
    mkdir -p "$tree/toy" "$tree/tests/toy/faults" "$tree"/{,tests/}exercises/{day68-8,tree-9}
    cd "$tree" || return
    cp -r "$ROOT/tools" "$ROOT/cpu" .
    printf '%s\n' 'int main() {' '    int total = 3;' '    return total - 3;' '}' >toy/toy.cu
    diff -u --label a/toy/toy.cu --label b/toy/toy.cu toy/toy.cu <(sed 's/total = 3/total = 4/' toy/toy.cu) >tests/toy/faults/four.patch || true
    printf 'kind: mend\nprogram: toy/toy\nfault: toy/four\n' >exercises/day68-8/exercise
    printf '# day68-8: A total\n\nThe total is wrong.\nMend it.\n' >exercises/day68-8/task.md
    printf '%s\n' 'What is' 'the total?' '' 'when: n = (5|55)[^0-9]' 'Five is odd.' '' 'Count again.' >exercises/day68-8/hints.txt
    # shellcheck disable=SC2016 # the check's own
    printf '%s\n' 'if grep -q "total = 4" "$SRC"; then fail "n = 4, nofmad" "it is four"; fi' \
        'if grep -q "total = 5" "$SRC"; then fail "n = 5, nofmad" "it is five"; fi' >tests/exercises/day68-8/check.sh
    printf 'kind: say\nprogram: toy/toy\nstart: answer.start\n' >exercises/tree-9/exercise
    printf '# tree-9: An answer with a title that is far too long for a row\n\nSay it.\n' >exercises/tree-9/task.md
    printf '%s\n' One '' Two '' Three >exercises/tree-9/hints.txt
    printf '# a number\ntotal: \n' >exercises/tree-9/answer.start
    # shellcheck disable=SC2016 # the check's own
    echo 'if said=$(answer_number total) && [ "$said" != 3 ]; then fail total "the total is another"; fi' >tests/exercises/tree-9/check.sh
    copy=exercises/day68-8/toy.cu
}
exercise() { ROOT=$tree RESET=${RESET:-} FRESH=${FRESH:-} bash "$tree/tools/exercise.sh" "$@"; }
state() { exercise list | sed -n "s/^$1 .\{49\} *//p"; }

@test "exercise: a life, from the list to passed and changed since" {
    assert_equal "$(state day68-8)" 'not begun'
    run exercise day68-8
    assert_success
    assert_output 'day68-8: A total

The total is wrong.
Mend it.

Edit this file:  exercises/day68-8/toy.cu
Run it:          make exercise N=day68-8 RUN=1
Then check it:   make exercise N=day68-8'
    assert_equal "$(diff toy/toy.cu $copy | grep -c '^[<>]')" 2
    grep -q 'total = 4' $copy
    assert_equal "$(state day68-8)" begun

    # Each check that fails says on which input and why, and opens a hint.
    FRESH=7 run exercise day68-8
    assert_failure 1
    assert_output 'day68-8: not passed yet
  input   n = 4, nofmad
  reason  it is four
  again   make exercise N=day68-8 FRESH=7

Hint 1 of 3
  What is
  the total?

The task: exercises/day68-8/task.md. Edit exercises/day68-8/toy.cu, then: make exercise N=day68-8'
    assert_equal "$(state day68-8)" 'begun, 1 hint open'
    # One that belongs to the report goes first.
    sed -i 's/= 4/= 5/' $copy
    rm exercises/day68-8/.hints
    run exercise day68-8
    assert_failure 1
    assert_output --partial 'Hint 1 of 3
  Five is odd.

The task'
    run exercise day68-8
    assert_output --partial 'Hint 1 of 3
  Five is odd.

Hint 2 of 3
  What is
  the total?

The task'
    run exercise day68-8
    assert_output --partial 'Hint 3 of 3
  Count again.

The task'
    # No hint is left: all are shown again.
    run exercise day68-8
    assert_failure 1
    assert_equal "$(grep -c '^Hint' <<<"$output")" 3
    assert_equal "$(state day68-8)" 'begun, 3 hints open'

    sed -i 's/= 5/= 3/' $copy
    run exercise day68-8
    assert_success
    assert_output 'day68-8: passed
Next: make exercise N=tree-9'
    assert_equal "$(state day68-8)" passed
    echo '// done' >>$copy
    assert_equal "$(state day68-8)" 'passed, changed since'
    run exercise day68-8
    assert_success
    assert_equal "$(state day68-8)" passed

    exercise tree-9 >/dev/null
    run exercise tree-9
    assert_failure 1
    assert_line '  reason  not answered'
    # A form that is not filled in, or not with a number, was no try.
    sed -i 's/total: .*/total: many/' exercises/tree-9/answer.txt
    run exercise tree-9
    assert_failure 1
    assert_line "  reason  'many' is no number"
    refute_output --partial Hint
    [ ! -e exercises/tree-9/.hints ]
    sed -i 's/total: .*/total: 4/' exercises/tree-9/answer.txt
    run exercise tree-9
    assert_failure 1
    assert_line 'Hint 1 of 3'
    sed -i 's/total: .*/total: 3/' exercises/tree-9/answer.txt
    run exercise tree-9
    assert_success
    assert_output 'tree-9: passed
All exercises are passed.'
}

@test "exercise: the list is one screen, and says what comes next" {
    exercise tree-9 >/dev/null
    run exercise list
    assert_success
    assert_output 'name        kind title                                     state
day68-8     fix  A total                                   not begun
tree-9      say  An answer with a title that is far too lo begun
0 of 2 passed. Next: make exercise N=day68-8'
    exercise day68-8 >/dev/null
    cp toy/toy.cu $copy
    exercise day68-8 >/dev/null
    # What passed once is not what comes next.
    echo >>$copy
    run exercise list
    assert_line '1 of 2 passed. Next: make exercise N=tree-9'
    for line in "${lines[@]}"; do [ "${#line}" -le 80 ]; done
    run exercise day68-8
    assert_line 'Next: make exercise N=tree-9'
}

@test "exercise: RESET=1 moves the copy aside under a free name, and nothing else does" {
    exercise day68-8 >/dev/null
    echo '// first' >>$copy
    exercise day68-8 >/dev/null || true
    RESET=1 run exercise day68-8
    assert_success
    assert_line --index 0 'Your copy is now exercises/day68-8/toy.1.cu; no hint is open.'
    assert_line 'The total is wrong.'
    assert_equal "$(state day68-8)" begun
    grep -q '// first' exercises/day68-8/toy.1.cu
    run grep -c '// first' $copy
    assert_output 0
    echo '// second' >>$copy
    ln -s nowhere exercises/day68-8/toy.2.cu
    RESET=1 run exercise day68-8
    assert_line --index 0 'Your copy is now exercises/day68-8/toy.3.cu; no hint is open.'
    grep -q '// first' exercises/day68-8/toy.1.cu
    grep -q '// second' exercises/day68-8/toy.3.cu
    # Without a copy it is the first call.
    rm $copy
    RESET=1 run exercise day68-8
    assert_line --index 0 'day68-8: A total'
    # A start that cannot be made leaves the copy where it is.
    echo '// third' >>$copy
    echo '//' >toy/toy.cu
    RESET=1 run exercise day68-8
    assert_failure 2
    grep -q '// third' $copy
    run find exercises -name '.start*'
    assert_output ''
}

@test "exercise: a copy that is a folder, a link, empty or unreadable is left as it is" {
    mkdir $copy
    run exercise day68-8
    assert_failure 2
    assert_output "$copy is not a file; RESET=1 moves it aside and makes a fresh copy"
    touch $copy/mine
    RESET=1 run exercise day68-8
    assert_success
    [ -e exercises/day68-8/toy.1.cu/mine ]
    : >$copy
    run exercise day68-8
    assert_failure 2
    assert_output "$copy is empty; RESET=1 moves it aside and makes a fresh copy"
    [ ! -s $copy ]
    rm $copy
    ln -s nowhere $copy
    run exercise day68-8
    assert_failure 2
    assert_output "$copy is a link that leads nowhere; RESET=1 moves it aside and makes a fresh copy"
    [ -L $copy ]
    [ ! -e exercises/day68-8/nowhere ]
    # A link to a file is checked as that file.
    cp toy/toy.cu exercises/day68-8/nowhere
    run exercise day68-8
    assert_success
    [ -L $copy ]
}

@test "exercise: a copy that cannot be read, and a checkout that cannot be written" {
    [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null || skip "needs root and setpriv to try"
    # All that another user needs is outside of the folders of bats, which are root's own.
    local place
    place=$(mktemp -d /tmp/exercise.XXXXXX)
    mkdir "$place/build"
    cp -r "$tree" "$place/tree"
    chmod -R a+rX "$place"
    chmod 777 "$place/build" "$place/tree/exercises/day68-8"
    cp toy/toy.cu "$place/tree/$copy"
    chmod 600 "$place/tree/$copy"
    other() { BUILD=$place/build ROOT=$place/tree run setpriv --reuid 65534 --clear-groups bash "$place/tree/tools/exercise.sh" "$@"; }
    cd "$place" || return
    other day68-8
    assert_failure 2
    assert_output "$copy cannot be read; RESET=1 moves it aside and makes a fresh copy"
    other list
    assert_success
    assert_line --regexp '^day68-8 .* begun$'
    rm "$place/tree/$copy"
    chmod 755 "$place/tree/exercises/day68-8"
    other day68-8
    rm -rf "$place"
    assert_failure 2
    assert_output 'exercises/day68-8 cannot be written: the exercises need a checkout of your own'
}

@test "exercise: what it refuses, in one line each" {
    while IFS='|' read -r arguments message; do
        # shellcheck disable=SC2086 # words
        run env ROOT="$tree" $arguments
        assert_failure 2
        assert_output "$message"
    done <<'END'
bash tools/exercise.sh|make exercise needs N=name, one of: day68-8 tree-9
bash tools/exercise.sh day68-9|make exercise needs N=name, not 'day68-9', one of: day68-8 tree-9
bash tools/exercise.sh ../exercises/day68-8|make exercise needs N=name, not '../exercises/day68-8', one of: day68-8 tree-9
RESET=0 bash tools/exercise.sh day68-8|RESET is 1 or nothing, not '0'
RUN=yes bash tools/exercise.sh day68-8|RUN is 1 or nothing, not 'yes'
RUN=1 bash tools/exercise.sh day68-8|day68-8 is not begun: make exercise N=day68-8
RUN=1 bash tools/exercise.sh tree-9|tree-9 has no program to run: its task names what to run
FRESH=x bash tools/exercise.sh day68-8|FRESH must be a number, not 'x'
END
    run find exercises -name '*.cu'
    assert_output ''
    sed -i 's/total = 3/sum = 3/' toy/toy.cu
    run exercise day68-8
    assert_failure 2
    assert_equal "${#lines[@]}" 1
    assert_output --partial 'day68-8: the fault tests/toy/faults/four.patch does not fit toy/toy.cu any more: '
    # A patch that fits somewhere else, by fuzz, does not fit.
    printf '%s\n' 'int main() {' '    int total = 3;' '    return 3 - total;' '}' >toy/toy.cu
    run exercise day68-8
    assert_failure 2
    assert_output --partial 'does not fit toy/toy.cu any more: '
    run find exercises -name '*.cu' -o -name '.start*'
    assert_output ''
    mkdir bin
    for tool in bash sed grep cut basename dirname mkdir mktemp rm cat cp tr; do ln -s "$(command -v $tool)" bin/; done
    PATH=$tree/bin run exercise day68-8
    assert_failure 2
    assert_output 'make exercise needs patch to plant a fault (Debian: apt-get install patch)'
}

@test "exercise: a copy that cannot be put in its place is none, and the one aside stays" {
    exercise day68-8 >/dev/null
    echo "// mine" >>$copy
    mkdir bin
    printf '#!/bin/sh\n[ "$1" = -n ] || exec %s "$@"\n' "$(command -v mv)" >bin/mv
    chmod +x bin/mv
    PATH=$tree/bin:$PATH RESET=1 run exercise day68-8
    assert_failure 2
    assert_line "$copy could not be made"
    grep -q "// mine" exercises/day68-8/toy.1.cu
    [ ! -e $copy ]
    run find exercises -name ".start*"
    assert_output ""
}

@test "exercise: each real form, as it is handed out, says what is not answered and opens no hint" {
    local name
    for name in $(names); do
        [ "$(key "$name" kind)" != mend ] || continue
        rm -rf "$tree/exercises" "$tree/tests/exercises"
        mkdir -p "$tree/exercises" "$tree/tests/exercises"
        cp -r "$ROOT/exercises/$name" "$tree/exercises/"
        cp -r "$ROOT/tests/exercises/$name" "$tree/tests/exercises/"
        rm -f "$tree/exercises/$name/"{answer.txt,.hints,.passed}
        exercise "$name" >/dev/null
        run exercise "$name"
        assert_equal "$name: $status" "$name: 1"
        assert_line '  reason  not answered'
        refute_output --partial Hint
    done
}

@test "exercise: RUN=1 builds the copy in both builds, runs it and checks nothing" {
    printf '%s\n' '#include <cstdio>' '#ifndef TOTAL' '#define TOTAL 4' '#endif' 'int main() {' '    printf("total %d\n", TOTAL);' '    return TOTAL - 3;' '}' >$copy
    echo '#ifndef TOTAL' >>toy/toy.cu
    run_it() { RUN=1 DEFS=${1:-} RUN_SANITIZE=${2:-} run exercise day68-8; }
    run_it
    assert_success
    have_fma && assert_equal "$(sed '/build nofmad$/,$d' <<<"$output")" "== $copy, build fmad
total 4
== ended with status 1"
    assert_equal "$(sed -n '/build nofmad$/,$p' <<<"$output")" "== $copy, build nofmad
total 4
== ended with status 1
Nothing was checked: make exercise N=day68-8 does that.
The lesson's own output, to compare with: make run DEVICE=cpu LESSON=toy"
    assert_equal "$(state day68-8)" begun
    [ ! -e exercises/day68-8/.hints ]
    run_it -DTOTAL=5
    assert_success
    assert_line 'total 5'
    run_it -DTOTALS=5
    assert_failure 2
    assert_output --partial 'DEFS: no program of toy has a macro TOTALS'
    run_it '' memory
    assert_failure 2
    assert_output "unknown SANITIZE 'memory': one of address, thread, undefined"
    # A student's mistake is shown with the copy's own line.
    sed -i '6s/^/none /' $copy
    run_it
    assert_failure 1
    assert_line --partial "$copy:6:"
    assert_line "$copy does not compile"
}

@test "make exercise RUN=1 SANITIZE=thread names a race of the copy" {
    [ -n "${ALL:-}" ] || skip "some seconds on a CPU: check-all"
    cp -r "$ROOT/day68_reproducibility" .
    cp "$ROOT/Makefile" .
    cp -r "$ROOT/tests/day68_reproducibility" tests/
    rm -r exercises/* tests/exercises/*
    cp -r "$ROOT/exercises/day68-4" exercises/
    cp -r "$ROOT/tests/exercises/day68-4" tests/exercises/
    rm -f exercises/day68-4/*.cu
    mk() { env -i PATH="$PATH" HOME="$HOME" make -s --no-print-directory LESSONS=day68_reproducibility BUILD="$BATS_TEST_TMPDIR/build" exercise N=day68-4 "$@"; }
    run mk
    assert_success
    assert_line --regexp '^Run it: +make exercise N=day68-4 RUN=1$'
    run mk RUN=1 SANITIZE=thread DEFS='-DELEMENTS=5000 -DRUNS=2'
    assert_success
    assert_line '== exercises/day68-4/reproducibility.cu, build nofmad, SANITIZE=thread'
    assert_line --regexp '^SUMMARY: ThreadSanitizer: data race exercises/day68-4/reproducibility.cu:[0-9]+ in blockTree'
    refute_line --partial 'build fmad'
}

@test "exercise, grade-all: a lesson's program that is not as it was committed is no reference; without git nothing is said" {
    command -v git >/dev/null || skip "needs git to try"
    local words="toy/toy.cu is not as it was committed, and the check compares with it: keep your changes elsewhere, then: git checkout HEAD -- toy/toy.cu"
    git() { command git -c user.name=a -c user.email=a@b.c -c init.defaultBranch=main "$@"; }
    exercise day68-8 >/dev/null
    # No repository, and one that knows nothing of this folder.
    cp $copy toy/toy.cu
    run exercise day68-8
    assert_failure 1
    sed -i 's/total = 4/total = 3/' toy/toy.cu
    git init -q .
    run exercise day68-8
    assert_failure 1
    assert_line 'day68-8: not passed yet'
    git add toy
    git commit -q -m toy
    run exercise day68-8
    assert_line 'day68-8: not passed yet'
    # The copy in place of the lesson's program: staged or not.
    cp $copy toy/toy.cu
    run exercise day68-8
    assert_failure 2
    assert_output "$words"
    git add toy
    run exercise day68-8
    assert_failure 2
    assert_output "$words"
    ROOT=$tree run bash tools/as_committed.sh nothing toy
    assert_failure 2
    assert_output "$words"
    # Another file of the lesson is no program.
    git checkout -q HEAD -- toy
    touch toy/new.cu toy/README.md
    ROOT=$tree run bash tools/as_committed.sh nothing toy
    assert_success
    assert_output ''
    # A table for a whole class, and a single grade.
    git mv toy precision_reduction
    git commit -q -m lesson
    echo >>precision_reduction/toy.cu
    mkdir class exercises/points
    touch class/ann.txt exercises/points/precision_reduction.txt
    ROOT=$tree DIR=class LESSON=precision_reduction run bash tools/grade_all.sh
    assert_failure 2
    assert_output "grade-all: ${words//toy\/toy/precision_reduction/toy}"
    run env -i PATH="$PATH" make -n -C "$ROOT" BUILD="$BATS_TEST_TMPDIR/b" grade LESSON=fpmp_pi
    assert_line 'bash tools/as_committed.sh fpmp_pi'
}

@test "exercise: an error of the compiler is shown with the copy's own line, and opens no hint" {
    echo 'same lesson' >tests/exercises/day68-8/check.sh
    exercise day68-8 >/dev/null
    sed -i 's/total = 4;/total = 4/' $copy
    run exercise day68-8
    assert_failure 1
    assert_line --regexp '^  reason  does not compile: toy\.cu:[34]:[0-9]+: error: '
    refute_output --partial Hint
    assert_equal "$(state day68-8)" begun
}

@test "exercise: a check that says something, or stops, has not checked" {
    exercise day68-8 >/dev/null
    echo 'no_such_function lesson' >tests/exercises/day68-8/check.sh
    run exercise day68-8
    assert_failure 2
    assert_line --partial 'no_such_function: command not found'
    assert_line 'day68-8: could not be checked'
    echo 'exit 1' >tests/exercises/day68-8/check.sh
    run exercise day68-8
    assert_failure 2
    assert_output 'day68-8: could not be checked'
    assert_equal "$(state day68-8)" begun
}

@test "exercise: Ctrl-C while a fresh copy is made leaves the old one, and nothing else" {
    exercise day68-8 >/dev/null
    echo '// mine' >>$copy
    # A patch that takes its time.
    mkdir bin
    printf '#!/bin/sh\n: >began\nexec sleep 5\n' >bin/patch
    chmod +x bin/patch
    PATH=$tree/bin:$PATH ROOT=$tree RESET=1 perl -MPOSIX -e 'setsid; $SIG{INT} = "DEFAULT"; exec @ARGV' \
        bash tools/exercise.sh day68-8 >log 2>&1 3>&- &
    until find "$BUILD/tmp" -path '*exercise*/began' 2>/dev/null | grep -q .; do sleep 0.05; done
    kill -INT -- "-$!"
    wait $! || true
    grep -q '// mine' $copy
    run ls -A exercises/day68-8
    refute_output --partial .start
    refute_output --partial toy.1.cu
}

@test "make exercise and make exercises: on the CPU default, whatever was asked for; the list needs no compiler" {
    mk() { env -i PATH="$PATH" HOME="$HOME" make --no-print-directory -C "$ROOT" BUILD="$BATS_TEST_TMPDIR/b" "$@"; }
    run mk exercises CXX=no-such-compiler BUILD=/dev/null/b
    assert_success
    assert_line --regexp '^day68-1 +find '
    # One screen.
    [ "${#lines[@]}" -le 24 ]
    run mk -n exercise N=day68-3 DEVICE=gpu NVCC=no-such-nvcc SANITIZE=thread
    assert_success
    refute_output --partial fsanitize
    assert_line "bash tools/exercise.sh 'day68-3'"
    run mk exercise N=day68-3 CXX=no-such-compiler
    assert_failure 2
    assert_output --partial "the compiler 'no-such-compiler' is not found"
}
