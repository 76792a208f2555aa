# tools/run.sh and tools/expected.sh over stand-in programs: what they make of each output and status.
load helper

setup_file() { "$CC" -std=c11 -O1 "$ROOT/tools/match.c" -o "$BATS_FILE_TMPDIR/match"; }

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    mkdir -p b/tools b/cpu/fmad b/cpu/nofmad expected_output
    cp "$BATS_FILE_TMPDIR/match" b/tools/match
    ln -s "$ROOT/tools" tools
    unset DEFS PI_FP_T PI_FP_HEADER PI_LOG2_TERMS SANITIZE LESSON_GIVEN V NO_COLOR LESSONS ACCEPT
}

# text NAME LAST-DIGIT LAST-LINE: the fused build's output.
text() {
    printf '%s\n' "program: x/$1" 'revision: 1' 'device: d' 'contraction: fused' 'n: 3' '' \
        'row   first bits  time' "tree  0x0000000$2  0.5" 'sum   0x00000007  0.5' "run hash: 0x000000000000000$2" '' "$3"
}
# pin NAME TEXT: the expected files of both builds.
pin() {
    sed 's/^device: .*/device: {text}/; s/ 0\.5$/ {time}/' <<<"$2" >"expected_output/$1.txt"
    sed 's/fused/separate/' "expected_output/$1.txt" >"expected_output/$1_nofmad.txt"
}
# stand_in NAME STATUS TEXT STDERR: a program that prints that, in both builds.
stand_in() {
    printf '%s' "$3" >"$1.fmad.text"
    sed 's/fused/separate/' "$1.fmad.text" >"$1.nofmad.text"
    for build in fmad nofmad; do
        printf '#!/bin/sh\ncat "%s"\nprintf "%%s" "%s" >&2\nexit %s\n' "$PWD/$1.$build.text" "${4:-}" "$2" >"b/cpu/$build/$1"
        chmod +x "b/cpu/$build/$1"
    done
}
good() {
    pin "$1" "$(text "$1" 1 'gates passed: 1')"
    stand_in "$1" 0 "$(text "$1" 1 'gates passed: 1')"
}
environment() { env ROOT="$PWD" BUILD="$PWD/b" DEVICE="${DEVICE_GIVEN:-cpu}" DEVICE_WHY=test FMA="${FMA_GIVEN:-yes}" "$@"; }
programs() { run environment bash "$ROOT/tools/run.sh" "$@"; }

@test "run: passed and as expected; a pipe gets no progress line, no colour and no whole output" {
    good good
    programs x/good
    assert_success
    assert_line --index 0 'device: cpu (test)'
    assert_line 'program              build   gates      run hash            partials hash       expected'
    assert_line 'good                 fmad    passed 1   0x0000000000000001  -                   as expected'
    assert_line '                     builds             same                -                   same, -'
    assert_line 'whole outputs: b/cpu/fmad/NAME.txt, b/cpu/nofmad/NAME.txt'
    assert_equal "${#lines[@]}" 6
    run diff good.fmad.text b/cpu/fmad/good.txt
    assert_success
    run diff good.nofmad.text b/cpu/nofmad/good.txt
    assert_success
}

@test "run: on a terminal one progress line that goes, and colour unless NO_COLOR" {
    script --version >/dev/null 2>&1 || skip "no script (Debian: apt-get install bsdutils)"
    good good
    # shellcheck disable=SC2016 # the inner shell's own
    on_terminal() { run environment PROGRAM=x/good "$@" RUN="$ROOT/tools/run.sh" script -qec 'bash "$RUN" $PROGRAM' /dev/null; }
    on_terminal TERM=xterm
    assert_success
    assert_output --partial $'\r\e[Krunning good, build fmad\r\e[K'
    assert_output --partial $'\e[32mgood '
    refute_output --partial $'\e[31m'
    on_terminal NO_COLOR=1
    assert_success
    refute_output --partial $'\e[3'

    # Red: the build whose hash is off, and the row that says that the two builds now differ.
    good off
    sed -i '/^run hash/s/1$/2/' off.fmad.text
    on_terminal TERM=xterm PROGRAM=x/off
    assert_failure 1
    assert_output --partial $'\e[31moff                  fmad '
    assert_output --partial $'\e[32moff                  nofmad '
    assert_output --partial $'\e[31m                     builds             different           -                   same, -\e[0m'
}

