# The Makefile: exact dependencies and refusals.
load helper

setup() {
    export LOG=$BATS_TEST_TMPDIR/log
    # A stand-in for the compiler that notes each compile and writes a file: dependencies need no real one.
    cat >"$BATS_TEST_TMPDIR/cxx" <<'END'
#!/bin/sh
case " $* " in *' --version '* | *' -dumpmachine '*) exec g++ "$@" ;; *' -c '* | *'/tmp/openmp'*) exec g++ "$@" ;; esac
for arg; do [ "$previous" != -o ] || out=$arg; previous=$arg; done
echo "$*" >>"$LOG"
: >"$out"
END
    cp "$BATS_TEST_TMPDIR/cxx" "$BATS_TEST_TMPDIR/other"
    chmod +x "$BATS_TEST_TMPDIR/cxx" "$BATS_TEST_TMPDIR/other"
    : >"$LOG"
}
# mk args: make in a build folder of its own, with the stand-in, and without what make check exports.
mk() {
    env -u PI_FP_T -u PI_LOG2_TERMS -u DEVICE -u ARCH -u NVCC -u CXX -u CC -u DEFS -u SANITIZE -u MAKEFLAGS -u MAKELEVEL \
        make --no-print-directory -j2 -C "$ROOT" BUILD="$BATS_TEST_TMPDIR/b" "$@"
}
day68() { mk DEVICE=cpu LESSON=day68_reproducibility CXX="$BATS_TEST_TMPDIR/cxx" "$@"; }
compiles() { grep -c . "$LOG" || true; }

@test "a second make builds nothing" {
    day68
    first=$(compiles)
    assert_equal "$first" 2
    run day68
    assert_success
    assert_output ''
    assert_equal "$(compiles)" "$first"
}

