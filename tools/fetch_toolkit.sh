#!/usr/bin/env bash
# Fetches a whole nvcc, with cuobjdump and nvdisasm, as wheels from PyPI: nothing is installed and no
# root is needed. Behind `make toolkit`; NVCC= defaults to it where the system has none.
#   fetch_toolkit.sh                              the packages below, checked by hash, into .toolkit/
#   fetch_toolkit.sh FOLDER NAME PACKAGE==N ...   others, as tests/toolchains.sh needs them
# Status: 0 they are there; 2 they could not be fetched.
set -euo pipefail
cd "$(dirname "$0")/.."
. tools/fetch_wheels.sh

# The one place: CUDA 13.5, for Linux on x86-64 (first hash) and on AArch64 (second).
read -r -d '' pinned <<'LIST' || true
nvidia-cuda-nvcc==13.5.37 --hash=sha256:f5c4f7ead5d964fb4af42bbf1e6d3ec3c1e6e9d83b53749f691d387e7fcaa3a7 --hash=sha256:588eda18eb5076ae859fe272844b526459228af22df0b117f54eec3aa82bc9c8
nvidia-cuda-crt==13.5.37 --hash=sha256:e898b7f73d3035fa89915a3f7bf3b54a73e90249746111aed295822c4729bb29 --hash=sha256:9ed2c565fdf3244fa6719769a80a466b85bfd4b1467ea339353bc91c971d09e0
nvidia-nvvm==13.5.37 --hash=sha256:c41bfa362e407405163f103c2229f0765f8cc2ed7d148b754dc77f228bf7e070 --hash=sha256:b659bd3115b7ac7ec8931e67d0e2c0dd09cd35b08a6a7372df6f8f22c67da80a
nvidia-cuda-runtime==13.5.37 --hash=sha256:df2b79a8852f10d1fef8c848489c49eebb5754051bf870202a862831412b179d --hash=sha256:de2dc5a7367974228b0a69588a9acc9340d3768bef1bf38bf0801eb08497cd2d
nvidia-cuda-cccl==13.3.5.0.6 --hash=sha256:d5230098fa2df5021e1a00c0c4eee41797671a91119d31e892463e5ccf3ee326 --hash=sha256:6f30b8076b3e69951c459c94ae190bde51924b320076ebaec376d36848b4c76e
nvidia-cuda-cuobjdump==13.5.37 --hash=sha256:38780fee50863252a0b8926357faa91615ca1c8346490563f33a06100cd73f58 --hash=sha256:f48e3148535365161a268547b285fd01d92c80e4b457275375933825b5fc26b2
nvidia-cuda-nvdisasm==13.5.37 --hash=sha256:d3fdbdd49fa53e2e4aacd3db8259d052bd2b049ececdcb69e92e083c6728e7ca --hash=sha256:a3a8248074edb9fba63b74c38a5416b712a91ab09e70b8ab37186c3d293fc605
LIST
folder=.toolkit name='CUDA 13.5' list=$pinned checks=(--require-hashes)
if [ $# -gt 2 ]; then
    folder=$1 name=$2 checks=()
    shift 2
    list=$(printf '%s\n' "$@")
fi
new=$folder.new

fetch_wheels toolkit "$name" "$folder" "$list" ${checks[@]+"${checks[@]}"} --requirement "$new/list"
# CUDA 13's wheels share one folder, those of CUDA 12 have one each. A zip keeps no x bits.
for part in "$new"/nvidia/*/; do
    cp -R "$part". "$new/keep/"
done
chmod +x "$new"/keep/bin/* "$new"/keep/nvvm/bin/* 2>/dev/null || true
for program in ptxas $([ "$folder" != .toolkit ] || echo nvcc cuobjdump nvdisasm); do
    if ! "$new/keep/bin/$program" --version >/dev/null 2>"$new/log"; then
        echo "make toolkit: $program of $name does not run here: $(head -n 1 "$new/log")" >&2
        exit 2
    fi
done
keep_wheels
