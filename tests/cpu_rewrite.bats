#!/usr/bin/env bats
# The rewriter of the CPU default on small inputs: what it must know, and how it refuses what it does not.

load helper

setup() {
    require_cpu
    cd "$BATS_TEST_TMPDIR" || return
}

rewrite() { "$BUILD/tools/cu_rewrite" "$@"; }

# The input is the test's stdin: writes in.cu and compiles its rewritten form, without code.
syntax() {
    cat >new.cu && mv new.cu in.cu # the input may be in.cu
    rewrite in.cu >in.cpp && compile in.cu in fmad -O0 -fsyntax-only
}

# refused 'input' 'line on stderr'
refused() {
    printf '%b' "$1" >in.cu
    run rewrite in.cu
    assert_failure 2
    assert_output "$2"
}

@test "every line keeps its number" {
    cat >part.cu <<'EOF'
#include <cuda_runtime.h>
__global__ void part(int* p) {
    __shared__ int a[4],
        b;
    a[0] = b = *p;
}
static int notThere = missing_in_part;
EOF
    run syntax <<'EOF'
#include <cuda_runtime.h>
#include "part.cu"
static int one = missing_one;
template <typename T>
__global__ void k(T* p) {
    __shared__ T a[4][2],
        b, c[3];
    extern __shared__
        T d[];
    a[0][0] = b = c[0] = d[0] = *p;
    __syncthreads();
    *p = missing_two + a[1][1];
}
int main() {
    k<int><<<
        1,
        1
    >>>(
        NULL);
    part<<<1, 1>>>(nullptr); part<<<1,
        1>>>(nullptr);
    return missing_three;
}
EOF
    assert_failure
    assert_output --partial 'part.cu:7:'
    assert_output --partial 'in.cu:3:'
    assert_output --partial 'in.cu:12:'
    assert_output --partial 'in.cu:22:'
    [ "$(grep -c 'error:' <<<"$output")" -eq 4 ]
    # The numbers in the text itself: as many lines between two #line as the source has.
    run awk '/^#line/ { n = $2 - 1; next } { n++ } n == 12 && /missing_two/ { ok++ } n == 22 && /missing_three/ { ok++ } END { print ok }' in.cpp
    assert_output 2
}

@test "lines keep their numbers between two includes, and after the last line of a file without its end" {
    printf 'static int inPart = missing_part;' >part.cu
    echo 'static int inHeader;' >part.h
    run syntax <<'EOF'
#include <cuda_runtime.h>
#include "part.cu"
static int one = missing_one;
#include "part.cu"
static int two = missing_two;
#include "part.h"
static int three = missing_three;
EOF
    assert_failure
    for place in part.cu:1 in.cu:3 in.cu:5 in.cu:7; do assert_output --regexp "(^|[^a-z])$place:[0-9]+: error: .missing"; done
    # The compiler must name the second line here: it is the last.
    printf '#if 1\n#include "part.cu"' >in.cu
    run rewrite in.cu
    assert_equal "${lines[${#lines[@]} - 1]}" '#line 2 "in.cu"'
}

@test "sibling scopes have shared variables of their own, and a kernel's add up in each" {
    syntax <<'EOF'
#include <cuda_runtime.h>
__global__ void k(float* out) {
    __shared__ int first[1024];
    if (out) {
        __shared__ float a[10 * 1024];
        a[0] = *out;
    } else {
        __shared__ double a[5 * 1024], b[2];
        a[0] = b[0] = 1;
    }
    { __shared__ char a[3]; a[0] = (char)first[0]; }
}
__global__ void another() { __shared__ int first[1024 * 12]; first[0] = 0; }
EOF
    run syntax <<'EOF'
#include <cuda_runtime.h>
__global__ void k(float* out) {
    __shared__ float first[1024 * 6];
    { __shared__ int a[100]; a[0] = 0; }
    { __shared__ int a[1024 * 6 + 1]; a[0] = (int)first[0]; }
}
EOF
    assert_failure
    assert_output --partial 'in.cu:5:'
    assert_output --partial 'static shared memory of one kernel is limited to 48 KB, as on a card'
    refute_output --partial 'in.cu:4:'
}

