# The Makefile: exact dependencies, quoting, refusals, and two makes at once.
load helper

# The CPU default's runtime, built once: most tests need it there, and none is about it.
setup_file() {
    local b=$BATS_FILE_TMPDIR/b
    env -i PATH="$PATH" HOME="$BATS_FILE_TMPDIR" make -s -C "$ROOT" DEVICE=cpu BUILD="$b" \
        "$b/tools/cu_rewrite" "$b/cpu/runtime/api.o" "$b/cpu/runtime/engine.o"
}

setup() {
    export LOG=$BATS_TEST_TMPDIR/log
    : >"$LOG"
    # A stand-in for g++ and nvcc that notes each compile and writes a file: dependencies need no real one.
    cat >"$BATS_TEST_TMPDIR/cxx" <<'END'
#!/bin/sh
case " $* " in
    *' --version '* | *' -dumpmachine '*) exec g++ "$@" ;;
    *' --list-gpu-code '*) echo sm_75; echo sm_90; exit ;;
    *"$FAIL"*) [ -z "$FAIL" ] || exit 1 ;;
esac
for arg; do [ "$previous" != -o ] || out=$arg; previous=$arg; done
case $out in */fmad/* | */nofmad/*) echo "$*" >>"$LOG" ;; esac
: >"$out"
chmod +x "$out"
END
    chmod +x "$BATS_TEST_TMPDIR/cxx"
    cp "$BATS_TEST_TMPDIR/cxx" "$BATS_TEST_TMPDIR/other"
}
# mk args: make with nothing of `make check` in its environment, in a build folder of its own.
clean_env() { env -i PATH="$PATH" HOME="$BATS_TEST_TMPDIR" LOG="$LOG" FAIL="${FAIL:-}" NVCC_APPEND_FLAGS="${APPEND:-}" "$@"; }
mk() { clean_env make --no-print-directory -j2 -C "$ROOT" BUILD="$BATS_TEST_TMPDIR/b" "$@"; }
# with_runtime: the build folder, where there is none yet, begins with that runtime.
with_runtime() { [ -e "$BATS_TEST_TMPDIR/b" ] || cp -a "$BATS_FILE_TMPDIR/b" "$BATS_TEST_TMPDIR/b"; }
day68() { with_runtime && mk DEVICE=cpu LESSON=day68_reproducibility CXX="$BATS_TEST_TMPDIR/cxx" "$@"; }
compiles() { grep -c . "$LOG" || true; }
# A copy of what a build needs, in a folder of that name: copy NAME.
copy() {
    mkdir "$BATS_TEST_TMPDIR/$1"
    (cd "$ROOT" && tar -cf - Makefile cpu tools expected_output day68_reproducibility precision_reduction) | tar -xf - -C "$BATS_TEST_TMPDIR/$1"
}
in_copy() { clean_env make --no-print-directory -C "$BATS_TEST_TMPDIR/$1" DEVICE=cpu "${@:2}"; }

@test "a second make builds nothing, and says nothing" {
    day68
    assert_equal "$(compiles)" 2
    run day68
    assert_success
    assert_output ''
    assert_equal "$(compiles)" 2
}

@test "a line per file; V=1 shows the whole compile" {
    run day68
    assert_line 'CXX reproducibility (fmad)'
    assert_line 'CXX reproducibility (nofmad)'
    refute_output --partial ffp-contract
    run day68 V=1 DEFS=-DRUNS=2
    assert_output --partial 'ffp-contract=off'
    assert_output --partial '-DCUDA_CPU_FMAD=0'
}

@test "changed DEFS, CXX or SANITIZE rebuilds, and so does going back" {
    day68
    day68 DEFS=-DRUNS=2
    assert_equal "$(compiles)" 4
    assert_equal "$(grep -c -e -DRUNS=2 "$LOG")" 2
    day68
    assert_equal "$(compiles)" 6
    day68 CXX="$BATS_TEST_TMPDIR/other"
    assert_equal "$(compiles)" 8
    day68 CXX="$BATS_TEST_TMPDIR/other" SANITIZE=address
    assert_equal "$(compiles)" 10
    assert_equal "$(grep -c -e -fsanitize=address "$LOG")" 2
}

@test "changed CC rebuilds the CPU default's runtime, and with it the programs" {
    day68 CC="$BATS_TEST_TMPDIR/cxx"
    first=$(compiles)
    run day68 CC="$BATS_TEST_TMPDIR/other" # of the same version
    assert_output --partial 'CC engine.c'
    assert_equal "$(compiles)" $((2 * first))
    run day68 CC="$BATS_TEST_TMPDIR/other"
    assert_output ''
}

@test "fpmp_pi's own variables rebuild its programs alone" {
    all() { with_runtime && mk DEVICE=cpu CXX="$BATS_TEST_TMPDIR/cxx" "$@"; }
    all
    first=$(compiles)
    all PI_LOG2_TERMS=20
    assert_equal "$(compiles)" $((first + 4))
}

# flags BUILD NAME: what the compile of that program was given, up to what names files; in $LOG once.
flags() {
    grep -c "/$1/$2 " "$LOG" | grep -qx 1 || { echo "$1/$2 was not compiled once"; return; }
    sed -n "/\\/$1\\/$2 /s/ -MMD .*//p" "$LOG"
}

