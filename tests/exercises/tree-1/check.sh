# shellcheck shell=bash
. "$ROOT/tests/exercises/canonical_tree.sh"
harness "$CHECKS/ragged.cu" 'ragged' -O1
stopped || beside threads sanitized thread "n = 1,025" -O1 -DELEMENTS=1025
whole_lesson
