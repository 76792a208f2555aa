# A program of the user's own: tools/cudacpu, make run SRC=..., and the headers that a toolkit has.
load helper

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    mkdir -p 'my work/inc'
    # 1 + 2^-11 + 2^-24 in one rounding, without the last part in two.
    cat >'my work/my.cu' <<'EOF'
#include "inc/part.cuh"
int main(int argc, char** argv) {
    float *p, h[2] = {1 + 0x1p-12f, 3};
    cudaMalloc(&p, sizeof h);
    cudaMemcpy(p, h, sizeof h, cudaMemcpyHostToDevice);
    square<<<1, 2>>>(p);
    cudaMemcpy(h, p, sizeof h, cudaMemcpyDeviceToHost);
    cudaFree(p);
    for (float x : h) printf("%a\n", x);
    for (int i = 1; i < argc; ++i) printf("argument %s\n", argv[i]);
    fprintf(stderr, "to stderr\n");
    return argc > 2;
}
EOF
    echo '__global__ void square(float* p) { float x = p[threadIdx.x]; p[threadIdx.x] = x * x - (1 + 0x1p-11f); }' >'my work/inc/part.cuh'
}
# own VARIABLE=VALUE...: make run from the folder `my work`, as its user would call it.
own() {
    (cd 'my work' && run_make "$@")
}
run_make() { env -u MAKEFLAGS -u MAKELEVEL PWD="$PWD" make --no-print-directory -C "$ROOT" DEVICE=cpu BUILD="$BATS_TEST_TMPDIR/b" run "$@"; }
# With what make found out; the test below that calls it without is the only one that needs a make.
cudacpu() { bash "$ROOT/tools/cudacpu" "$@"; }

@test "make run SRC: from another folder, both builds, its output, and which lines differ" {
    require_cpu
    have_fma || skip "this CPU has no FMA"
    run --separate-stderr own SRC=my.cu ARGS=7
    assert_success
    assert_line '== my.cu, build fmad: status 0'
    assert_line '== my.cu, build nofmad: status 0'
    assert_line 'argument 7'
    assert_line '  line 1, fused:    0x1p-24'
    assert_line '  line 1, separate: 0x0p+0'
    refute_line --partial 'line 2'
    assert_line '1 of 3 lines differ between the builds'
    assert_equal "$(grep -c '^to stderr$' <<<"$stderr")" 2
    run cat b/cpu/own/my.cu/fmad.txt
    assert_output $'0x1p-24\n0x1.fff8p+2\nargument 7'
    # A whole path, with a blank; DEFS reach it.
    run own SRC="$PWD/my work/my.cu" DEFS=-Dsquare=cube
    assert_success
    assert_line '0x1p-24'
}

@test "make run SRC: the same output is said once; a status that is not 0 is make's too" {
    require_cpu
    echo 'int main() { puts("one line"); return 3; }' >'my work/three.cu'
    run own SRC=three.cu
    assert_failure 2
    assert_line '== three.cu, build nofmad: status 3, and the same output'
    assert_equal "$(grep -c '^one line$' <<<"$output")" 1
    echo 'int main() { abort(); }' >'my work/three.cu'
    run own SRC=three.cu
    assert_failure 2
    assert_line --regexp 'build nofmad: status 134 \(SIGABRT\)'
    echo '__global__ void k(float* p) { p[0] = __fmaf_rn(p[0], 1, 0); } int main() { puts("no end"); printf("x"); }' >'my work/three.cu'
    run own SRC=three.cu
    assert_success
    assert_line x
    # One build prints more.
    cat >'my work/three.cu' <<'EOF'
int main() { for (int i = 0; i < 30 + CUDA_CPU_FMAD; ++i) printf("%d\n", i * (1 + CUDA_CPU_FMAD)); }
EOF
    run own SRC=three.cu
    assert_line '  line 21, separate: 20'
    refute_line --partial 'line 22'
    assert_line '  and 9 more'
    assert_line '29 of 30 lines differ between the builds; fused has 31 lines, separate 30'
}

@test "make run SRC: several files, a header in INCLUDE, C and C++ beside CUDA" {
    require_cpu
    echo '#include <kernels.cuh>
extern "C" int inC(int);
int inCpp(int);
int main() { printf("%d %d %d\n", inHeader(1), inC(2), inCpp(3)); }' >'my work/a.cu'
    echo '__global__ void k(int* p) { *p = 5; }
inline int inHeader(int) { int x; k<<<1, 1>>>(&x); return x; }' >'my work/inc/kernels.cuh'
    echo 'int inC(int class) { return class * 2; }' >'my work/b.c'
    echo '#include <cuda_runtime.h>
#include <vector_types.h>
int inCpp(int x) { return make_int2(x, 2 * x).y; }' >'my work/c.cpp'
    run own SRC='a.cu b.c c.cpp' INCLUDE=inc
    assert_success
    assert_line '5 4 6'
    # The name of an environment's variable is not taken.
    INCLUDE=nowhere run own SRC=a.cu
    assert_failure 2
    refute_output --partial nowhere
    assert_output --partial 'a.cu:1:10: fatal error: kernels.cuh'
}

