# The faults of tests/*/faults: well formed, listed in tests/README.md, one for every gate, static_assert
# and refusal; and that faults.sh itself tells a fault that is caught from one that is not. Whether each is
# caught takes minutes: tests/long/faults.bats.
load helper

faults() { run bash "$ROOT/tests/faults.sh" "$@"; }
# write_patch NAME SED, with the lines before the diff on stdin: makes a fault of wrong_orders and plants it.
write_patch() {
    mkdir -p "$BATS_TEST_TMPDIR/faults"
    {
        cat
        diff -u --label a/canonical_tree/wrong_orders.cu --label b/canonical_tree/wrong_orders.cu \
            "$ROOT/canonical_tree/wrong_orders.cu" <(sed "$2" "$ROOT/canonical_tree/wrong_orders.cu") || true
    } >"$BATS_TEST_TMPDIR/faults/$1.patch"
    faults "$BATS_TEST_TMPDIR/faults/$1.patch"
}

@test "every fault applies to the sources as they are, and names a test that exists" {
    local patch count=0 kind text
    while read -r patch; do
        count=$((count + 1))
        (cd "$ROOT" && patch -p1 -F0 -s -N --dry-run -r - <"$patch") >"$BATS_TEST_TMPDIR/log" 2>&1 ||
            { echo "$patch does not apply:"; cat "$BATS_TEST_TMPDIR/log"; false; }
        while read -r _ kind text; do
            [ "$kind" != test ] ||
                grep -qF -- "@test \"${text#* }\" {" "$ROOT/tests/${text%% *}" ||
                { echo "$patch: no test '${text#* }' in tests/${text%% *}"; false; }
        done < <(grep '^expect: ' "$patch")
    done < <(find "$ROOT/tests" -path '*/faults/*.patch')
    [ "$count" -ge 80 ] || { echo "only $count faults"; false; }
}

@test "no gate, static_assert or refusal is without a fault that fails it first" {
    faults --uncovered
    assert_success
    assert_output ''
}

@test "tests/README.md lists the faults as they are" {
    faults --list
    assert_success
    assert_equal "$(sed '1,/^<!-- faults: /d' "$ROOT/tests/README.md")" "$output"
}

@test "faults.sh: a fault that its gate catches is caught, one that nothing catches is missed" {
    write_patch caught 's/sums\[1\]\[0\] == 0, "padding/sums[1][0] == 1, "padding/' <<'END'
The gate wants another value.
expect: gate padding with zeros shows
END
    assert_success
    assert_line --regexp '^caught  .*caught.patch: gate padding with zeros shows$'

    write_patch nothing 's/"padding with zeros shows"/"padding with zeros  shows"/' <<'END'
Changes a name and no verdict.
expect: gate padding with zeros shows
END
    assert_failure 1
    assert_line --regexp '^MISSED  .*nothing.patch: status 0, not 1$'
}

@test "faults.sh: another gate, a later gate, another line are no catch" {
    local wrong='s/sums\[1\]\[0\] == 0, "padding/sums[1][0] == 1, "padding/'
    write_patch another "$wrong" <<'END'
Names a gate that passes.
expect: gate each wrong max shows
END
    assert_failure 1
    assert_line --regexp "^MISSED  .*: the first gate that fails is not 'each wrong max shows'\$"

    write_patch later "$wrong; s/gate(exact, \"unsigned/gate(!exact, \"unsigned/" <<'END'
An earlier gate fails as well.
expect: gate padding with zeros shows
END
    assert_failure 1
    assert_line --regexp "^MISSED  .*: the first gate that fails is not 'padding with zeros shows'\$"

    write_patch text 's/"each wrong max shows"/"each wrong max hides"/' <<'END'
A gate has another name.
expect: match gate: padding
END
    assert_failure 1
    assert_line --regexp "^MISSED  .*: match does not name the line 'gate: padding'\$"
}

@test "faults.sh: a fault that its test does not see is missed, by its name" {
    write_patch unseen 's/"each wrong max shows"/"each wrong max hides"/' <<'END'
A gate has another name, and the test is about something else.
expect: test helper.bats helper: mutate edits a copy, and fails where its edit changes nothing
says: mutate
END
    assert_failure 1
    assert_line --regexp '^MISSED  .*unseen.patch: the test passes: helper.bats: helper: mutate edits a copy'
}

@test "faults.sh: a patch that does not apply, does not build or says nothing is missed" {
    write_patch build 's/gate(exact,/gate(exactly,/' <<'END'
Does not compile.
expect: gate padding with zeros shows
END
    assert_failure 1
    assert_line --regexp '^MISSED  .*: does not build$'

    write_patch silent 's/gate(exact,/gate(!exact,/' <<'END'
expect: gate unsigned sum, max and all need no order
END
    assert_failure 1
    assert_line --regexp '^MISSED  .*: does not say what is wrong$'

    write_patch aimless 's/gate(exact,/gate(!exact,/' <<'END'
Says what is wrong, and not what must catch it.
END
    assert_failure 1
    assert_line --regexp '^MISSED  .*: has no line expect:$'

    sed -i 's/gate(exact,/gate(inexact,/; s/^The.*/&/' "$BATS_TEST_TMPDIR/faults/aimless.patch"
    { echo 'expect: gate x'; cat "$BATS_TEST_TMPDIR/faults/aimless.patch"; } >"$BATS_TEST_TMPDIR/faults/stale.patch"
    faults "$BATS_TEST_TMPDIR/faults/stale.patch"
    assert_failure 1
    assert_line --regexp '^MISSED  .*: the patch does not apply$'

    faults "$BATS_TEST_TMPDIR/faults/none.patch"
    assert_failure 2
}
