#!/usr/bin/env bats
# The CPU default's runtime: self-checking programs in tests/cpu/, and what only the outside can see.

load helper

setup() {
    require_cpu
    export BIN=$BATS_FILE_TMPDIR
}

# Builds tests/cpu/NAME.cu where no test before this one has.
built() { [ -e "$BIN/$1" ] || compile "$ROOT/tests/cpu/$1.cu" "$BIN/$1" nofmad; }
# It runs, and all that it asks holds. A fault may make it wait for ever.
holds() {
    built "$1"
    run timeout 60 "$BIN/$1"
    assert_success
}

# With the second host compiler the parts that the first cannot stand for: the switch and the launches.
clang() {
    require_clang
    CXX=clang++ compile "$ROOT/tests/cpu/$1.cu" "$BIN/$1.clang" nofmad -O1
    run "$BIN/$1.clang"
    assert_success
}
aarch64() {
    require_aarch64
    aarch64_build "$ROOT/tests/cpu/$1.cu" "$BIN/$1.aarch64" nofmad -O1
    run aarch64_run "$BIN/$1.aarch64"
    assert_success
}

@test "barriers, votes, early returns, shuffles, masks, shared memory, grids" { holds threads; }
@test "the same with clang++" { clang threads; }
@test "the same under AArch64" { aarch64 threads; }

@test "atomics: exact under contention, subnormals as on a card" { holds atomics; }
@test "atomics under AArch64" { aarch64 atomics; }

@test "launches: every form, and every refusal" { holds launches; }
@test "launches with clang++" { clang launches; }

@test "memory, streams, events and graphs, with their errors" { holds streams; }
@test "streams and graphs under AArch64" { aarch64 streams; }

@test "vector types, min and max, copies of every size, queries, allocations, errors" { holds functions; }
@test "what other programs than the lessons use: managed, mapped and pitched memory, symbols, hints, integers, conversions" {
    holds beyond
}
@test "what other programs use, with clang++" { clang beyond; }
@test "warp-synchronous code runs in lock-step" { holds lockstep; }
@test "lock-step with clang++" { clang lockstep; }
@test "lock-step under AArch64" { aarch64 lockstep; }

@test "a test program can fail: EXPECT and EXPECT_CALL, and the rest is counted" {
    printf '%s\n' "#include \"$ROOT/tests/cpu/check.cu\"" 'int main() {' 'EXPECT(1 == 1);' 'EXPECT(g_failures == 7);' \
        'EXPECT_CALL(cudaErrorInvalidValue, cudaFree(nullptr));' 'CHECKED(cudaSetDevice(3));' \
        '(void)cudaSetDevice(3); CHECKED(cudaSetDevice(0));' '(void)cudaGetLastError();' \
        'for (int i = 0; i < 30; ++i) EXPECT(i == 99);' 'return report(); }' >"$BIN/bad.cu"
    compile "$BIN/bad.cu" "$BIN/bad" nofmad -O1
    run "$BIN/bad"
    assert_failure 1
    assert_line --index 0 --regexp 'bad.cu:4: g_failures == 7$'
    assert_line --index 1 --regexp 'bad.cu:5: cudaFree\(nullptr\): got cudaSuccess, want cudaErrorInvalidValue$'
    assert_line --index 2 --regexp 'bad.cu:6: cudaSetDevice\(3\): got cudaErrorInvalidDevice, want cudaSuccess$'
    assert_line --index 3 --regexp 'bad.cu:7: cudaSetDevice\(0\): got cudaSuccess, want cudaSuccess$'
    assert_line '34 failure(s)'
    assert_equal "${#lines[@]}" 21
}

# The functions that an object file holds, by name and parameters: those of headers that the compiler brings along aside.
functions_in() { nm -C --defined-only "$@" | sed -n 's/^[0-9a-f]* [tTuW] //p' | grep -vE '::|operator|^(__bswap|__uint[0-9]|is(canonical|signaling))' | sort -u; }

