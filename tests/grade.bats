# One submission is graded: rows, points, reasons (tools/grade.sh, tools/judge.sh). The bad ones: tests/long/grade.bats.
load helper
# shellcheck source=tests/grading/submissions.sh
. "$ROOT/tests/grading/submissions.sh"

SRC=$ROOT/precision_reduction/precision_reduction.cu
# shellcheck disable=SC2034,SC2016,SC1091
setup_file() {
    # The watched runtime, where bats runs this file alone.
    [ -e "$BUILD/cpu/watched/watched_device.o" ] || make -s --no-print-directory -C "$ROOT" DEVICE=cpu judge-tools
}
grade() { bash "$ROOT/tools/grade.sh" --lesson precision_reduction --into "$BATS_TEST_TMPDIR/graded" "$@"; }
result() { sed -n "s/^$1 //p" "$BATS_TEST_TMPDIR/graded/result"; }

@test "the lesson's program under a strange name gets all points, and the result is for programs to read" {
    cp "$SRC" "$BATS_TEST_TMPDIR/-Zoë \"O'Neil\", 1.cu"
    cd "$BATS_TEST_TMPDIR"
    FRESH=7 run grade --src "-Zoë \"O'Neil\", 1.cu"
    assert_success
    assert_line '100 of 100 points; passed'
    assert_line 'input that was not announced: n = 833 and 374432'
    assert_equal "$(cut -d ' ' -f 1 graded/result | tr '\n' ' ')" \
        'student lesson exercise file points max sandbox input compiles gates values fresh flawed exercise_passed output verdict reason '
    assert_equal "$(result student)|$(result points)|$(result max)|$(result verdict)|$(result reason)" "-Zoë \"O'Neil\", 1|100|100|passed|"
    assert_equal "$(cat graded/log)" "$output"
}

@test "the input that was not announced follows from the student's name" {
    local inputs
    # shellcheck disable=SC2034
    inputs=$(for name in Ada Ben Ada; do
        PROGRAM=precision_reduction SEED="$name precision_reduction"
        (. "$ROOT/tools/judge.sh" && fresh_words)
    done)
    assert_equal "$(sort -u <<<"$inputs" | wc -l)" 2
    assert_equal "$(sed -n 1p <<<"$inputs")" "$(sed -n 3p <<<"$inputs")"
}

@test "a compile error is shown with the student's own file and line, and nothing else is asked" {
    run grade --src "$(submission does_not_compile "$BATS_TEST_TMPDIR/a folder")"
    assert_failure 1
    assert_line --partial "does not compile: does_not_compile.cu:5:20: error: 'totel' was not declared"
    assert_line --regexp '^flawed +- +0 of 20 '
    assert_line '0 of 100 points; failed'
}

@test "a gate that passes always is seen on a device with a flaw, with the input and the gate's name" {
    FRESH=1 run grade --src "$(submission gate_redefined "$BATS_TEST_TMPDIR")"
    assert_failure 1
    assert_line --regexp '^values +yes +20 of 20 '
    assert_line --regexp '^flawed +no +0 of 20 '
    assert_line --regexp '^ +on n = [0-9]+ and [0-9]+, on a device with a flaw \(near\), build [a-z]+:$'
    assert_line '             the gate passes and should fail: cancellation: GPU float'
}

@test "what is right for the known input alone has no points for its gates and values" {
    run grade --src "$(submission prints_the_expected "$BATS_TEST_TMPDIR")"
    assert_failure 1
    assert_line --regexp '^gates +no +0 of 30 .*right for the known input alone: not counted$'
    assert_line --regexp '^values +no +0 of 20 .*right for the known input alone: not counted$'
    # At the lesson's own size nothing is missing, in either build.
    assert_regex "$(result reason)" '^n = '
}

@test "an output in place of a source is judged by match, both builds asked for, and marked" {
    for file in precision_reduction precision_reduction_nofmad; do
        echo "== precision_reduction/precision_reduction"
        sed 's/{text}/CPU default, 2 cores/' "$ROOT/expected_output/$file.txt"
    done >"$BATS_TEST_TMPDIR/log.txt"
    run grade --src "$BATS_TEST_TMPDIR/log.txt"
    assert_success
    assert_line '50 of 50 points; output only, proves no work'
    assert_equal "$(result output) $(result verdict)" 'yes output only, proves no work'
    sed 's/ 100000.30149012059 / 100000.30149012058 /' "$BATS_TEST_TMPDIR/log.txt" >"$BATS_TEST_TMPDIR/other.txt"
    run grade --src "$BATS_TEST_TMPDIR/other.txt"
    assert_failure 1
    assert_line --regexp 'found: +many tenths'
    sed '/^contraction: separate/,$d' "$BATS_TEST_TMPDIR/log.txt" | sed '$d' | sed '$d' | sed '$d' | sed '$d' >"$BATS_TEST_TMPDIR/half.txt"
    run grade --src "$BATS_TEST_TMPDIR/half.txt"
    assert_failure 1
    assert_line --partial 'has no output of precision_reduction with separate device code'
    assert_line '0 of 50 points; output only, proves no work'
}

