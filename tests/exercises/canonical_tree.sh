# shellcheck shell=bash
# Sourced by the checks of tree-1, -2, -4 and -5: whether all else of canonical_tree.cu is still what it was. Compiles
# take most of the time; -Og needs two thirds of that of -O1, and what it builds runs as fast.
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
    harness "$ROOT/tests/exercises/canonical_tree.cu" "the lesson's tests" -Og -iquote "$WORK/lesson/tests/canonical_tree"
}

# The unannounced input, and the flaws of the device, in one build: the fused one where there is one.
fresh_in_one_build() {
    local flags flaw JUDGED_BUILDS
    read -ra flags <<<"$(fresh_flags)"
    JUDGED_BUILDS=$(judged_builds)
    JUDGED_BUILDS=${JUDGED_BUILDS%% *}
    same fresh "${flags[@]}"
    for flaw in $(flaws); do same_gates flawed "${flags[@]}" -- WATCH_FLAW="$flaw" || break; done
}

# All else: the tests, the whole program at the lesson's own size in the separate build, and at another in the fused
# one. Two builds of each input would say no more: each is compared with the lesson's of the same build.
whole_lesson() {
    stopped && return
    beside tests lesson_tests
    beside lesson separately same lesson -Og
    beside fresh fresh_in_one_build
    all_in
}
