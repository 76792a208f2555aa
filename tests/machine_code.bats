# The machine code that the pages show; tests/long/machine_code.bats counts it in every kernel.
load helper

@test "machine code: lesson 1's loop in both builds is the one on its page" {
    [ -e "$ROOT/.toolkit/version" ] || skip "no toolkit (make toolkit)"
    cd "$BATS_TEST_TMPDIR"
    bash "$ROOT/tests/machine_code.sh" listing >made
    awk '/^<!-- listing: made by/ { on = 1; next } on && /^```/ { if (n++) exit; next } on' \
        "$ROOT/day68_reproducibility/README.md" >shown
    diff shown made
}

# counts KERNEL: its row in the table, for every architecture: separate FFMA DFMA, fused FFMA DFMA.
counts() { sed -n "s/^fpmp_pi  *$1  *all  *//p" "$ROOT/tests/machine_code.txt" | tr -s ' '; }

@test "machine code: the numbers on fpmp_pi's page are those of tests/machine_code.txt" {
    assert_equal "$(counts 'sumTerms<double>')" '8 66 8 74'
    assert_equal "$(counts 'sumTerms<float>')" '52 0 60 0'
    assert_equal "$(counts 'sumTerms<Pair<float, (Accuracy)1> >')" '56 0 56 0'
    for says in '`sumTerms<double>` has 74 `DFMA` fused and 66 separate' \
        '`sumTerms<float>` has 60 `FFMA` fused and 52 separate' 'The float pair has 56 in both'; do
        grep -qF "$says" "$ROOT/fpmp_pi/README.md" || fail "not on the page: $says"
    done
}