@test "nvcc: the exact flags of each build, and what rebuilds" {
    gpu() { mk DEVICE=gpu LESSON='day68_reproducibility canonical_tree' NVCC="$BATS_TEST_TMPDIR/cxx" ARCH=sm_75 "$@"; }
    gpu
    local first name openmp='' host='-std=c++17 -O3 -Xcompiler -ffp-contract=off'
    [ "$OPENMP" = no ] || openmp=' -Xcompiler -fopenmp'
    first=$(compiles)
    assert_equal "$first" 10
    for name in canonical_tree wrong_orders fused_tree tree_in_graph; do
        assert_equal "$(flags fmad $name)" "-arch=sm_75 $host$openmp"
        assert_equal "$(flags nofmad $name)" "-arch=sm_75 -fmad=false $host$openmp"
    done
    assert_equal "$(flags fmad reproducibility)" "-arch=sm_75 $host"
    assert_equal "$(flags nofmad reproducibility)" "-arch=sm_75 -fmad=false $host"
    gpu
    assert_equal "$(compiles)" "$first"
    gpu ARCH=sm_90
    assert_equal "$(compiles)" $((2 * first))
    APPEND=-lineinfo gpu ARCH=sm_90
    assert_equal "$(compiles)" $((3 * first))
    : >"$LOG"
    gpu ARCH=sm_90 CXX=g++ DEFS='-DRUNS=2 -fmad=false -fno-builtin' LESSON=day68_reproducibility
    assert_equal "$(flags fmad reproducibility)" \
        "-ccbin g++ -arch=sm_90 $host -DRUNS=2 -fmad=false -Xcompiler -fno-builtin"
    run gpu ARCH=sm_12
    assert_failure 2
    assert_output --partial "unknown ARCH 'sm_12'"
}

@test "the CPU's builds: the exact flags of each" {
    with_runtime
    mk DEVICE=cpu CXX="$BATS_TEST_TMPDIR/cxx" LESSON='day68_reproducibility canonical_tree'
    local name openmp='' head='-std=c++17 -O3 -ffp-contract=off -fstack-clash-protection'
    [ "$OPENMP" = no ] || openmp=' -fopenmp'
    for name in canonical_tree wrong_orders fused_tree tree_in_graph; do
        ! have_fma || assert_equal "$(flags fmad $name)" \
            "$head -DCUDA_CPU_FMAD=1${MFMA:+ $MFMA} -I$ROOT/cpu -I$ROOT/cpu/names -iquote canonical_tree$openmp"
        assert_equal "$(flags nofmad $name)" \
            "$head -DCUDA_CPU_FMAD=0${MFMA:+ $MFMA} -I$ROOT/cpu -I$ROOT/cpu/names -iquote canonical_tree$openmp"
    done
    assert_equal "$(flags nofmad reproducibility)" \
        "$head -DCUDA_CPU_FMAD=0${MFMA:+ $MFMA} -I$ROOT/cpu -I$ROOT/cpu/names -iquote day68_reproducibility"
    : >"$LOG"
    day68 SANITIZE=address
    assert_equal "$(flags nofmad reproducibility)" \
        "$head -DCUDA_CPU_FMAD=0${MFMA:+ $MFMA} -fsanitize=address -g -fno-omit-frame-pointer -I$ROOT/cpu -I$ROOT/cpu/names -iquote day68_reproducibility"
}

