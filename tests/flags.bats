# The scripts that the Makefile asks before it builds, and the compile script: answers, refusals, flags.
load helper

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    mkdir bin b
}
# stub NAME BODY: a command of that name, before all others.
stub() {
    printf '#!/bin/sh\n%s\n' "$2" >"bin/$1"
    chmod +x "bin/$1"
}
# ask SCRIPT VARIABLE=VALUE... [-- ARGUMENT...]: such a script never fails and prints one line.
ask() {
    local script=$1 settings=()
    shift
    while [ $# -gt 0 ] && [ "$1" != -- ]; do settings+=("$1"); shift; done
    [ $# -eq 0 ] || shift
    run env PATH="$PWD/bin:$PATH" BUILD=b "${settings[@]}" bash "$ROOT/tools/$script.sh" "$@"
    assert_success
    assert_equal "${#lines[@]}" 1
}

# ---- host_flags.sh ---------------------------------------------------------------------------------

host() { ask host_flags CXX=mine CC=mine CPUINFO="$PWD/cpuinfo" "$@"; }
# A compiler for TARGET, with OpenMP where OPENMP=yes.
compiler() {
    stub mine "case \" \$* \" in
        *' -dumpmachine '*) echo $1 ;;
        *' --version '*) echo 'mine 12.2.0' ;;
        *' -fopenmp '*) [ \"\${WITH_OPENMP:-yes}\" = yes ] && while [ \$# -gt 1 ]; do [ \"\$1\" != -o ] || : >\"\$2\"; shift; done ;;
    esac"
}

@test "host: FMA is what the CPU's flags say, on AArch64 always there" {
    compiler x86_64-linux-gnu
    printf 'processor : 0\nflags\t\t: fpu sse2 fma avx2\nbugs : fma\n' >cpuinfo
    host
    assert_output --regexp '^target=x86_64 fma=yes openmp=yes id=.*12\.2\.0'
    # Another flag's name holds these letters.
    printf 'flags\t\t: fpu sse2 fma4 avx2\nbugs : fma\n' >cpuinfo
    host
    assert_output --regexp '^target=x86_64 fma=no '
    compiler aarch64-linux-gnu
    host
    assert_output --regexp '^target=aarch64 fma=yes '
    # macOS has no such file; a command tells.
    compiler amd64-apple-darwin
    stub sysctl 'echo "FPU SSE4.2 FMA AVX1.0"'
    host CPUINFO=/nowhere
    assert_output --regexp '^target=x86_64 fma=yes '
    stub sysctl 'echo "FPU SSE4.2 AVX1.0"'
    host CPUINFO=/nowhere
    assert_output --regexp '^target=x86_64 fma=no '
}

@test "host: this machine's own answer is what its CPU can do" {
    [ -r /proc/cpuinfo ] && grep -q '^flags' /proc/cpuinfo || skip "no flags in /proc/cpuinfo"
    local fma=no
    ! grep '^flags' /proc/cpuinfo | head -n 1 | tr ' ' '\n' | grep -qx fma || fma=yes
    ask host_flags CXX="$CXX" CC="$CC"
    assert_output --partial " fma=$fma "
}

@test "host: OpenMP is asked once a compiler, and a compiler that has none says no" {
    compiler x86_64-linux-gnu
    echo 'flags : fma' >cpuinfo
    host WITH_OPENMP=no
    assert_output --partial ' openmp=no '
    host WITH_OPENMP=yes # kept
    assert_output --partial ' openmp=no '
    host WITH_OPENMP=yes BUILD=c
    assert_output --partial ' openmp=yes '
    sed -i 's/12\.2\.0/12.2.1/' bin/mine
    host WITH_OPENMP=yes
    assert_output --partial ' openmp=yes '
}

@test "host: a compiler that is not there, or builds for another machine, is refused" {
    compiler riscv64-linux-gnu
    host
    assert_output "error 'mine' builds for neither x86-64 nor AArch64, and the CPU default knows these two"
    host CC='none -m64'
    assert_output "error the compiler 'none -m64' is not found; install one (Debian: apt-get install g++) or name it: CXX=... CC=..."
}