@test "run: V=1 and a named lesson print whole outputs; match takes the log apart" {
    good good
    V=1 programs x/good
    assert_success
    assert_line '== x/good, build fmad'
    assert_line 'contraction: separate'
    assert_line '== x/good, build nofmad: passed 1, as expected'
    printf '%s\n' "$output" >log.txt
    run b/tools/match expected_output log.txt
    assert_success
    assert_equal "${#lines[@]}" 2
    sed '/contraction: separate/,$s/^sum   0x00000007/sum   0x00000008/' log.txt >bad.txt
    run b/tools/match expected_output bad.txt
    assert_failure 1
    assert_line --partial 'bad.txt, line 4, x/good matches expected_output/good.txt'
    assert_line --partial 'x/good differs from expected_output/good_nofmad.txt'
}

@test "run: one lesson ends with the next step, and where something failed with the symptoms" {
    good good
    mkdir x
    printf '## What was found and why\n\n## Symptoms and where to look\n' >x/README.md
    LESSONS='x y' LESSON_GIVEN=x programs x/good
    assert_success
    assert_line 'next: read x/README.md, section "What was found and why", then its exercises; the next lesson: make run LESSON=y'
    stand_in good 0 "$(text good 2 'gates passed: 1')"
    LESSONS='x y' LESSON_GIVEN=x programs x/good
    assert_failure 1
    assert_line 'next: read x/README.md, section "Symptoms and where to look"'
}

@test "run: a pinned value that is off is 1; the lines are shown, and the column by its name" {
    good off
    stand_in off 0 "$(text off 2 'gates passed: 1')"
    programs x/off
    assert_failure 1
    assert_line --regexp '^off +fmad +passed 1 .* DIFFERS; 2 lines moved$'
    assert_line '== x/off, build fmad: passed 1, DIFFERS'
    assert_line '  expected: tree  0x00000001  {time}'
    assert_line '  pinned: tree  0x00000001  {time}'
    assert_line '  found:  tree  0x00000002  0.5'
    assert_line '    first bits: 0x00000001 -> 0x00000002'
    assert_line '  found:  run hash: 0x0000000000000002'
    PI_LOG2_TERMS=20 programs x/off # fpmp_pi's alone
    assert_failure 1
}

@test "run: with other parameters what moved is shown after the output, and is no fault; a failed gate is" {
    good off
    stand_in off 0 "$(text off 2 'gates passed: 1')"
    DEFS=-DRUNS=5 programs x/off
    assert_success
    assert_line --regexp '^off +fmad +passed 1 .* nothing pinned for this; 2 lines moved$'
    assert_line '    first bits: 0x00000001 -> 0x00000002'
    # Another n: nothing is pinned for it, and still what moved is shown; V=1: below the output.
    stand_in off 0 "$(text off 2 'gates passed: 1' | sed 's/^n: 3/n: 4/')"
    DEFS=-DN=4 V=1 programs x/off
    assert_success
    assert_line --regexp '^off +fmad +passed 1 .* nothing pinned for this; 2 lines moved$'
    printf '%s\n' "$output" | awk '/^tree  0x00000002/ { shown = 1 } /first bits: .* ->/ { below = shown; exit } END { exit !below }'
    stand_in off 1 "$(text off 2 'gate: a FAILED')"
    DEFS=-DRUNS=5 programs x/off
    assert_failure 1
    assert_line --regexp '^off +fmad +FAILED 1 '
}

@test "run: another pinned size is as expected, and the builds are compared by its files" {
    good size
    for file in size size_nofmad; do
        sed 's/^n: 3/n: 4/; s/0001$/0005/; s/00001  /00005  /' "expected_output/$file.txt" >"expected_output/${file}_4.txt"
    done
    sed -i '/^run hash/s/1$/9/' expected_output/size_nofmad.txt # the default size alone differs between builds
    stand_in size 0 "$(text size 5 'gates passed: 1' | sed 's/^n: 3/n: 4/')"
    DEFS=-DN=4 programs x/size
    assert_success
    assert_line --regexp '^size +nofmad +passed 1 .* as expected$'
    assert_line --regexp '^ +builds +same +- +same, -$'
}