@test "no function, macro or constant of the headers is without a program here or a lesson that uses it" {
    command -v g++ >/dev/null || skip "no g++"
    local name compile=(g++ -std=c++17 -w -O0 -DCUDA_CPU_FMAD=0 -DFUSED=0 -I"$BIN/headers" -iquote "$ROOT/tests/cpu" -c)
    mkdir -p "$BIN/headers"
    cp "$ROOT"/cpu/*.h "$BIN/headers"
    sed -i 's/^#define CUDA_CPU_INLINE .*/#define CUDA_CPU_INLINE inline/' "$BIN/headers/cuda_runtime.h"
    # What is no template, each overload by itself: in objects that nothing was inlined into.
    echo '#include <cuda_runtime.h>' >"$BIN/all.cpp"
    "${compile[@]}" -fkeep-inline-functions -fkeep-static-functions -o "$BIN/all.o" "$BIN/all.cpp"
    for name in threads atomics launches streams intrinsics functions beyond; do
        "$BUILD/tools/cu_rewrite" "$ROOT/tests/cpu/$name.cu" >"$BIN/$name.cpp"
        "${compile[@]}" -o "$BIN/$name.o" "$BIN/$name.cpp"
    done
    functions_in "$BIN/all.o" >"$BIN/there"
    [ "$(wc -l <"$BIN/there")" -gt 100 ]
    run comm -23 "$BIN/there" <(functions_in "$BIN"/{threads,atomics,launches,streams,intrinsics,functions,beyond}.o)
    assert_output '__trap()' # below
    # And the rest, by name.
    cat "$ROOT"/*/*.cu "$ROOT"/tests/cpu/*.cu | grep -oE '[A-Za-z_][A-Za-z0-9_]*' | sort -u >"$BIN/words"
    perl -0777 -ne 's{/\*.*?\*/|//[^\n]*}{}gs; print "$1\n" while /\b((?:cuda(?!_cpu)|CUDART_|__[a-z]|atomic|make_|rsqrt)\w*)\b/g' \
        "$ROOT"/cpu/{cuda_runtime,cuda_runtime_api,vectors,beyond}.h | grep -vE '^__(builtin|atomic|attribute__|asm__|clang__|cplusplus|always_inline__|thread)|^cuda(Error|FuncAttribute|HostFn_t|_runtime_api)$|_$' |
        sort -u >"$BIN/names"
    [ "$(wc -l <"$BIN/names")" -gt 150 ]
    run comm -23 "$BIN/names" "$BIN/words"
    assert_output '__trap'
}

@test "one core: whatever this process may use is obeyed" {
    command -v taskset >/dev/null || skip "no taskset (Debian: util-linux)"
    for name in threads atomics; do
        built "$name"
        run taskset -c "$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')" "$BIN/$name"
        assert_success
    done
    # 64 blocks of some milliseconds each, by how many threads?
    one_kernel crew '#include <pthread.h>
#include <unistd.h>
#include <set>
__global__ void k(pthread_t* who) { who[blockIdx.x] = pthread_self(), usleep(2000); }' '
    pthread_t* who;
    cudaMalloc(&who, 64 * sizeof *who);
    k<<<64, 1>>>(who);
    printf("threads: %zu\n", std::set<pthread_t>(who, who + 64).size());'
    run taskset -c "$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')" "$BIN/crew"
    assert_line 'threads: 1'
    CUDA_CPU_WORKERS=3 run "$BIN/crew"
    assert_line --regexp '^threads: [23]$'
}

@test "128 workers, with blocks of 256 and of 1,024 threads" {
    built atomics
    built threads
    CUDA_CPU_WORKERS=128 run "$BIN/atomics"
    assert_success
    CUDA_CPU_WORKERS=128 run "$BIN/threads"
    assert_success
}

