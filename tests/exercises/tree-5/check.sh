# shellcheck shell=bash
. "$ROOT/tests/exercises/canonical_tree.sh"
harness "$CHECKS/slots.cu" "slots" -O1
whole_lesson