@test "changed DEFS, CXX or SANITIZE rebuilds; back again rebuilds too" {
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

@test "a changed ARCH rebuilds the GPU builds, and nothing of the CPU's" {
    day68
    sed "s|g++|true|g" "$BATS_TEST_TMPDIR/cxx" >"$BATS_TEST_TMPDIR/nvcc"
    sed -i "2i case \" \$* \" in *--list-gpu-code*) echo sm_75; echo sm_90; exit ;; esac" "$BATS_TEST_TMPDIR/nvcc"
    chmod +x "$BATS_TEST_TMPDIR/nvcc"
    gpu() { mk DEVICE=gpu LESSON=day68_reproducibility NVCC="$BATS_TEST_TMPDIR/nvcc" "$@"; }
    gpu ARCH=sm_75
    assert_equal "$(compiles)" 4
    gpu ARCH=sm_75
    assert_equal "$(compiles)" 4
    gpu ARCH=sm_90
    assert_equal "$(compiles)" 6
    assert_equal "$(grep -c -e -arch=sm_90 "$LOG")" 2
    day68
    assert_equal "$(compiles)" 6
    run gpu ARCH=sm_12
    assert_failure 2
    assert_output --partial "unknown ARCH 'sm_12'"
}

@test "a touched header of the CPU default rebuilds" {
    mkdir "$BATS_TEST_TMPDIR/copy"
    (cd "$ROOT" && tar -cf - Makefile cpu tools tests/helper.bash day68_reproducibility) | tar -xf - -C "$BATS_TEST_TMPDIR/copy"
    here() { env -u DEVICE -u ARCH -u NVCC -u CXX -u CC -u DEFS -u SANITIZE -u MAKEFLAGS -u MAKELEVEL make --no-print-directory -C "$BATS_TEST_TMPDIR/copy" BUILD=b DEVICE=cpu CXX="$BATS_TEST_TMPDIR/cxx" "$@"; }
    here
    touch "$BATS_TEST_TMPDIR/copy/cpu/cuda_runtime.h"
    run here
    assert_output --partial 'b/cpu/reproducibility_nofmad'
    assert_output --partial 'b/cpu/engine.o'
    # What stands beside a lesson: a .cu that is read in, and a header.
    mkdir "$BATS_TEST_TMPDIR/copy/day68_reproducibility/parts"
    echo '#define ANSWER 41' >"$BATS_TEST_TMPDIR/copy/day68_reproducibility/answer.h"
    echo '__global__ void k(int* p) { *p = ANSWER; }' >"$BATS_TEST_TMPDIR/copy/day68_reproducibility/parts/kernel.cu"
    cat >"$BATS_TEST_TMPDIR/copy/day68_reproducibility/runtime.cu" <<'END'
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
    # These two are compiled, not stood in for.
    answer() { here CXX=g++ LESSON=day68_reproducibility >/dev/null && run "$BATS_TEST_TMPDIR/copy/b/cpu/runtime_nofmad"; }
    answer
    assert_failure 41
    sed -i 's/41/42/' "$BATS_TEST_TMPDIR/copy/day68_reproducibility/answer.h"
    answer
    assert_failure 42
    sed -i 's/ANSWER;/ANSWER + 1;/' "$BATS_TEST_TMPDIR/copy/day68_reproducibility/parts/kernel.cu"
    answer
    assert_failure 43
    # A program that moved to another lesson is built from there.
    mkdir "$BATS_TEST_TMPDIR/copy/precision_reduction"
    mv "$BATS_TEST_TMPDIR"/copy/day68_reproducibility/{runtime.cu,answer.h,parts} "$BATS_TEST_TMPDIR/copy/precision_reduction"
    sed -i 's/ANSWER + 1;/ANSWER + 2;/' "$BATS_TEST_TMPDIR/copy/precision_reduction/parts/kernel.cu"
    here CXX=g++ LESSON=precision_reduction >/dev/null
    run "$BATS_TEST_TMPDIR/copy/b/cpu/runtime_nofmad"
    assert_failure 44
    rm -r "$BATS_TEST_TMPDIR/copy/precision_reduction"
    here
    touch "$BATS_TEST_TMPDIR/copy/day68_reproducibility/reproducibility.cu"
    run here
    assert_output --partial 'b/cpu/reproducibility_nofmad'
    run here
    assert_output ''
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
run DEVICE=cpu ARCH=native|unknown ARCH 'native'
run DEVICE=cpu CXX=no-such-compiler|the compiler 'no-such-compiler' is not found
run DEVICE=gpu NVCC=no-such-nvcc|DEVICE=gpu needs nvcc, and 'no-such-nvcc' is not found
run DEVICE=cpu SANITIZE=memory|unknown SANITIZE 'memory'
run DEVICE=cpu ARCH=sm_9x|unknown ARCH 'sm_9x'
run LESSON=|LESSON is empty
clean BUILD=tests/|BUILD='tests/' is a folder of sources
clean BUILD=./cpu|BUILD='./cpu' is a folder of sources
clean BUILD=fpmp_pi/../.git/|BUILD='fpmp_pi/../.git/' is a folder of sources
clean BUILD=tools/sub|BUILD='tools/sub' is a folder of sources
clean BUILD=.|BUILD='.' is a folder of sources
clean BUILD=build/../..|BUILD='build/../..' is a folder of sources
run DEVICE=cpu LESSON=fpmp_pi PI_LOG2_TERMS=018|PI_LOG2_TERMS must be a number from 17 to 34
END
    run mk run DEVICE=cpu SANITIZE='address thread'
    assert_failure 2
    assert_output --partial "unknown SANITIZE 'address thread'"
    ln -s "$ROOT" "$BATS_TEST_TMPDIR/link"
    run mk clean BUILD="$BATS_TEST_TMPDIR/link/tests"
    assert_failure 2
    assert_output --partial 'is a folder of sources'
    touch "$BATS_TEST_TMPDIR/file"
    run mk run DEVICE=cpu BUILD="$BATS_TEST_TMPDIR/file/b"
    assert_failure 2
    assert_output --partial "the folder BUILD='$BATS_TEST_TMPDIR/file/b' cannot be written; another: make BUILD=dir"
    run mk run BUILD='a b'
    assert_failure 2
    assert_output --partial "BUILD must be one path without spaces or ~ * ? [, not 'a b'"
    run mk clean BUILD='*'
    assert_failure 2
    run mk clean BUILD='~'
    assert_failure 2
    run mk clean BUILD=Makefile
    assert_failure 2
    assert_output --partial "BUILD='Makefile' is a file, not a folder"
    [ -s "$ROOT/Makefile" ]
}

@test "a compile that fails leaves no program that a second run would trust" {
    run day68 DEFS=-DELEMENTS=1 CXX=g++
    assert_failure 2
    run find "$BATS_TEST_TMPDIR/b/cpu" -maxdepth 1 -type f -name 'reproducibility*' ! -name '*.d'
    assert_output ''
    run day68 DEFS=-DELEMENTS=1 CXX=g++
    assert_failure 2
}

@test "make help names every command, and reads no compiler" {
    run mk help CXX=no-such-compiler
    assert_success
    for target in run check doctor match expected bench sanitize clean help; do
        assert_output --partial "make $target"
    done
}

@test "make check on a card that is not there: one line" {
    printf '#!/bin/sh\necho "reason=no driver"\nexit 1\n' >"$BATS_TEST_TMPDIR/probe"
    chmod +x "$BATS_TEST_TMPDIR/probe"
    DEVICE=gpu PROBE="$BATS_TEST_TMPDIR/probe" BUILD="$BATS_TEST_TMPDIR/b" run bash "$ROOT/tools/check.sh"
    assert_failure 2
    assert_output 'make check DEVICE=gpu needs a usable card: no driver'
}

@test "the suite can fail: a failing test, a file that does not load, and strict skips" {
    mkdir "$BATS_TEST_TMPDIR/t"
    check() { env -u BATS_TMPDIR -u BATS_RUN_TMPDIR -u BATS_TEST_TMPDIR -u BATS_FILE_TMPDIR -u BATS_SUITE_TMPDIR ROOT="$ROOT" BUILD="$BATS_TEST_TMPDIR/b" "$@"; }
    printf '@test "good" { true; }\n@test "bad" { false; }\n@test "left" { skip "why"; }\n' >"$BATS_TEST_TMPDIR/t/mixed.bats"
    run check bash "$ROOT/tools/check.sh" "$BATS_TEST_TMPDIR/t/mixed.bats"
    assert_failure 1
    assert_line '1 passed, 1 failed, 1 skipped'
    assert_line --partial 'left: why'
    printf '@test "good" { true; }\n@test "left" { skip "why"; }\n' >"$BATS_TEST_TMPDIR/t/skips.bats"
    run check bash "$ROOT/tools/check.sh" "$BATS_TEST_TMPDIR/t/skips.bats"
    assert_success
    run check STRICT=1 bash "$ROOT/tools/check.sh" "$BATS_TEST_TMPDIR/t/skips.bats"
    assert_failure 1
    printf 'load no_such_file\n@test "never" { true; }\n' >"$BATS_TEST_TMPDIR/t/broken.bats"
    run check bash "$ROOT/tools/check.sh" "$BATS_TEST_TMPDIR/t/broken.bats"
    assert_failure
    run check bash "$ROOT/tools/check.sh" "$BATS_TEST_TMPDIR/t/absent.bats"
    assert_failure 2
}