@test "more stacks than Linux would put guards between" {
    # Each block waits until 34 workers have one: 34 * 1,024 stacks, of two mappings each with a guard.
    one_kernel stacks '#include <unistd.h>
__global__ void k(int* arrived) {
    if (threadIdx.x == 0) {
        atomicAdd(arrived, 1);
        for (int i = 0; i < 10000 && atomicAdd(arrived, 0) < 34; ++i) usleep(1000);
    }
    __syncthreads();
}' 'int arrived = 0; k<<<34, 1024>>>(&arrived);'
    CUDA_CPU_WORKERS=34 run "$BIN/stacks"
    assert_success
    assert_output 'went on'
}

@test "a limit on processes ends no run" {
    # As another user, since root is not limited.
    [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null || skip "needs root and setpriv to try"
    built atomics
    there=$(mktemp -d -p /tmp) # outside of bats' folders, which are closed to others
    cp "$BIN/atomics" "$there/"
    chmod -R 755 "$there"
    CUDA_CPU_WORKERS=64 run setpriv --reuid 65534 --clear-groups bash -c "ulimit -u 3; exec '$there/atomics'"
    assert_success
}
teardown() { [ -z "${there:-}" ] || rm -rf "$there"; }

# with_memory KILOBYTES PROGRAM: runs it with that much address space; status 0, or 2 and one line on stderr.
# libgomp's own end is its own; after 3 s it is seen to work.
with_memory() {
    # shellcheck disable=SC2016 # the inner shell's own
    run --separate-stderr timeout 3 bash -c 'ulimit -v "$1"; exec "$2"' - "$1" "$2"
    case $status-$stderr in
    0- | 124- | 1-*libgomp*) ;;
    2-*) [ "${#stderr_lines[@]}" -eq 1 ] || fail "$2 with $1 KB: status 2, and not one line on stderr: $stderr" ;;
    *) fail "$2 with $1 KB: status $status: $stderr" ;;
    esac
    echo "$status $stderr" >>"$BIN/ends"
}

@test "too little memory is a CUDA error, or one line and status 2" {
    compile "$ROOT/tests/cpu/low_memory.cu" "$BIN/low_memory" nofmad
    local kilobytes step=4000
    [ -z "${ALL:-}" ] || step=1000 # some seconds: check-all
    : >"$BIN/ends"
    for ((kilobytes = 16000; kilobytes < 300000; kilobytes += step)); do
        CUDA_CPU_WORKERS=2 with_memory "$kilobytes" "$BIN/low_memory"
    done
    CUDA_CPU_WORKERS=64 with_memory 120000 "$BIN/low_memory"
    # Each kind was met.
    run sort -u "$BIN/ends"
    assert_line '0 '
    assert_line "2 CPU default: out of memory for the stacks of a block's threads"
    assert_line --regexp '^2 low_memory.cu:[0-9]+: cudaMalloc(Host)?\(.*\): cudaErrorMemoryAllocation$'
    assert_line --regexp '^2 low_memory.cu:[0-9]+: cudaGetLastError\(\): cudaErrorMemoryAllocation$'
}

# without NAME ALIGNMENT BYTES 'launch' [flags]: a program to which the allocation of this kind is refused.
without() {
    one_kernel "$1" "#include <cerrno>
extern \"C\" int posix_memalign(void** p, size_t alignment, size_t bytes) noexcept {
    if (alignment == $2 && ($3 == 0 || bytes == $3)) return ENOMEM;
    *p = aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
    return *p ? 0 : ENOMEM;
}
__global__ void k() { __shared__ char a[96]; a[threadIdx.x] = 1; }" "$4" "${@:5}"
    run "$BIN/$1"
    assert_failure 2
}

@test "no memory for a worker, for dynamic and for static shared memory: one line and status 2" {
    without worker 64 0 'k<<<1, 1>>>();'
    assert_output 'CPU default: out of memory for a worker'
    without dynamic 1024 0 'k<<<1, 1, 64>>>();'
    assert_output 'CPU default: out of memory for dynamic shared memory'
}