@test "a kernel's end is marked at its own brace, and left alone where #else leaves open which that is" {
    cat >in.cu <<'EOF'
#include <cuda_runtime.h>
__device__ int helper() { return 1; }
__global__ void whole(int n) {
    if (n) { n = helper(); }
#if 1
    { n++; }
#endif
    // }
}
namespace around {
__global__ void open(int n) {
#ifdef OPEN
    if (n) {
#else
    {
#endif
    }
}
}
__global__ void declared(int n);
int main() { return 0; }
EOF
    rewrite in.cu >in.cpp
    run grep -n CUDA_CPU_END in.cpp
    assert_output --regexp '^[0-9]+: CUDA_CPU_END \}$'
    syntax <in.cu
}

@test "a qualifier behind a macro, and a byte order mark" {
    printf '\xef\xbb\xbf' >in.cu
    cat >>in.cu <<'EOF'
#include <cuda_runtime.h>
#define HD __host__ __device__
#  define INLINE static HD \
       inline
#define OTHER(x) __device__ x
#define HOST static  // never __device__
#define ALSO_HOST /* no __global__ */ static
#define GONE __device__
#undef GONE
#define GONE static
#define STATE __device__ int state;
HD float one(float x) { return x * x + 1; }
INLINE float two(float x) { return one(x) * 2; }
HOST int three(int x) { return x; }
GONE int six(int x) { return x; }
ALSO_HOST int four(int x) { return x; }
STATE
static int five(int x) { return x; }
int main() { return six(0) + three(4) + four(3) + five(state); }
EOF
    rewrite in.cu >in.cpp
    run grep -n 'CUDA_CPU' in.cpp
    refute_output --regexp 'GONE|HOST|STATE'
    assert_line --partial 'CUDA_CPU_FN HD float one(float x) { CUDA_CPU_BODY'
    assert_line --partial 'CUDA_CPU_FN INLINE float two(float x) { CUDA_CPU_BODY'
    assert_equal "${#lines[@]}" 2
    syntax <in.cu
}

@test "what is never closed: one line, and status 2" {
    refused 'int a;\nconst char* s = "abc;\nint b;\n' 'in.cu:2: cu_rewrite: unterminated string'
    refused "char c = 'a;\n" 'in.cu:1: cu_rewrite: unterminated character'
    refused 'int a;\n\n/* no end\nint b;\n' 'in.cu:3: cu_rewrite: unterminated comment'
    refused 'auto s = R"x(abc)";\n' 'in.cu:1: cu_rewrite: unterminated raw string'
    refused '__global__ void k(int a {\n}\n' 'in.cu:1: cu_rewrite: a bracket is never closed'
    refused '__global__ void k() {\n  __shared__ int *p, a;\n}\n' \
        'in.cu:2: cu_rewrite: several __shared__ variables with a pointer among them; declare it by itself'
    refused '__global__ void k() {\n  __shared__ int a[4], *p;\n}\n' \
        'in.cu:2: cu_rewrite: several __shared__ variables with a pointer among them; declare it by itself'
    refused 'int main() {\n  k<<<1, 2>>(3);\n}\n' 'in.cu:2: cu_rewrite: <<< without its >>>'
    refused 'int main() {\n  k<<<1, (2>>>(3);\n}\n' 'in.cu:2: cu_rewrite: a bracket is never closed'
    refused 'int main() {\n  k<<<1, 2>>>;\n}\n' "in.cu:2: cu_rewrite: >>> without the kernel's arguments"
    refused 'int main() {\n  <<<1, 2>>>();\n}\n' 'in.cu:2: cu_rewrite: <<< without a kernel before it'
}

@test "what is not known: one line, and status 2" {
    refused '__global__ void k() {\n  __shared__ int a = 3;\n}\n' 'in.cu:2: cu_rewrite: a __shared__ variable cannot have an initialiser'
    refused '__global__ void k() {\n  __shared__ struct { int x; } a;\n}\n' \
        'in.cu:2: cu_rewrite: a __shared__ declaration of a shape that is not known here'
    refused '__global__ void k() {\n  __shared__ int (*a)[3];\n}\n' \
        'in.cu:2: cu_rewrite: a __shared__ declaration of a shape that is not known here'
    refused '\nextern __shared__ float all[];\n' \
        'in.cu:2: cu_rewrite: __shared__ outside of a function is not known here; declare it in the kernel'
    refused '#define GO(k) \\\\\n  k<<<1, 1>>>()\n' \
        'in.cu:2: cu_rewrite: a launch inside a macro is not known here; write it in a function'
    refused '#include "not_there.cu"\n' 'in.cu:1: cu_rewrite: not_there.cu: No such file or directory'
    refused 'int a;\n#include "in.cu"\n' 'in.cu:2: cu_rewrite: in.cu: includes itself, or 16 files deep'
    refused 'int a;\0int b;\n' 'in.cu:1: cu_rewrite: not a text file'
    refused '__global__ void k() {\n  __shared__ int a' 'in.cu:2: cu_rewrite: a __shared__ declaration is never ended'
    refused '__global__ void k() {\n  __shared__ [4];\n}\n' 'in.cu:2: cu_rewrite: a __shared__ declaration without a name'
    refused '\n)<<<1, 1>>>();\n' 'in.cu:2: cu_rewrite: a bracket is never opened'
    refused "__global__ void k\\n$(printf '(%.0s' {1..257})" 'in.cu:2: cu_rewrite: brackets nested too deep'
    refused "__global__ void k() {\\n$(printf '__shared__ int a%d;\\n' {1..257})}" \
        'in.cu:258: cu_rewrite: too many __shared__ declarations in one function'
}

# The words of a C source's messages, of each the longest piece between two formats.
messages() {
    perl -0777 -ne 's{/\*.*?\*/}{}gs; s/\x27(\\.|.)\x27//g; s/"\s*\n\s*"//g; s/__asm__[^;]*;//g;
        while (/"((?:[^"\\]|\\.)*)"/g) {
            my ($longest) = sort { length $b <=> length $a } split /%[-+ #0-9.*]*[a-z]|\\[n"]/, $1;
            print "$longest\n" if $longest =~ /\w+ \w+/ && $longest !~ /[#;]/;
        }' "$1" | sort -u
}

