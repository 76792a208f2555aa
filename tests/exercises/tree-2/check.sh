# shellcheck shell=bash
. "$ROOT/tests/exercises/canonical_tree.sh"
harness "$CHECKS/odd_nodes.cu" "odd_nodes" -O1
whole_lesson