# ---- defs_flags.sh ---------------------------------------------------------------------------------

@test "defs: each word is checked, and quoted for a shell" {
    mkdir lesson
    printf '#ifndef SIZE\n#define SIZE 2\n#endif\n#if defined(ROUNDS)\n#endif\n#ifndef P_NO_MAIN\n#endif\n' >lesson/p.cu
    defs() { ask defs_flags DEVICE=cpu "DEFS=$1" -- lesson; }
    defs '-DSIZE=(1<<2) -O2'
    assert_output "'-DSIZE=(1<<2)' '-O2' "
    defs "-DROUNDS='it is' -D SIZE"
    assert_output "'-DROUNDS=it is' '-D' 'SIZE' "
    defs '-DSIZES=2'
    assert_output 'error DEFS: no program of lesson has a macro SIZES; they have: ROUNDS SIZE '
    defs '-DSIZE=2 -DP_NO_MAIN'
    assert_output 'error DEFS: no program of lesson has a macro P_NO_MAIN; they have: ROUNDS SIZE '
    defs '-DSIZE=2 -D SIZES=2'
    assert_output --partial 'has a macro SIZES;'
}

# ---- compile.sh ------------------------------------------------------------------------------------

@test "compile.sh: a call that is no use is 2, with its usage" {
    local args
    for args in '' 'a.cu' 'a.cu out' 'a.cu out fused' 'a.cu out -O3 fmad'; do
        # shellcheck disable=SC2086 # a list of words
        run compile $args
        assert_failure 2
        assert_output 'usage: compile.sh SOURCE OUT fmad|nofmad [flags]'
    done
}

@test "compile.sh: a compile that fails takes the old program away, and leaves no file of its own" {
    require_cpu
    echo 'int main() { return 0; }' >p.cu
    compile p.cu p nofmad
    [ -x p ]
    [ -s p.d ]
    rm p.d
    echo 'int main() { return no; }' >p.cu
    run compile p.cu p nofmad
    assert_failure 1
    run ls
    assert_output 'b
bin
p.cu'
}

@test "compile.sh: NVCC and CXX may be given with flags; RUNTIME and -fsyntax-only are obeyed" {
    stub mine 'echo "$*" >>calls; for arg; do [ "$previous" != -o ] || out=$arg; previous=$arg; done; [ -n "$LAZY" ] || : >"$out"'
    echo 'int main() { return 0; }' >p.cu
    mkdir own && touch own/one.o own/two.o
    DEVICE=cpu CXX="$PWD/bin/mine -m64" MFMA=-mfma HOST_FLAGS='-O1 -g' RUNTIME=own compile p.cu p fmad -DX
    run cat calls
    assert_output --regexp "^-m64 -O1 -g -fstack-clash-protection -DCUDA_CPU_FMAD=1 -mfma -I$ROOT/cpu -I$ROOT/cpu/names -iquote \. -DX .* own/one\.o own/two\.o -pthread\$"
    : >calls
    DEVICE=gpu NVCC="$PWD/bin/mine --threads 2" ARCH=sm_90 CCBIN=g++-12 HOST_FLAGS='-O1 -ffast' compile p.cu p nofmad -fmad=true -fx
    run cat calls
    assert_output --regexp '^--threads 2 -ccbin g\+\+-12 -arch=sm_90 -fmad=false -O1 -Xcompiler -ffast -fmad=true -Xcompiler -fx '
    # Nothing was written, as nothing was asked for.
    rm p
    DEVICE=gpu NVCC="$PWD/bin/mine" ARCH=sm_90 HOST_FLAGS= LAZY=1 compile p.cu p fmad -fsyntax-only
    [ ! -e p ]
}

# ---- build_folder.sh -------------------------------------------------------------------------------

