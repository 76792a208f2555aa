#!/usr/bin/env bash
# Behind `make bench LESSON=canonical_tree`: the host tree beside OpenMP's sum, and on a card the fused
# tree beside CUB, the levels and a copy. With CCCL=dir (a checkout or an unpacked wheel, 3.1 or
# later) CUB's gpu_to_gpu too. Environment: what tools/compile.sh asks for, ROOT, OPENMP, and CCCL
# where it is given. BENCH_SMALL=1 builds the host's small, for a test.
set -euo pipefail

bench=$ROOT/tests/bench
dir=$BUILD/bench/canonical_tree
mkdir -p "$dir"

if [ "$OPENMP" = yes ]; then
    DEVICE=cpu bash "$ROOT/tools/compile.sh" "$bench/canonical_tree_host.cu" "$dir/host" nofmad -fopenmp ${BENCH_SMALL:+-DBENCH_SMALL}
    echo "host tree, $CXX:"
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

# 177: functions of the lesson that a benchmark does not call.
build() { bash "$ROOT/tools/compile.sh" "$bench/canonical_tree.cu" "$@" -diag-suppress 177; }
if [ -n "${CCCL:-}" ]; then
    includes=$(cccl_includes)
    # shellcheck disable=SC2086 # a list of words
    build "$dir/gpu_to_gpu.o" fmad $includes -DBENCH_GPU_TO_GPU=2 -c
    build "$dir/bench" fmad -DBENCH_GPU_TO_GPU=1 "$dir/gpu_to_gpu.o"
else
    build "$dir/bench" fmad
fi
echo
"$dir/bench"