@test "each allocation of the API refused in turn: cudaErrorMemoryAllocation, and no harm" {
    compile_no_memory "$BIN/no_memory"
    run "$BIN/no_memory"
    assert_success
}

@test "the lessons' programs with too little memory: one line and status 2" {
    local name kilobytes
    for name in reproducibility precision_reduction fpmp_pi canonical_tree; do
        for kilobytes in 30000 60000 90000 120000 150000; do
            CUDA_CPU_WORKERS=1 with_memory "$kilobytes" "$(program "$name" nofmad)"
        done
    done
}

@test "a wrong CUDA_CPU_WORKERS is refused" {
    built atomics
    for value in 0 257 -1 two 3x; do
        CUDA_CPU_WORKERS=$value run "$BIN/atomics"
        assert_failure 2
        assert_output 'CPU default: CUDA_CPU_WORKERS must be a number from 1 to 256'
    done
    CUDA_CPU_WORKERS='' run "$BIN/atomics" # as if it were not set
    assert_success
}

# one_kernel NAME 'kernel' 'statements' [flags]: builds a program around them.
one_kernel() {
    printf '#include <cuda_runtime.h>\n#include <cstdio>\n%s\nint main() {\n    %s\n    printf("went on\\n");\n}\n' "$2" "$3" >"$BIN/$1.cu"
    compile "$BIN/$1.cu" "$BIN/$1" nofmad -O1 "${@:4}"
}

@test "threads that wait for each other for ever are named" {
    one_kernel deadlock '__global__ void k() {
    if (threadIdx.x == 5) return;
    if (threadIdx.x < 32) __shfl_sync(0xffffffffu, 1, 0);
    if (threadIdx.x >= 40) __syncthreads();
    if (threadIdx.x == 33) __ballot_sync(0x5u, 1);
}' 'printf("before\n"); k<<<1, dim3(64)>>>();'
    run timeout 20 "$BIN/deadlock"
    assert_failure 2
    assert_output "$(printf 'before\nCPU default: a lane calls a warp function with a mask that does not name it')"
    # Threads that have been at a barrier and left are not named; nor are there others where there is one.
    one_kernel deadlock '__global__ void k() {
    if (blockIdx.x != 1 || blockIdx.y != 2 || blockIdx.z != 3) return;
    const unsigned t = threadIdx.x + 3 * (threadIdx.y + 4 * threadIdx.z);
    __syncthreads();
    if (t < 23) return;
    if (t == 43) __shfl_sync(0xffffffffu, 1, 0);
    else __syncthreads();
}' 'printf("before\n"); k<<<dim3(2, 3, 4), dim3(3, 4, 5)>>>();'
    run timeout 20 "$BIN/deadlock"
    assert_failure 2
    assert_line --index 0 'before'
    assert_line --index 1 'CPU default: the threads of block (1,2,3) wait for each other for ever:'
    assert_line --index 2 '  thread (2,3,1) and others at a barrier'
    assert_line --index 3 '  thread (1,2,3) in a warp function whose mask names lanes that do not come'
    refute_output --partial 'went on'
    # The exchange's lanes wait last.
    one_kernel deadlock '__global__ void k() {
    if (threadIdx.y == 2) __shfl_sync(0xffffffffu, 1, 0);
    else if (threadIdx.y < 2) __syncthreads();
}' 'k<<<1, dim3(8, 3)>>>();'
    run timeout 20 "$BIN/deadlock"
    assert_failure 2
    assert_line --index 1 '  thread (0,0,0) and others at a barrier'
    assert_line --index 2 '  thread (0,2,0) and others in a warp function whose mask names lanes that do not come'
}

# divergent 'kernel' 'launch' 'what the line says after "divergent barriers in kernel "': the program ends with it.
divergent() {
    one_kernel divergent "$1" "$2"
    CUDA_CPU_WORKERS=1 run timeout 20 "$BIN/divergent"
    assert_failure 2
    assert_output --regexp "^CPU default: divergent barriers in kernel $3\$"
}

