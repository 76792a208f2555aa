# Every program is clean under the sanitizers of the CPU default; that a report fails is in sanitize.bats, and that
# faults are reported in faults of kind `sanitizer`. On a card `make sanitize` is run by hand.
load ../helper

@test "make sanitize: every program is clean under address, undefined and thread" {
    require_cpu
    # The thread sanitizer of g++ 12 takes five times as long for a barrier.
    command -v clang++ >/dev/null || skip "no clang++"
    run make -s -C "$ROOT" DEVICE=cpu CXX=clang++ BUILD="$BATS_TEST_TMPDIR/build" sanitize
    echo "$output"
    assert_success
    assert_equal "$(grep -c ' clean$' <<<"$output")" $((3 * $(programs | wc -w)))
}