@test "a folder: the file with the program's name, or the only one of its kind; others are not looked at" {
    cd "$BATS_TEST_TMPDIR"
    mkdir -p Ada/code Ada/.git Ben/__MACOSX
    echo 'int main() { return ada; }' >Ada/code/precision_reduction.cu
    touch Ada/{a,b,.c}.cu Ada/.git/precision_reduction.cu
    echo 'int main() { return ben; }' >"Ben/my work.CU"
    touch Ben/notes.txt Ben/__MACOSX/x.cu
    run grade --src Ada
    assert_line 'student: Ada'
    assert_line "file: $PWD/Ada/code/precision_reduction.cu"
    assert_line --partial "'ada' was not declared"
    run grade --src Ben
    assert_line "file: $PWD/Ben/my work.CU"
    assert_line --partial "my work.CU:1:21: error: 'ben' was not declared"
}

@test "a point for another row: the file of points is the instructor's" {
    printf '# mine\ncompiles 1 # both\ngates 2\nvalues 3\nfresh 4\nflawed 5\n' >"$BATS_TEST_TMPDIR/points"
    POINTS=$BATS_TEST_TMPDIR/points run grade --src "$(submission prints_nothing "$BATS_TEST_TMPDIR")"
    assert_failure 1
    assert_line '1 of 15 points; failed'
    while IFS='|' read -r lines message; do
        printf '%b' "$lines" >"$BATS_TEST_TMPDIR/points"
        POINTS=$BATS_TEST_TMPDIR/points run grade --src "$SRC"
        assert_output "grade: $BATS_TEST_TMPDIR/points$message"
        assert_failure 2
    done <<'END'
gates 1\ncompiles\n|:2: a line is a key and a whole number
gates -1\n|:1: a line is a key and a whole number
gate 1\n|:1: no such key: gate
day68-1 1\n|:1: no such key: day68-1
gates 1\ngates 2\n|:2: a second line for gates
gates 1\n| has no line for 'compiles'
END
    POINTS=/no/such run grade --src "$SRC"
    assert_output "grade: no file of points: '/no/such'"
}

@test "bad calls are refused in one line" {
    cd "$BATS_TEST_TMPDIR"
    mkdir folder two
    touch x.c x.txt x.cu two/{a,b}.cu
    head -c 1100000 /dev/zero >large.cu
    while IFS='|' read -r words message; do
        read -ra call <<<"$words"
        run env -u LESSON -u SRC bash "$ROOT/tools/grade.sh" ${call[@]+"${call[@]}"}
        assert_output "grade: ${message//HERE/$PWD}"
        assert_failure 2
    done <<'END'
|needs one LESSON: day68_reproducibility, precision_reduction, fpmp_pi or canonical_tree, not ''
--lesson|--lesson takes a value
--student|--student takes a value
--quick|no such option: '--quick'
--lesson fpmp_pi|needs SRC=file: what was handed in
--lesson fpmp_pi --src nothing.cu|SRC: no such file: 'HERE/nothing.cu'
--lesson fpmp_pi --src folder|SRC has no file of the kind that is asked for: 'HERE/folder'
--lesson fpmp_pi --src two|SRC has 2 sources (*.cu), and not one that is called fpmp_pi.cu: 'HERE/two'
--lesson fpmp_pi --src folder --exercise 1|SRC has no file of the kind that is asked for: 'HERE/folder'
--lesson fpmp_pi --src large.cu --exercise 1|SRC is larger than 1 MiB: 'HERE/large.cu'
--lesson fpmp_pi --src x.cu --exercise 1|exercise pi-1 asks for an answer file (.txt), not 'HERE/x.cu'
--lesson fpmp_pi --src x.txt --exercise 3|exercise pi-3 asks for a source (.cu), not 'HERE/x.txt'
--lesson fpmp_pi --src /dev/null|SRC is no file that can be read: '/dev/null'
--lesson fpmp_pi --src x.txt --into x.c/y|HERE/x.c/y cannot be made
--lesson fpmp_pi --src large.cu|SRC is larger than 1 MiB: 'HERE/large.cu'
--lesson fpmp_pi --src x.c|SRC must end in .cu (a source) or .txt (an answer or an output): 'HERE/x.c'
--lesson fpmp_pi --src x.txt --exercise tree-1|'tree-1' is no exercise of fpmp_pi
--lesson fpmp_pi --src x.txt --exercise 77|there is no exercise pi-77
END
    HOST_FLAGS='' run grade --src x.txt
    assert_output 'grade: run it through make: make grade LESSON=... SRC=...'
}

