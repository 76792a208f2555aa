# The faults of tests/*/faults: well formed, listed in tests/README.md, one for every gate, static_assert
# and refusal; and that faults.sh itself tells a fault that is caught from one that is not. Whether each is
# caught takes minutes: tests/long/faults.bats.
load helper

setup() { unset FAULTS_PART; } # CI's own
faults() { run bash "$ROOT/tests/faults.sh" "$@"; }
# write_patch NAME SED [FILE], with the lines before the diff on stdin: makes a fault of FILE and plants it.
write_patch() {
    local file=${3:-canonical_tree/wrong_orders.cu}
    mkdir -p "$BATS_TEST_TMPDIR/faults"
    {
        cat
        diff -u --label "a/$file" --label "b/$file" "$ROOT/$file" <(sed "$2" "$ROOT/$file") || true
    } >"$BATS_TEST_TMPDIR/faults/$1.patch"
    faults "$BATS_TEST_TMPDIR/faults/$1.patch"
}
# write_program NAME CODE, with the lines before the diff on stdin: the fault is a new program of one line.
write_program() {
    mkdir -p "$BATS_TEST_TMPDIR/faults"
    {
        cat
        printf '%s\n' '--- /dev/null' '+++ b/tests/tiny.cu' '@@ -0,0 +1 @@' "+extern \"C\" int puts(const char*); $2"
    } >"$BATS_TEST_TMPDIR/faults/$1.patch"
    faults "$BATS_TEST_TMPDIR/faults/$1.patch"
}
# missed REASON: the fault that was planted is missed for this reason, and for no other.
missed() {
    assert_failure 1
    assert_line --regexp "^MISSED  .*\.patch: $1\$"
    assert_line 'faults: 1, caught: 0, left out: 0'
}
# For faults that change no verdict: the text of a comment.
no_verdict='s|^// |// Yes: |'

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

@test "faults.sh: a part of the faults, and one that is none" {
    local name
    mkdir "$BATS_TEST_TMPDIR/faults"
    for name in 1 2 3 4 5; do
        printf '%s\n' 'For nobody.' 'expect: gate x' 'needs: no_such_command' >"$BATS_TEST_TMPDIR/faults/$name.patch"
    done
    FAULTS_PART=2/3 faults -j 1 "$BATS_TEST_TMPDIR"/faults/{1,2,3,4,5}.patch
    assert_line --regexp '^left out  .*/2.patch: no no_such_command$'
    assert_line --regexp '^left out  .*/5.patch: '
    assert_line 'faults: 2, caught: 0, left out: 2'
    for name in 0/3 4/3 3 a/b 1/; do
        FAULTS_PART=$name faults
        assert_failure 2
        assert_output "FAULTS_PART must be like 2/4, not '$name'"
    done
}

@test "faults.sh: a status or a line that is not there is no catch" {
    local wrong='int main() { puts("1 gate(s) failed"); return 1; }'
    write_program caught "$wrong" <<'END'
A gate fails.
expect: status 1 1 gate(s) failed
END
    assert_success
    assert_line --regexp '^caught  .*caught.patch: status 1 1 gate\(s\) failed$'

    write_program nothing 'int main() { puts("1 gate(s) failed"); return 0; }' <<'END'
Changes no verdict.
expect: status 1 1 gate(s) failed
END
    missed 'status 0'

    write_program another "$wrong" <<'END'
One gate fails, not two.
expect: status 1 2 gate(s) failed
END
    missed "no line with '2 gate\(s\) failed'"
}

@test "faults.sh: a program that builds, or does not for another reason, is no catch" {
    write_program caught 'static_assert(sizeof(int) == 3, "three bytes"); int main() {}' <<'END'
An int has three bytes.
expect: compile three bytes
END
    assert_success
    assert_line --regexp '^caught  .*caught.patch: compile three bytes$'

    write_program nothing 'static_assert(sizeof(int) == 4, "three bytes"); int main() {}' <<'END'
Changes no verdict.
expect: compile three bytes
END
    missed 'it builds'

    write_program another 'static_assert(sizeof(int) == 3, "another number"); int main() {}' <<'END'
Stops the compiler for another reason.
expect: compile three bytes
END
    missed "the compiler does not say 'three bytes'"
}