@test "divergent barriers are named without a sanitizer: kernel, block, both threads and lines" {
    divergent '__global__ void k() {
    if (threadIdx.x < 8)
        __syncthreads();
    else
        __syncthreads();
}' 'k<<<1, 32>>>();' \
        'k, block \(0,0,0\): thread \(7,0,0\) waits at .*/divergent.cu:5, thread \(8,0,0\) at .*/divergent.cu:7'
    # In three dimensions.
    divergent '__global__ void k() {
    if (blockIdx.x != 1 || blockIdx.y != 2 || blockIdx.z != 3) return;
    const unsigned t = threadIdx.x + 3 * (threadIdx.y + 4 * threadIdx.z);
    if (t > 23 && t < 43) return;
    if (t < 43)
        __syncthreads();
    else
        __syncthreads();
}' 'k<<<dim3(2, 3, 4), dim3(3, 4, 5)>>>();' \
        'k, block \(1,2,3\): thread \(2,3,1\) waits at .*/divergent.cu:8, thread \(1,2,3\) at .*/divergent.cu:10'
    # All have passed a warp function: the last to come was the first to go on.
    divergent '__global__ void k() {
    __syncwarp();
    if (threadIdx.x < 8)
        __syncthreads();
    else
        __syncthreads();
}' 'k<<<1, 32>>>();' \
        'k, block \(0,0,0\): thread \(31,0,0\) waits at .*/divergent.cu:8, thread \(0,0,0\) at .*/divergent.cu:6'
    # Who waits in a warp function is not at the barrier.
    divergent '__global__ void k() {
    if (threadIdx.x == 1) __syncthreads();
    if (threadIdx.x > 1 && threadIdx.x < 8) __ballot_sync(0x1fcu, 1);
    if (threadIdx.x > 8) __syncthreads_count(1);
    if (threadIdx.x == 0) return;
}' 'k<<<1, 32>>>();' \
        'k, block \(0,0,0\): thread \(1,0,0\) waits at .*/divergent.cu:4, thread \(9,0,0\) at .*/divergent.cu:6'
}

@test "a barrier that some threads skip is named, and the kernel's end where they are" {
    # Inside of the if: the upper half of the block is at the end before the lower comes to the barrier.
    divergent 'template <typename T>
__device__ void tree(T* slot) {
    for (unsigned stride = 16; stride > 0; stride /= 2) {
        if (threadIdx.x < stride) {
            slot[threadIdx.x] += slot[threadIdx.x + stride];
            __syncthreads();
        }
    }
}
template <typename T>
__global__ void sum(T* out) {
    __shared__ T slot[32];
    slot[threadIdx.x] = 1;
    __syncthreads();
    tree(slot);
    *out = slot[0];
}' 'float x; sum<float><<<dim3(1, 1, 2), 32>>>(&x);' \
        'sum<float>, block \(0,0,[01]\): thread \([0-9]+,0,0\) waits at .*/divergent.cu:8, thread \(31,0,0\) is at the end of the kernel, .*/divergent.cu:19'
    # Loops of different length; and threads at the end before any has come to a barrier.
    divergent '__global__ void k(int n) {
    for (int i = threadIdx.y; i < n; i += 4)
        __syncthreads();
}' 'k<<<1, dim3(1, 4)>>>(6);' \
        'k, block \(0,0,0\): thread \(0,[01],0\) waits at .*/divergent.cu:5, thread \(0,[23],0\) is at the end of the kernel, .*/divergent.cu:6'
    divergent '__global__ void k() {
    const unsigned t = threadIdx.x + 3 * (threadIdx.y + 4 * threadIdx.z);
    if (t > 23 && t < 43) return;
    if (t != 43) __syncthreads();
}' 'k<<<1, dim3(3, 4, 5)>>>();' \
        'k, block \(0,0,0\): thread \([0-2],[0-3],[0-4]\) waits at .*/divergent.cu:6, thread \(1,2,3\) is at the end of the kernel, .*/divergent.cu:7'
    divergent '__global__ void k() {
    if (threadIdx.x < 4) return;
    if (threadIdx.x >= 8) __syncthreads();
}' 'k<<<1, 32>>>();' \
        'k, block \(0,0,0\): thread \([0-9]+,0,0\) waits at .*/divergent.cu:5, thread \(4,0,0\) is at the end of the kernel, .*/divergent.cu:6'
}