@test "a reference that does not build is no verdict" {
    run bash -c '
        LESSON=precision_reduction PROGRAM=precision_reduction SRC=x WORK=$1 SEED=x N= CHECKS=
        . "$ROOT/tools/judge.sh"
        reference_output nofmad "-DMANY_TENTHS=)"' bash "$BATS_TEST_TMPDIR"
    assert_output "judge: the lesson's own precision_reduction does not build: -DMANY_TENTHS=)"
    assert_failure 2
}

@test "the first difference has a line of either side, also where several lines in a row are others" {
    difference() { bash -c 'LESSON=x PROGRAM=x SRC=x WORK=x N= CHECKS=; . "$ROOT/tools/judge.sh"; first_difference' <<<"$1"; }
    run difference $'x differs from y\nline 3\n  expected: a  1\n  expected: b\n  found:    c\n  found:    d\nline 9\n  found:    e'
    assert_output 'expected: a  1; found: c'
    run difference $'x differs from y\nline 3\n  expected: a\nline 9\n  found:    e'
    assert_output 'expected: a; found: no such line'
    run difference $'x differs from y\nline 3\n  found:    e'
    assert_output 'expected: no such line; found: e'
    run difference 'match: a.txt: has no program'
    assert_output 'output: has no program'
}

@test "two jobs of one shell may ask for one reference" {
    # A program that ends when it runs twice.
    cat >"$BATS_TEST_TMPDIR/twice.nofmad" <<'END'
#!/bin/bash
echo >>"${0%/*}/runs"
for ((i = 0; i < 600 && $(wc -l <"${0%/*}/runs") < 2; i++)); do sleep 0.1; done
echo whole
exit 3
END
    chmod +x "$BATS_TEST_TMPDIR/twice.nofmad"
    run bash -c '
        LESSON=x PROGRAM=x SRC=x WORK=x N= CHECKS= binary=$1/twice
        . "$ROOT/tools/judge.sh"
        for job in 1 2; do run_reference nofmad & done
        wait
        cd "$1" && cat twice.nofmad.out twice.nofmad.out.status && ls' bash "$BATS_TEST_TMPDIR"
    assert_output 'whole
3
runs
twice.nofmad
twice.nofmad.out
twice.nofmad.out.err
twice.nofmad.out.status'
}

@test "an answer file: empty, a number, a word" {
    ask() {
        bash -c '
            LESSON=precision_reduction PROGRAM=precision_reduction SRC=$1/answer.txt WORK=$1 SEED=x N= CHECKS=
            rm -f "$1/failures"
            . "$ROOT/tools/judge.sh"
            "${@:2}" || cat "$1/failures"' bash "$BATS_TEST_TMPDIR" "$@"
    }
    printf '# how\nn (a size): 4,194,910 \r\nword:  Same\nempty: \nbad: one two\n' >"$BATS_TEST_TMPDIR/answer.txt"
    while IFS='~' read -r call want; do
        eval "run ask $call"
        assert_output "$want"
    done <<'END'
answer 'n (a size)'~4,194,910
answer_number 'n (a size)'~4194910
answer_word word same other~same
answer empty~empty|not answered
answer nowhere~nowhere|not answered
answer_number bad~bad|'one two' is no number
answer_word bad same other~bad|'one two' is none of: same other
END
}