@test "what stands beside a program is a dependency: a header, a .cu that it reads in, the CPU default's headers" {
    copy c
    cat >"$BATS_TEST_TMPDIR/c/day68_reproducibility/reproducibility.cu" <<'END'
#include <cuda_runtime.h>
#include "answer.h"
#include "parts/kernel.cu"
int main() {
    int* p;
    cudaMalloc(&p, sizeof *p);
    k<<<1, 1>>>(p);
    return *p;
}
END
    mkdir "$BATS_TEST_TMPDIR/c/day68_reproducibility/parts"
    echo '#define ANSWER 41' >"$BATS_TEST_TMPDIR/c/day68_reproducibility/answer.h"
    echo '__global__ void k(int* p) { *p = ANSWER; }' >"$BATS_TEST_TMPDIR/c/day68_reproducibility/parts/kernel.cu"
    answer() {
        in_copy c LESSON=day68_reproducibility >"$BATS_TEST_TMPDIR/answer.log" || return
        run "$BATS_TEST_TMPDIR/c/build/cpu/nofmad/reproducibility"
    }
    answer
    assert_failure 41
    sed -i 's/41/42/' "$BATS_TEST_TMPDIR/c/day68_reproducibility/answer.h"
    answer
    assert_failure 42
    sed -i 's/ANSWER;/ANSWER + 1;/' "$BATS_TEST_TMPDIR/c/day68_reproducibility/parts/kernel.cu"
    answer
    assert_failure 43
    touch "$BATS_TEST_TMPDIR/c/cpu/cuda_runtime.h"
    run in_copy c LESSON=day68_reproducibility
    assert_line 'CXX reproducibility (nofmad)'
    assert_line 'CC engine.c'
    run in_copy c LESSON=day68_reproducibility
    assert_output ''
    # So is the script that compiles it.
    touch "$BATS_TEST_TMPDIR/c/tools/compile.sh"
    run in_copy c LESSON=day68_reproducibility
    ! have_fma || assert_output --partial 'CXX reproducibility (fmad)'
    assert_output --partial 'CXX reproducibility (nofmad)'
    refute_output --partial 'CC engine.c'
}

@test "a folder with blanks, umlauts and a quote in its path: build, match and run.sh's table" {
    copy "a b ü 'q'"
    run in_copy "a b ü 'q'" run LESSON=precision_reduction
    assert_success
    assert_line --regexp '^precision_reduction +nofmad +passed .* as expected$'
    run in_copy "a b ü 'q'" match OUTPUT=build/cpu/nofmad/precision_reduction.txt
    assert_success
}

@test "two makes at once in one checkout; in check-all three times" {
    for try in 1 ${ALL:+2 3}; do
        for one in 1 2; do
            { mk DEVICE=cpu LESSON=day68_reproducibility CXX="$BATS_TEST_TMPDIR/cxx" BUILD="$BATS_TEST_TMPDIR/b$try" \
                >"$BATS_TEST_TMPDIR/$one.log" 2>&1 || echo "status $?" >>"$BATS_TEST_TMPDIR/$one.log"; } &
        done
        wait
        run grep -B5 '^status' "$BATS_TEST_TMPDIR/1.log" "$BATS_TEST_TMPDIR/2.log"
        assert_output ''
        run find "$BATS_TEST_TMPDIR/b$try" -name '*.[0-9]*' ! -name 'openmp.*'
        assert_output ''
    done
}

