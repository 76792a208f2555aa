#!/usr/bin/env bash
# The one compile line: builds one .cu for the device at hand.
#   compile.sh SOURCE OUT fmad|nofmad [flags]
# SOURCE may also be C or C++; with -c among the flags OUT is an object file, which may stand in SOURCE's place and
# among the flags of another call.
# OUT appears only when the compile succeeded. OUT.d lists for make what OUT depends on.
# Flags are the host compiler's; those with -f are handed on through nvcc. V=1 prints the whole line.
# Environment (`make test-env` prints it): DEVICE, BUILD, NVCC, CXX, ARCH, SANITIZE;
#   MFMA       -mfma where an x86-64 CPU has it and needs to be told
#   CCBIN      the host compiler that was named, for nvcc
#   RUNTIME    folder of the CPU default's objects (default: BUILD/cpu/runtime)
#   HOST_FLAGS the host compiler's flags
# Status: the compiler's; 2 for a call that is no use.
set -euo pipefail

if [ $# -lt 3 ] || { [ "$3" != fmad ] && [ "$3" != nofmad ]; }; then
    echo "usage: compile.sh SOURCE OUT fmad|nofmad [flags]" >&2
    exit 2
fi
source=$1 out=$2 build=$3
shift 3
root=$(cd "$(dirname "$0")/.." && pwd)
# Two makes may build the same program at once: each has names of its own until the end.
tmp=$out.$$
trap 'rm -rf "$tmp" "$tmp".*' EXIT
rm -f "$out"

read -ra host <<<"$HOST_FLAGS"
if [ "$DEVICE" = gpu ]; then
    read -ra line <<<"$NVCC"
    [ -z "${CCBIN:-}" ] || line+=(-ccbin "$CCBIN")
    line+=(-arch="$ARCH")
    [ "$build" = fmad ] || line+=(-fmad=false)
    for flag in "${host[@]}" "$@"; do
        case $flag in -fmad=*) line+=("$flag") ;; -f*) line+=(-Xcompiler "$flag") ;; *) line+=("$flag") ;; esac
    done
    line+=(-MMD -MP -MT "$out" -MF "$tmp.d" -o "$tmp" "$source")
else
    fused=0
    [ "$build" = nofmad ] || fused=1
    code=("$source") compiler=$CXX objects=("${RUNTIME:-$BUILD/cpu/runtime}"/*.o)
    case $source in
    *.cu)
        # Where local headers lie. CCCL's are a library of plain C++, and are left as they are.
        folders=()
        for flag in "$@"; do
            case $flag in -I?*) [ -e "${flag#-I}/cuda/std/version" ] || folders+=(-I "${flag#-I}") ;; esac
        done
        code=("$tmp.cpp")
        mkdir "$tmp.headers"
        "$BUILD/tools/cu_rewrite" -H "$tmp.headers" ${folders[@]+"${folders[@]}"} "$source" "$tmp.rewritten.d" "$out" >"$tmp.cpp"
        rmdir "$tmp.headers" 2>/dev/null || set -- "$@" -iquote "$(dirname "$tmp")"
        ;;
    *.o) set -- "$source" "$@"; code=() ;; # before the libraries among the flags
    *.c) compiler=$CC host=(-O3 -ffp-contract=off) ;;
    esac
    case " $* " in *' -c '*) objects=() ;; esac
    read -ra line <<<"$compiler"
    # A CUDA thread's stack is small: no frame may reach beyond the guard at its end (cpu/engine.c).
    line+=("${host[@]}" -fstack-clash-protection "-DCUDA_CPU_FMAD=$fused")
    [ -z "${MFMA:-}" ] || line+=("$MFMA")
    [ -z "${SANITIZE:-}" ] || line+=("-fsanitize=$SANITIZE" -g -fno-omit-frame-pointer)
    # What stands beside the .cu is found from the rewritten file too.
    line+=(-I"$root/cpu" -I"$root/cpu/names" -iquote "$(dirname "$source")" "$@"
        -MMD -MP -MT "$out" -MF "$tmp.d" -o "$tmp" ${code[@]+"${code[@]}"} ${objects[@]+"${objects[@]}"} -pthread)
fi
[ -z "${V:-}" ] || { printf '%q ' "${line[@]}"; echo; }
"${line[@]}"
[ -e "$tmp" ] || exit 0 # -fsyntax-only
# The rewritten file is gone in a moment, so make must not look for it.
if [ -e "$tmp.d" ]; then
    cat "$tmp".*d | grep -v -e "^$tmp.cpp:" -e "^$tmp.headers/" | sed "s|$tmp\\.cpp||; s|$tmp\\.headers/[0-9]*\\.h||g" >"$out.d.$$"
    mv "$out.d.$$" "$out.d"
fi
mv "$tmp" "$out"
