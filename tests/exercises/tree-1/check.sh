# shellcheck shell=bash
. "$ROOT/tests/exercises/canonical_tree.sh"
harness "$CHECKS/ragged.cu" 'ragged' -Og
stopped || HARNESS=$CHECKS/race.cu beside threads sanitized thread "the tree on the device" -O1
whole_lesson
