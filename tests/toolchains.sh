#!/usr/bin/env bash
# Builds every program, in both builds, with other compilers, and runs what can run here. One row per
# combination:
#   nvcc N sm_NN                CUDA N from PyPI, in .toolkits/N: compiled, for sm_75 linked as well
#   clang-19 CUDA 12.9 sm_NN    clang as CUDA compiler with the headers of 12.9 makes PTX, which the
#                               ptxas of 12.9 assembles: no 12.x nvcc is on PyPI
#   COMPILER c++NN -ON [-march=native]    the CPU default: built, run, compared with expected_output/
#   tests/toolchains.sh [-j N] [-s | -l] [ROW ...]    ROW: a part of a row's name; -s: the short
#                               list, at most one row per compiler; -l: prints the names alone
# PROGRAMS: a list, for instance day68_reproducibility/reproducibility (default: all 8; a blank: none, so
# that the toolkits alone are fetched)
# built: of the programs, each twice. warnings: lines of the compilers' messages. gates, expected: of
# the runs. fused: how many fused builds really are. A CPU compiler that optimises little contracts
# nothing: the program says so, and its output is compared with the separate build's. Status 1 where a
# row is not as it must be; a row whose compiler is not at hand is left out by name.
set -euo pipefail
export LC_ALL=C

export DEVICE=cpu # for the rows of the CPU default; the others name their compiler themselves
. "$(dirname "${BASH_SOURCE[0]}")/environment.sh"
cd "$ROOT"
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES DEFS LESSON LESSON_GIVEN OUTPUT TESTS V SANITIZE CCBIN
export PROGRAMS=${PROGRAMS:-$(programs)}

format='%-36s %7s %9s %7s %9s %6s  %s\n'
newest_minor=5 # of 13.x, where PyPI cannot be asked

# ---- The rows ----------------------------------------------------------------------------------------
# Each compiler at each level, with each standard, and with all that the machine has.
cpu_rows() {
    local flags compiler
    for flags in 'c++17 -O3 -march=native' 'c++20 -O3' 'c++17 -O2' 'c++20 -O1' 'c++17 -O0'; do
        for compiler in g++-11 g++-12 clang++-14 clang++-19; do echo "$compiler $flags"; done
    done
}
rows() {
    local minor arch
    for minor in $(minors); do
        for arch in 75 80 90 120; do echo "nvcc 13.$minor sm_$arch"; done
    done
    for arch in 75 80 90 120; do echo "clang-19 CUDA 12.9 sm_$arch"; done
    cpu_rows
}
minors() {
    { python3 -m pip index versions nvidia-cuda-nvcc 2>/dev/null || echo "13.0, 13.$newest_minor"; } |
        grep -oE '\b13\.[0-9]+' | cut -d . -f 2 | sort -nu
}
# What differs most from each other: the oldest and the newest of each kind.
short_rows() {
    printf '%s\n' 'nvcc 13.0 sm_75' "nvcc 13.$newest_minor sm_120" 'clang-19 CUDA 12.9 sm_90' \
        'g++-11 c++17 -O1' 'clang++-14 c++20 -O3' 'clang++-19 c++17 -O3 -march=native'
}

# ---- One row -----------------------------------------------------------------------------------------
leave_out() { echo "left out: $row: $1"; exit 0; }
need() { command -v "$1" >/dev/null || leave_out "no $1 (Debian: apt-get install $2)"; }
# toolkit FOLDER NAME PACKAGE==N...: fetched unless it is there.
toolkit() {
    local said
    mkdir -p .toolkits
    said=$(flock .toolkits/lock bash tools/fetch_toolkit.sh "$@" 2>&1) || leave_out "$said"
}
# file.cu:1:2: warning: ..., file.cu(1): warning #177-D: ..., ptxas warning : ...
count_warnings() { grep -cE 'warning( #[0-9]+-D)? ?:' "$dir/log" || true; }

