# Every fault of tests/*/faults is planted, built, run and caught (tests/faults.sh).
load ../helper

@test "every planted fault is caught by what it names" {
    run bash "$ROOT/tests/faults.sh"
    echo "$output" | grep -v '^caught  ' || true
    left_out
    assert_success
    assert_line --regexp "^faults: [0-9]+, caught: [0-9]+, left out: [0-9]+\$"
}