@test "run: fpmp_pi's own variables are other parameters, for its programs alone" {
    local parameter
    pin pi "$(text pi 1 'gates passed: 1')"
    stand_in pi 0 "$(text pi 2 'gates passed: 1')"
    programs fpmp_pi/pi
    assert_failure 1
    for parameter in PI_FP_T=double_pair 'PI_FP_HEADER=<h>' PI_LOG2_TERMS=17 DEFS=-DX; do
        run environment "$parameter" bash "$ROOT/tools/run.sh" fpmp_pi/pi
        assert_success
        assert_line --regexp '^pi +fmad +passed 1 .* nothing pinned for this; 2 lines moved$'
    done
    for parameter in PI_FP_T=double_pair 'PI_FP_HEADER=<h>' PI_LOG2_TERMS=17; do
        run environment "$parameter" bash "$ROOT/tools/run.sh" x/pi
        assert_failure 1
        assert_line --regexp '^pi +fmad +passed 1 .* DIFFERS; 2 lines moved$'
    done
}

@test "run: nothing pinned is 1 with the default parameters; a free hash says nothing between builds" {
    stand_in bare 0 "$(text bare 1 'gates passed: 1')"
    programs x/bare
    assert_failure 1
    assert_line --regexp '^bare +fmad .* NOTHING PINNED$'
    assert_line --partial 'nothing is pinned for x/bare, fused, n 3'
    DEFS=-DN=3 programs x/bare
    assert_success
    assert_line --regexp '^bare +fmad .* nothing pinned for this$'
    good free
    sed -i 's/^run hash: .*/run hash: {hash}/' expected_output/free*.txt
    programs x/free
    assert_success
    assert_line --regexp '^ +builds +same +- +-, -$'
}

@test "run: a failed gate is 1, in full" {
    good bad
    stand_in bad 1 "$(text bad 1 'gate: a FAILED')" 'gate failed: a: b'
    programs x/bad
    assert_failure 1
    assert_line --regexp '^bad +fmad +FAILED 1 .* DIFFERS'
    assert_line 'gate: a FAILED'
    assert_line --partial 'gate failed: a: b'
}

@test "run: a build that is not contracted as it was built to be is 1" {
    good lost
    cp b/cpu/nofmad/lost b/cpu/fmad/lost
    programs x/lost
    assert_failure 1
    assert_line --regexp '^lost +fmad .* NOT fused$'
}

@test "run: no verdict is never a success, whatever the parameters" {
    good early
    stand_in early 0 "$(text early 1 'gate: a passed')"
    for defs in '' -DN=4; do
        DEFS=$defs programs x/early
        assert_failure 2
        assert_line --regexp '^early +fmad +ERROR .* no verdict'
    done
}

@test "run: an error, a crash and a program that did not build are 2, each by name, and hide no other" {
    good good
    stand_in broken 2 '' 'x.cu:1: cudaMalloc: error 2'
    stand_in crash 0 ''
    printf '#!/bin/sh\nprintf part\nkill -SEGV $$\n' >b/cpu/fmad/crash
    cp b/cpu/fmad/crash b/cpu/nofmad/crash
    V=1 programs x/broken x/crash x/absent x/good
    assert_failure 2
    assert_line --regexp '^broken +fmad +ERROR 2 .* x.cu:1: cudaMalloc: error 2$'
    assert_line --regexp '^crash +fmad +ERROR 139 .* ended by signal SIGSEGV$'
    assert_line --regexp '^absent +nofmad +ERROR .* did not build$'
    assert_line --regexp '^good +nofmad +passed 1 .* as expected$'
    # In the log each of them is named as a part without an output.
    printf '%s\n' "$output" >log.txt
    run b/tools/match expected_output log.txt
    assert_failure 2
    assert_line 'match: log.txt: no output after `== x/broken, build fmad`'
    assert_line 'match: log.txt: no output after `== x/absent, build nofmad`'
}

@test "run: an output of an earlier run does not stand for one that did not build" {
    good gone
    programs x/gone
    rm b/cpu/fmad/gone
    programs x/gone
    assert_failure 2
    assert_line --regexp '^gone +fmad +ERROR +- '
    [ ! -e b/cpu/fmad/gone.txt ]
}