@test "a harness says what is wrong, and a sanitizer's report is a failure" {
    use() { # FUNCTION ...: with the lesson's program; the failures
        bash -c '
            LESSON=precision_reduction PROGRAM=precision_reduction SRC=$2 WORK=$(mktemp -d "$1/w.XXXXXX") SEED=x N= CHECKS=$1
            . "$ROOT/tools/judge.sh"
            "${@:3}" || cat "$WORK/failures"' bash "$BATS_TEST_TMPDIR" "$@"
    }
    cat >"$BATS_TEST_TMPDIR/length.cu" <<'END'
#define PRECISION_REDUCTION_NO_MAIN
#include SUBMISSION
#include "check_is_done.h"
int main(int argc, char** argv) {
    if (argc == 2 && blocksFor(atoll(argv[1])) == WANT) return checkIsDone();
    printf("n = %s|wrong number of blocks\n", argv[1]);
    return 1;
}
END
    run use "$SRC" harness "$BATS_TEST_TMPDIR/length.cu" small -DWANT=2 -- 257
    assert_output ''
    run use "$SRC" harness "$BATS_TEST_TMPDIR/length.cu" small -DWANT=3 -- 257
    assert_output 'n = 257|wrong number of blocks'
    # Whoever ends the program before the harness does has no verdict.
    printf '\n#include <unistd.h>\nstatic struct Early { Early() { _exit(EARLY); } } early;\n' | cat "$SRC" - >"$BATS_TEST_TMPDIR/early.cu"
    run use "$BATS_TEST_TMPDIR/early.cu" harness "$BATS_TEST_TMPDIR/length.cu" small -DWANT=2 -DEARLY=0 -- 257
    assert_output 'small|ended with status 0 before the check was done'
    run use "$BATS_TEST_TMPDIR/early.cu" harness "$BATS_TEST_TMPDIR/length.cu" small -DWANT=2 -DEARLY=1 -- 257
    assert_output 'small|ended with status 1'
    HARNESS=$BATS_TEST_TMPDIR/length.cu run use "$BATS_TEST_TMPDIR/early.cu" sanitized address small -DWANT=2 -DEARLY=0
    assert_output 'small, SANITIZE=address|ended with status 0 before the check was done'
    sed 's/i < n ? (Acc)in\[i\]/i <= n ? (Acc)in[i]/' "$SRC" >"$BATS_TEST_TMPDIR/reads.cu"
    run use "$BATS_TEST_TMPDIR/reads.cu" sanitized address small -DMANY_TENTHS=1003
    assert_output --regexp '^small, SANITIZE=address\|.*ERROR: AddressSanitizer: heap-buffer-overflow'
    run use "$SRC" sanitized address small -DMANY_TENTHS=1003
    assert_output ''
    # What another make says, that it waits for one, is no part of a verdict; that it fails ends the check.
    printf '#!/bin/sh\necho "$SAYS" >&2\nexit $ENDS\n' >"$BATS_TEST_TMPDIR/make"
    chmod +x "$BATS_TEST_TMPDIR/make"
    rm "$BUILD/cpu-address/built"
    SAYS='waiting for another make' ENDS=0 MAKE=$BATS_TEST_TMPDIR/make run use "$SRC" sanitized address small -DMANY_TENTHS=1003
    assert_output ''
    SAYS='no compiler' ENDS=2 MAKE=$BATS_TEST_TMPDIR/make run use "$SRC" sanitized none small
    assert_failure 2
    assert_output $'no compiler\njudge: the CPU default does not build with SANITIZE=none'
    refute [ -e "$BUILD/cpu-none/built" ]
}

@test "the watched device logs launches, copies and events, and reports the multiprocessors it is told" {
    cat >"$BATS_TEST_TMPDIR/x.cu" <<'END'
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
__global__ void fill(int* x) { x[threadIdx.x] = 7; }
int main() {
    int* x;
    int back[32], count;
    float ms;
    cudaEvent_t a, b;
    cudaDeviceProp prop;
    cudaMalloc(&x, sizeof back);
    cudaEventCreate(&a);
    cudaEventCreate(&b);
    cudaEventRecord(a);
    fill<<<2, 32>>>(x);
    cudaEventRecord(b);
    cudaEventSynchronize(b);
    cudaEventElapsedTime(&ms, a, b);
    cudaMemcpy(back, x, sizeof back, cudaMemcpyDeviceToHost);
    cudaMemcpy(back, x, sizeof back, cudaMemcpyDeviceToHost);
    cudaDeviceSynchronize();
    cudaGetDeviceProperties(&prop, 0);
    cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, 0);
    printf("%d %d %d %d %s\n", back[0], back[31], prop.multiProcessorCount, count, getenv("WATCH_FLAW") ? "known" : "unknown");
}
END
    DEVICE=cpu RUNTIME=$BUILD/cpu/watched compile "$BATS_TEST_TMPDIR/x.cu" "$BATS_TEST_TMPDIR/x" nofmad
    WATCH_FLAW=one WATCH_MULTIPROCESSORS=46 WATCH_LOG=$BATS_TEST_TMPDIR/log run "$BATS_TEST_TMPDIR/x"
    assert_output '7 1065353216 46 46 unknown'
    assert_equal "$(paste -sd, "$BATS_TEST_TMPDIR/log")" \
        'record 1,launch fill 2x32,record 2,synchronize,read time,copy DeviceToHost 128,copy DeviceToHost 128,synchronize'
}

