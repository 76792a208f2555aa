#!/usr/bin/env bash
# Runs programs under the sanitizers of the device at hand.
#   sanitize.sh lesson/program ...      (environment: see Makefile)
# On a card: compute-sanitizer's four tools over what is built (DEFS='-DRUNS=2' shortens the lessons).
# On the CPU default: rebuilds with -fsanitize=address, undefined and thread, in folders of their own, and for a
# small input: of the lessons' own inputs the thread sanitizer of g++ 12 makes half an hour. DEFS= gives another.
# Status: 0 all clean, 1 one is not, 2 there is no compute-sanitizer.
set -euo pipefail

cd "$ROOT"
failed=0
# check LOG PROGRAM TOOL COMMAND...: runs the command, one line says how it went.
check() {
    local log=$1 program=$2 tool=$3 status=0
    shift 3
    "$@" >"$log" 2>&1 || status=$?
    if [ $status -eq 0 ]; then
        printf '%-20s %-10s clean\n' "$program" "$tool"
    else
        printf '%-20s %-10s status %d, see %s\n' "$program" "$tool" $status "$log"
        failed=1
    fi
}

# Every kernel, every branch and a ragged end of each, in seconds.
small_input() { # LESSON
    case $1 in
    day68_reproducibility) echo '-DELEMENTS=20011 -DBLOCKS=16 -DRUNS=2' ;;
    fpmp_pi) echo -DPI_LOG2_TERMS=17 ;;
    canonical_tree) echo -DELEMENTS=1025 ;;
    esac
}

if [ "$DEVICE" = gpu ]; then
    command -v compute-sanitizer >/dev/null || { echo "make sanitize needs compute-sanitizer, which the CUDA Toolkit has" >&2; exit 2; }
    mkdir -p "$BUILD/tmp"
    for program in "$@"; do
        for tool in memcheck racecheck initcheck synccheck; do
            check "$BUILD/tmp/${program##*/}.$tool" "${program##*/}" $tool \
                compute-sanitizer --tool $tool --error-exitcode 9 "$BUILD/gpu/fmad/${program##*/}"
        done
    done
else
    # Else a report of the undefined sanitizer would leave the status as it is.
    export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
    for sanitizer in address undefined thread; do
        build=$BUILD/sanitize-$sanitizer
        for program in "$@"; do
            lesson=${program%%/*} binary=$build/cpu/nofmad/${program##*/}
            "$MAKE" -s BUILD="$build" DEVICE=cpu SANITIZE=$sanitizer LESSON="$lesson" DEFS="${DEFS:-$(small_input "$lesson")}" "$binary"
            check "$build/${program##*/}.log" "${program##*/}" $sanitizer "$binary"
        done
    done
fi
exit $failed
