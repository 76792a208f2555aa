# shellcheck shell=bash
# The totals of the row `tree`, of both builds of the lesson's program with the n that was answered.
n=$(answer_number n) || return 0
case $n in *[!0-9]* | ???????*) n=0 ;; esac
if [ "$n" -lt 100000 ] || [ "$n" -gt 1000000 ]; then
    fail "n = $(answer n)" "n must be a whole number from 100,000 to 1,000,000" || return 0
fi
case $(judged_builds) in *fmad\ *) ;; *) echo "this CPU has no FMA, so there is no fused build to compare" >&2; exit 2 ;; esac
for build in fmad nofmad; do reference_output $build "-DELEMENTS=$n" -DRUNS=2 >"$WORK/path.$build"; done
fused=$(awk '$1 == "tree" { print $4 }' "$(cat "$WORK/path.fmad")")
separate=$(awk '$1 == "tree" { print $4 }' "$(cat "$WORK/path.nofmad")")
[ "$fused" = "$separate" ] || return 0
# Floats near the total are `distance` apart; their middles are at the odd halves of it.
sum=$(sed -n 's/^reference: \([0-9.]*\),.*/\1/p' "$(cat "$WORK/path.fmad")")
exponent=$((((fused >> 23) & 255) - 150))
where=$(awk -v sum="$sum" -v e="$exponent" 'BEGIN {
    distance = 2 ^ e
    off = sum / distance - int(sum / distance) - 0.5
    printf "the floats there are %.6g apart, and the exact sum %.6f is %.6f from a middle", distance, sum, (off < 0 ? -off : off) * distance }')
fail "n = $n" "both builds have the same total, $fused: $where" || true