@test "build folder: the lock of another machine is refused, a dead make's is taken over, one's own is no obstacle" {
    folder() { run bash "$ROOT/tools/build_folder.sh" b2 "$1"; }
    folder $$
    assert_success
    assert_output ''
    assert_equal "$(readlink b2/.make)" "$(uname -n):$$"
    folder $$
    assert_output ''
    ln -sfn "$(uname -n):4194399" b2/.make # above what Linux gives
    folder $$
    assert_output ''
    assert_equal "$(readlink b2/.make)" "$(uname -n):$$"
    ln -sfn another.example:1 b2/.make
    folder $$
    assert_success
    assert_output "BUILD='b2' is in use by make on another.example; another: make BUILD=dir (if that make is gone: rm b2/.make)"
    assert_equal "$(readlink b2/.make)" another.example:1
}

@test "build folder: a living make's lock makes another wait, and says so" {
    sleep 30 3>&- &
    local holder=$!
    bash "$ROOT/tools/build_folder.sh" b2
    ln -s "$(uname -n):$holder" b2/.make
    run timeout 1 bash "$ROOT/tools/build_folder.sh" b2 $$
    kill $holder
    assert_failure 124
    assert_output "waiting for another make (process $holder) in b2"
    assert_equal "$(readlink b2/.make)" "$(uname -n):$holder"
}

# ---- pi_flags.sh, pi_types.sh ----------------------------------------------------------------------

pi() { ask pi_flags DEVICE=cpu CCCL= "$@"; }

@test "pi: types, terms and headers become flags, quoted for a shell" {
    pi PI_FP_T=double_pair PI_LOG2_TERMS=34
    assert_output "'-DPI_LOG2_TERMS=34' '-DPI_FP_T=double_pair' "
    pi PI_FP_T='own<8, 1>' PI_FP_HEADER='"it'\''s.h"'
    assert_output "'-DPI_FP_T=own<8, 1>' '-DPI_FP_HEADER=\"it'\\''s.h\"' "
    pi PI_FP_T='own<8, 1>' PI_FP_HEADER='"x.h"' DEVICE=gpu # nvcc splits at commas
    assert_output "'-DPI_FP_T=own<8\\, 1>' '-DPI_FP_HEADER=\"x.h\"' "
    mkdir -p root/cuda/std/__cccl && touch root/cuda/std/version root/cuda/{fpmp,fpemu,fptool}
    pi PI_FP_T=cuda::fp32mp2 CCCL="$PWD/root"
    assert_output "'-DPI_FP_T=cuda::fp32mp2' '-DPI_FP_HEADER=<cuda/fpmp>' '-I$PWD/root' '-DCCCL_DISABLE_FP16_SUPPORT' "
    pi PI_FP_T=cuda::fp64emu CCCL="$PWD/root" DEVICE=gpu
    assert_output "'-DPI_FP_T=cuda::fp64emu' '-DPI_FP_HEADER=<cuda/fpemu>' '-I$PWD/root' "
    pi PI_FP_T='cuda::fp64_custom<8, 10>' CCCL="$PWD/root"
    assert_output --partial '<cuda/fptool>'
}

@test "pi: what cannot be built is refused, with what would do" {
    local terms
    for terms in 16 35 x 1; do
        pi PI_LOG2_TERMS=$terms
        assert_output "error PI_LOG2_TERMS must be a number from 17 to 34, not '$terms'"
    done
    pi PI_FP_T=quad
    assert_output "error unknown PI_FP_T 'quad': float, double, float_pair_low, float_pair_mid, float_pair_high, double_pair, or a type with its PI_FP_HEADER='<...>'"
    pi PI_FP_T=cuda::fp32mp2
    assert_output "error <cuda/fpmp> is CCCL's: \`make cccl\` fetches it, or name a checkout or an unpacked cuda-cccl wheel: CCCL=dir"
    pi PI_FP_T=cuda::fp32mp2 CCCL="$PWD/none"
    assert_output "error CCCL='$PWD/none' is no folder"
    pi PI_FP_T=cuda::fp32mp2 CCCL="$PWD/bin"
    assert_output "error CCCL='$PWD/bin' is neither a CCCL checkout nor an unpacked cuda-cccl wheel (no cuda/std/version in it)"
    mkdir -p root/cuda/std/__cccl && touch root/cuda/std/version
    echo '#define CCCL_VERSION 3001002' >root/cuda/std/__cccl/version.h
    pi PI_FP_T=cuda::fp32mp2 CCCL="$PWD/root"
    assert_output "error CCCL='$PWD/root' is CCCL 3.1.2, which has no <cuda/fpmp>; 3.6.0 has cuda/fpmp, cuda/fpmp_math, cuda/fpemu and cuda/fptool (\`make cccl\`)"
}

