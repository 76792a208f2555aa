# shellcheck shell=bash
. "$ROOT/tests/exercises/fpmp_pi.sh"
harness "$CHECKS/final_sum.cu" 'the last sum' -O1 -DPI_LOG2_TERMS=18 "$all_types"
same_pairs
standard_beside
