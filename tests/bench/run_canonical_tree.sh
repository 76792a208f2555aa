#!/usr/bin/env bash
# Behind `make bench LESSON=canonical_tree`: the host tree beside OpenMP's sum, and on a card the fused
# tree beside CUB, the levels and a copy. With CCCL=dir (a checkout or an unpacked wheel, 3.1 or
# later) CUB's gpu_to_gpu too. Needs what the Makefile exports: ROOT BUILD DEVICE NVCC ARCH CXX
# HOST_FLAGS MFMA OPENMP, and CCCL where it is given.
set -euo pipefail

bench=$ROOT/tests/bench
lesson=$ROOT/canonical_tree/canonical_tree.cu
dir=$BUILD/bench/canonical_tree
mkdir -p "$dir"

# cut NAME ...: the lesson's marked blocks of these names, in the order of the file.
cut_blocks() {
    local name text
    for name in "$@"; do
        text=$(sed -n "\#^// $name:#,\#^// end $name\$#p" "$lesson")
        if [ -z "$text" ]; then
            echo "bench: no block '$name' in $lesson" >&2
            return 2
        fi
        printf '%s\n\n' "$text"
    done
}

if [ "$OPENMP" = yes ]; then
    cut_blocks 'tree definition' 'host tree' 'telling input' >"$dir/host_tree.h"
    # shellcheck disable=SC2086 # lists of words
    $CXX $HOST_FLAGS $MFMA -fopenmp -I"$dir" -x c++ "$bench/canonical_tree_host.cu" -o "$dir/host" -pthread
    echo "host tree, $CXX $HOST_FLAGS $MFMA -fopenmp:"
    "$dir/host"
else
    echo 'left out: the host tree beside OpenMP: this compiler has no OpenMP'
fi

if [ "$DEVICE" != gpu ]; then
    echo 'left out: the fused tree beside CUB: no card'
    exit 0
fi

# Include folders of a CCCL: a wheel has one, a checkout three.
cccl_includes() {
    local place
    for place in "$CCCL" "$CCCL/include" "$CCCL/cuda/cccl/headers/include"; do
        [ -f "$place/cub/cub.cuh" ] && [ -d "$place/cuda/std" ] && { echo "-I$place"; return; }
    done
    [ -f "$CCCL/cub/cub/cub.cuh" ] && [ -d "$CCCL/libcudacxx/include" ] &&
        { echo "-I$CCCL/libcudacxx/include -I$CCCL/cub -I$CCCL/thrust"; return; }
    echo "bench: no CCCL in CCCL=$CCCL: neither cub/cub.cuh nor a checkout's three folders" >&2
    return 2
}

cut_blocks 'level tree' >"$dir/level_tree.h"
flags="-std=c++17 -O3 -arch=$ARCH -Xcompiler -ffp-contract=off -diag-suppress 177 -I$dir"
objects=$dir/bench.o
gpu_to_gpu=0
if [ -n "${CCCL:-}" ]; then
    includes=$(cccl_includes)
    gpu_to_gpu=1
    objects="$objects $dir/gpu_to_gpu.o"
    # shellcheck disable=SC2086 # lists of words
    "$NVCC" $flags $includes -DBENCH_GPU_TO_GPU=2 -c "$bench/canonical_tree.cu" -o "$dir/gpu_to_gpu.o"
fi
# shellcheck disable=SC2086 # lists of words
"$NVCC" $flags -DBENCH_GPU_TO_GPU=$gpu_to_gpu -c "$bench/canonical_tree.cu" -o "$dir/bench.o"
# shellcheck disable=SC2086 # lists of words
"$NVCC" $flags $objects -o "$dir/bench"
echo
"$dir/bench"