@test "two makes with different settings: each runs its own programs, and the second says that it waits" {
    # The stand-in's program prints its own flags, slowly, and gives no verdict.
    cat >"$BATS_TEST_TMPDIR/slow" <<'END'
#!/bin/sh
case " $* " in *' --version '* | *' -dumpmachine '*) exec g++ "$@" ;; esac
for arg; do [ "$previous" != -o ] || out=$arg; previous=$arg; done
printf '#!/bin/sh\nsleep 0.3\necho "flags: %s"\n' "$*" >"$out"
chmod +x "$out"
END
    chmod +x "$BATS_TEST_TMPDIR/slow"
    day68 >/dev/null # the runtime, once
    for runs in 3 4; do
        day68 run CXX="$BATS_TEST_TMPDIR/slow" DEFS=-DRUNS=$runs V=1 >"$BATS_TEST_TMPDIR/$runs.log" 2>&1 &
    done
    wait
    assert_equal "$(cat "$BATS_TEST_TMPDIR"/[34].log | grep -c 'waiting for another make (process [0-9]')" 1
    for runs in 3 4; do
        assert_equal "$(grep -c "^flags: .*-DRUNS=$runs" "$BATS_TEST_TMPDIR/$runs.log")" 2
        assert_equal "$(grep "^flags: " "$BATS_TEST_TMPDIR/$runs.log" | grep -vc -e "-DRUNS=$runs" || true)" 0
    done
}

@test "a .cu that is no program of the course is left out by name" {
    copy c
    echo 'this does not compile' >"$BATS_TEST_TMPDIR/c/day68_reproducibility/mine.cu"
    run in_copy c LESSON=day68_reproducibility CXX="$BATS_TEST_TMPDIR/cxx"
    assert_success
    assert_line 'left out, as no program of this course: day68_reproducibility/mine.cu'
}

@test "under -k a program that does not compile is a row, and hides no other" {
    with_runtime
    FAIL=reproducibility run mk -k run DEVICE=cpu LESSON='day68_reproducibility precision_reduction' CXX="$BATS_TEST_TMPDIR/cxx"
    assert_failure 2
    assert_line --regexp '^reproducibility +nofmad .*did not build'
    assert_line --regexp '^precision_reduction +nofmad '
    FAIL=reproducibility run mk run DEVICE=cpu LESSON=day68_reproducibility CXX="$BATS_TEST_TMPDIR/cxx"
    assert_failure 2
    refute_output --partial 'did not build'
}

@test "make ends as its scripts do: 0 with 0, and an error with any other status" {
    # The Makefile and its questions as they are; a stand-in for each script behind a command, and no lesson.
    mkdir -p "$BATS_TEST_TMPDIR/m/tools" "$BATS_TEST_TMPDIR/m/cpu"
    cp "$ROOT/Makefile" "$BATS_TEST_TMPDIR/m/"
    cp "$ROOT"/tools/{build_folder,choose_device,host_flags,defs_flags,pi_flags,as_committed}.sh "$BATS_TEST_TMPDIR/m/tools/"
    local script goal
    for script in run run_source check match expected bench pi_types sanitize doctor embeds exercise grade grade_all fetch_cccl fetch_toolkit; do
        printf 'echo "%s: $*; all: $ALL"\nexit "$SCRIPT_STATUS"\n' "$script" >"$BATS_TEST_TMPDIR/m/tools/$script.sh"
    done
    for script in cpu/cu_rewrite tools/match tools/gpu_probe tools/watched_device; do echo 'int main(void) { return 0; }' >"$BATS_TEST_TMPDIR/m/$script.c"; done
    # ends GOAL SCRIPT STATUS [VARIABLE=VALUE]: the status of make where the script of this goal ends with STATUS.
    ends() {
        run clean_env SCRIPT_STATUS="$3" make --no-print-directory -C "$BATS_TEST_TMPDIR/m" DEVICE=cpu "$1" "${@:4}"
        assert_output --partial "$2: "
        assert_equal "$*: $status" "$*: $(($3 == 0 ? 0 : 2))"
    }
    : >"$BATS_TEST_TMPDIR/goals"
    while read -r goal script; do
        echo "$goal" >>"$BATS_TEST_TMPDIR/goals"
        ends "$goal" "$script" 0
        ends "$goal" "$script" 1
    done <<'END'
run run
day68_reproducibility run
check check
check-all check
match match
expected expected
bench bench
types pi_types
sanitize sanitize
doctor doctor
embeds embeds
exercises exercise
exercise exercise
grade grade
grade-all grade_all
cccl fetch_cccl
toolkit fetch_toolkit
END
    # No goal of the Makefile is forgotten. These have no script that could fail, or a test of their own.
    printf '%s\n' build judge-tools cpu-tools test-tools test-env clean help FORCE '$(LESSONS)' >>"$BATS_TEST_TMPDIR/goals"
    run sh -c 'sed -n "s/^\.PHONY: //p" "$1" | tr " " "\n" | grep -vxF -f "$2"' sh "$ROOT/Makefile" "$BATS_TEST_TMPDIR/goals"
    assert_output ''
    ends exercise exercise 0 N=day68-3
    assert_line 'exercise: day68-3; all: '
    ends run run_source 0 SRC=my.cu
    ends run run_source 1 SRC=my.cu
    ends check-all check 0
    assert_line 'check: ; all: 1'
    ends run run 77
    ends run run 1 DEFS=-DNDEBUG
    ends run run 1 PI_FP_T=double_pair
}

