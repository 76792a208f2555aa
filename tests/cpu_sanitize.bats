#!/usr/bin/env bats
# What the CPU default shows under the sanitizers: SANITIZE=address, thread, undefined.

load helper

setup() {
    require_cpu
    cd "$BATS_TEST_TMPDIR" || return
}

# clean_lesson SANITIZER CXX LEVEL: by make with SANITIZE=, a short form of the lesson must build and be clean.
clean_lesson() {
    command -v "$2" >/dev/null || skip "no $2"
    echo 'int main() { return 0; }' >try.cpp
    if ! "$2" -fsanitize="$1" -o try try.cpp 2>/dev/null || ! ./try; then
        skip "$2 has no runtime for -fsanitize=$1 here"
    fi
    mkdir tree
    ln -s "$ROOT"/* tree/
    rm tree/day68_reproducibility
    mkdir tree/day68_reproducibility
    mutate "$ROOT/day68_reproducibility/reproducibility.cu" tree/day68_reproducibility/reproducibility.cu \
        's/kGrids\[\] = \{.*?\}/kGrids[] = {3, 8, 3, 8}/'
    make -s -C tree DEVICE=cpu SANITIZE="$1" CXX="$2" LESSON=day68_reproducibility BUILD="$PWD/build" \
        DEFS='-DELEMENTS=20011 -DBLOCKS=16 -DRUNS=2 '"$3" "$PWD/build/cpu/nofmad/reproducibility"
    UBSAN_OPTIONS=halt_on_error=1 run build/cpu/nofmad/reproducibility
    assert_success
    refute_output --partial 'Sanitizer'
    refute_output --partial 'runtime error'
    assert_output --partial 'gates passed'
}

@test "address: the lesson is clean" { clean_lesson address "$CXX" -O1; }
@test "thread: the lesson is clean" { clean_lesson thread "$CXX" -O1; }
@test "undefined: the lesson is clean" { clean_lesson undefined "$CXX" -O1; }
@test "address: the lesson is clean with clang++" { clean_lesson address clang++ -O1; }
@test "thread: the lesson is clean with clang++" { clean_lesson thread clang++ -O1; }

# faulty SANITIZER: builds bug.cu from stdin, whole with the runtime, and runs it.
faulty() {
    local c object objects=$BATS_FILE_TMPDIR/$1${CC//[!a-z0-9]/_}
    cat >bug.cu
    mkdir -p "$objects"
    for c in "$ROOT"/cpu/*.c; do
        [ "${c##*/}" != cu_rewrite.c ] || continue
        object=$objects/$(basename "$c" .c).o
        [ -e "$object" ] || {
            $CC -std=c11 -O2 -g -fno-omit-frame-pointer "-fsanitize=$1" -I"$ROOT/cpu" -c -o object "$c"
            mv object "$object"
        }
    done
    SANITIZE=$1 RUNTIME=$objects compile bug.cu bug nofmad -O0
    run ./bug
    assert_failure
}

@test "address: out of bounds on global memory, by line" {
    faulty address <<'EOF'
#include <cuda_runtime.h>
__global__ void k(float* p) {
    p[blockIdx.x * blockDim.x + threadIdx.x] = 1.0f;
}
int main() {
    float* p;
    cudaMalloc(&p, 100 * sizeof(float));
    k<<<2, 64>>>(p);
    cudaFree(p);
}
EOF
    assert_output --partial 'heap-buffer-overflow'
    assert_output --partial 'bug.cu:3'
}

@test "address: out of bounds on static shared memory, by line" {
    faulty address <<'EOF'
#include <cuda_runtime.h>
__global__ void k(int n) {
    __shared__ float a[64];
    a[threadIdx.x] = 1.0f;
    __syncthreads();
    a[threadIdx.x + n] += 2.0f;
}
int main() { k<<<2, 64>>>(1); }
EOF
    assert_output --partial 'heap-buffer-overflow'
    assert_output --partial 'bug.cu:6'
}

@test "address: out of bounds on dynamic shared memory, by line" {
    faulty address <<'EOF'
#include <cuda_runtime.h>
__global__ void k(int n) {
    extern __shared__ float a[];
    a[threadIdx.x + n] = 2.0f;
}
int main() { k<<<2, 64, 64 * sizeof(float)>>>(1); }
EOF
    assert_output --partial 'heap-buffer-overflow'
    assert_output --partial 'bug.cu:4'
}

@test "address: shared memory that is read before it is written is NaN" {
    faulty address <<'EOF'
#include <cuda_runtime.h>
#include <cstdio>
__global__ void k() {
    __shared__ float a[4];
    extern __shared__ double b[];
    if (a[1] != a[1] && b[2] != b[2]) printf("both are NaN\n");
    a[1] = 0.0f, b[2] = 0.0;
}
int main() {
    k<<<2, 1, 64>>>();
    return 1;
}
EOF
    assert_output "$(printf 'both are NaN\nboth are NaN')"
}

