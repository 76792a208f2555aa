#!/usr/bin/env bash
# doctor.sh: one screen (24 lines of 80 columns) about this machine: what is
# here, what was chosen and why, what is missing, what to type next.
#
# `make doctor` calls it with these variables set:
#   NVCC CXX CC   the compilers, as the build calls them
#   DEVICE ARCH   what was chosen: gpu or cpu, sm_NN
#   DEVICE_WHY    why, in a few words
#   BUILD         the build folder
#   PROBE         path of the built gpu_probe
#   OPENMP        yes or no: does the host tree get OpenMP
#   FMA           yes, no or n.a.: the CPU has x86-64's FMA
#
# Exit status: 0 when `make run` can work: a C and a C++ compiler, and make;
# else 2, and one line on stderr names what is missing.
set -euo pipefail
export LC_ALL=C

for name in NVCC CXX CC DEVICE ARCH DEVICE_WHY BUILD PROBE OPENMP FMA; do
    if [[ -z ${!name+set} ]]; then
        echo "doctor.sh: $name is not set: call it as make doctor" >&2
        exit 2
    fi
done

# row LABEL TEXT: one row, or two where the text does not fit into one.
row() {
    local label=$1 text=$2 cut
    if ((${#text} > 65)); then
        cut=${text:0:66}
        cut=${cut% *}
        ((${#cut} <= 65)) || cut=${cut:0:65}
        printf '%-14s %s\n' "$label" "$cut"
        label='' text=${text:${#cut}}
        text=${text# }
        ((${#text} <= 65)) || text=${text:0:61}' ...'
    fi
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
    row 'toolkit' "nvcc $toolkit ($(command -v "${nvcc_words[0]}"))"
else
    row 'toolkit' 'no nvcc: optional, the CPU default does without'
fi

driver='' devices='' name='' card_arch='' reason='not asked, tools/gpu_probe is not built'
if [[ -x $PROBE ]]; then
    reason='no answer from tools/gpu_probe'
    while IFS='=' read -r key value; do
        case $key in
        driver) driver=$value ;;
        devices) devices=$value ;;
        name) name=$value ;;
        arch) card_arch=$value ;;
        reason) reason=$value ;;
        esac
    done < <("$PROBE" 2>/dev/null || true)
fi
if [[ $driver =~ ^[0-9]+$ && -n $card_arch ]]; then
    row 'driver' "for CUDA up to $((driver / 1000)).$((driver % 1000 / 10))"
    card="$name ($card_arch)"
    [[ $devices == 1 ]] || card+=", first of $devices (CUDA_VISIBLE_DEVICES picks)"
    row 'card' "$card"
    if [[ $toolkit =~ ^([0-9]+)\. ]] && ((BASH_REMATCH[1] > driver / 1000)); then
        row 'note' "the driver is older than nvcc $toolkit: programs will end with 77 \
until the driver is updated or an older toolkit is used"
    fi
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
case $FMA in
yes) row 'FMA' 'yes, in the CPU: both builds of a lesson run' ;;
no) row 'FMA' 'not in the CPU: the fused builds are skipped by name' ;;
*) row 'FMA' "part of every $machine CPU that this course supports" ;;
esac
if [[ $OPENMP == yes ]]; then
    row 'OpenMP' 'yes, for the host trees'
else
    row 'OpenMP' 'no: optional, the host trees run on one thread'
    [[ $CXX != *clang* ]] || optional+=(libomp-dev)
fi

# nproc obeys OpenMP's variables as well; asked for is what the process may use.
allowed=$(env -u OMP_NUM_THREADS -u OMP_THREAD_LIMIT nproc 2>/dev/null ||
    getconf _NPROCESSORS_ONLN 2>/dev/null || echo '?')
total=$(getconf _NPROCESSORS_CONF 2>/dev/null || echo '?')
row 'cores' "$allowed allowed, of $total"

# --- what was chosen ----------------------------------------------------------
chosen=$DEVICE
[[ $DEVICE != gpu ]] || chosen+=", $ARCH"
row 'device' "$chosen: $DEVICE_WHY"
row 'build folder' "${BUILD:0:65}"

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
if ((${#needed[@]})); then
    next="$install ${needed_packages[*]}"
    # A mistyped CXX or CC is no reason to install anything.
    if works c++ g++ && works c gcc && { has make || has gmake; }; then
        next='make run CXX=g++ CC=gcc'
    fi
    row 'MISSING' "$(join "${needed[@]}")"
elif [[ $DEVICE == gpu && (-z $card_arch || -z $toolkit) ]]; then
    next='make run DEVICE=cpu'
fi
((${#needed[@]})) || row 'missing' 'nothing that make run needs'
((${#check_packages[@]} == 0)) ||
    row 'for make check' "$install ${check_packages[*]}"
((${#optional[@]} == 0)) || row 'optional' "$install ${optional[*]}"
row 'next' "$next"

if ((${#needed[@]})); then
    echo "doctor: make run needs $(join "${needed[@]}"): $next" >&2
    exit 2
fi
