#!/usr/bin/env bats
# The CPU default needs no CUDA toolkit: no build opens a header of one, and without one all works.

load helper

setup() {
    require_cpu
    cd "$BATS_TEST_TMPDIR" || return
}

# Of the file names on stdin those that are a toolkit's: by name, wherever they lie. cpu/'s two and CCCL's aside.
cuda_headers() {
    grep -vxF -e "$ROOT/cpu/cuda_runtime.h" -e "$ROOT/cpu/cuda_runtime_api.h" |
        grep -v -F "${CCCL:-/no/cccl}/" |
        grep -E '(^|/)(cuda[A-Za-z0-9_]*\.h(pp)?|(device|driver|host|builtin|vector)_[a-z_]*\.h(pp)?|math_constants\.h|cuComplex\.h|mma\.h|(nccl|cudnn|cupti)[A-Za-z0-9_]*\.h|(math|sm_[0-9]+|texture|surface|channel|common|library|device_atomic)[a-z0-9_]*(functions|types|descriptor|intrinsics|indirect)\.h(pp)?|cu(blas|fft|rand|solver|sparse)[A-Za-z0-9_]*\.h|nv(rtc|ml|_|JitLink|blas|perf|vm|tx|Fatbin|PTXCompiler|jpeg|sandboxutils)[A-Za-z0-9_]*\.h|npp[a-z_]*\.h|cufile\.h|(generated_|fatbinary_)[A-Za-z0-9_]*\.h|crt/[^/]*|cooperative_groups[^/]*|cuda/.*|cccl/.*|thrust/.*|cub/.*)$' ||
        true
}

# All that a compile opens (-H) or finds by __has_include (-M), one absolute path a line: opened NAME [flags]
opened() {
    local src=$1
    shift
    # shellcheck disable=SC2086 # lists of words
    $CXX $HOST_FLAGS $MFMA -DCUDA_CPU_FMAD=1 -I"$ROOT/cpu" "$@" -H -M "$src" 2>log |
        sed 's/\\$//; s/\\ /\x01/g' | tr -s '[:space:]' '\n' | tr '\001' ' ' | grep / >opened.M
    sed -n 's/^\.\.*  *//p' log >opened.H
    [ -s opened.H ] && [ -s opened.M ]
    sort -u opened.H opened.M | xargs -d '\n' realpath -sm -- | sort -u
}

# A program's own flags as make has them: flags_of SRC [make's variables]
flags_of() {
    case $1 in */embed.cu) return 0 ;; esac # no program of make's
    make -s --no-print-directory -C "$ROOT" -n V=1 DEVICE=cpu BUILD="$PWD/none" "${@:2}" "$PWD/none/cpu/fmad/$(basename "$1" .cu)" |
        sed -n "s|.*tools/compile\.sh ${1#"$ROOT/"} [^ ]* fmad *||p" >flags
    [ -s flags ] || fail "make compiles no $1"
    cat flags
}