@test "make types: what it does not take is 2, in one line" {
    types() { run env ROOT="$ROOT" BUILD="$PWD/b" DEVICE=cpu FMA=yes CXX="$CXX" DEFS= CCCL= "$@" bash "$ROOT/tools/pi_types.sh"; }
    types SANITIZE=address
    assert_failure 2
    assert_output 'make types takes no SANITIZE; with it: make run LESSON=fpmp_pi PI_FP_T=...'
    types DEFS='-O2 -DPI_FP_T=x'
    assert_failure 2
    assert_output "make types takes PI_LOG2_TERMS=n and CCCL=dir; not DEFS='-O2 -DPI_FP_T=x'"
    types PI_LOG2_TERMS=9
    assert_failure 2
    assert_line "make types: PI_LOG2_TERMS must be a number from 17 to 34, not '9'"
    assert_line "the program's own types only: no CCCL at hand (make cccl fetches it)"
    stub clang++ '[ "$1" != --version ] || { echo "clang version 14"; exit 0; }; exit 1'
    mkdir -p root/cuda/std b/tools && touch root/cuda/std/version root/cuda/fpmp
    ln -s "$BUILD/tools/cu_rewrite" b/tools/
    types CXX="$PWD/bin/clang++" CCCL="$PWD/root"
    assert_failure 1
    assert_line 'cuda::fp64emu_unpacked is wrong under clang++ (see the page): CXX=g++ has it right'
}

# ---- fetch_cccl.sh ---------------------------------------------------------------------------------

@test "make cccl: fetched once, kept whole; without pip, without the wheel and with a wrong wheel the old one stays" {
    mkdir -p t/tools
    cp "$ROOT"/tools/fetch_{cccl,wheels}.sh t/tools/
    # A python3 with pip where PIP is not no; FETCH says what a download is: the wheel, a wrong one, none.
    stub python3 'case "$2 $3" in
        "pip --version") [ "$PIP" != no ] ;;
        "pip download") [ "$FETCH" != none ] || { echo "ERROR: no network"; exit 1; }
            echo "$*" >called; touch .cccl.new/cuda_cccl-1.2.1-x.whl ;;
        "zipfile -e") mkdir -p "$5/cuda/cccl/headers/include/cuda" "$5/cuda_cccl-1.2.1.dist-info"
            [ "$FETCH" = wrong ] || touch "$5/cuda/cccl/headers/include/cuda/fpmp" ;;
    esac'
    cccl() { run env PATH="$PWD/bin:$PATH" "$@" bash t/tools/fetch_cccl.sh; }
    # state: what is there now
    state() { (cd t && find .cccl* 2>/dev/null | sort); }
    cccl PIP=no
    assert_failure 2
    assert_output 'make cccl needs pip (Debian: apt-get install python3-pip)'
    assert_equal "$(state)" ''
    cccl FETCH=good
    assert_success
    assert_output --regexp '^cuda-cccl [0-9.]+ is in \.cccl$'
    local version=${lines[0]#cuda-cccl }
    version=${version%% *}
    run cat t/called
    assert_output --partial "cuda-cccl==$version"
    rm t/called
    [ -e t/.cccl/include/cuda/fpmp ]
    [ ! -e t/.cccl.new ]
    cccl FETCH=none
    assert_success
    assert_output "cuda-cccl $version is in .cccl already"
    echo 0.1 >t/.cccl/version
    local before
    before=$(state)
    cccl FETCH=none
    assert_failure 2
    assert_output "make cccl: pip could not download cuda-cccl $version: ERROR: no network"
    cccl FETCH=wrong
    assert_failure 2
    assert_output "make cccl: the wheel cuda-cccl $version holds no cuda/fpmp where it is expected"
    assert_equal "$(state)" "$before"
    cccl FETCH=good
    assert_success
    assert_equal "$(cat t/.cccl/version)" "$version"
}
