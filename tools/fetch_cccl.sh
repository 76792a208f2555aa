#!/usr/bin/env bash
# Fetches CCCL's headers, the PyPI wheel cuda-cccl, into .cccl/ at the root: nothing is installed and
# no root is needed. Behind `make cccl`; CCCL= defaults to that folder from then on.
# Status: 0 they are there; 2 they could not be fetched.
set -euo pipefail
cd "$(dirname "$0")/.."
. tools/fetch_wheels.sh

version=1.2.1 # the one place: CCCL 3.6.0, the first with <cuda/fpmp>, <cuda/fpemu> and <cuda/fptool>

# Headers are the same for every machine, so one machine's wheel is named for all.
fetch_wheels cccl "cuda-cccl $version" .cccl "$version" \
    --implementation cp --python-version 3.11 --abi cp311 --platform manylinux_2_26_x86_64 "cuda-cccl==$version"
if [ ! -e .cccl.new/cuda/cccl/headers/include/cuda/fpmp ]; then
    echo "make cccl: the wheel cuda-cccl $version holds no cuda/fpmp where it is expected" >&2
    exit 2
fi
# Only the headers are of use here.
mv .cccl.new/cuda/cccl/headers/include .cccl.new/keep/include
keep_wheels
