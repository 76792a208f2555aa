# Each message with which a tool or the Makefile refuses, written in other letters, is missed by a test; and
# refusals.sh itself tells a message that is missed from one that is not.
load ../helper

@test "no tool can refuse in other words without a test that fails" {
    run bash "$ROOT/tests/refusals.sh"
    left_out
    assert_success
    refute_line --regexp '^no test misses: '
    assert_line --regexp '^messages: 1[0-9][0-9], tried: 1[0-9][0-9], missed: 1[0-9][0-9], left out: [0-9]+$'
}

@test "refusals.sh: a message that stands in a comment alone, and one in no test, are named" {
    local tree=$BATS_TEST_TMPDIR/tree bench='no benchmark was run' match='make match needs OUTPUT=file: what the program printed'
    copy_tree "$tree"
    printf '# %s\n@test "runs" { true; }\n' "$bench" >"$tree/tests/bench.bats"
    sed -i "/$match/d" "$tree/tests/make.bats"
    run bash "$tree/tests/refusals.sh" "tools/bench.sh: $bench" "tools/match.sh: $match"
    assert_failure 1
    assert_line --regexp '^messages: [0-9]+, tried: 2, missed: 0, left out: 0$'
    assert_line "no test misses: tools/bench.sh: $bench"
    assert_line "no test misses: tools/match.sh: $match"
    assert_equal "${#lines[@]}" 3
    # Nor is a test that is skipped one that misses something.
    printf '@test "runs" { skip "no card (none): at all"; echo "%s"; }\n' "$bench" >"$tree/tests/bench.bats"
    run bash "$tree/tests/refusals.sh" "tools/bench.sh: $bench"
    assert_failure 1
    assert_line "left out: tools/bench.sh, $bench: no card (none): at all"
    run bash "$tree/tests/refusals.sh" 'no such message'
    assert_failure 2
}
