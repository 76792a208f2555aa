# tools/bench.sh and the benchmarks: each still builds and runs, small, and runs what it is to compare.
load helper

bench() { run env ROOT="$ROOT" BUILD="$BATS_TEST_TMPDIR/b" DEVICE="$DEVICE" BENCH_SMALL=1 "$@"; }
setup() {
    cd "$BATS_TEST_TMPDIR" || return
    mkdir -p b bin
    # What the CPU default's compiles need.
    mkdir -p b/tools b/cpu
    ln -s "$BUILD/tools/cu_rewrite" b/tools/cu_rewrite
    ln -s "$BUILD/cpu/runtime" b/cpu/runtime
}

@test "bench: a lesson without a benchmark is named, none at all is 2, and a failing one fails" {
    mkdir -p tree/tests/bench
    printf 'echo "measured $ROOT"\n' >tree/tests/bench/run_some.sh
    echo 'exit 3' >tree/tests/bench/run_bad.sh
    run env ROOT="$PWD/tree" bash "$ROOT/tools/bench.sh" other some
    assert_success
    assert_output "other: no benchmark
measured $PWD/tree"
    run env ROOT="$PWD/tree" bash "$ROOT/tools/bench.sh" other
    assert_failure 2
    assert_output "other: no benchmark
no benchmark was run"
    run env ROOT="$PWD/tree" bash "$ROOT/tools/bench.sh" bad some
    assert_failure 3
}

