# Loaded by every test file: paths, builds and edits. The Makefile hands over what it found out; a test
# file that bats runs alone asks it (environment.sh).
. "$(dirname "${BASH_SOURCE[0]}")/environment.sh"
[ -x "$BUILD/tools/match" ] || {
    echo "build first: make" >&2
    exit 1
}
export LC_ALL=C
bats_require_minimum_version 1.5.0 # run --separate-stderr
for dir in /usr/lib/bats /usr/local/lib /opt/homebrew/lib "$HOME/.local/lib" "$ROOT/.bats/lib"; do
    BATS_LIB_PATH=${BATS_LIB_PATH:+$BATS_LIB_PATH:}$dir
done
export BATS_LIB_PATH
bats_load_library bats-support
bats_load_library bats-assert

# Path of a program built for the device at hand: program reproducibility fmad.
program() { echo "$BUILD/$DEVICE/$2/$1"; }

# An edited copy: mutate SRC OUT 'perl code'. The whole file is $_; an edit that changes nothing fails,
# or a test would hold the unedited lesson against itself.
mutate() {
    perl -0777 -pe "$3" "$1" >"$2"
    if cmp -s "$1" "$2"; then
        echo "mutate: '$3' changed nothing in $1" >&2
        return 1
    fi
}

# compile SRC OUT fmad|nofmad [flags]: for the device at hand; DEVICE=cpu compile ... for the CPU.
compile() { bash "$ROOT/tools/compile.sh" "$@"; }

# compile_no_memory OUT [flags]: the program stands before the C library's allocations.
WRAPPED=-Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=posix_memalign
compile_no_memory() { compile "$ROOT/tests/cpu/no_memory.cu" "$1" nofmad $WRAPPED "${@:2}"; }

# Both builds of SRC: OUT.fmad, where there can be one, and OUT.nofmad.
compile_both() {
    local src=$1 out=$2
    shift 2
    if have_fma; then compile "$src" "$out.fmad" fmad "$@" || return; fi
    compile "$src" "$out.nofmad" nofmad "$@"
}

require_fma() { have_fma || skip "this CPU has no FMA, so there is no fused build"; }
require_nvcc() { command -v "$NVCC" >/dev/null || skip "no nvcc"; }
require_cpu() { [ "$DEVICE" = cpu ] || skip "a test of the CPU default (DEVICE=cpu)"; }
# For what takes 2^32 floats and more.
require_large_card() {
    [ "$DEVICE" = gpu ] || skip "17 GiB of samples: for a card of that size"
    [ "$(card_mib)" -gt 18000 ] || skip "the card has less than 18,000 MiB"
}
require_clang() { command -v clang++ >/dev/null || skip "no clang++ (Debian: apt-get install clang)"; }

# AArch64 under user-mode emulation, both from Debian.
have_aarch64() { command -v aarch64-linux-gnu-g++ >/dev/null && command -v qemu-aarch64 >/dev/null; }
require_aarch64() {
    have_aarch64 || skip "no AArch64 compiler or emulator (Debian: apt-get install g++-aarch64-linux-gnu qemu-user)"
}
# aarch64_build SRC OUT fmad|nofmad [flags]: HOST=none leaves out our host flags, as a plain compile would.
aarch64_build() {
    local host=$HOST_FLAGS
    [ "${HOST:-}" != none ] || host='-std=c++17 -O3'
    DEVICE=cpu CXX=aarch64-linux-gnu-g++ MFMA='' HOST_FLAGS=$host RUNTIME=$BUILD/cpu/runtime-aarch64 compile "$@"
}
aarch64_run() { qemu-aarch64 -L /usr/aarch64-linux-gnu "$@"; }

# The hash on an output's line `NAME hash: 0x...`: hash_in FILE NAME.
hash_in() { sed -n "s/^$2 hash: \(0x[0-9a-f]*\)$/\1/p" "$1"; }

# What the script that ran says it left out ("left out: NAME: REASON") goes into the report of the suite,
# where a strict run takes it for a skip (tools/check.sh).
# shellcheck disable=SC2154 # run sets output
left_out() { sed -nE 's/^left out:? +([^:]*: )/# left out: \1/p' <<<"$output" >&3; }

# Is FILE what its program must print? Says where not.
assert_expected() { run "$BUILD/tools/match" "$ROOT/expected_output" "$1"; assert_success; }