@test "run: advice for CUDA errors 209 and 222, and for a skip" {
    for error in 209 222; do
        stand_in old 2 '' "x.cu:1: k: error $error (cudaError): text"
        programs x/old
        assert_failure 2
        assert_line --partial 'try: make run ARCH=sm_NN, which builds for the card itself (make doctor names it)'
    done
    stand_in none 77 '' 'skipped: no usable CUDA device'
    programs x/none
    assert_failure 77
    assert_line --regexp '^none +fmad +skipped +- +- +skipped: no usable CUDA device$'
    assert_line 'skipped for want of a card: try: make run DEVICE=cpu'
    assert_line 'every program was skipped, so nothing was shown'
    good good
    programs x/none x/good
    assert_success
    refute_output --partial 'every program was skipped'
}

@test "run: without FMA the fused build is left out by name" {
    good good
    FMA_GIVEN=no programs x/good
    assert_success
    assert_line --regexp '^good +fmad +left out .*this CPU has no FMA$'
}

# ---- tools/moved.awk --------------------------------------------------------------------------

@test "moved: values by their column, lines without a counterpart, neither heads nor free fields" {
    cat >pinned <<'END'
program: x/y
n: 3

kernel  sum   bits        time
tree    1.5   0x00000001  {time}
plain   2.5   0x00000002  {time}
gone    3.5   0x00000003  {time}

value: 7
lost: 8
END
    moved() { run env LC_ALL=C awk -f "$ROOT/tools/moved.awk" pinned found; }
    cp pinned found
    moved
    assert_output '0 lines moved, 0 without a counterpart'
    sed 's/{time}/1.0/; s/0x00000002/0x00000009/; s/^gone .*/new     3.5   0x00000003  1.0/; s/n: 3/n: 4/
        s/value: 7/value: 9/; /^lost/d; s/$/\r/' pinned >found
    moved
    assert_output '  pinned: plain   2.5   0x00000002  {time}
  found:  plain   2.5   0x00000009  1.0
    bits: 0x00000002 -> 0x00000009
  only found:  new     3.5   0x00000003  1.0
  pinned: value: 7
  found:  value: 9
  only pinned: gone    3.5   0x00000003  {time}
  only pinned: lost: 8
2 lines moved, 3 without a counterpart'
}

# ---- tools/expected.sh ------------------------------------------------------------------------

expected() { run environment bash "$ROOT/tools/expected.sh" "$@"; }
# The folder as one string, to show that nothing changed.
state() { (cd expected_output && find . -type f | sort | xargs cksum); }

@test "expected: records both builds; with ACCEPT=1 free fields stay and old and new are shown" {
    good good
    expected x/good
    assert_success
    run diff good.fmad.text "expected_output/recorded/good.cpu.$(uname -m).txt"
    assert_success
    run diff good.nofmad.text "expected_output/recorded/good_nofmad.cpu.$(uname -m).txt"
    assert_success
    stand_in good 0 "$(text good 3 'gates passed: 1')"
    before=$(cat expected_output/good.txt)
    expected x/good
    assert_equal "$(cat expected_output/good.txt)" "$before"
    ACCEPT=1 expected x/good
    assert_success
    assert_line --regexp 'run hash: 0x0000000000000001[[:space:]]+\|[[:space:]]+run hash: 0x0000000000000003'
    run cat expected_output/good.txt
    assert_line 'device: {text}'
    assert_line 'sum   0x00000007  {time}'
    assert_line 'tree  0x00000003  0.5'
    run cat expected_output/good_nofmad.txt
    assert_line 'contraction: separate'
    assert_line 'tree  0x00000003  0.5'
    run ls -A expected_output
    refute_output --partial '.new'
}

@test "expected: the recorded name is the card's, the toolkit's and its architecture; the recording is raw" {
    good good
    mv b/cpu b/gpu
    printf '#!/bin/sh\nprintf "driver=13000\\nname=NVIDIA H200 (TM)\\narch=sm_90\\n"\n' >b/tools/gpu_probe
    printf '#!/bin/sh\necho "Cuda compilation tools, release 13.0, V13.0.88"\n' >nvcc
    chmod +x b/tools/gpu_probe nvcc
    run environment DEVICE=gpu NVCC="$PWD/nvcc" ARCH=sm_90 bash "$ROOT/tools/expected.sh" x/good
    assert_success
    assert_output 'written: expected_output/recorded/good.nvidia_h200_tm.cuda13.0.sm_90.txt
written: expected_output/recorded/good_nofmad.nvidia_h200_tm.cuda13.0.sm_90.txt'
    run diff good.nofmad.text expected_output/recorded/good_nofmad.nvidia_h200_tm.cuda13.0.sm_90.txt
    assert_success
}

