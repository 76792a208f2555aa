#!/usr/bin/env bash
# Runs the test suite and ends with `N passed, N failed, N skipped`.
#   check.sh [file.bats ...]     all of tests/ when no file is named (environment: see Makefile)
# ALL=1 also runs tests/long, which takes minutes. STRICT=1 makes a skip a failure, except for a reason
# that is a line of SKIPS, and likewise what a test that ran says it left out itself.
# Test files run side by side where GNU parallel is installed.
# Status: 0 all is well, 1 a test failed or was skipped against the rule, 2 nothing was run.
set -euo pipefail

cd "$ROOT"
BUILD=$(cd "$BUILD" && pwd)
export BUILD
command -v bats >/dev/null || {
    echo "make check needs bats, bats-support and bats-assert (Debian: apt-get install bats bats-support bats-assert)" >&2
    exit 2
}
# The longest files first, so that no core waits for one that began last.
longest=(tests/{fpmp_pi,day68_reproducibility,cpu_sanitize,canonical_tree}.bats)
others=(tests/*.bats)
if [ -n "${ALL:-}" ]; then
    longest=(tests/long/{faults,mutants,exercises,cpu_functions}.bats "${longest[@]}")
    others=(tests/long/*.bats "${others[@]}")
fi
if [ $# -eq 0 ]; then
    set -- "${longest[@]}"
    for file in "${others[@]}"; do
        [[ " ${longest[*]} " == *" $file "* ]] || set -- "$@" "$file"
    done
fi
if [ "$DEVICE" = gpu ] && ! answer=$("$BUILD/tools/gpu_probe" 2>&1); then
    echo "make check DEVICE=gpu needs a usable card: ${answer#reason=}" >&2
    exit 2
fi
for file in "$@"; do
    [ -r "$file" ] || { echo "no such test file: $file" >&2; exit 2; }
done

jobs=()
# Bats needs GNU parallel for --jobs; moreutils has another program of that name. Within a file tests
# run in turn: side by side there, each start waits up to a second for a free slot.
JOBS=${JOBS:-$(nproc 2>/dev/null || echo 1)}
# A quote in a file's path is more than bats hands on to parallel.
if [ "$JOBS" -gt 1 ] && [[ $PWD != *\'* ]] && parallel --version 2>/dev/null | grep -q 'GNU parallel'; then
    jobs=(--jobs "$JOBS" --no-parallelize-within-files)
fi

# The tests' own makes are no part of the make that called this.
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES LESSON LESSON_GIVEN OUTPUT TESTS V
strict=${STRICT:-} may_skip=${SKIPS:-}
unset STRICT SKIPS

mkdir -p "$BUILD/tmp"
tap=$BUILD/tmp/check.$$.tap
# The tests build in folders of their own, and a build folder's path has no blank.
case $BUILD in *[!A-Za-z0-9._/-]*) tmp=$(mktemp -d) ;; *) tmp=$BUILD/tmp ;; esac
trap 'rm -f "$tap"; [ "$tmp" = "$BUILD/tmp" ] || rm -rf "$tmp"' EXIT
start=$SECONDS
status=0
TMPDIR=$tmp bats --formatter tap --timing ${jobs[@]+"${jobs[@]}"} "$@" | tee "$tap" || status=$?

count() { grep -cE "$1" "$tap" || true; }
# The skipped tests, one a line: name, tab, reason. Older versions of Bats put the reason in brackets.
skips() { sed -nE 's/^ok [0-9]+ (.*) in [0-9]+ms # skip ?/\1\t/p' "$tap" | sed -E 's/\t\((.*)\)$/\t\1/'; }
# What tests that ran left out of what they try: they print `# left out: NAME: REASON`.
left_out() { sed -nE 's/^# *left out: ([^:]*): /\1\t/p' "$tap"; }
planned=$(sed -n '1s/^1\.\.//p' "$tap")
skipped=$(count '^ok .* # skip')
passed=$(($(count '^ok ') - skipped))
# A test that never reported (its file did not load, say) is a failure.
failed=$((${planned:-0} - passed - skipped))
if [ "$skipped" -gt 0 ]; then
    echo "skipped, each with its reason:"
    skips | sed 's/\t/: /; s/^/  /'
fi
unexpected=0
if [ -n "$strict" ]; then
    while IFS=$'\t' read -r name reason; do
        if [ -n "$reason" ] && grep -qxF -e "$reason" <<<"$may_skip"; then continue; fi
        echo "strict: '$name' must not be skipped: ${reason:-no reason is given}"
        unexpected=$((unexpected + 1))
    done < <(skips; left_out)
fi
echo "$((SECONDS - start)) s"
echo "$passed passed, $failed failed, $skipped skipped"
if [ "$status" -ne 0 ] || [ "$failed" -ne 0 ] || [ "$passed" -eq 0 ] || [ "$unexpected" -ne 0 ]; then exit 1; fi