@test "address: no memory for static shared memory is one line and status 2" {
    faulty address <<'EOF'
#include <cuda_runtime.h>
#include <cerrno>
extern "C" int posix_memalign(void** p, size_t alignment, size_t bytes) noexcept {
    *p = alignment == 128 && bytes == 96 ? nullptr : aligned_alloc(alignment, (bytes / alignment + 1) * alignment);
    return *p ? 0 : ENOMEM;
}
__global__ void k() {
    __shared__ char a[96];
    a[threadIdx.x] = 1;
}
int main() { k<<<1, 1>>>(); }
EOF
    assert_failure 2
    assert_output 'CPU default: out of memory for shared memory'
}

@test "address: a missing cudaFree, by the line of its cudaMalloc" {
    faulty address <<'EOF'
#include <cuda_runtime.h>
int main() {
    for (int i = 0; i < 9; ++i) {  // the last may still lie about in a register
        int* p;
        cudaMalloc(&p, 400);
        cudaMemset(p, 0, 400);
    }
}
EOF
    assert_output --partial 'LeakSanitizer'
    assert_output --partial 'bug.cu:5'
}

@test "address: streams and graphs, also without memory, free all that they took" {
    echo 'int main() { return 1; }' | faulty address # with it the runtime
    export SANITIZE=address RUNTIME=$BATS_FILE_TMPDIR/address${CC//[!a-z0-9]/_} ASAN_OPTIONS=allocator_may_return_null=1
    compile "$ROOT/tests/cpu/streams.cu" streams nofmad -O1
    run ./streams
    assert_success
    compile_no_memory no_memory -O1
    run ./no_memory
    assert_success
}

@test "address: divergent barriers, also on lines of the same number in two files" {
    printf '%s\n' '#include <cuda_runtime.h>' '' '' '__device__ void part() {' '    __syncthreads();' '}' >part.cu
    faulty address <<'EOF'
#include <cuda_runtime.h>
#include "part.cu"
__global__ void k() {
    if (threadIdx.x < 8) part();
    else __syncthreads();
}
int main() { k<<<1, 32>>>(); }
EOF
    assert_output 'CPU default: divergent barriers in kernel k, block (0,0,0): thread (7,0,0) waits at part.cu:5, thread (8,0,0) at bug.cu:5'
}

@test "thread: a missing __syncthreads, by line" {
    faulty thread <<'EOF'
#include <cuda_runtime.h>
__global__ void k(int* out) {
    __shared__ int a[64];
    a[threadIdx.x] = 1;
    out[threadIdx.x] = a[(threadIdx.x + 1) % 64];
}
int main() {
    int* p;
    cudaMalloc(&p, 64 * sizeof(int));
    k<<<1, 64>>>(p);
    cudaFree(p);
}
EOF
    assert_output --partial 'data race'
    assert_output --partial 'bug.cu:4'
    assert_output --partial 'bug.cu:5'
    refute_output --partial '#0 cuda_cpu' # the runtime's own state is none of it
}

# Of a block of 256 threads: the sanitizer of some compilers keeps fewer apart.
race_between_barriers() {
    local first second
    for first in 0 128; do
        second=$((128 - first))
        faulty thread <<EOF
#include <cuda_runtime.h>
__global__ void k(int* out) {
    __shared__ int a[256];
    a[threadIdx.x] = 1;
    __syncthreads();
    if (threadIdx.x == $first) out[0] = a[128];
    if (threadIdx.x == $second) a[128] = 2;
    __syncthreads();
    out[threadIdx.x] = a[threadIdx.x];
}
int main() {
    int* p;
    cudaMalloc(&p, 256 * sizeof(int));
    k<<<1, 256>>>(p);
    cudaFree(p);
}
EOF
        assert_output --partial 'data race'
        assert_output --partial 'bug.cu:6'
        assert_output --partial 'bug.cu:7'
    done
}

@test "thread: a race between two barriers, whichever thread comes first, by line" { race_between_barriers; }
@test "thread: a race between two barriers, by line, with clang++" {
    require_clang
    CC=clang CXX=clang++ race_between_barriers
}

@test "thread: blocks that add to one place without an atomic, by line" {
    # Blocks wait for one on another thread, or a busy machine could run them all on one.
    CUDA_CPU_WORKERS=2 faulty thread <<'EOF'
#include <cuda_runtime.h>
#include <sched.h>
__device__ int arrived;
__global__ void k(int* out) {
    atomicAdd(&arrived, 1);
    for (int i = 0; i < 1000000 && atomicAdd(&arrived, 0) < 2; ++i) sched_yield();
    *out += 1;
}
int main() {
    int* p;
    cudaMalloc(&p, sizeof(int));
    k<<<64, 1>>>(p);
    cudaFree(p);
}
EOF
    assert_output --partial 'data race'
    assert_output --partial 'bug.cu:7'
}
