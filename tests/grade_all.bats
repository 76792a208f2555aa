# A folder of submissions is graded into a table (tools/grade_all.sh). What one of them gets: tests/grade.bats.
load helper

setup_file() {
    [ -e "$BUILD/cpu/watched/watched_device.o" ] || make -s --no-print-directory -C "$ROOT" DEVICE=cpu judge-tools
}
setup() {
    cd "$BATS_TEST_TMPDIR"
    mkdir class
    OUT=$PWD/class-grades/precision_reduction
    unset DIR LESSON EXERCISE STUDENT POINTS INTO FRESH SALT JOBS
    # Outputs are not run, so nothing here depends on a sandbox.
    export CONFINED_BY=bubblewrap
}
grade_all() { DIR=${DIR-class} LESSON=${LESSON-precision_reduction} bash "$ROOT/tools/grade_all.sh"; }
# An output of both builds, which is graded in a moment; $1 changes it.
whole_log() {
    for file in precision_reduction precision_reduction_nofmad; do
        echo "== precision_reduction/precision_reduction"
        sed "s/{text}/CPU default, 2 cores/; ${1:-}" "$ROOT/expected_output/$file.txt"
    done
}

@test "any name is a student's: a row each, right, wrong and not graded" {
    local names=('Zoë "Z" O'\''Neil, 1.txt' '-rf.log' '=1+2.TXT' "two
lines.txt" 'a  b.txt' 'ends in blank .txt' '100% $HOME `id` \n.txt')
    for name in "${names[@]}"; do whole_log >"class/$name"; done
    whole_log '/^many tenths/s/1000003/1000013/' >class/wrong.txt
    mkdir -p class/Ada/submission class/.hidden class/__MACOSX class/Empty 'class/Two, sources'
    whole_log >class/Ada/submission/out.txt
    touch class/.DS_Store class/photo.jpeg 'class/Two, sources'/{a,b}.cu
    JOBS=3 run grade_all
    assert_failure 1
    assert_line "submissions in $PWD/class: 12, 3 at a time"
    assert_line --regexp '^\[[0-9]+ of 12\] two\?lines\.txt: 50 of 50 points; output only, proves no work$'
    assert_line --regexp '^\[12 of 12\] '
    assert_line --regexp "^9 graded, 3 not, in [0-9]+ s: $OUT/grades.csv$"
    assert_equal "$(head -n 1 "$OUT/students/Ada/log")" 'student: Ada'
    assert_equal "$(ls -A "$OUT" | paste -sd ' ')" 'grades.csv students'
    run cat "$OUT/grades.csv"
    # The reason of `wrong` is match's.
    output=$(sed 's/,the output: expected: many tenths .*; found: .*many tenths .*reference,-,/,REASON,-,/' <<<"$output")
    assert_output - <<END
student,handed_in,points,max,verdict,compiles,gates,values,fresh,flawed,exercise_passed,output,reason,input,sandbox,log
'-rf,'-rf.log,50,50,"output only, proves no work",-,-,-,-,-,-,yes,,-,bubblewrap,students/-rf.log/log
100% \$HOME \`id\` \\n,100% \$HOME \`id\` \\n.txt,50,50,"output only, proves no work",-,-,-,-,-,-,yes,,-,bubblewrap,students/100% \$HOME \`id\` \\n.txt/log
'=1+2,'=1+2.TXT,50,50,"output only, proves no work",-,-,-,-,-,-,yes,,-,bubblewrap,students/=1+2.TXT/log
Ada,Ada,50,50,"output only, proves no work",-,-,-,-,-,-,yes,,-,bubblewrap,students/Ada/log
Empty,Empty,,,not graded,,,,,,,,SRC has no file of the kind that is asked for: '$PWD/class/Empty',,,students/Empty/log
"Two, sources","Two, sources",,,not graded,,,,,,,,"SRC has 2 sources (*.cu), and not one that is called precision_reduction.cu: '$PWD/class/Two, sources'",,,"students/Two, sources/log"
"Zoë ""Z"" O'Neil, 1","Zoë ""Z"" O'Neil, 1.txt",50,50,"output only, proves no work",-,-,-,-,-,-,yes,,-,bubblewrap,"students/Zoë ""Z"" O'Neil, 1.txt/log"
a  b,a  b.txt,50,50,"output only, proves no work",-,-,-,-,-,-,yes,,-,bubblewrap,students/a  b.txt/log
ends in blank ,ends in blank .txt,50,50,"output only, proves no work",-,-,-,-,-,-,yes,,-,bubblewrap,students/ends in blank .txt/log
photo.jpeg,photo.jpeg,,,not graded,,,,,,,,SRC must end in .cu (a source) or .txt (an answer or an output): '$PWD/class/photo.jpeg',,,students/photo.jpeg/log
two?lines,two?lines.txt,50,50,"output only, proves no work",-,-,-,-,-,-,yes,,-,bubblewrap,students/two?lines.txt/log
wrong,wrong.txt,0,50,"output only, proves no work",-,-,-,-,-,-,no,REASON,-,bubblewrap,students/wrong.txt/log
END
}

@test "a second call grades what is new, changed, asked for or was not graded; and nothing when nothing is" {
    for name in ann ben cem; do whole_log >class/$name.txt; done
    touch class/dan.jpeg
    run grade_all
    assert_failure 1
    rm class/dan.jpeg
    run grade_all
    assert_success
    for name in ann ben cem; do assert_line --regexp "\\] $name\\.txt: 50 of 50 points; .* \\(as before\\)$"; done
    assert_equal "$(wc -l <"$OUT/grades.csv")" 4

    whole_log '/^many tenths/s/1000003/1000013/' >class/ben.txt
    whole_log >class/late.txt
    STUDENT=cem run grade_all
    assert_success
    assert_line --regexp '\] ann\.txt: 50 of 50 points; .* \(as before\)$'
    assert_line --regexp '\] ben\.txt: 0 of 50 points; output only, proves no work$'
    assert_line --regexp '\] cem\.txt: 50 of 50 points; output only, proves no work$'
    assert_line --regexp '\] late\.txt: 50 of 50 points; output only, proves no work$'
    # What is fresh is another input for another word: that is no grade as before.
    SALT=x run grade_all
    refute_line --partial 'as before'
    # An interrupt leaves what was done: this one here has no verdict yet.
    rm "$OUT/students/ann.txt/"{result,rows}
    SALT=x run grade_all
    assert_equal "$(grep -c 'as before' <<<"$output")" 3
    refute_line --regexp '\] ann\.txt: .*as before'
}

@test "the last line says for how many there was no sandbox" {
    for name in ann ben; do whole_log >class/$name.txt; done
    run grade_all
    assert_line --regexp "^2 graded, 0 not, in [0-9]+ s: $OUT/grades.csv$"
    whole_log >class/cem.txt
    CONFINED_BY='no sandbox: limits only' STUDENT=ben run grade_all
    assert_line --regexp "^3 graded, 0 not, in [0-9]+ s, 2 with no sandbox: $OUT/grades.csv$"
}

@test "other points are counted without running anything again" {
    for name in ann ben; do whole_log >class/$name.txt; done
    run grade_all
    echo 'output 7' >points
    POINTS=$PWD/points run grade_all
    assert_success
    assert_equal "$(grep -c '7 of 7 points; .*(as before)' <<<"$output")" 2
    assert_equal "$(cut -d , -f 1,3,4 "$OUT/grades.csv" | paste -sd ' ')" 'student,points,max ann,7,7 ben,7,7'
    assert_equal "$(tail -n 1 "$OUT/students/ann.txt/log")" '7 of 7 points; output only, proves no work'
}

@test "an interrupt in the middle keeps what was graded, and the next call goes on" {
    for name in ann ben cem; do whole_log >class/$name.txt; done
    # The second of them never ends.
    mkdir bin
    printf '#!/bin/sh\ncase $* in *"/ben.txt"*) sleep 60 ;; esac\nexec /usr/bin/env bash "$@"\n' >bin/bash
    sed -i "s|/usr/bin/env bash|$(command -v bash)|" bin/bash
    chmod +x bin/bash
    set -m
    DIR=class LESSON=precision_reduction JOBS=2 PATH=$PWD/bin:$PATH bash "$ROOT/tools/grade_all.sh" >said 2>&1 &
    local pid=$! tries
    # What a result depends on is written last.
    for tries in {1..300}; do [ ! -e "$OUT/students/cem.txt/of" ] || break; sleep 0.1; done
    kill -INT -- -$pid
    set +m
    run wait $pid
    assert_failure
    [ ! -e "$OUT/students/ben.txt/result" ]
    run grade_all
    assert_success
    assert_equal "$(grep 'as before' <<<"$output" | cut -d ' ' -f 4 | sort | paste -sd ' ')" 'ann.txt: cem.txt:'
    assert_equal "$(wc -l <"$OUT/grades.csv")" 4
    assert_equal "$(ls -A "$OUT" | paste -sd ' ')" 'grades.csv students'
}

@test "sources of one exercise, in a folder a student" {
    mkdir -p class/ann class/ben
    # Two files, of which one has the name that is asked for.
    printf 'nothing yet\n' >class/ann/notes.txt
    cp "$ROOT/exercises/precision-2/answer.start" class/ann/answer.txt
    echo 'int main() { }' >class/ben/precision_reduction.cu
    export EXERCISE=2
    run grade_all
    assert_failure 1
    assert_line --partial "] ann: 0 of 10 points; failed"
    assert_line --partial "] ben: not graded: SRC has no file of the kind that is asked for: '$PWD/class/ben'"
    run cat class-grades/precision-2/grades.csv
    assert_line --regexp '^ann,ann,0,10,failed,-,-,-,-,-,no,-,[^,]*: not answered,'
}

@test "what is wrong for all is said once, in one line, and nothing is made" {
    whole_log >class/ann.txt
    touch file
    mkdir none
    while IFS='|' read -r settings message; do
        run env DIR=class LESSON=precision_reduction $settings bash "$ROOT/tools/grade_all.sh"
        assert_output "grade-all: ${message//HERE/$PWD}"
        assert_failure 2
        [ ! -e class-grades ]
    done <<'END'
DIR=|needs DIR=folder: what was handed in, a file or a folder a student
DIR=file|DIR is no folder that can be read: 'file'
DIR=nowhere|DIR is no folder that can be read: 'nowhere'
JOBS=0|JOBS must be a number from 1 on, not '0'
JOBS=many|JOBS must be a number from 1 on, not 'many'
LESSON=x|needs one LESSON: day68_reproducibility, precision_reduction, fpmp_pi or canonical_tree, not 'x'
EXERCISE=9|there is no exercise precision-9
POINTS=/no/such|no file of points: '/no/such'
INTO=file/x|'file/x' cannot be made; INTO=folder names another
END
    DIR=none run grade_all
    assert_output "grade-all: DIR is empty: '$PWD/none'"
    STUDENT=bob run grade_all
    assert_output "grade-all: STUDENT: nothing in '$PWD/class' is called 'bob'"
    INTO=class/out run grade_all
    assert_output "grade-all: INTO lies in DIR, where it would be one more student: '$PWD/class/out'"
}

@test "make grade-all: its settings reach it" {
    whole_log >class/ann.txt
    run env -u MAKEFLAGS -u MAKELEVEL -u DEVICE make -s --no-print-directory -C "$ROOT" BUILD="$BATS_TEST_TMPDIR/b" grade-all LESSON=precision_reduction \
        DIR="$PWD/class" INTO="$PWD/out" JOBS=1
    assert_success
    assert_line "submissions in $PWD/class: 1, 1 at a time"
    [ -s out/grades.csv ]
}
