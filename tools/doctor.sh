#!/usr/bin/env bash
# doctor.sh: one screen (24 lines of 80 columns) about this machine: what is
# here, what was chosen and why, what is missing, what to type next.
#
# In: NVCC CXX CC, DEVICE and ARCH as asked for or empty, BUILD, CXX_GIVEN (see choose_device.sh).
# It asks choose_device.sh and host_flags.sh itself, and needs no compiler, no card and no folder that
# can be written: what it builds lies in BUILD where that is a build folder already, else in a
# temporary one. A test sets the answers: DEVICE_WHY (with DEVICE and ARCH as chosen), FMA and OPENMP,
# GPU_PROBE (a built gpu_probe).
#
# Exit status: 0 when `make run` can work: a C and a C++ compiler, make, and what DEVICE and ARCH ask
# for; else 2, and one line on stderr names what is missing.
set -euo pipefail
export LC_ALL=C

for variable in NVCC CXX CC DEVICE ARCH BUILD; do
    if [[ -z ${!variable+set} ]]; then
        echo "doctor.sh: $variable is not set: call it as make doctor" >&2
        exit 2
    fi
done

# row LABEL TEXT [ROWS]: one row, or more, at most ROWS (2), where the text does not fit into one.
row() {
    local label=$1 text=$2 left=${3:-2} cut
    while ((${#text} > 65 && left > 1)); do
        cut=${text:0:66}
        cut=${cut% *}
        ((${#cut} <= 65)) || cut=${cut:0:65}
        printf '%-14s %s\n' "$label" "$cut"
        label='' text=${text:${#cut}} left=$((left - 1))
        text=${text# }
    done
    ((${#text} <= 65)) || text=${text:0:61}' ...'
    printf '%-14s %s\n' "$label" "$text"
}

has() { command -v "$1" >/dev/null 2>&1; }

# join WORD...: the words with commas between them.
join() {
    local all
    printf -v all '%s, ' "$@"
    printf '%s' "${all%, }"
}

# works LANGUAGE COMMAND: can the compiler compile a program with a header of
# its library? A compiler without its library is a common half-installation.
works() {
    local -a command
    read -ra command <<<"$2"
    local header='#include <stdio.h>'
    [[ $1 == c ]] || header='#include <vector>'
    ((${#command[@]})) && has "${command[0]}" &&
        "${command[@]}" -x "$1" -fsyntax-only - <<<"$header" >/dev/null 2>&1
}

# version COMMAND: of a compiler, "version unknown" where it does not tell.
# clang answers the second question alone.
version() {
    local -a command
    read -ra command <<<"$1"
    "${command[@]}" -dumpfullversion 2>/dev/null ||
        "${command[@]}" -dumpversion 2>/dev/null || echo 'version unknown'
}

needed=()          # what make run lacks, in words
needed_packages=() # and the packages that bring it
check_packages=()  # what make check lacks
optional=()        # packages nothing stops without

# --- toolkit, driver, card ----------------------------------------------------
read -ra nvcc_words <<<"$NVCC"
toolkit=''
if ((${#nvcc_words[@]})) && has "${nvcc_words[0]}"; then
    toolkit=$("${nvcc_words[@]}" --version 2>/dev/null || true)
    if [[ $toolkit =~ release\ ([0-9]+\.[0-9]+) ]]; then
        toolkit=${BASH_REMATCH[1]}
    else
        toolkit='of unknown version'
    fi
fi

# --- what was chosen, asked before anything is said of the card ----------------
here=${0%/*}
work=$BUILD scratch=''
if [[ ! -f $BUILD/.same-bits-build || ! -w $BUILD ]]; then
    work=$(mktemp -d 2>/dev/null) || work=/nowhere
    scratch=$work
fi
trap '[[ -z $scratch ]] || rm -rf "$scratch"' EXIT
probe=${GPU_PROBE:-$work/tools/gpu_probe}
if [[ -z ${GPU_PROBE:-} && ( ! -x $probe || $here/gpu_probe.c -nt $probe ) ]]; then
    # shellcheck disable=SC2086 # CC may be given with flags
    { mkdir -p "$work/tools" && $CC -std=c11 -O2 -o "$probe.$$" "$here/gpu_probe.c" -ldl &&
        mv "$probe.$$" "$probe"; } 2>/dev/null || rm -f "$probe.$$"
fi
error=''
if [[ -z ${DEVICE_WHY:-} ]]; then
    read -r DEVICE ARCH DEVICE_WHY < <(BUILD=$work GPU_PROBE=$probe NVCC=$NVCC CC=$CC CXX=$CXX DEVICE=$DEVICE \
        ARCH=$ARCH CXX_GIVEN=${CXX_GIVEN:-} bash "$here/choose_device.sh") || true
    if [[ $DEVICE == error ]]; then
        error="$ARCH $DEVICE_WHY" DEVICE='' ARCH=''
    fi
fi
if [[ -z ${FMA:-} || -z ${OPENMP:-} ]]; then
    host=$(BUILD=$work CXX=$CXX CC=$CC bash "$here/host_flags.sh" 2>/dev/null || true)
    FMA='' OPENMP=''
    [[ ! $host =~ fma=(yes|no) ]] || FMA=${BASH_REMATCH[1]}
    [[ ! $host =~ openmp=(yes|no) ]] || OPENMP=${BASH_REMATCH[1]}
fi
misfit=''
[[ $DEVICE_WHY != 'nvcc and the card do not fit'* ]] || misfit=yes

driver='' devices='' name='' card_arch='' reason='not asked, for want of a C compiler'
if [[ -x $probe ]]; then
    reason='no answer from tools/gpu_probe'
    while IFS='=' read -r key value; do
        case $key in
        driver) driver=$value ;;
        devices) devices=$value ;;
        name) name=$value ;;
        arch) card_arch=$value ;;
        reason) reason=$value ;;
        esac
    done < <("$probe" 2>/dev/null || true)
fi
if [[ -n $toolkit ]]; then
    row 'toolkit' "nvcc $toolkit ($(command -v "${nvcc_words[0]}"))"
elif [[ -n $card_arch ]]; then
    row 'toolkit' 'no nvcc for the card: make toolkit fetches one (no root)'
else
    row 'toolkit' 'no nvcc: optional, the CPU default does without'
fi
if [[ $driver =~ ^[0-9]+$ && -n $card_arch ]]; then
    row 'driver' "for CUDA up to $((driver / 1000)).$((driver % 1000 / 10))"
    card="$name ($card_arch)"
    [[ $devices == 1 ]] || card+=", first of $devices (CUDA_VISIBLE_DEVICES picks)"
    row 'card' "$card"
elif [[ -n $toolkit ]]; then
    row 'driver, card' "none to use: $reason"
else
    row 'driver, card' 'none to use: optional, like the toolkit'
fi

# --- host compilers and the CPU -----------------------------------------------
compilers=()
if works c++ "$CXX"; then
    compilers+=("$CXX $(version "$CXX") (C++)")
else
    needed+=("a C++ compiler ('$CXX' does not compile)")
    needed_packages+=(g++)
    compilers+=('no C++')
fi
if works c "$CC"; then
    compilers+=("$CC $(version "$CC") (C)")
else
    needed+=("a C compiler ('$CC' does not compile)")
    needed_packages+=(gcc libc6-dev)
    compilers+=('no C')
fi
if [[ $CXX != clang++ ]]; then
    if has clang++; then
        compilers+=("clang++ $(version clang++)")
    else
        compilers+=('no clang++ (optional)')
        optional+=(clang)
    fi
fi
if ! has make && ! has gmake; then
    needed+=('GNU Make')
    needed_packages+=(make)
fi
row 'compilers' "$(join "${compilers[@]}")"

machine=$(uname -m)
# nproc obeys OpenMP's variables as well; asked for is what the process may use.
allowed=$(env -u OMP_NUM_THREADS -u OMP_THREAD_LIMIT nproc 2>/dev/null ||
    getconf _NPROCESSORS_ONLN 2>/dev/null || echo '?')
cpu=("$allowed of $(getconf _NPROCESSORS_CONF 2>/dev/null || echo '?') cores allowed")
case $FMA in
yes) cpu+=('FMA') ;;
no) cpu+=('no FMA (no fused builds)') ;;
esac
case $OPENMP in
yes) cpu+=('OpenMP') ;;
no) cpu+=('no OpenMP') ;;
esac
[[ $OPENMP != no || $CXX != *clang* ]] || optional+=(libomp-dev)
row 'CPU' "$(join "${cpu[@]}")"

chosen=$DEVICE
[[ $DEVICE != gpu ]] || chosen+=", $ARCH"
row 'device' "${chosen:-none}: ${error:-$DEVICE_WHY}" 5
folder=$BUILD # or where it would be made
while [[ ! -e $folder && $folder == */* && -n ${folder%/*} ]]; do folder=${folder%/*}; done
[[ -e $folder ]] || folder=.
folder_missing=''
if [[ -d $folder && -w $folder ]]; then
    row 'build folder' "${BUILD:0:65}"
else
    folder_missing='a build folder that can be written: BUILD=dir'
    row 'build folder' "${BUILD:0:45}: cannot be written"
fi

# --- tests --------------------------------------------------------------------
# The folders in which tests/helper.bash looks for libraries; BATS_FOLDERS lets
# a test name others.
library_found() {
    local -a folders
    local folder own=${0%/*}/../.bats/lib
    IFS=':' read -ra folders <<<"${BATS_LIB_PATH-}:${BATS_FOLDERS-/usr/lib/bats:/usr/local/lib:\
/opt/homebrew/lib:${HOME-}/.local/lib:$own}"
    for folder in "${folders[@]}"; do
        [[ -z $folder || ! -r $folder/$1/load.bash ]] || return 0
    done
    return 1
}

tests=()
if has bats; then
    tests+=("$(bats --version 2>/dev/null || echo 'Bats, version unknown')")
else
    tests+=('Bats missing')
    check_packages+=(bats)
fi
for library in bats-support bats-assert; do
    if library_found "$library"; then
        tests+=("$library found")
    else
        tests+=("$library missing")
        check_packages+=("$library")
    fi
done
row 'tests' "$(join "${tests[@]}")"

if [[ $machine == aarch64 || $machine == arm64 ]]; then
    row 'AArch64' 'this machine is one'
else
    cross='cross compiler found' emulator='emulator found'
    if ! has aarch64-linux-gnu-g++; then
        cross='no cross compiler'
        optional+=(g++-aarch64-linux-gnu)
    fi
    if ! has qemu-aarch64 && ! has qemu-aarch64-static; then
        emulator='no emulator'
        optional+=(qemu-user)
    fi
    aarch64="$cross, $emulator"
    [[ $aarch64 != *no\ * ]] || aarch64+=' (optional)'
    row 'AArch64' "$aarch64"
fi
# Without it the test files run one after the other. moreutils has another program of that name.
[[ $(parallel --version 2>/dev/null || true) == *'GNU parallel'* ]] || optional+=(parallel)

# --- what is missing, what to type --------------------------------------------
# Package names are Debian's; Ubuntu and WSL share them.
install='sudo apt-get install'
has apt-get || install="install what Debian calls"
next='make run'
missing=()
((${#needed[@]} == 0)) || missing=("${needed[@]}")
if ((${#needed[@]})); then
    next="$install ${needed_packages[*]}"
    # A mistyped CXX or CC is no reason to install anything.
    if works c++ g++ && works c gcc && { has make || has gmake; }; then
        next='make run CXX=g++ CC=gcc'
    fi
elif [[ -z $toolkit && -n $card_arch ]]; then
    next='make toolkit, then make run'
elif [[ -n $error || $DEVICE == gpu && (-z $card_arch || -z $toolkit) ]]; then
    next='make run DEVICE=cpu'
elif [[ -n $folder_missing ]]; then
    next='make run BUILD=dir'
fi
[[ -z $folder_missing ]] || missing+=("$folder_missing")
[[ -z $error ]] || missing+=('what DEVICE, ARCH or NVCC ask for (see device)')
[[ $DEVICE != gpu || (-n $card_arch && -n $toolkit) ]] || missing+=('nvcc and a usable card for DEVICE=gpu')
if ((${#missing[@]})); then
    row 'MISSING' "$(join "${missing[@]}")"
elif [[ -n $misfit ]]; then
    row 'missing' 'what would fit the card (see device); the CPU needs nothing'
else
    row 'missing' 'nothing that make run needs'
fi
((${#check_packages[@]} == 0)) ||
    row 'for make check' "$install ${check_packages[*]}"
((${#optional[@]} == 0)) || row 'optional' "$install ${optional[*]}"
row 'next' "$next"

if ((${#missing[@]})); then
    echo "doctor: make run needs $(join "${missing[@]}"): $next" >&2
    exit 2
fi