@test "no message of the rewriter and of the runtime is without a test that names it" {
    local file message missing='' count=0
    for file in cu_rewrite engine api; do
        while read -r message; do
            count=$((count + 1))
            grep -qF -e "$message" "$ROOT"/tests/{cpu_*,own}.bats "$ROOT"/tests/cpu/*.* || missing+="$file.c: $message"$'\n'
        done < <(messages "$ROOT/cpu/$file.c")
    done
    [ "$count" -ge 35 ] || fail "only $count messages"
    assert_equal "$missing" ''
}

@test "a bracket that is missing, a directive in a declaration, one thing inside of another: one line, and status 2" {
    refused '__global__ void k() {\n  __shared__ alignas 16 vec<float> a[4];\n}\n' \
        'in.cu:2: cu_rewrite: an opening bracket was expected here'
    refused '__global__ void k() {\n  __shared__ vec<float> a[4],\n    alignas' 'in.cu:3: cu_rewrite: an opening bracket was expected here'
    refused 'struct S {\n  __device__ S() : ' 'in.cu:2: cu_rewrite: an opening bracket was expected here'
    refused '__global__ void k() {\n  __shared__ float a[\n#if X\n  4\n#else\n  8\n#endif\n  ];\n}\n' \
        'in.cu:3: cu_rewrite: a directive inside a __shared__ declaration is not known here'
    refused '__global__ void k() {\n  __shared__ float a[f<<<1, 1>>>(2)];\n}\n' \
        'in.cu:2: cu_rewrite: something to rewrite inside of something else to rewrite'
}

@test "a # in a comment or a string is no directive" {
    cat >in.cu <<'EOF'
#include <cuda_runtime.h>
#include <cinttypes>
#define GLOB "dir/*"
  #include "part.cu"
/* of old:
#include "not_there.cu"
#include <not_there.h>
#if
*/
const char* text = R"(
#include "not_there.cu"
#if
)" "%" PRIuPTR"%d(";
#ifndef __CUDA_ARCH__
#error the code does not see it
#endif
int main() { return part; }
EOF
    echo 'int part;' >part.cu
    syntax <in.cu
}

