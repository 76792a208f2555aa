# Every exercise: its start fails with a hint, what is right passes, what is usually wrong fails with its own
# hint, and so does what nobody wrote down (tests/exercises/answers.sh, unseen.sh).
load ../helper

@test "exercises: the starts, the right and the wrong answers" {
    run bash "$ROOT/tests/exercises/answers.sh"
    echo "$output"
    assert_success
    assert_line --regexp '^answers: [0-9]{2,}, as they must be: [0-9]+$'
}

@test "exercises: faults of the lessons that no exercise was made for fail too, or are listed" {
    # By hand without SHARE: every fault.
    SHARE=16 run bash "$ROOT/tests/exercises/unseen.sh"
    echo "$output"
    assert_success
    assert_line --regexp '^unseen faults: [0-9]{2,}, failed: [0-9]{2,}, '
}

# A tree with a check that accepts all, for these two scripts' own verdicts.
@test "exercises: a check that accepts everything is noticed, by its start, its wrong answers and the unseen" {
    copy_tree "$BATS_TEST_TMPDIR/tree"
    cd "$BATS_TEST_TMPDIR/tree"
    echo : >tests/exercises/day68-3/check.sh
    run bash tests/exercises/answers.sh day68-3
    assert_failure 1
    assert_line --regexp '^NOT SO  day68-3 start: status 0, not 1; no a hint$'
    assert_line --regexp '^NOT SO  day68-3 day68-3/wrong/zeroed_once.patch: status 0, not 1'
    refute_line --regexp '^NOT SO  day68-3 (lesson|day68-3/right)'
    echo 'fail "n = 1" "it is so"' >tests/exercises/day68-3/check.sh
    run bash tests/exercises/answers.sh day68-3
    assert_failure 1
    assert_line --regexp '^NOT SO  day68-3 lesson: status 1, not 0$'
    # Their hints are not there.
    assert_line --regexp "^NOT SO  day68-3 day68-3/wrong/zeroed_once.patch: status 1, not 1; no '"

    for name in exercises/day68-*; do grep -qx 'kind: mend' "$name/exercise" && echo : >"tests/$name/check.sh"; done
    printf '%s\n' 'day68_reproducibility/atomic_tail: nothing looks at it' 'day68_reproducibility/none: it is none' >tests/exercises/unseen.txt
    run bash tests/exercises/unseen.sh day68_reproducibility/atomic_tail day68_reproducibility/ragged_end_dropped
    assert_failure 1
    assert_line 'passes the check, and is not listed: day68_reproducibility/ragged_end_dropped'
    refute_line --partial 'not listed: day68_reproducibility/atomic_tail'
    assert_line 'listed, but no such fault: day68_reproducibility/none'
    for name in exercises/day68-*; do echo 'fail "n = 1" "it is so"' >"tests/$name/check.sh"; done
    run bash tests/exercises/unseen.sh day68_reproducibility/atomic_tail
    assert_failure 1
    assert_line 'listed, but fails the check: day68_reproducibility/atomic_tail'
}
