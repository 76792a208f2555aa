#!/usr/bin/env bash
# Fetches CCCL's headers, the PyPI wheel cuda-cccl, into .cccl/ at the root: nothing is installed and
# no root is needed. Behind `make cccl`; CCCL= defaults to that folder from then on.
# Status: 0 they are there; 2 they could not be fetched.
set -euo pipefail
cd "$(dirname "$0")/.."

version=1.2.1 # the one place: CCCL 3.6.0, the first with <cuda/fpmp>, <cuda/fpemu> and <cuda/fptool>

if [ "$(cat .cccl/version 2>/dev/null)" = "$version" ]; then
    echo "cuda-cccl $version is in .cccl already"
    exit 0
fi
if ! python3 -m pip --version >/dev/null 2>&1; then
    echo "make cccl needs pip (Debian: apt-get install python3-pip)" >&2
    exit 2
fi

rm -rf .cccl.new
trap 'rm -rf .cccl.new' EXIT
mkdir .cccl.new
# Headers are the same for every machine, so one machine's wheel is named for all.
if ! python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary=:all: \
    --implementation cp --python-version 3.11 --abi cp311 --platform manylinux_2_26_x86_64 \
    --dest .cccl.new "cuda-cccl==$version" >.cccl.new/log 2>&1; then
    echo "make cccl: pip could not download cuda-cccl $version: $(grep -m 1 -i error .cccl.new/log || tail -n 1 .cccl.new/log)" >&2
    exit 2
fi
python3 -m zipfile -e .cccl.new/cuda_cccl-*.whl .cccl.new
if [ ! -e .cccl.new/cuda/cccl/headers/include/cuda/fpmp ]; then
    echo "make cccl: the wheel cuda-cccl $version holds no cuda/fpmp where it is expected" >&2
    exit 2
fi
# Only the headers are of use here.
mkdir .cccl.new/keep
mv .cccl.new/cuda/cccl/headers/include .cccl.new/keep/include
mv .cccl.new/cuda_cccl-*.dist-info .cccl.new/keep/
echo "$version" >.cccl.new/keep/version
rm -rf .cccl
mv .cccl.new/keep .cccl
echo "cuda-cccl $version is in .cccl"
