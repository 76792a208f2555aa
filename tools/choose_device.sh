#!/usr/bin/env bash
# Chooses the device: prints `gpu|cpu ARCH why...`, or `error what...` for make to stop with.
# In: DEVICE and ARCH as asked for or empty, NVCC, CC, BUILD; CXX, which is nvcc's host compiler too
# where CXX_GIVEN is not empty; GPU_PROBE, a built gpu_probe (default: BUILD/tools/gpu_probe, built here).
# Called while make reads the Makefile, so it prints one line and never fails.
#
# nvcc and a card are not enough: a small program is compiled for the card and run, and where that fails
# the CPU is chosen and the line says why. Only success is kept, under BUILD/tmp, so that what a user
# repairs counts at once.
set -u
export LC_ALL=C

fail() { echo "error $*"; exit 0; }

here=$(dirname "$0")
read -ra nvcc <<<"$NVCC" # may be given with flags
nvcc_path=$(command -v "${nvcc[0]:-}") || nvcc_path=''
case $DEVICE in
    gpu) [ -n "$nvcc_path" ] || fail "DEVICE=gpu needs nvcc, and '$NVCC' is not found; make toolkit fetches one; without it: make DEVICE=cpu" ;;
    cpu | '') ;;
    *) fail "unknown DEVICE '$DEVICE': gpu or cpu" ;;
esac
[ -z "$ARCH" ] || [[ $ARCH =~ ^sm_[0-9]+[af]?$ ]] || fail "unknown ARCH '$ARCH': write it as sm_75, sm_90, ..."
[ "$DEVICE" != cpu ] || { echo "cpu ${ARCH:-sm_75} asked for"; exit 0; }

tmp=$BUILD/tmp/device.$$
mkdir -p "$tmp" 2>/dev/null || tmp=$(mktemp -d 2>/dev/null) || {
    [ -n "$nvcc_path" ] || { echo "cpu ${ARCH:-sm_75} no nvcc here"; exit 0; }
    fail "no folder for temporary files: neither $BUILD nor TMPDIR can be written"
}
trap 'rm -rf "$tmp"' EXIT

# ---- The card, asked through the driver alone -----------------------------------------------------
probe=${GPU_PROBE:-$BUILD/tools/gpu_probe}
if [ -z "${GPU_PROBE:-}" ] && { [ ! -x "$probe" ] || [ "$here/gpu_probe.c" -nt "$probe" ]; }; then
    # shellcheck disable=SC2086 # CC may be given with flags
    if $CC -std=c11 -O2 -o "$tmp/gpu_probe" "$here/gpu_probe.c" -ldl 2>/dev/null; then
        { mkdir -p "$BUILD/tools" && mv "$tmp/gpu_probe" "$probe"; } 2>/dev/null || probe=$tmp/gpu_probe
    fi
fi
card='' name='' driver=0 reason='no answer from tools/gpu_probe'
[ -x "$probe" ] || reason="the driver cannot be asked without a C compiler ('$CC' does not compile)"
while IFS='=' read -r key value; do
    case $key in
        arch) card=$value ;;
        name) name=$value ;;
        driver) driver=$value ;;
        reason) reason=$value ;;
    esac
done < <("$probe" 2>/dev/null)
if [ -z "$nvcc_path" ]; then
    echo "cpu ${ARCH:-sm_75} no nvcc here${card:+ for the card, $name: make toolkit fetches one}"
    exit 0
fi