@test "make run SRC: what it cannot do is one line" {
    require_cpu
    run own SRC=none.cu
    assert_failure 2
    assert_line "make run SRC: no such file: 'none.cu'"
    run own SRC=inc
    assert_failure 2
    assert_line "make run SRC: 'inc' is no source: its name must end in .cu, .cpp, .cc, .cxx or .c"
    mkdir 'my work/folder.cu'
    run own SRC=folder.cu
    assert_failure 2
    assert_line "make run SRC: 'folder.cu' is no file"
    run own SRC=my.cu INCLUDE=nowhere
    assert_failure 2
    assert_line "make run SRC: no such folder: INCLUDE='nowhere'"
    echo 'int main() { return missing; }' >'my work/bad.cu'
    run own SRC=bad.cu
    assert_failure 2
    assert_line --regexp 'my work/bad\.cu:1:21: error: .*missing'
    assert_line 'make run SRC: bad.cu does not build (fmad)'
    assert_equal "$(grep -c ': error: ' <<<"$output")" 1
}

@test "make run SRC on a card: nvcc gets both builds, and what the CPU default is told stays away" {
    mkdir bin
    # shellcheck disable=SC2016
    printf '%s\n' '#!/bin/sh' 'echo "$*" >>"$CALLS"' 'case "$*" in *--version*) echo "release 13.0"; exit ;; esac' \
        'while [ $# -gt 1 ]; do [ "$1" != -o ] || { printf "#!/bin/sh\necho ran\n" >"$2"; chmod +x "$2"; }; shift; done' >bin/nvcc
    chmod +x bin/nvcc
    CALLS=$PWD/calls ROOT=$ROOT BUILD=$PWD/b DEVICE=gpu DEVICE_WHY=stub FMA=yes NVCC=$PWD/bin/nvcc ARCH=sm_75 CCBIN='' \
        SRC=my.cu ARGS='' INCLUDE='' CALLED_FROM="$PWD/my work" run bash -c 'mkdir -p "$BUILD" && bash "$ROOT/tools/run_source.sh" -DX'
    assert_success
    assert_line ran
    run grep -c -- '-DX.* -c ' calls
    assert_output 2
    assert_equal "$(grep -c -- '-fmad=false' calls)" 2
    refute_regex "$(cat calls)" AS_A_CARD
}
refute_regex() { [[ ! $1 =~ $2 ]]; }

@test "cudacpu: as nvcc is called; what has no effect is named" {
    require_cpu
    cd 'my work'
    run cudacpu my.cu -o my -O2 -std=c++14 -arch=sm_80 -gencode arch=compute_80,code=sm_80 -Xcompiler -Wall,-g -lineinfo \
        --expt-extended-lambda -lcudart -lm -I inc -DNAME=1 -fmad=false
    assert_success
    assert_output 'cudacpu: without effect here: -std=c++14 -arch=sm_80 -gencode -lineinfo --expt-extended-lambda'
    run ./my
    assert_line 0x0p+0
    have_fma || return 0
    run cudacpu my.cu
    assert_success
    assert_output ''
    run ./a.out
    assert_line 0x1p-24
    # Step by step.
    echo 'int main();' >none.cpp
    cudacpu -c my.cu
    cudacpu -dc none.cpp --output-file=other.o -isystem inc -include cstdio -w -UX -L. -O 1
    cudacpu my.o other.o -omy
    run ./my
    assert_line 0x1p-24
    run ls
    refute_output --partial '.d'
    V=1 run cudacpu -c my.cu -std c++20 --optimize=0
    assert_output --regexp '-std=c\+\+17 -O3 .* -std=c\+\+20 -O0 '
    run cudacpu --help
    assert_success
    assert_line --partial 'cudacpu my.cu -o my'
}

@test "cudacpu: without a make before it, it builds what it needs, once" {
    require_cpu
    local alone=(env -i PATH="$PATH" HOME="$HOME" BUILD="$BATS_TEST_TMPDIR/b" "$ROOT/tools/cudacpu")
    cd 'my work'
    run "${alone[@]}" my.cu -o my -fmad=false
    assert_success
    assert_line 'CC engine.c'
    ./my 2>/dev/null | grep -qx 0x0p+0
    run "${alone[@]}" my.cu -o my -fmad=false
    assert_success
    assert_output ''
}