one_nvcc() { # 13.N sm_NN
    local minor=${1#13.} cccl=$1 program build more
    [ "$minor" -le 3 ] || cccl=13.3 # from then on it has a number of its own
    toolkit ".toolkits/$1" "CUDA $1" "nvidia-cuda-nvcc==$1.*" "nvidia-cuda-crt==$1.*" "nvidia-nvvm==$1.*" \
        "nvidia-cuda-runtime==$1.*" "nvidia-cuda-cccl==$cccl.*"
    more=(--fatbin)
    [ "$2" != sm_75 ] || more=(-Xcompiler -Wall -Xcompiler -Wextra)
    for program in $PROGRAMS; do
        for build in fmad nofmad; do
            wanted=$((wanted + 1))
            ! DEVICE=gpu NVCC=$ROOT/.toolkits/$1/bin/nvcc ARCH=$2 bash tools/compile.sh "$program.cu" "$dir/program" \
                "$build" -Wreorder "${more[@]}" >>"$dir/log" 2>&1 || built=$((built + 1))
        done
    done
    runs=- expected=- fused=-
}

one_clang() { # CUDA 12.9 sm_NN
    local arch=$3 program build contract ptx=()
    need clang++-19 clang-19
    toolkit .toolkits/12.9 'CUDA 12.9' nvidia-cuda-runtime-cu12==12.9.79 nvidia-cuda-nvcc-cu12==12.9.86 nvidia-cuda-cccl-cu12==12.9.27
    [ "$arch" != sm_120 ] || arch=sm_90 # clang 19 knows no newer one; ptxas assembles it for any
    for program in $PROGRAMS; do
        ptx=()
        for contract in fast off; do
            wanted=$((wanted + 1))
            clang++-19 -x cuda --cuda-path=.toolkits/12.9 --cuda-gpu-arch="$arch" --cuda-device-only -S -std=c++17 -O3 \
                -ffp-contract=$contract -Wall -Wextra -Wno-unknown-cuda-version -o "$dir/$contract.ptx" "$program.cu" >>"$dir/log" 2>&1 || continue
            .toolkits/12.9/bin/ptxas -arch="$3" -o "$dir/cubin" "$dir/$contract.ptx" >>"$dir/log" 2>&1 || continue
            built=$((built + 1))
            ptx+=("$(grep -c 'fma\.rn' "$dir/$contract.ptx" || true)")
        done
        # Every program has at least one expression to contract: its probe.
        [ "${ptx[0]:-0}" -le "${ptx[1]:-0}" ] || fused=$((fused + 1))
    done
    fusable=$((wanted / 2))
    runs=- expected=-
}

one_cpu() { # COMPILER c++NN -ON [-march=native]
    local program build openmp builds=(fmad nofmad) flags
    need "$1" "${1/clang++/clang}"
    have_fma || builds=(nofmad)
    # `#pragma unroll` is nvcc's and clang's; to g++ it is unknown and changes nothing.
    # clang 19 calls the features of a new CPU an invalid combination, whatever it compiles.
    case $* in
        g++*) set -- "$@" -Wno-unknown-pragmas ;;
        clang++-19*native) set -- "$@" -Wno-invalid-feature-combination ;;
    esac
    openmp=$(CXX=$1 bash tools/host_flags.sh)
    for program in $PROGRAMS; do
        flags=()
        case $openmp-$program in *openmp=yes*-canonical_tree/*) flags=(-fopenmp) ;; esac
        for build in "${builds[@]}"; do
            wanted=$((wanted + 1))
            DEVICE=cpu CXX=$1 HOST_FLAGS="-std=$2 -ffp-contract=off -Wall -Wextra ${*:3}" bash tools/compile.sh "$program.cu" "$dir/program" \
                "$build" "${flags[@]}" >>"$dir/log" 2>&1 || continue
            built=$((built + 1))
            echo "== $program, $build" >>"$dir/log"
            "$dir/program" >"$dir/out" 2>>"$dir/log" && grep -q '^gates passed: ' "$dir/out" && runs=$((runs + 1))
            # match goes by what the output says of its contraction, so that is compared with the build.
            "$BUILD/tools/match" expected_output "$dir/out" >>"$dir/log" 2>&1 && expected=$((expected + 1))
            case $build-$(grep '^contraction: ' "$dir/out") in
                'fmad-contraction: fused') fused=$((fused + 1)) ;;
                'nofmad-contraction: fused') fused=-99 ;;
            esac
        done
    done
    fusable=$((wanted / 2))
    # clang contracts from -O1 on, g++ from -O2 on.
    case $1-$3 in *-O0 | g++*-O1) fusable=0 ;; esac
}

one() {
    local built=0 wanted=0 runs=0 expected=0 fused=0 fusable=0 warnings words verdict=ok
    row=$1 dir=$work/${1//[ \/]/_}
    mkdir -p "$dir"
    : >"$dir/log"
    read -ra words <<<"$row"
    case ${words[0]} in
        nvcc) one_nvcc "${words[@]:1}" ;;
        clang-19) one_clang "${words[@]:1}" ;;
        *) one_cpu "${words[@]}" ;;
    esac
    warnings=$(count_warnings)
    if [ $built -ne $wanted ]; then verdict='does not build'
    elif [ "$warnings" -ne 0 ]; then verdict='has warnings'
    elif [ $runs != - ] && [ $runs -ne $wanted ]; then verdict='gates fail'
    elif [ $expected != - ] && [ $expected -ne $wanted ]; then verdict='not as expected'
    elif [ $fused != - ] && [ $fused -ne $fusable ]; then verdict='contraction is wrong'; fi
    [ $runs = - ] || runs=$runs/$wanted
    [ $expected = - ] || expected=$expected/$wanted
    [ $fused = - ] || fused=$fused/$fusable
    # shellcheck disable=SC2059 # the format is ours
    printf "$format" "$row" "$built/$wanted" "$warnings" "$runs" "$expected" "$fused" "$verdict"
    [ "$verdict" = ok ] || grep -iE 'warning|error|gate failed|^  (expected|found)|differ' "$dir/log" | head -n 8 | sed 's/^/    /'
    rm -rf "$dir"
}

jobs=${JOBS:-$(nproc 2>/dev/null || echo 1)} all=rows list_only=''
case ${1:-} in --one) work=$2; one "$3"; exit ;; esac
while getopts j:sl option; do
    case $option in j) jobs=$OPTARG ;; s) all=short_rows ;; l) list_only=yes ;; *) exit 2 ;; esac
done
shift $((OPTIND - 1))
mkdir -p "$BUILD/tmp"
work=$(mktemp -d "$BUILD/tmp/toolchains.XXXXXX")
trap 'rm -rf "$work"' EXIT
$all >"$work/all"
for part in "$@"; do grep -F -e "$part" "$work/all" || true; done | awk '!seen[$0]++' >"$work/chosen"
[ $# -gt 0 ] || cp "$work/all" "$work/chosen"
[ -s "$work/chosen" ] || { echo "no such row; tests/toolchains.sh -l lists them" >&2; exit 2; }
if [ -n "$list_only" ]; then cat "$work/chosen"; exit; fi

# shellcheck disable=SC2059
printf "$format" combination built warnings gates expected fused ''
tr '\n' '\0' <"$work/chosen" | xargs -0 -n 1 -P "$jobs" bash "$0" --one "$work" | tee "$work/out"
good=$(grep -c '  ok$' "$work/out" || true)
left=$(grep -c '^left out: ' "$work/out" || true)
total=$(wc -l <"$work/chosen")
echo "combinations: $total, as they must be: $good, left out: $left"
[ "$good" -gt 0 ] && [ $((good + left)) -eq "$total" ]
