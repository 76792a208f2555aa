# shellcheck shell=bash
. "$ROOT/tests/exercises/canonical_tree.sh"
harness "$CHECKS/ragged.cu" 'ragged' -O1
whole_lesson sanitized thread 'n = 1,025' -DELEMENTS=1025