@test "cudacpu: what it does not know is one line, and no program is left" {
    require_cpu
    local arguments reason
    while IFS='|' read -r arguments reason; do
        eval "run cudacpu $arguments"
        assert_failure 2
        assert_output "cudacpu: $reason"
    done <<'END'
|needs a file (cudacpu --help)
none.cu|no such file: 'none.cu'
x.txt|'x.txt' is neither an option nor a file that ends in .cu, .cpp, .cc, .cxx, .c or .o
--no-such|--no-such is no option that is known here (cudacpu --help)
-o|-o needs a word behind it
'my work/my.cu' -fmad=maybe|-fmad is true or false, not 'maybe'
'my work/my.cu' -lcublas|libcublas is a card's library: there is none here, and none like it
'my work/my.cu' 'my work/my.cu' -c -o x|-o names one file, and -c makes several
END
    echo old >a.out
    echo 'int main() { return missing; }' >bad.cu
    run cudacpu bad.cu
    assert_failure
    assert_line --regexp '^bad\.cu:1:21: error: '
    assert_equal "$(cat a.out)" old
    # Before anything is compiled.
    FMA=no HOST_FLAGS=-O1 BUILD=$BUILD run bash "$ROOT/tools/cudacpu" bad.cu
    assert_failure 2
    assert_output 'cudacpu: this CPU has no FMA, so no code can be contracted: -fmad=false'
}

@test "a library that only a card has is one error, at the line that includes it" {
    require_cpu
    local header library
    while read -r header library; do
        printf '%s\n' '#include <stdio.h>' "#include <$header>" 'int main() { missing(); }' >in.cu
        run cudacpu -c in.cu -fmad=false
        assert_failure 1
        assert_line --regexp '^in\.cu:2:2: error: '
        assert_output --partial " $library: there is none in the CPU default (cpu/README.md says what is)"
        assert_equal "$(grep -c 'error: ' <<<"$output")" 1
    done <<'END'
cublas_v2.h cuBLAS
curand_kernel.h cuRAND
cufft.h cuFFT
cusparse.h cuSPARSE
cusolverDn.h cuSOLVER
cudnn.h cuDNN
nccl.h NCCL
nvrtc.h NVRTC
npp.h NPP
nvToolsExt.h NVTX
nvtx3/nvToolsExt.h NVTX
thrust/sort.h Thrust
cub/cub.cuh CUB
mma.h wmma
cuda_fp16.h half
cuda_bf16.h bfloat16
cuda_fp8.h 8-bit floating point
cooperative_groups.h cooperative groups
cuda_pipeline.h the pipeline of asynchronous copies
END
    # What is not compiled is no error, nor is a header of the user's own.
    printf '%s\n' '#ifdef NEVER' '#include <cublas_v2.h>' '#endif' '#include "thrust/mine.h"' 'int main() { return mine; }' >in.cu
    mkdir thrust
    echo 'const int mine = 0;' >thrust/mine.h
    cudacpu in.cu -fmad=false
    ./a.out
}

@test "what nvcc includes without being asked, and the headers that a toolkit has, whatever else lies on the path" {
    require_cpu
    local header
    echo 'int main() { dim3 grid(2); float4 v = make_float4(1, 2, 3, 4); return grid.y == 1 && v.w == 4 ? 0 : 1; }' >in.cu
    cudacpu in.cu -fmad=false
    ./a.out
    # A toolkit's own in the compiler's folders must not be met.
    mkdir -p toolkit
    for header in cuda_runtime cuda_runtime_api cuda vector_types device_launch_parameters driver_types host_defines \
        builtin_types vector_functions math_functions device_functions cuda_profiler_api; do
        echo '#error the toolkit is met' >"toolkit/$header.h"
        printf '#include "%s.h"\n' "$header"
    done >in.cu
    sed 's/"\(.*\)"/<\1>/' in.cu >more
    echo 'int main() { cudaProfilerStart(); return cudaSetDevice(0); }' >>more
    cat more >>in.cu
    CPLUS_INCLUDE_PATH=$PWD/toolkit cudacpu in.cu -fmad=false
    ./a.out
}

@test "a program of one's own sees a device of compute capability 9.0, a lesson the CPU default" {
    require_cpu
    cat >in.cu <<'EOF'
int main() {
    cudaDeviceProp prop;
    cudaGetDeviceProperties(&prop, 0);
    printf("%d.%d\n", prop.major, prop.minor);
}
EOF
    cudacpu in.cu -fmad=false
    run ./a.out
    assert_output 9.0
    compile in.cu in nofmad
    run ./in
    assert_output 0.0
}

@test "a launch that a formatter has spread out" {
    require_cpu
    cat >in.cu <<'EOF'
__global__ void k(int* p, int n) { p[threadIdx.x] = n; }
int main() {
    int p[4] = {};
    k << <1, 1 << 2 >> >(p, 8 >> 1);
    return p[3] == 4 ? 0 : 1;
}
EOF
    cudacpu in.cu -fmad=false && ./a.out
}