@test "what was printed before divergent barriers is there; of all the workers that meet them, one speaks" {
    # The process stays a moment at its end, so that others could speak too.
    one_kernel crowd '#include <unistd.h>
__global__ void k(int* arrived) {
    if (threadIdx.x == 0) atomicAdd(arrived, 1);
    for (int i = 0; i < 1000 && atomicAdd(arrived, 0) < 2; ++i) usleep(1000);
    if (threadIdx.x == 0) __syncthreads();
}
extern "C" {
void __real__Exit(int status);
void __wrap__Exit(int status) { usleep(300000), __real__Exit(status); }
}' 'printf("before\n"); int arrived = 0; k<<<64, 2>>>(&arrived);' -Wl,--wrap=_Exit
    CUDA_CPU_WORKERS=4 run timeout 20 "$BIN/crowd"
    assert_failure 2
    assert_line --index 0 'before'
    assert_line --index 1 --partial 'CPU default: divergent barriers in kernel k'
    assert_equal "${#lines[@]}" 2
}

@test "static shared memory above 48 KB is refused when building" {
    one_kernel fits '__global__ void k() { __shared__ double a[6 * 1024]; a[threadIdx.x] = 0; }' 'k<<<1, 1>>>();'
    run one_kernel above '__global__ void k() { __shared__ double a[6 * 1024]; __shared__ int b; a[0] = b = 0; }' 'k<<<1, 1>>>();'
    assert_failure
    assert_output --partial 'static shared memory of one kernel is limited to 48 KB, as on a card'
    assert_output --partial 'above.cu:3'
}

frames_kernel() {
    one_kernel steps '__device__ __noinline__ int deep(int n) { volatile char a[30000]; a[0] = n; return n ? deep(n - 1) + a[0] : 0; }
__global__ void k(int n) { deep(n); __syncthreads(); }' 'k<<<4, 64>>>(5);'
}

@test "a thread's local variables beyond its stack are named, however far" {
    for bytes in 70000 400000; do
        one_kernel deep "__global__ void k(int n) {
    volatile char a[$bytes];
    for (int i = 0; i < n; ++i) a[i] = 1;
    __syncthreads();
}" 'k<<<4, 64>>>(1);'
        run "$BIN/deep"
        assert_failure 2
        assert_output 'CPU default: the local variables of a CUDA thread need more than 64 KB, which is all that it has here'
    done
    # Several frames, each smaller than what a compiler probes.
    frames_kernel
    run "$BIN/steps"
    assert_failure 2
    assert_output --partial 'need more than 64 KB'
    one_kernel sent '#include <csignal>
__global__ void k() {}' 'k<<<1, 1>>>(); raise(SIGSEGV);'
    run "$BIN/sent"
    assert_failure 139
    # Thread 0 goes beyond its stack when that of thread 1 lies below it.
    one_kernel late '__device__ __noinline__ void far() { volatile char a[70000]; a[0] = 1; }
__global__ void k() {
    __syncthreads();
    if (threadIdx.x == 0) far();
    __syncthreads();
}' 'k<<<1, 64>>>();'
    run "$BIN/late"
    assert_failure 2
    assert_output --partial 'need more than 64 KB'
    # Any other fault is the signal that it was: of a thread, also on its own stack, or of the host.
    one_kernel fault '__global__ void k() { volatile char code[64] = {}; ((void (*)())code)(); }' 'k<<<1, 1>>>();'
    run "$BIN/fault"
    assert_failure 139
    one_kernel fault '__global__ void k(int* p) { if (p) *p = 1; }' 'k<<<1, 1>>>((int*)64);'
    run "$BIN/fault"
    assert_failure 139
    one_kernel fault '__global__ void k(int* p) { if (p) *p = 1; }' 'k<<<1, 1>>>(nullptr); *((volatile int*)-100000) = 1;'
    run "$BIN/fault"
    assert_failure 139
}

