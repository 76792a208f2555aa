#!/usr/bin/env bash
# The compiler flags that fpmp_pi's variables stand for, quoted for a shell, on one line; or
# `error what...` for make to stop with. Called while make reads the Makefile, so it never fails.
#   PI_FP_T        a type of the program or cuda::...
#   PI_FP_HEADER   its header, as in <cuda/fpmp>; found from the type's name where it is CCCL 3.6's
#   PI_LOG2_TERMS  the number of terms is two to this
#   CCCL           an unpacked cuda-cccl wheel, what `make cccl` fetched, or a CCCL checkout
#   DEVICE         gpu or cpu: nvcc splits -D at commas
set -u

type=${PI_FP_T:-} header=${PI_FP_HEADER:-} terms=${PI_LOG2_TERMS:-} cccl=${CCCL:-}
flags=()

fail() {
    echo "error $*"
    exit 0
}
quote() { printf "'%s'" "${1//\'/\'\\\'\'}"; }

if [ -n "$terms" ]; then
    case $terms in
        1[789] | 2[0-9] | 3[0-4]) ;;
        *) fail "PI_LOG2_TERMS must be a number from 17 to 34, not '$terms'" ;;
    esac
    flags+=("-DPI_LOG2_TERMS=$terms")
fi
if [ -n "$type" ]; then
    case $type in
        float | double | float_pair_low | float_pair_mid | float_pair_high | double_pair) ;;
        cuda::fp32mp2* | cuda::fp64mp2*) header=${header:-<cuda/fpmp>} ;;
        cuda::fp64emu* | cuda::fp32emu*) header=${header:-<cuda/fpemu>} ;;
        cuda::fp64_custom* | cuda::fp32_custom*) header=${header:-<cuda/fptool>} ;;
        *)
            [ -n "$header" ] ||
                fail "unknown PI_FP_T '$type': float, double, float_pair_low, float_pair_mid, float_pair_high, double_pair, or a type with its PI_FP_HEADER='<...>'"
            ;;
    esac
    [ "${DEVICE:-}" != gpu ] || type=${type//,/\\,}
    flags+=("-DPI_FP_T=$type")
fi
if [ -n "$header" ]; then
    flags+=("-DPI_FP_HEADER=$header")
    case $header in
        '<cuda/'*'>')
            path=${header#<}
            path=${path%>}
            [ -n "$cccl" ] ||
                fail "$header is CCCL's: \`make cccl\` fetches it, or name a checkout or an unpacked cuda-cccl wheel: CCCL=dir"
            [ -d "$cccl" ] || fail "CCCL='$cccl' is no folder"
            # An include root itself, what make cccl keeps, a wheel, a checkout.
            roots=()
            for root in "$cccl" "$cccl/include" "$cccl/cuda/cccl/headers/include" "$cccl/libcudacxx/include"; do
                [ ! -e "$root/cuda/std/version" ] || { roots=("$root"); break; }
            done
            [ ${#roots[@]} -gt 0 ] || fail "CCCL='$cccl' is neither a CCCL checkout nor an unpacked cuda-cccl wheel (no cuda/std/version in it)"
            if [ ! -e "$root/$path" ]; then
                version=$(sed -n 's/^# *define CCCL_VERSION \([0-9]*\).*/\1/p' "$root/cuda/std/__cccl/version.h" 2>/dev/null)
                [ -z "$version" ] || version=" $((version / 1000000)).$((version / 1000 % 1000)).$((version % 1000))"
                fail "CCCL='$cccl' is CCCL$version, which has no $header; 3.6.0 has cuda/fpmp, cuda/fpmp_math, cuda/fpemu and cuda/fptool (\`make cccl\`)"
            fi
            # A checkout has CUB and Thrust in folders of their own.
            [ "$root" != "$cccl/libcudacxx/include" ] || roots+=("$cccl/cub" "$cccl/thrust")
            for root in "${roots[@]}"; do flags+=("-I$root"); done
            # Else libcudacxx looks for cuda_fp16.h, which the CPU default has not.
            [ "${DEVICE:-}" != cpu ] || flags+=("-DCCCL_DISABLE_FP16_SUPPORT")
            ;;
    esac
fi
for flag in ${flags[@]+"${flags[@]}"}; do
    quote "$flag"
    printf ' '
done
echo
