#!/usr/bin/env bash
# Runs the benchmarks of lessons, tests/bench/run_LESSON.sh: bench.sh LESSON ... (environment: see Makefile)
set -euo pipefail

cd "$ROOT"
ran=0
for lesson in "$@"; do
    script=tests/bench/run_$lesson.sh
    if [ -f "$script" ]; then bash "$script"; ran=1; else echo "$lesson: no benchmark"; fi
done
[ $ran -eq 1 ] || { echo "no benchmark was run" >&2; exit 2; }