@test "a program's own handler of faults stays" {
    one_kernel own '#include <csignal>
#include <unistd.h>
static void mine(int) { _exit(7); }
__global__ void k(int* p) { if (p) *p = 1; }' 'signal(SIGSEGV, mine); k<<<64, 1>>>(nullptr); k<<<1, 1>>>((int*)64);'
    run "$BIN/own"
    assert_failure 7
}

@test "frames beyond a stack are named under AArch64, where g++ probes less often" {
    require_aarch64
    frames_kernel
    aarch64_build "$BIN/steps.cu" "$BIN/steps.aarch64" nofmad -O1
    run aarch64_run "$BIN/steps.aarch64"
    assert_failure 2
    assert_output --partial 'need more than 64 KB'
}

@test "__trap ends the program" {
    one_kernel trap '__global__ void k() { __trap(); }' 'k<<<1, 1>>>();'
    run "$BIN/trap"
    assert_failure 134
}

@test "a kernel that launches a kernel is refused" {
    one_kernel nested '__global__ void child() {}
__global__ void parent() { child<<<1, 4>>>(); }' 'parent<<<64, 32>>>();'
    run timeout 20 "$BIN/nested"
    assert_failure 2
    assert_output 'CPU default: a kernel launches a kernel: dynamic parallelism is not covered here'
    # As well where the launch would be refused by itself.
    one_kernel nested '__global__ void child() {}
__global__ void parent() { child<<<1, 2000>>>(); }' 'parent<<<1, 1>>>();'
    run timeout 20 "$BIN/nested"
    assert_failure 2
    assert_output --partial 'dynamic parallelism is not covered'
}

@test "every atomic is one in the machine code, and every fence is there" {
    [ -n "$MFMA" ] || skip "looks for x86-64's instructions"
    local name missing=''
    {
        echo '#include <cuda_runtime.h>'
        for type in int unsigned 'unsigned long long' float double; do
            for name in Add Sub Exch And Or Xor CAS Max Min; do
                case $name-$type in Add-* | Exch-float) ;; *-float | *-double | Sub-*' '*) continue ;; esac
                value=v
                [ $name != CAS ] || value='v, v'
                echo "extern \"C\" __device__ $type atomic${name}_${type// /_}($type* p, $type v) { return atomic$name(p, $value); }"
            done
        done
        for name in '' _block _system; do echo "extern \"C\" __device__ void fence$name() { __threadfence$name(); }"; done
    } >"$BIN/machine.cu"
    compile "$BIN/machine.cu" "$BIN/machine.s" nofmad -O2 -S
    run awk '/^(atomic|fence)[A-Za-z_]*:/ { name = $1; order[++n] = name } /^\t(lock|xchg|mfence)/ { found[name] = 1 }
        END { for (i = 1; i <= n; i++) if (!(order[i] in found)) print order[i]; print n }' "$BIN/machine.s"
    assert_output 32
}

@test "a call that is not covered does not compile" {
    for call in 'int* p; cudaMallocArray(&p, 4)' 'cudaDeviceSetLimit(0, 1)' 'int x = 0; atomicInc(&x, 1)' \
        'unsigned long long x = 0; atomicSub(&x, 1)'; do
        run one_kernel missing '__global__ void k() {}' "$call;"
        assert_failure
        assert_output --partial 'missing.cu:5'
    done
    run one_kernel missing 'cudaTextureObject_t t;' ''
    assert_failure
    assert_output --partial 'cudaTextureObject_t'
}