# The architectures this nvcc builds for, oldest first: 75 80 90. Old ones cannot say.
codes=$("${nvcc[@]}" --list-gpu-code 2>/dev/null | sed -n 's/^sm_\([0-9]*\)$/\1/p' | sort -n | tr '\n' ' ')
# The list has no suffixed names (sm_90a); nvcc itself judges the suffix.
builds_for() { local n=${1#sm_}; [[ -z $codes || " $codes" == *" ${n%[af]} "* ]]; }
if [ -n "$ARCH" ] && ! builds_for "$ARCH"; then
    # shellcheck disable=SC2086 # a list of words
    fail "unknown ARCH '$ARCH': this nvcc builds for $(printf 'sm_%s ' $codes)"
fi

if [ -z "$card" ] && [ "$DEVICE" != gpu ]; then
    echo "cpu ${ARCH:-sm_75} no usable card: $reason"
    exit 0
fi
arch=${ARCH:-${card:-sm_75}}

# ---- Does nvcc fit the card? ----------------------------------------------------------------------
host=()
[ -z "${CXX_GIVEN:-}" ] || host=(-ccbin "$CXX")
about=$("${nvcc[@]}" --version 2>/dev/null)
release=$(printf '%s\n' "$about" | sed -n 's/.*release \([0-9]*\.[0-9]*\).*/\1/p')

# compile ARCH: builds the probe program; its messages are in $tmp/log.
compile() {
    "${nvcc[@]}" ${host[@]+"${host[@]}"} -std=c++17 -arch="$1" -o "$tmp/probe" "$tmp/probe.cu" >"$tmp/log" 2>&1 </dev/null
}

# runs: does the built program run? Its words, or the shell's, are in $tmp/said.
runs() {
    local limit=() status=0
    ! command -v timeout >/dev/null || limit=(timeout 60)
    { ${limit[@]+"${limit[@]}"} "$tmp/probe" >"$tmp/said"; } 2>/dev/null || status=$?
    [ $status -ne 0 ] || return 0
    grep -q '[^ ]' "$tmp/said" || echo "it ended with status $status" >"$tmp/said"
    return 1
}

# The first line of nvcc's messages that says what is wrong: one line, without folders, not long.
first_error() {
    local line
    line=$(grep -m 1 -iE 'error|fatal|not found|no such|cannot|unsupported|denied' "$tmp/log") ||
        line=$(grep -m 1 . "$tmp/log") || line='it says nothing'
    line=$(printf '%s' "$line" | tr -cs ' -~' ' ' | tr -s ' ' | sed 's|[^ ]*/||; s/^nvcc fatal *: *//')
    [ ${#line} -le 130 ] || line=${line:0:127}...
    printf '%s' "$line"
}

# What to do about a compile that failed, by its message.
compile_advice() {
    local newest n
    newest=$(sed -n 's/.*gcc versions later than \([0-9]*\).*/\1/p' "$tmp/log" | head -n 1)
    if [ -n "$newest" ]; then
        for ((n = newest; n >= 7; n--)); do
            if command -v "g++-$n" >/dev/null; then
                echo "give it an older host compiler: NVCC='${nvcc[0]} -ccbin g++-$n'"
                return
            fi
        done
        echo "install an older host compiler (Debian: apt-get install g++-$newest), then NVCC='${nvcc[0]} -ccbin g++-$newest'"
    elif grep -qi 'unsupported clang\|host compiler\|compiler-bindir\|g++\(-[0-9]*\)\?: \(command \)\?not found\|gcc\(-[0-9]*\)\?: \(command \)\?not found\|cc1plus' "$tmp/log"; then
        echo "it needs a host compiler that it can use: install g++, or name one: NVCC='${nvcc[0]} -ccbin g++'"
    elif grep -qi 'cuda_runtime.h\|cicc\|ptxas\|fatbinary\|cudafe\|nvlink\|cudart\|cudadevrt\|libdevice\|crt/\|nv/target' "$tmp/log" &&
        grep -qi 'not found\|no such file\|cannot find\|could not open' "$tmp/log"; then
        echo "a part of the toolkit is missing: install the whole toolkit, or name another nvcc: NVCC=/path/to/nvcc"
    elif grep -q '/usr/include\|mathcalls\|exception specification\|bits/' "$tmp/log"; then
        echo "the toolkit's headers and the system's clash: name a newer nvcc, NVCC=/path/to/nvcc, or an older host compiler, NVCC='${nvcc[0]} -ccbin g++-N'"
    elif [ -n "${NVCC_PREPEND_FLAGS-}${NVCC_APPEND_FLAGS-}" ]; then
        echo "look at NVCC_PREPEND_FLAGS and NVCC_APPEND_FLAGS, which nvcc adds to its command line"
    else
        echo "reinstall the toolkit, or name another nvcc: NVCC=/path/to/nvcc"
    fi
}

# nvcc does not build for this card: is the card too old or too new for it, and what helps?
unknown_card() {
    local n=${card#sm_} below='' c oldest=${codes%% *} toolkit='an older toolkit'
    for c in $codes; do
        [ "$c" -ge "$n" ] || below=$c
    done
    if [ -z "$below" ]; then
        case $n in
            5? | 6? | 70 | 72) toolkit='CUDA 12.9 or older' ;;
            35 | 37) toolkit='CUDA 11.8 or older' ;;
        esac
        echo "nvcc $release no longer builds for this card ($card; its oldest is sm_$oldest): install $toolkit and give NVCC=/path/to/nvcc"
    elif compile "sm_$below" && runs; then
        echo "nvcc $release does not know this card ($card): give ARCH=sm_$below, which runs on it, or install a newer toolkit"
    else
        echo "nvcc $release does not know this card ($card; the nearest is sm_$below): install a newer toolkit and give NVCC=/path/to/nvcc"
    fi
}

run_advice() {
    local said
    said=$(tr -cs ' -~' ' ' <"$tmp/said")
    said=${said% }
    if [ -n "$release" ] && [ "$((driver / 1000))" -lt "${release%.*}" ]; then
        echo "the driver serves CUDA up to $((driver / 1000)).$((driver % 1000 / 10)) and nvcc is $release: update the driver, or install a toolkit $((driver / 1000)).x and give NVCC=/path/to/nvcc"
    elif [[ $said == *'error 209'* && -n $ARCH ]]; then
        echo "what nvcc builds for ARCH=$ARCH does not run on this card ($card): leave ARCH out, or give ARCH=$card"
    elif [[ $said == *'error 222'* ]]; then
        echo "the driver cannot compile the PTX of nvcc $release: update the driver, or give ARCH=$card"
    else
        echo "a test program that nvcc $release built does not run: ${said:0:130}"
    fi
}

# 0: it fits. 1: it does not compile; 2: it does not run. misfit says why.
misfit=''
judge() {
    cat >"$tmp/probe.cu" <<'END'
#include <cuda_runtime.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
__global__ void write(unsigned* out) { *out = 0x5eed0000u + blockIdx.x + threadIdx.x; }
static void check(cudaError_t e) {
    if (e == cudaSuccess) return;
    printf("CUDA error %d, %s (%s)\n", (int)e, cudaGetErrorString(e), cudaGetErrorName(e));
    exit(1);
}
int main() {
    unsigned *out = nullptr, got = 0;
    check(cudaMalloc(&out, sizeof *out));
    check(cudaMemset(out, 0, sizeof *out));
    write<<<1, 1>>>(out);
    check(cudaGetLastError());
    check(cudaMemcpy(&got, out, sizeof got, cudaMemcpyDeviceToHost));
    if (got == 0x5eed0000u) return 0;
    printf("its kernel wrote 0x%08x and not 0x5eed0000\n", got);
    return 1;
}
END
    if ! builds_for "$arch"; then
        misfit=$(unknown_card)
        return 1
    fi
    if ! compile "$arch"; then
        misfit="nvcc $release cannot compile ($(first_error)): $(compile_advice)"
        return 1
    fi
    [ -n "$card" ] || return 0
    runs || { misfit=$(run_advice); return 2; }
}

key=$(printf '%s\n' "$nvcc_path" "$NVCC" "$about" "${NVCC_PREPEND_FLAGS-}" "${NVCC_APPEND_FLAGS-}" "${NVCC_CCBIN-}" \
    "${host[*]-}" "$({ "${host[1]:-g++}" --version | head -n 1; } 2>/dev/null)" "$driver" "$card $name" "$arch")
kept=$BUILD/tmp/toolkit.$(printf '%s' "$key" | cksum | cut -d ' ' -f 1)
fits=0
if [ "$(cat "$kept" 2>/dev/null)" != "$key" ]; then
    judge || fits=$?
    [ $fits -ne 0 ] || { printf '%s\n' "$key" >"$tmp/kept" && mv "$tmp/kept" "$kept"; } 2>/dev/null
fi

if [ "$DEVICE" != gpu ]; then
    [ $fits -eq 0 ] || { echo "cpu $arch nvcc and the card do not fit: $misfit"; exit 0; }
    echo "gpu $arch nvcc and a card are there: $name"
elif [ $fits -eq 0 ]; then
    echo "gpu $arch asked for"
elif [ $fits -eq 2 ] && [ -n "$ARCH" ]; then
    echo "gpu $arch asked for, with an ARCH; $misfit" # a build for another machine's card
else
    fail "DEVICE=gpu: $misfit; without the card: make DEVICE=cpu"
fi
