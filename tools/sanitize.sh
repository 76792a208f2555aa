#!/usr/bin/env bash
# Runs programs under the sanitizers of the device at hand.
#   sanitize.sh lesson/program ...      (environment: see Makefile)
# On a card: compute-sanitizer's four tools over what is built (DEFS='-DRUNS=2' shortens the lessons).
# On the CPU default: rebuilds with -fsanitize=address and thread, in folders of their own.
set -euo pipefail

cd "$ROOT"
failed=0
if [ "$DEVICE" = gpu ]; then
    command -v compute-sanitizer >/dev/null || { echo "make sanitize needs compute-sanitizer, which the CUDA Toolkit has" >&2; exit 2; }
    for program in "$@"; do
        for tool in memcheck racecheck initcheck synccheck; do
            log=$BUILD/tmp/${program##*/}.$tool
            mkdir -p "$BUILD/tmp"
            status=0
            compute-sanitizer --tool $tool --error-exitcode 9 "$BUILD/gpu/${program##*/}" >"$log" 2>&1 || status=$?
            printf '%-20s %-10s %s\n' "${program##*/}" $tool "$([ $status -eq 0 ] && echo clean || echo "status $status, see $log")"
            [ $status -eq 0 ] || failed=1
        done
    done
else
    for sanitizer in address thread; do
        make -s BUILD="$BUILD/sanitize-$sanitizer" DEVICE=cpu SANITIZE=$sanitizer DEFS="$DEFS" LESSON="$(printf '%s\n' "${@%%/*}" | sort -u | tr '\n' ' ')" build
        for program in "$@"; do
            log=$BUILD/sanitize-$sanitizer/${program##*/}.log
            status=0
            "$BUILD/sanitize-$sanitizer/cpu/${program##*/}_nofmad" >"$log" 2>&1 || status=$?
            printf '%-20s %-10s %s\n' "${program##*/}" $sanitizer "$([ $status -eq 0 ] && echo clean || echo "status $status, see $log")"
            [ $status -eq 0 ] || failed=1
        done
    done
fi
exit $failed
