# shellcheck shell=bash
. "$ROOT/tests/exercises/canonical_tree.sh"
harness "$CHECKS/initial_value.cu" "initial_value" -O1
whole_lesson
