#!/usr/bin/env bash
# Runs programs under the sanitizers of the device at hand.
#   sanitize.sh lesson/program ...      (environment: see Makefile)
# On a card: compute-sanitizer's four tools over what is built (DEFS='-DRUNS=2' shortens the lessons).
# On the CPU default: rebuilds with -fsanitize=address and thread, in folders of their own.
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
    lessons=$(printf '%s\n' "${@%%/*}" | sort -u | tr '\n' ' ')
    for sanitizer in address thread; do
        build=$BUILD/sanitize-$sanitizer
        "$MAKE" -s BUILD="$build" DEVICE=cpu SANITIZE=$sanitizer LESSON="$lessons" build
        for program in "$@"; do
            check "$build/${program##*/}.log" "${program##*/}" $sanitizer "$build/cpu/nofmad/${program##*/}"
        done
    done
fi
exit $failed
