# shellcheck shell=bash
# The digits that the lesson's program has at each size.
for terms in 17 22 24; do
    said=$(answer_number "float, 2^$terms terms") || return 0
    table=$(reference_output nofmad "-DPI_LOG2_TERMS=$terms" -DPI_FP_T=float)
    verdict=$(awk -v said="$said" '$1 == "float" && / 0x/ {
        if (said > $3 + 0.1 + 1e-9) print "it has fewer digits than you say"
        else if (said < $3 - 0.1 - 1e-9) print "it has more digits than you say"
        else print "right"
    }' "$table")
    [ "$verdict" = right ] || fail "float, 2^$terms terms" "${verdict:-the lesson has no row of float}" || return 0
done