@test "a lesson's name as a goal runs it" {
    with_runtime
    run mk day68_reproducibility DEVICE=cpu CXX="$BATS_TEST_TMPDIR/cxx"
    assert_line --regexp '^reproducibility +nofmad '
    refute_line --regexp '^precision_reduction +nofmad '
}

@test "bad input: one line, status 2, nothing built" {
    while IFS='|' read -r args message; do
        # shellcheck disable=SC2086 # words
        run mk $args
        assert_failure 2
        assert_equal "${#lines[@]}" 1
        assert_output --partial "$message"
        [ ! -e "$BATS_TEST_TMPDIR/b/cpu" ]
    done <<'END'
run LESSON=day69|unknown LESSON 'day69': the lessons are day68_reproducibility
run DEVICE=tpu|unknown DEVICE 'tpu': gpu or cpu
run DEVICE=it's|unknown DEVICE 'it's': gpu or cpu
run DEVICE=cpu ARCH=native|unknown ARCH 'native': write it as sm_75, sm_90, ...
run DEVICE=cpu CXX=no-such-compiler|the compiler 'no-such-compiler' is not found; install one (Debian: apt-get install g++) or name it: CXX=... CC=...
run DEVICE=gpu NVCC=no-such-nvcc|DEVICE=gpu needs nvcc, and 'no-such-nvcc' is not found
run DEVICE=cpu SANITIZE=memory|unknown SANITIZE 'memory': one of address, thread, undefined
run DEVICE=cpu ARCH=sm_9x|unknown ARCH 'sm_9x'
run LESSON=|unknown LESSON '': the lessons are
run DEVICE=cpu LESSON=fpmp_pi PI_LOG2_TERMS=018|PI_LOG2_TERMS must be a number from 17 to 34, not '018'
run DEVICE=cpu DEFS=-DELEMENT=1024|has a macro ELEMENT; they have: BLOCKS ELEMENTS
run DEVICE=cpu LESSON=fpmp_pi DEFS=-DELEMENTS=1024|DEFS: no program of fpmp_pi has a macro ELEMENTS
run DEVICE=cpu DEFS=ELEMENTS=1024|'ELEMENTS=1024' is no option; was -DELEMENTS=1024 meant?
run DEVICE=cpu DEFS=-DELEMENTS='1|a quote is not closed
run DEVICE=cpu DEFS=-use_fast_math|'-use_fast_math' is no option of g++ and clang++, which build the CPU default (nvcc's own are for DEVICE=gpu)
run DEVICE=cpu DEFS=-dlcm=ca|'-dlcm=ca' is no option of g++
run DEVICE=cpu DEFS=--use_fast_math|'--use_fast_math' is no option of g++
run DEVICE=cpu DEFS=-fmad=false|'-fmad=false' is no option of g++
run DEVICE=cpu LESSON=day68_reproducibility DEFS=-Delements=1024|no program of day68_reproducibility has a macro elements
run DEVICE=cpu DEFS=-expt-relaxed-constexpr|'-expt-relaxed-constexpr' is no option of g++
run DEVICE=cpu DEFS=-opt-info=inline|'-opt-info=inline' is no option of g++
run DEVICE=cpu DEFS=-D|-D needs a word behind it
run DEVICE=cpu DEFS=-Xptxas=-v|'-Xptxas=-v' is no option of g++
END
    run mk run DEVICE=cpu SANITIZE='address thread'
    assert_failure 2
    assert_output --partial "unknown SANITIZE 'address thread'"
    run mk run DEVICE=gpu SANITIZE=address NVCC="$BATS_TEST_TMPDIR/cxx"
    assert_failure 2
    assert_output --partial 'SANITIZE=address is for the CPU default (DEVICE=cpu); on a card: make sanitize'
    # An error in a later word stops as well, and no shell reads what stands there.
    for word in '-DRUN=2' '-use_fast_math' '-D RUN=2' "-DX\`touch\${IFS}$BATS_TEST_TMPDIR/run-by-a-shell\`"; do
        run mk run DEVICE=cpu LESSON=day68_reproducibility DEFS="-DELEMENTS=1024 $word"
        assert_failure 2
        assert_equal "${#lines[@]}" 1
        assert_output --regexp "has a macro (RUN|X.*); they have: BLOCKS ELEMENTS RUNS|no option of g\+\+"
    done
    [ ! -e "$BATS_TEST_TMPDIR/run-by-a-shell" ]
    touch "$BATS_TEST_TMPDIR/file"
    run mk run DEVICE=cpu BUILD="$BATS_TEST_TMPDIR/file/b"
    assert_failure 2
    assert_output --partial "the folder BUILD='$BATS_TEST_TMPDIR/file/b' cannot be written; another: make BUILD=dir"
    run mk run BUILD='a b'
    assert_failure 2
    assert_output --partial "BUILD must be one path without spaces or ~ * ? [, not 'a b'"
    run mk DEVICE=cpu BUILD=Makefile
    assert_failure 2
    assert_output --partial "BUILD='Makefile' is a file, not a folder"
    run mk -s DEVICE=cpu DEFS='-DRUNS=2 RUNS' LESSON=day68_reproducibility
    assert_failure 2
    assert_output --partial "DEFS: 'RUNS' is no option"
}

@test "DEFS is quoted once: brackets, <, and a macro of the language's own" {
    day68 DEFS='-DELEMENTS=(1<<20) -DNDEBUG'
    day68 DEFS='-D RUNS=3'
    assert_equal "$(grep -cF -e '-D RUNS=3' "$LOG")" 2
    assert_equal "$(grep -cF -e '-DELEMENTS=(1<<20) -DNDEBUG' "$LOG")" 2
}

@test "only a folder with our marker is built in or removed" {
    mkdir "$BATS_TEST_TMPDIR/home"
    echo keep >"$BATS_TEST_TMPDIR/home/me"
    for folder in "$BATS_TEST_TMPDIR/home" tests ./cpu fpmp_pi/../.ci . ..; do
        run mk DEVICE=cpu BUILD="$folder"
        assert_failure 2
        assert_output --partial 'is a folder with other things in it: name one that is empty or not there yet'
        run mk clean BUILD="$folder"
        assert_failure 2
        assert_output --partial "make clean: '$folder' was not made by this Makefile (no $folder/.same-bits-build), so it stays"
    done
    [ -s "$BATS_TEST_TMPDIR/home/me" ]
    BUILD="$BATS_TEST_TMPDIR/home" run clean_env BUILD="$BATS_TEST_TMPDIR/home" make -C "$ROOT" clean
    assert_failure 2
    [ -s "$BATS_TEST_TMPDIR/home/me" ]
    day68
    [ -e "$BATS_TEST_TMPDIR/b/cpu" ]
    mk clean
    [ ! -e "$BATS_TEST_TMPDIR/b" ]
    mk clean
}

@test "a compile that fails leaves no program that a second run would trust" {
    day68
    # -k: without it the other build may not have been begun, and its old program stands, too old to be run.
    FAIL=reproducibility run day68 -k DEFS=-DRUNS=3
    assert_failure 2
    run find "$BATS_TEST_TMPDIR/b/cpu" -type f -path '*mad/reproducibility'
    assert_output ''
    FAIL=reproducibility run day68 DEFS=-DRUNS=3
    assert_failure 2
}

@test "a build that is killed leaves no half-made program that the next make would trust" {
    with_runtime
    local binary=$BATS_TEST_TMPDIR/b/cpu/nofmad/reproducibility
    local goal=(--no-print-directory -C "$ROOT" DEVICE=cpu BUILD="$BATS_TEST_TMPDIR/b" CXX="$BATS_TEST_TMPDIR/cxx" "$binary")
    # In place of the stand-in one that writes a half and then kills its process group: make, scripts and itself.
    cp "$BATS_TEST_TMPDIR/cxx" "$BATS_TEST_TMPDIR/whole"
    cat >"$BATS_TEST_TMPDIR/cxx" <<'END'
#!/bin/sh
case " $* " in *' --version '* | *' -dumpmachine '*) exec g++ "$@" ;; esac
for arg; do [ "$previous" != -o ] || out=$arg; previous=$arg; done
printf half >"$out"
chmod +x "$out"
case $out in */nofmad/*) kill -KILL 0 ;; esac
END
    # A group of its own, or bats would be killed as well.
    run clean_env perl -MPOSIX -e 'setsid or die; exec @ARGV' make "${goal[@]}"
    assert_failure 137
    [ ! -e "$binary" ] || fail "in the program's place lies: $(cat "$binary")"
    mv "$BATS_TEST_TMPDIR/whole" "$BATS_TEST_TMPDIR/cxx" # the same name, so that make sees no other compiler
    run clean_env make "${goal[@]}"
    assert_success
    assert_output 'CXX reproducibility (nofmad)'
    assert_equal "$(cat "$binary")" ''
}

@test "a recipe that fails leaves no half-made file" {
    # Ours write beside their targets; the rule stands in for one to come that does not.
    printf 'include Makefile\n$(BUILD)/half:\n\techo half >$@; false\n' >"$BATS_TEST_TMPDIR/more.mk"
    run mk DEVICE=cpu -f "$BATS_TEST_TMPDIR/more.mk" "$BATS_TEST_TMPDIR/b/half"
    assert_failure 2
    [ ! -e "$BATS_TEST_TMPDIR/b/half" ] || fail "the half-made file is still there"
}

@test "make match takes the tool that was built, but not where its source is newer" {
    sed 's/^device: .*/device: d/' "$ROOT/expected_output/precision_reduction.txt" >"$BATS_TEST_TMPDIR/output.txt"
    mkdir -p "$BATS_TEST_TMPDIR/b/tools"
    printf '#!/bin/sh\necho built before\n' >"$BATS_TEST_TMPDIR/b/tools/match"
    chmod +x "$BATS_TEST_TMPDIR/b/tools/match"
    run mk match OUTPUT="$BATS_TEST_TMPDIR/output.txt"
    assert_output 'built before'
    touch -t 200001010000 "$BATS_TEST_TMPDIR/b/tools/match"
    run mk match OUTPUT="$BATS_TEST_TMPDIR/output.txt"
    assert_success
    refute_output --partial 'built before'
}

