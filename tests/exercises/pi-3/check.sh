# shellcheck shell=bash
# Digits and partials first, as a reader of the output has them; then what they cannot show.
. "$ROOT/tests/exercises/fpmp_pi.sh"
same_results '2^18 terms' -DPI_LOG2_TERMS=18 "$all_types"
same_pairs
standard_beside
