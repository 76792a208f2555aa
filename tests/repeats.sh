#!/usr/bin/env bash
# Runs tests again and again: one that fails now and then depends on time, threads or what else runs here.
#   repeats.sh TIMES [FILE.bats ...]   `make check` TIMES times (TESTS: these files, else all); then a line
#                                      per test that failed, with how often
# Status: 0 none failed, 1 one did, 2 bad call.
set -euo pipefail

if ! [[ ${1:-} =~ ^[1-9][0-9]*$ ]]; then
    echo "usage: repeats.sh TIMES [FILE.bats ...]" >&2
    exit 2
fi
times=$1
shift
. "$(dirname "${BASH_SOURCE[0]}")/environment.sh"
PATH=$(outer_path)
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES

# A build folder of its own: that of a make which called this is taken.
build=$BUILD/tmp/repeats
failures=$(mktemp)
trap 'rm -f "$failures"' EXIT
for ((i = 1; i <= times; ++i)); do
    status=0
    log=$("${MAKE:-make}" -C "$ROOT" check TESTS="$*" BUILD="$build" DEVICE="$DEVICE" 2>&1) || status=$?
    echo "$i of $times: $(grep -E '^[0-9]+ passed, ' <<<"$log" || echo 'no count')"
    [ "$status" -ne 0 ] || continue
    # The report of a failure, for whoever has to find its cause.
    { grep -E '^(not ok|#)' || true; } <<<"$log"
    sed -nE 's/^not ok [0-9]+ (.*) in [0-9]+ms$/\1/p' <<<"$log" | grep . >>"$failures" || echo 'make check itself' >>"$failures"
done
sort "$failures" | uniq -c | sed -E "s/^ *([0-9]+) (.*)/failed \1 of $times: \2/"
[ ! -s "$failures" ]