@test "no CPU build opens a CUDA header" {
    local src found=
    look() {
        local flags
        flags=$(flags_of "$@")
        "$BUILD/tools/cu_rewrite" "$1" >in.cpp
        eval "opened in.cpp -iquote \"\${1%/*}\" $flags" >files || { echo "$1 cannot be read; see above"; cat log; return 1; }
        grep -qxF "$ROOT/cpu/cuda_runtime.h" files
        # CCCL asks by __has_include for headers that it then leaves alone, and clang's -M names them.
        case $#-$($CXX --version) in 2-*clang*) xargs -d '\n' realpath -sm -- <opened.H | sort -u >files ;; esac
        found+=$(cuda_headers <files | sed "s|^|${1##*/}: |")
    }
    for src in "$ROOT"/*/*.cu; do
        [ "${src%/*}" = "$ROOT/tests" ] || look "$src"
    done
    [ -z "${CCCL:-}" ] || look "$ROOT/fpmp_pi/fpmp_pi.cu" PI_FP_T='cuda::fp64mp2<>'
    run echo "$found"
    assert_output ''
}

@test "every header in a toolkit's own folder is one by name" {
    require_nvcc
    local include
    include=$(cd "$(dirname "$(readlink -f "$(command -v "$NVCC")")")/../include" && pwd)
    ls "$include"/*.h "$include"/*.hpp >files
    [ "$(wc -l <files)" -gt 50 ]
    run diff <(cuda_headers <files) files
    assert_success
}

@test "that test can fail: a header of a toolkit that is in reach is seen" {
    mkdir -p include/crt include/cuda
    for header in cuda.h cuda_fp16.h driver_types.h vector_types.h crt/host_config.h cuda/pipeline cooperative_groups.h \
        math_functions.h device_launch_parameters.h; do
        echo '#pragma once' >include/$header
        printf '#include <cuda_runtime.h>\n#include <%s>\nint main() {}\n' "$header" >in.cpp
        opened in.cpp -Iinclude >files
        run cuda_headers <files
        assert_output "$PWD/include/$header"
    done
    # One that __has_include merely asked for, and found.
    printf '#include <cuda_runtime.h>\n#if __has_include(<cuda_fp16.h>)\n#include <cuda_fp16.h>\n#endif\n' >in.cpp
    opened in.cpp -Iinclude >files
    run cuda_headers <files
    assert_output "$PWD/include/cuda_fp16.h"
    # And the two of our own, if another's came first.
    echo '#define CUDA_CPU_RUNTIME_H' >include/cuda_runtime.h
    printf '#include "include/cuda_runtime.h"\n' >in.cpp
    opened in.cpp >files
    run cuda_headers <files
    assert_output "$PWD/include/cuda_runtime.h"
}

@test "with nvcc and every CUDA header hidden, make run chooses the CPU default and says why" {
    unshare -m true 2>/dev/null || skip "no mount namespaces here (unshare -m)"
    local hide=() dir path=
    # Whole toolkits, and a toolkit's headers on the compiler's own include path.
    for dir in /usr/local/cuda* /opt/cuda* /usr/lib/cuda* /usr/lib/nvidia-cuda-toolkit; do
        [ ! -d "$dir" ] || hide+=("$(readlink -f "$dir")")
    done
    while read -r dir; do
        for name in cuda.h cuda_runtime.h cuda_runtime_api.h cuda_fp16.h; do
            [ ! -e "$dir/$name" ] || hide+=("$dir/$name")
        done
    done < <($CXX -xc++ -E -v /dev/null 2>&1 | sed -n '/^#include </,/^End/s/^ //p')
    # A folder of commands that has an nvcc is shown without it.
    while read -r dir; do
        if [ -e "$dir/nvcc" ]; then
            mkdir -p "commands$dir"
            ln -sf "$dir"/* "commands$dir/"
            rm "commands$dir/nvcc"
            dir=$PWD/commands$dir
        fi
        path+=${path:+:}$dir
    done < <(tr : '\n' <<<"$PATH")
    # shellcheck disable=SC2016 # the inner shell's own
    run env -u DEVICE -u DEVICE_WHY -u NVCC -u ARCH -u MAKEFLAGS -u HOST_FLAGS unshare -m bash -c '
        mkdir -p empty && : >empty.h
        for place in "${@:4}"; do
            [ -e "$place" ] || continue # a link into what is hidden already
            if [ -d "$place" ]; then mount --bind empty "$place" || exit 3; else mount --bind empty.h "$place" || exit 3; fi
        done
        PATH=$3
        if command -v nvcc; then exit 4; fi
        [ ! -e "$1/.toolkit" ] || mount --bind empty "$1/.toolkit" || exit 3
        make -C "$1" run LESSON=day68_reproducibility BUILD="$2" DEFS="-DRUNS=2 -DELEMENTS=100003" 2>&1
        echo "status $?"
        make -s -C "$1" test-env BUILD="$2"' - "$ROOT" "$PWD/build" "$path" ${hide[@]+"${hide[@]}"}
    [ "$status" -ne 3 ] || skip "mounting is not allowed here"
    assert_success
    assert_output --partial 'device: CPU default'
    assert_output --partial 'gates passed'
    assert_output --partial "DEVICE='cpu'"
    assert_output --partial 'no nvcc'
    refute_output --partial 'CUDA error'
    refute_output --partial 'cudaError'
}
