# Tests with threads, processes and time in them, again: what fails now and then is a failure. Of all tests, and
# more often: tests/repeats.sh by hand.
load ../helper

@test "tests with threads, processes and time do not fail now and then" {
    local files=() name
    for name in cpu_runtime cpu_sanitize tree_in_graph make confine; do
        files+=("tests/$name.bats")
    done
    run bash "$ROOT/tests/repeats.sh" 1 "${files[@]}"
    assert_success
    assert_line --regexp '^1 of 1: [1-9][0-9]+ passed, 0 failed, '
}