@test "make match needs no C++ compiler, no BUILD that can be written, and keeps a \$ in OUTPUT" {
    cp "$ROOT/expected_output/precision_reduction.txt" "$BATS_TEST_TMPDIR/\$x.txt"
    sed -i 's/^device: .*/device: d/' "$BATS_TEST_TMPDIR/\$x.txt"
    run mk match CXX=no-such-compiler BUILD=/dev/null/b OUTPUT="$BATS_TEST_TMPDIR/\$x.txt"
    assert_success
    run mk match
    assert_failure 2
    assert_output --partial 'make match needs OUTPUT=file: what the program printed'
}

@test "make sanitize builds with the make that called it" {
    run mk sanitize DEVICE=cpu LESSON=day68_reproducibility CXX="$BATS_TEST_TMPDIR/cxx"
    assert_success
    refute_output --partial jobserver
    assert_line --regexp '^reproducibility +address +clean$'
    assert_line --regexp '^reproducibility +undefined +clean$'
    assert_line --regexp '^reproducibility +thread +clean$'
}

@test "bats alone: a make that fails shows no environment; without a build it says what to do" {
    run clean_env SECRET=hidden CXX=no-such-compiler bats "$ROOT/tests/match.bats"
    assert_failure
    refute_output --partial hidden
    assert_output --partial 'the Makefile did not answer'
    run clean_env BUILD="$BATS_TEST_TMPDIR/none" bats "$ROOT/tests/match.bats"
    assert_failure
    assert_output --partial 'build first: make'
}

@test "make help names every command, and reads no compiler" {
    run mk help CXX=no-such-compiler
    assert_success
    for target in run check check-all doctor match expected types cccl toolkit embeds exercises exercise grade grade-all bench sanitize clean help; do
        assert_output --partial "make $target"
    done
}
