# shellcheck shell=bash
# Verdicts on fresh inputs and sums; then the program itself must end with a pass.
harness "$CHECKS/verdict.cu" "the verdict" -- "$(fresh_number 1 1 1000000)" || true
for build in $(judged_builds); do
    output=$(submission_output "$build") || return 0
    status=$(cat "$output.status")
    [ "$status" = 0 ] || fail "the program itself, build $build" "ended with status $status" || return 0
done
