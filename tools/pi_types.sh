#!/usr/bin/env bash
# Every type of fpmp_pi in one table: one program measures them all in one run, double first, so that
# each speed is against the same double. CCCL's types are in it where CCCL's headers are at hand.
#   pi_types.sh                    (environment: see the Makefile; CCCL, PI_LOG2_TERMS)
# Status: the program's: 0 all gates passed, 1 a gate failed, 2 no work was done, 77 no device.
set -euo pipefail

types=(float_pair_low float_pair_mid float_pair_high double_pair)
cccl_types=(cuda::fp32mp2_low cuda::fp32mp2 cuda::fp32mp2_high cuda::fp64mp2
    cuda::fp64emu cuda::fp64emu_unpacked 'cuda::fp64_custom<8, 10>')

if [ -n "${SANITIZE:-}" ]; then
    echo "make types takes no SANITIZE; with it: make run LESSON=fpmp_pi PI_FP_T=..." >&2
    exit 2
fi
case " $DEFS" in
    *' -DPI_'*) echo "make types takes PI_LOG2_TERMS=n and CCCL=dir; not DEFS='$DEFS'" >&2; exit 2 ;;
esac
cd "$ROOT"
dir=$BUILD/tmp/pi_types
mkdir -p "$dir"
header=$dir/pi_types.h
case $header in /*) ;; *) header=$ROOT/$header ;; esac
: >"$header"

# On a CPU an emulated double takes seconds a launch at 2^26 terms.
if [ -z "${PI_LOG2_TERMS:-}" ]; then
    if [ "$DEVICE" = gpu ]; then PI_LOG2_TERMS=26; else PI_LOG2_TERMS=20; fi
fi
export PI_LOG2_TERMS DEVICE
unset PI_FP_T PI_FP_HEADER
if [ -n "${CCCL:-}" ]; then
    export PI_FP_HEADER='<cuda/fpmp>' # asks for CCCL's include folders
    types+=("${cccl_types[@]}")
    printf '#include <cuda/%s>\n' fpmp fpemu fptool >>"$header"
else
    echo 'the program'\''s own types only: no CCCL at hand (make cccl fetches it)' >&2
fi
{
    printf '#define PI_FP_TYPES(row)'
    printf ' row(%s)' "${types[@]}"
    echo
} >>"$header"

answer=$(bash tools/pi_flags.sh)
if [ "${answer%% *}" = error ]; then
    echo "make types: ${answer#error }" >&2
    exit 2
fi
case $DEVICE-${CCCL:+given}-$($CXX --version) in
    cpu-given-*clang*) echo 'cuda::fp64emu_unpacked is wrong under clang++ (see the page): CXX=g++ has it right' >&2 ;;
esac
eval "answer=($answer)"
flags=("-DPI_FP_HEADER=\"$header\"")
for flag in "${answer[@]}"; do
    case $flag in -DPI_FP_HEADER=*) ;; *) flags+=("$flag") ;; esac
done

build=fmad
[ "$DEVICE-$FMA" != cpu-no ] || build=nofmad
bash tools/compile.sh fpmp_pi/fpmp_pi.cu "$dir/pi_types" $build "${flags[@]}"
exec "$dir/pi_types"
