# shellcheck shell=bash
# Sourced by the checks of tree-1, -2, -4 and -5: whether all else of canonical_tree.cu is still what it was.
. "$ROOT/tests/exercises/beside.sh"

# The lesson's own tests on SRC (canonical_tree.cu here); needs judge.sh. Failures as those of harness.
lesson_tests() {
    local of=$ROOT/tests/canonical_tree
    mkdir -p "$WORK/lesson/canonical_tree" "$WORK/lesson/tests"
    cp "$ROOT/canonical_tree/wrong_orders.cu" "$WORK/lesson/canonical_tree"
    cp -- "$SRC" "$WORK/lesson/canonical_tree/canonical_tree.cu"
    chmod u+w "$WORK/lesson/canonical_tree/canonical_tree.cu"
    mkdir "$WORK/lesson/tests/canonical_tree"
    cp "$of"/checks.cu "$of"/reference* "$WORK/lesson/tests/canonical_tree"
    harness "$ROOT/tests/exercises/canonical_tree.cu" "the lesson's tests" -O1 -iquote "$WORK/lesson/tests/canonical_tree"
}

# All else: the tests while the whole program is compared.
whole_lesson() {
    stopped && return
    beside tests lesson_tests
    standard_beside
}