@test "mutated sources: rewritten, or one line and status 2, and no fault under the sanitizers" {
    echo 'int main(void) { return 0; }' >probe.c
    $CC -fsanitize=address,undefined -o probe probe.c 2>probe.log && ./probe || skip "no $CC with address and undefined sanitizers"
    $CC -std=c11 -O1 -g -Wall -Wextra -fsanitize=address,undefined -fno-sanitize-recover=all -o fuzz "$ROOT/tests/cpu/fuzz.c"
    local cases=100000
    [ -z "${ALL:-}" ] || cases=1000000 # a minute: check-all
    run ./fuzz 2 "$cases" "$BATS_TEST_TMPDIR/failed.cu" "$ROOT"/tests/cpu/fuzz/*.cu "$ROOT"/*/*.cu "$ROOT"/tests/cpu/*.cu
    assert_success
    assert_output --regexp "^$cases cases, [0-9]+ of them rewritten$"
}

@test "usage and files" {
    run rewrite
    assert_failure 2
    assert_output 'usage: cu_rewrite [-H FOLDER] [-I DIR ...] FILE.cu [FILE.d TARGET] > FILE.cpp'
    run rewrite -H in.cu
    assert_failure 2
    assert_line --partial usage:
    run rewrite nowhere.cu
    assert_failure 2
    assert_output 'cu_rewrite: nowhere.cu: No such file or directory'
    run rewrite .
    assert_failure 2
    assert_output 'cu_rewrite: .: Is a directory'
    echo 'int part;' >part.cu
    echo '#include "part.cu"' >in.cu
    run --separate-stderr rewrite in.cu in.d 'the target'
    assert_success
    assert_equal "$(cat in.d)" $'the target: part.cu\npart.cu:'
    run --separate-stderr rewrite in.cu nowhere/in.d in
    assert_failure 2
    assert_equal "$stderr" 'cu_rewrite: nowhere/in.d: No such file or directory'
    head -c 20000000 /dev/zero | tr '\0' '\n' >long.cu
    run bash -c 'ulimit -v 30000; "$1" long.cu' - "$BUILD/tools/cu_rewrite"
    assert_failure 2
    assert_output 'cu_rewrite: out of memory'
    [ -c /dev/full ] || skip "no /dev/full"
    run --separate-stderr rewrite in.cu /dev/full in
    assert_failure 2
    assert_equal "$stderr" 'cu_rewrite: /dev/full could not be written'
    echo 'int a;' >in.cu
    run bash -c '"$1" in.cu >/dev/full' - "$BUILD/tools/cu_rewrite"
    assert_failure 2
    assert_output 'cu_rewrite: the output could not be written'
}

@test "text without CUDA comes out as it is" {
    cat >in.cu <<'EOF'
// __global__ void k(); k<<<1, 1>>>(); __shared__ int a;
/* __shared__ "unterminated ' */
const char* a = "__shared__ int x; k<<<1, 1>>>() // \" /* ";
const char* b = R"(k<<<1, 1>>>() " __device__ void f() { )";
const char* c = R"tag()" __shared__ )tag";
const int d = 1'000'000 + 0xff'ff + 0b1'0'1 + '"' + '\'' + u8'"' + L'\\';
#define Q "k<<<1, 1>>>" '"' /* ' */
#if 0
#error it isn't text
#endif
int e = 1 << 2 << 3 >> 1;
EOF
    rewrite in.cu | sed '1{/^#include <cuda_runtime.h>$/d}; /^#line/d; /__CUDA_ARCH__/d; /^#endif$/d' >out
    sed '/^#endif$/d' in.cu | diff - out
}

@test "__CUDA_ARCH__ appears after the last include: in a local header too, and not in a system's" {
    mkdir system
    printf '%s\n' '#ifdef __CUDA_ARCH__' '#error a system header sees it' '#endif' >system/system.h
    cat >local.h <<'EOF'
#ifndef LOCAL_H
#define LOCAL_H
#include <system.h>
#ifndef __CUDA_ARCH__
#error a local header does not see it
#endif
#endif
EOF
    cat >in.cu <<'EOF'
#if 1
#include "local.h"
#endif
#include "local.h"
#include <system.h>
#ifndef __CUDA_ARCH__
#error the code does not see it
#endif
int main() { return __CUDA_ARCH__ < 600; }
EOF
    compile in.cu in fmad -O0 -fsyntax-only -isystem system
}

@test "local headers are device code: rewritten wherever they lie, once each, with lines that keep their numbers" {
    mkdir -p deep inc 'with blank'
    cat >plain.h <<'EOF'
#pragma once
struct Plain { float x; }; // it's no device code, so its quotes may be of any shape: '
#include "deep/device.cuh"
EOF
    cat >deep/device.cuh <<'EOF'
#pragma once
#include "../macros.h"
#include "no_code.h"
template <typename T>
HD T twice(T x) { return x + no_code * x; }
__global__ void inHeader(float* p) {
    __shared__ float a[32];
    a[threadIdx.x] = twice(p[threadIdx.x]);
    __syncthreads();
    p[threadIdx.x] = a[31 - threadIdx.x];
}
inline void launch(float* p) { inHeader<<<1, 32>>>(p); }
EOF
    echo 'static const int no_code = 1;' >deep/no_code.h
    echo '#define HD __host__ __device__' >macros.h
    echo '__device__ inline float three() { return missing_in_header; }' >'with blank/third.cuh'
    cat >in.cu <<'EOF'
#include "plain.h"
#include "deep/device.cuh"
/*
#include "nowhere.h"
*/
#include <third.cuh>
int main() {
    float* p;
    cudaMallocHost(&p, 32 * sizeof *p);
    p[0] = 4;
    launch(p);
    return p[31] == 8 ? 0 : missing_in_main;
}
EOF
    run compile in.cu in fmad -O0 -fsyntax-only '-Iwith blank'
    assert_failure
    assert_line --regexp '^with blank/third\.cuh:1:.*missing_in_header'
    assert_line --regexp '^in\.cu:12:.*missing_in_main'
    assert_equal "$(grep -c ': error: ' <<<"$output")" 2
    sed -i 's/missing_in_header/3/' 'with blank/third.cuh'
    sed -i 's/missing_in_main/1/' in.cu
    compile in.cu in fmad -O0 '-Iwith blank'
    ./in
    # What it depends on are the headers themselves.
    run cat in.d
    assert_output --partial 'deep/device.cuh'
    assert_output --partial 'with\ blank/third.cuh'
    refute_output --partial headers/
    run ls
    refute_output --partial headers
}

