#!/usr/bin/env bash
# Wrong answers that nobody wrote down: each fault of a lesson's main program (tests/LESSON/faults) is planted
# in the lesson's program and handed in for one of the lesson's mends, whose check must fail. A fault is handed
# in for one mend, chosen by its name; which of them see a fault is no matter of that mend alone.
#   tests/exercises/unseen.sh [FAULT ...]    LESSON/NAME; without one every fault of the SHARE
# One fault in SHARE is tried (default 1: every one), always the same ones. A fault that no exercise has to
# see stands in unseen.txt: `LESSON/NAME: reason`. Prints what passed and is not listed there, and entries of
# that list that are wrong; status 1 then.
set -euo pipefail

. "$(dirname "${BASH_SOURCE[0]}")/../environment.sh"
cd "$ROOT"
list=${UNSEEN:-tests/exercises/unseen.txt}

number_of() { printf '%s' "$1" | cksum | cut -d' ' -f1; }
mends() { # LESSON
    local file
    for file in exercises/*/exercise; do
        if grep -qx 'kind: mend' "$file" && grep -qx "program: $1/$(main_of "$1")" "$file"; then basename "${file%/exercise}"; fi
    done
}
main_of() { case $1 in day68_reproducibility) echo reproducibility ;; *) echo "$1" ;; esac; }

# The faults that change a lesson's main program alone and are looked for in its own output; what calls.bats sees
# (a launch's error, what is never freed, the median) is not in it.
faults() {
    local lesson patch
    for lesson in day68_reproducibility precision_reduction fpmp_pi canonical_tree; do
        for patch in "tests/$lesson"/faults/*.patch; do
            if [ "$(sed -n 's/^+++ b\///p' "$patch" | cut -f1)" = "$lesson/$(main_of "$lesson").cu" ] &&
                ! grep -qE '^program: |^expect: test calls\.bats ' "$patch"; then
                basename "$patch" .patch | sed "s|^|$lesson/|"
            fi
        done
    done
}

one() {
    local fault=$1 patch status=0 all
    patch=tests/${fault%%/*}/faults/${fault#*/}.patch
    read -ra all <<<"$(mends "${fault%%/*}" | tr '\n' ' ')"
    local mend=${all[$(($(number_of "$fault") / 64 % ${#all[@]}))]}
    FRESH=1 bash tests/exercises/try.sh "$mend" "$patch" >"$work/${fault##*/}.log" 2>&1 || status=$?
    case $status in
    0) echo "passed	$mend	$fault" ;;
    1) echo "failed	$mend	$fault	$(sed -n 2,3p "$work/${fault##*/}.log" | tr -s ' \n' ' ')" ;;
    *) echo "unclear	$mend	$fault	$(tr '\n' ' ' <"$work/${fault##*/}.log")" ;;
    esac
}

if [ "${1:-}" = --one ]; then
    work=$2
    one "$3"
    exit
fi
mkdir -p "$BUILD/tmp"
work=$(mktemp -d "$BUILD/tmp/unseen.XXXXXX")
trap 'rm -rf "$work"' EXIT
faults >"$work/all"
if [ $# -gt 0 ]; then
    printf '%s\n' "$@" >"$work/chosen"
else
    while read -r fault; do
        [ $(($(number_of "$fault") % ${SHARE:-1})) -ne 0 ] || echo "$fault"
    done <"$work/all" >"$work/chosen"
fi
tr '\n' '\0' <"$work/chosen" |
    xargs -0 -n 1 -P "${JOBS:-$(nproc 2>/dev/null || echo 1)}" bash "$0" --one "$work" | tee "$work/verdicts" |
    if [ -n "${V:-}" ]; then cat; else grep -v '^failed' || true; fi
count() { grep -c "^$1	" "$work/verdicts" || true; }
echo "unseen faults: $(wc -l <"$work/chosen"), failed: $(count failed), passed: $(count passed), unclear: $(count unclear)"

status=0
[ "$(count failed)" -gt 0 ] && [ "$(count unclear)" -eq 0 ] || status=1
sed -n 's/^\([a-z0-9_]*\/[a-z0-9_]*\): .*/\1/p' "$list" | sort -u >"$work/listed"
sed -n 's/^passed	[^	]*	//p' "$work/verdicts" | sort >"$work/passed"
sed -n 's/^failed	[^	]*	\([^	]*\).*/\1/p' "$work/verdicts" | sort >"$work/failed"
# tell WORDS: says them of each line of stdin; one line is one too many.
tell() {
    local lines
    lines=$(cat)
    [ -z "$lines" ] || { printf "%s\n" "$lines" | sed "s|^|$1: |"; status=1; }
}
tell 'passes the check, and is not listed' < <(comm -23 "$work/passed" "$work/listed")
tell 'listed, but fails the check' < <(comm -12 "$work/failed" "$work/listed")
tell 'listed, but no such fault' < <(comm -13 <(sort "$work/all") "$work/listed")
exit $status