@test "expected: a program's first expected file is new; what fits stays; without FMA one build is left out" {
    good good
    rm expected_output/good.txt
    ACCEPT=1 expected x/good
    assert_success
    assert_line 'good: expected_output/good.txt is new; write its free fields where a value may legally differ'
    assert_line 'good_nofmad: expected_output/good_nofmad.txt stays as it is'
    run diff good.fmad.text expected_output/good.txt
    assert_success
    rm -r expected_output/*
    ACCEPT=1 FMA_GIVEN=no expected x/good
    assert_success
    assert_line 'good: left out: this CPU has no FMA'
    run ls expected_output expected_output/recorded
    assert_output "expected_output:
good_nofmad.txt
recorded

expected_output/recorded:
good_nofmad.cpu.$(uname -m).txt"
}

@test "expected: other parameters are refused in one line, and nothing is written" {
    good good
    before=$(state)
    for parameter in DEFS=-DN=4 PI_FP_T=double_pair 'PI_FP_HEADER=<h>' PI_LOG2_TERMS=17 SANITIZE=address; do
        ACCEPT=1 run environment "$parameter" bash "$ROOT/tools/expected.sh" x/good
        assert_failure 2
        assert_equal "${#lines[@]}" 1
        assert_output "make expected records the default parameters alone, not ${parameter%%=*}='${parameter#*=}'"
    done
    assert_equal "$(state)" "$before"
}

@test "expected: a program that does not pass, is absent or gives no verdict leaves the old set" {
    good first
    stand_in first 0 "$(text first 3 'gates passed: 1')"
    before=$(state)
    for code in 1 2 77 139; do
        stand_in second "$code" "$(text second 1 'gates passed: 1')"
        ACCEPT=1 expected x/first x/second
        assert_failure 1
        assert_line "second, build fmad: did not pass (status $code); nothing was recorded"
    done
    stand_in second 0 "$(text second 1 'gate: a passed')"
    ACCEPT=1 expected x/first x/second
    assert_failure 1
    ACCEPT=1 expected x/first x/absent
    assert_failure 2
    assert_line 'absent, build fmad: not built; nothing was recorded'
    assert_equal "$(state)" "$before"
}

@test "expected: stopped half-way it leaves the old set" {
    good first
    stand_in first 0 "$(text first 3 'gates passed: 1')"
    before=$(state)
    mkfifo started
    for build in fmad nofmad; do
        printf '#!/bin/sh\necho yes >"%s"\nsleep 1\n' "$PWD/started" >"b/cpu/$build/slow"
        chmod +x "b/cpu/$build/slow"
    done
    ACCEPT=1 ROOT=$PWD BUILD=$PWD/b DEVICE=cpu FMA=yes bash "$ROOT/tools/expected.sh" x/first x/slow 3>&- &
    read -r _ <started
    kill -TERM $!
    stopped=0
    wait $! || stopped=$?
    assert_equal "$stopped" 143
    assert_equal "$(state)" "$before"
    run ls -A expected_output
    refute_output --partial '.new'
}

@test "expected: stopped while the files are moved, it moves them all" {
    good first
    local signal mv
    mv=$(command -v mv)
    mkdir bin
    for signal in TERM INT HUP; do
        stand_in first 0 "$(text first 3 'gates passed: 1')"
        # Each mv first sends the signal to the script that called it.
        printf '#!/bin/sh\nkill -%s $PPID\nexec "%s" "$@"\n' $signal "$mv" >bin/mv
        chmod +x bin/mv
        ACCEPT=1 run environment PATH="$PWD/bin:$PATH" bash "$ROOT/tools/expected.sh" x/first
        assert_success
        assert_equal "$(grep -c '^written: ' <<<"$output")" 4
        grep -qx 'run hash: 0x0000000000000003' expected_output/first_nofmad.txt
        run ls -A expected_output
        refute_output --partial '.new'
    done
}