@test "faults.sh: a test that passes, or whose report is another, is no catch" {
    local test='helper.bats helper: hash_in reads the line of that name, whole'
    write_patch caught 's/sed -n "s\/^$2 hash/sed -n "s\/$2 hash/' tests/helper.bash <<END
A hash is also read from a line of a longer name.
expect: test $test
says: 0x2
END
    assert_success
    assert_line --regexp '^caught  .*caught.patch: test helper.bats helper: hash_in reads'

    write_patch nothing "$no_verdict" <<END
Changes comments and no verdict.
expect: test $test
says: 0x2
END
    missed "the test passes: ${test/ /: }"

    write_patch silent "$no_verdict" <<END
Does not say what the report holds.
expect: test $test
END
    missed 'the patch has no line says:'

    write_patch another 's/sed -n "s\/^$2 hash/sed -n "s\/$2 hash/' tests/helper.bash <<END
The report says something else.
expect: test $test
says: 0x3
END
    missed "the report of the test does not hold '0x3'"
}

@test "faults.sh: a sanitizer that reports nothing, or something else, is no catch" {
    require_cpu
    local wrong='int main(int argc, char**) { int* all = new int[2](); int last = all[argc + 1]; delete[] all; return last; }'
    write_program caught "$wrong" <<'END'
Reads behind the end.
expect: sanitizer address heap-buffer-overflow
END
    assert_success
    assert_line --regexp '^caught  .*caught.patch: sanitizer address heap-buffer-overflow$'

    write_program nothing "${wrong/argc + 1/argc}" <<'END'
Changes no verdict.
expect: sanitizer address heap-buffer-overflow
END
    missed 'status 0'

    write_program another "$wrong" <<'END'
The report is another one.
expect: sanitizer address stack-use-after-return
END
    missed "no report of 'stack-use-after-return'"
}

@test "faults.sh: what a fault needs and is not at hand leaves it out by name, and that alone is no success" {
    write_patch tool "$no_verdict" <<'END'
Needs a tool that nobody has.
expect: status 1 x
needs: no-such-tool
END
    assert_failure 1
    assert_line --regexp '^left out  .*tool\.patch: no no-such-tool$'
    assert_line 'faults: 1, caught: 0, left out: 1'
}

@test "faults.sh: --uncovered names each gate, static_assert and refusal whose faults are gone" {
    local expect file
    copy_tree "$BATS_TEST_TMPDIR/tree"
    cd "$BATS_TEST_TMPDIR/tree" || return
    for expect in 'gate padding with zeros shows' 'compile each stream of the fork fills a half' \
        'status 2 no row ' 'status 1 not refused: hostTree, capacity:' 'gate the first element that is not finite is named'; do
        mapfile -t files < <(grep -lF -e "expect: $expect" tests/*/faults/*.patch)
        [ "${#files[@]}" -gt 0 ] || fail "no fault has 'expect: $expect'"
        rm "${files[@]}"
    done
    run bash tests/faults.sh --uncovered
    assert_success
    assert_output 'canonical_tree/tree_in_graph: assert: each stream of the fork fills a half: ELEMENTS must be 2 or more
canonical_tree/wrong_orders: gate: padding with zeros shows
programs: refusal: no row
canonical_tree/canonical_tree: refusal: hostTree: if (capacity < treeWorkCount(n)) return "the work buffer is too small: see treeWorkCount(n)"
precision_reduction/precision_reduction: refusal: refuseInput: snprintf(r->refusal, sizeof r->refusal, "element %lld is not finite", i)'
}