@test "the watched device: which copies a flaw reaches" {
    cat >"$BATS_TEST_TMPDIR/x.cu" <<'END'
#include <cuda_runtime.h>
#include <cstdio>
__global__ void probeContraction(float* x) { x[threadIdx.x] = 1.0f; }
__global__ void fill(float* x) { x[threadIdx.x] = 1.0f; }
int main() {
    float *x, back[32], one;
    cudaMalloc(&x, sizeof back);
    probeContraction<<<1, 32>>>(x);
    cudaMemcpy(&one, x, sizeof one, cudaMemcpyDeviceToHost);
    printf("head %.9g", one);
    fill<<<1, 32>>>(x);
    for (int copy = 0; copy < 3; ++copy) {
        cudaMemcpy(back, x, sizeof back, cudaMemcpyDeviceToHost);
        cudaMemcpy(&one, x, sizeof one, cudaMemcpyDeviceToHost);
        printf(", %.9g %.9g %.9g", back[0], back[30], one);
    }
}
END
    DEVICE=cpu RUNTIME=$BUILD/cpu/watched compile "$BATS_TEST_TMPDIR/x.cu" "$BATS_TEST_TMPDIR/x" nofmad
    while IFS='|' read -r flaw want; do
        WATCH_FLAW=$flaw run "$BATS_TEST_TMPDIR/x"
        assert_equal "$flaw: $output" "$flaw: head 1, $want"
    done <<'END'
none|1 1 1, 1 1 1, 1 1 1
bit|1 1 1, 1 1.00000012 1.00000012, 1 1 1
partial|1 1 1, 1 1.00000012 1, 1 1 1
far|1 1 1, 1.00003052 1 1.00003052, 1 1 1
close|1.00000763 1 1.00000763, 1.00000763 1 1.00000763, 1.00000763 1 1.00000763
every|1 1.00000012 1.00000012, 1 1.00000012 1.00000012, 1 1.00000012 1.00000012
flat|1600 1600 1600, 1600 1600 1600, 1600 1600 1600
END
}

@test "a gate of nothing from the device that passes always is named in the log, and costs no points" {
    local line
    line=$(grep -n 'gate(passes(1.5, 1.0, 0.5)' "$SRC" | cut -d : -f 1)
    sed 's/gate(passes(1.5, 1.0, 0.5)/gate(true/' "$SRC" >"$BATS_TEST_TMPDIR/true.cu"
    run grade --src "$BATS_TEST_TMPDIR/true.cu"
    assert_success
    assert_line "calls of gate() that the lesson does not have, to be looked at by hand: line $line"
    run grade --src "$SRC"
    assert_success
    refute_output --partial 'by hand'
}

@test "fpmp_pi: each limit of the digits is looked at, and a NaN, without computing 2^26 terms" {
    look() { # EDIT: the failures of the lesson's program with it
        sed "$1" "$ROOT/fpmp_pi/fpmp_pi.cu" >"$BATS_TEST_TMPDIR/pi.cu"
        bash -c '
            LESSON=fpmp_pi PROGRAM=fpmp_pi SRC=$1/pi.cu WORK=$(mktemp -d "$1/w.XXXXXX") SEED=x N= CHECKS=
            . "$ROOT/tools/judge.sh"
            flawed_at_lesson_size || sed "s/.*build nofmad|//" "$WORK/failures"' bash "$BATS_TEST_TMPDIR"
    }
    while IFS='|' read -r edit want; do
        run look "$edit"
        assert_equal "$edit: $output" "$edit: $want"
    done <<'END'
s,more than float has,more than it has,|
s,row.digits >= range.least &&,,|the gate passes and should fail: double: 14.5 to 15.1 digits
s,&& row.digits <= range.most,,|the gate passes and should fail: float: 2.9 to 3.2 digits
s,row.digits >= range.least &&,!(row.digits < range.least) \&\&,; s,row.digits <= range.most,!(row.digits > range.most),|the gate passes and should fail: double: 14.5 to 15.1 digits
s,17.2\, 17.5,17.2\, 99.0,|the gate is not there: double_pair: 17.2 to 17.5 digits
END
}

@test "make grade: rows, status, and on the CPU default whatever else is here" {
    run env -u MAKEFLAGS -u MAKELEVEL -u DEVICE make -s --no-print-directory -C "$ROOT" BUILD="$BATS_TEST_TMPDIR/b" grade LESSON=precision_reduction \
        SRC="$(submission prints_nothing "$BATS_TEST_TMPDIR")"
    assert_failure 2 # make's own, of any failure
    assert_line '10 of 100 points; failed'
    assert_line --partial 'printed nothing and ended with status 0'
}