@test "a device function in a header is contracted in the fused build alone" {
    have_fma || skip "this CPU has no FMA"
    cat >part.cuh <<'EOF'
__device__ __attribute__((noinline)) float inHeader(float a, float b, float c) { return a * b + c; }
EOF
    cat >in.cu <<'EOF'
#include "part.cuh"
__global__ void k(float a, float b, float c, float* out) { *out = inHeader(a, b, c); }
int main() {
    float* out;
    cudaMallocHost(&out, sizeof *out);
    k<<<1, 1>>>(1 + 0x1p-12f, 1 + 0x1p-12f, -(1 + 0x1p-11f), out);
    printf("%a\n", *out);
}
EOF
    compile in.cu fused fmad
    compile in.cu separate nofmad
    run ./fused
    assert_output 0x1p-24
    run ./separate
    assert_output 0x0p+0
}

@test "functions of every shape are marked, and compile" {
    syntax <<'EOF'
#include <cuda_runtime.h>
template <typename T, int kN = (3 > 2)> struct Box;
struct Base {
    float b;
    __host__ __device__ explicit Base(float x) : b(x) {}
    __host__ __device__ virtual ~Base() {}
};
template <typename... Bases>
struct All : Bases... {
    __device__ All(const Bases&... b) : Bases(b)... {}
};
struct V : Base {
    float x, y{1};
    __host__ __device__ V(float a, float c) : Base(a * c + a), x{a}, y((a < c) ? a : c) { x = a * c + y; }
    __host__ __device__ V(const V&) = default;
    __device__ V& operator=(const V&) = default;
    __device__ float operator()(float a) const noexcept { return a * x + y; }
    __device__ float operator[](int i) const { return i ? x : y; }
    __device__ bool operator<(const V& o) const { return x < o.x; }
    __device__ V operator<<(int n) const { return V(x * n, y); }
    __device__ V& operator++() { return *this; }
    __device__ explicit operator float() const { return x; }
    __device__ auto trailing(float a) const -> decltype(a * 2) { return a * x + y; }
    friend __host__ __device__ V operator+(const V& a, const V& b) { return V(a.x + b.x, a.y * b.y + a.x); }
    friend __device__ bool operator==(const V& a, const V& b);
    template <typename T>
    __device__ static inline T times(T a, T b = T(1 < 2)) { return a * b; }
    [[nodiscard]] __device__ constexpr int size() const { return 2; }
};
inline __device__ bool operator==(const V& a, const V& b) { return a.x == b.x; }
template <typename T>
struct Box<T, 1> {
    __device__ T get() const;
};
template <typename T>
__device__ T Box<T, 1>::get() const { return T(1); }
__device__ float forward(float);
__device__ float g_values[3] = {1, 2, 3};
__device__ const float* g_pointer;
__constant__ float c_one = 1.0f;
__device__ __noinline__ float forward(float x) { return x * x + c_one; }
extern "C" __global__ void c_kernel(int) {}
__global__ void __launch_bounds__(128, (1 < 2) ? 2 : 1) bounds(float (*f)(float), const float (&a)[3]) { (void)f, (void)a; }
template <template <typename> class C, typename T>
__global__ void nested(C<T> c, T (*f)(T)) { (void)c, (void)f; }
template <typename T>
struct One { T t; };
int main() {
    auto lambda = [] __device__(float x) { return x * x + 1; };
    auto both = [=] __host__ __device__(int a) -> int { return a < 3; };
    nested<<<1, 1>>>(One<int>{3}, (int (*)(int)) nullptr);
    c_kernel<<<1, 1>>>(both(2));
    return (int)lambda(1.0f);
}
EOF
}