@test "bench: every run_LESSON.sh has the name of a lesson" {
    local script lesson
    for script in "$ROOT"/tests/bench/run_*.sh; do
        lesson=${script##*/run_}
        [ -d "$ROOT/${lesson%.sh}" ] || fail "$script is for no lesson"
    done
}

@test "bench: lesson 1's loop and launch, small, have the same partials" {
    require_cpu
    # One compiler, under a name of its own, and no g++ and clang++ beside it: the time goes into compiles.
    ln -s "$(command -v g++)" bin/mine
    mkdir few
    local tool
    for tool in bash mkdir dirname cat grep sed mv rm as ld nproc taskset; do ln -s "$(command -v $tool)" few/; done
    bench PATH="$PWD/bin:$PWD/few" CXX="$PWD/bin/mine" bash "$ROOT/tools/bench.sh" day68_reproducibility
    assert_success
    assert_line 'g++: not here'
    assert_line 'clang++: not here'
    assert_line --regexp '^.*/bin/mine, one core$'
    assert_line --regexp '^.*/bin/mine, all [0-9]+ cores$'
    assert_equal "$(grep -cE '^one launch of the first pass +median +[0-9]+\.[0-9]{3} ms +least +[0-9]+\.[0-9]{3} ms$' <<<"$output")" 2
    assert_equal "$(grep -cE '^a plain loop on the host +median ' <<<"$output")" 2
}

@test "bench: the host's tree beside OpenMP, small; on the CPU default the rest is left out by name" {
    require_cpu
    [ "$OPENMP" = yes ] || skip "no OpenMP: no benchmark of the host's tree"
    bench bash "$ROOT/tools/bench.sh" canonical_tree
    assert_success
    assert_line "host tree, $CXX:"
    assert_line --regexp '^ +65536 +1 .* 0x[0-9a-f]{8}$'
    assert_line 'left out: the fused tree beside CUB: no card'
    assert_equal "$(grep -cE '^ +(1024|4096|16384|65536) +1 ' <<<"$output")" 4
    bench OPENMP=no bash "$ROOT/tools/bench.sh" canonical_tree
    assert_success
    assert_output 'left out: the host tree beside OpenMP: this compiler has no OpenMP
left out: the fused tree beside CUB: no card'
}

@test "bench: lesson 1's times are the launches' median and least, in whatever order they came; the warm-up is none" {
    $CC -std=c11 -I"$ROOT/cpu" -c -o calls.o "$ROOT/tests/calls.c"
    DEVICE=cpu compile "$ROOT/tests/bench/day68_reproducibility.cu" day68 nofmad -O1 -DBENCH_SMALL -DELEMENTS=20011 -DBLOCKS=16 \
        -DcudaEventElapsedTime=seen_cudaEventElapsedTime calls.o
    # The warm-up first. No loop takes that long, so the other row cannot have these times.
    TIMES='500 9000 1000 2000' run ./day68
    assert_success
    assert_line --regexp '^one launch of the first pass +median 2000\.000 ms   least 1000\.000 ms$'
    assert_line --regexp '^a plain loop on the host +median '
    refute_line --regexp '^a plain loop on the host .* [12]000\.000 ms'
}

@test "bench: the host tree's times are medians, in whatever order they came; the warm-up is none" {
    [ "$OPENMP" = yes ] || skip "no OpenMP: no benchmark of the host's tree"
    # In place of OpenMP's clock: the plain sum and the tree in turn, two rounds of warm-up and three that count.
    cat >clock.c <<'END'
double known_time(void) {
    static const double ms[] = {1, 1, 1, 1, 30, 8, 1, 4, 2, 50};
    static int calls;
    const int call = calls++;
    return call % 2 == 0 ? 0 : 1e-3 * ms[call / 2 % 10];
}
END
    $CC -std=c11 -c -o clock.o clock.c
    DEVICE=cpu compile "$ROOT/tests/bench/canonical_tree_host.cu" host nofmad -O1 -fopenmp -DBENCH_SMALL \
        -Domp_get_wtime=known_time clock.o
    run ./host
    assert_success
    # Milliseconds, GB/s of 256 KiB, and the plain sum's time by the tree's.
    assert_line --regexp '^ +65536 +1 +2\.00 +8\.00 +0\.13 +0\.03 +0\.250  0x'
    assert_equal "$(grep -cE '^ +[0-9]+ +[12] +2\.00 +8\.00 ' <<<"$output")" $((${#lines[@]} - 1))
}

@test "bench: a row of the fused tree's table has the median, the least, and both by their names" {
    # The rest needs a card and CUB: the table's function alone, with known times.
    {
        printf '#include <cstdio>\n#include <cstring>\n#include "%s"\n' "$ROOT/tests/bench/times.h"
        echo 'template <typename T> struct Method { const char* name; std::vector<float> ms; };'
        perl -0777 -ne 'print /^(template <typename T>\nstatic void printAll\(.*?^\}\n)/ms' "$ROOT/tests/bench/canonical_tree.cu"
        echo 'int main() { printAll<float>("float", "memory", {{"tree", {9, 1, 2}}, {"cub_sum", {8, 4, 50}}}, 1000000); }'
    } >table.cpp
    $CXX -std=c++17 -o table table.cpp
    run ./table
    assert_output 'float     1000000 memory tree             2.00000   1.00000        2    4.000
float     1000000 memory cub_sum          8.00000   4.00000        0    1.000'
}

@test "bench: the fused tree's methods take turns, each over another stretch; the warm-up is none, nor what was timed before" {
    # As above: the function alone, with a clock that each method moves.
    {
        printf '%s\n' '#include <cstddef>' '#include <cstdio>' '#include <functional>' '#include <vector>' '#define CUDA_CHECK(call) call'
        cat <<'END'
constexpr int kRounds = 3;
using cudaEvent_t = float*;
static float now, events[2];
static void cudaEventCreate(float** event) { static int made; *event = &events[made++]; }
static void cudaEventRecord(float* event) { *event = now; }
static void cudaEventSynchronize(float*) {}
static void cudaEventElapsedTime(float* ms, float* start, float* stop) { *ms = *stop - *start; }
static int cudaGetLastError() { return 0; }
END
        perl -0777 -ne 'print /^(template <typename T>\nstruct Method \{.*?^\};\n)/ms, /^(template <typename T>\nstatic void timeAll\(.*?^\}\n)/ms' \
            "$ROOT/tests/bench/canonical_tree.cu"
        cat <<'END'
int main() {
    static float data[8192];
    int launches = 0;
    const auto method = [&](const char* name) {
        return Method<float>{name, [=, &launches](const float* at, size_t) {
            printf(" %s %d", name, (int)(at - data));
            now += ++launches;
        }, {}};
    };
    std::vector<Method<float>> methods = {method("a"), method("b")};
    for (int stretches : {3, 1}) {
        timeAll<float>(methods, data, 1025, stretches);
        for (const auto& m : methods) {
            printf("\n%s:", m.name);
            for (float ms : m.ms) printf(" %g", ms);
        }
        printf("\n");
    }
}
END
    } >times.cpp
    $CXX -std=c++17 -o times times.cpp
    run ./times
    assert_output ' a 0 b 2048 a 4096 b 0 a 2048 b 4096 a 0 b 2048 a 4096 b 0 a 2048 b 4096
a: 7 9 11
b: 8 10 12
 a 0 b 0 a 0 b 0 a 0 b 0 a 0 b 0 a 0 b 0 a 0 b 0
a: 19 21 23
b: 20 22 24'
}

@test "bench: on a card the fused tree beside CUB, with a CCCL of its own for gpu_to_gpu" {
    cat >bin/nvcc <<'END'
#!/bin/sh
echo "$*" | sed 's/ -MMD.*-o / -o /' >>calls
for arg; do [ "$previous" != -o ] || out=$arg; previous=$arg; done
printf '#!/bin/sh\necho ran\n' >"$out"
chmod +x "$out"
END
    chmod +x bin/nvcc
    card() { bench DEVICE=gpu ARCH=sm_90 NVCC="$PWD/bin/nvcc" CCBIN= HOST_FLAGS=-O3 OPENMP=no "$@" bash "$ROOT/tests/bench/run_canonical_tree.sh"; }
    card CCCL=
    assert_success
    assert_line ran
    assert_equal "$(wc -l <calls)" 1
    assert_equal "$(sed 's/ -o .*//' calls)" '-arch=sm_90 -O3 -diag-suppress 177'
    mkdir -p wheel/cuda/cccl/headers/include/{cub,cuda/std} checkout/{cub/cub,libcudacxx/include,thrust}
    touch wheel/cuda/cccl/headers/include/cub/cub.cuh checkout/cub/cub/cub.cuh
    : >calls
    card CCCL="$PWD/wheel"
    assert_success
    assert_equal "$(sed 's/ -o .*//' calls)" "-arch=sm_90 -O3 -I$PWD/wheel/cuda/cccl/headers/include -DBENCH_GPU_TO_GPU=2 -c -diag-suppress 177
-arch=sm_90 -O3 -DBENCH_GPU_TO_GPU=1 $PWD/b/bench/canonical_tree/gpu_to_gpu.o -diag-suppress 177"
    : >calls
    card CCCL="$PWD/checkout"
    assert_success
    run head -n 1 calls
    assert_output --partial "-I$PWD/checkout/libcudacxx/include -I$PWD/checkout/cub -I$PWD/checkout/thrust"
    card CCCL="$PWD/bin"
    assert_failure 2
    assert_output --partial "bench: no CCCL in CCCL=$PWD/bin: neither cub/cub.cuh nor a checkout's three folders"
    # Lesson 1's, for that card.
    : >calls
    bench DEVICE=gpu ARCH=sm_90 NVCC="$PWD/bin/nvcc" HOST_FLAGS=-O3 bash "$ROOT/tests/bench/run_day68_reproducibility.sh"
    assert_success
    assert_output 'nvcc, sm_90; the loop on one core
ran'
}

@test "bench: on a card and with nvcc the benchmarks compile" {
    require_nvcc
    [ -n "${ALL:-}" ] || skip "half a minute of nvcc: check-all"
    DEVICE=gpu ARCH=${ARCH:-sm_75} compile "$ROOT/tests/bench/day68_reproducibility.cu" day68 fmad -DBENCH_SMALL
    DEVICE=gpu ARCH=${ARCH:-sm_75} compile "$ROOT/tests/bench/canonical_tree.cu" tree fmad -diag-suppress 177
}
