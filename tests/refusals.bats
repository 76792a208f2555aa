# Every message with which a tool or the Makefile refuses is in a test (refusals.pl lists them). That a test
# would miss it takes minutes: tests/long/refusals.bats.
load helper

# unmentioned FILE...: those of stdin that none of the files holds.
unmentioned() {
    local line
    cat "$@" >"$BATS_TEST_TMPDIR/mentions"
    while IFS= read -r line; do
        grep -qF -e "${line#*: }" "$BATS_TEST_TMPDIR/mentions" || echo "$line"
    done
}

@test "refusals.pl writes a message in other letters where it stands, and nothing else" {
    cd "$ROOT"
    run diff tools/match.sh <(perl tests/refusals.pl tools/match.sh 'make match needs OUTPUT=file: what the program printed')
    assert_line "<     echo 'make match needs OUTPUT=file: what the program printed' >&2"
    assert_line ">     echo 'znxr zngpu arrqf BHGCHG=svyr: jung gur cebtenz cevagrq' >&2"
    assert_equal "${#lines[@]}" 4
    diff tools/match.c <(perl tests/refusals.pl tools/match.c 'nothing compared') >"$BATS_TEST_TMPDIR/c" || true
    grep -q 'abguvat pbzcnerq' "$BATS_TEST_TMPDIR/c"
    diff Makefile <(perl tests/refusals.pl Makefile 'the lessons are') >"$BATS_TEST_TMPDIR/m" || true
    assert_equal "$(grep -c '^>' "$BATS_TEST_TMPDIR/m")" 1
}

@test "each refusal of a tool and of the Makefile is in a test" {
    (cd "$ROOT" && perl tests/refusals.pl) >"$BATS_TEST_TMPDIR/refusals"
    local files
    mapfile -t files < <(ls "$ROOT"/tests/*.bats | grep -v '/refusals\.bats$')
    run unmentioned "${files[@]}" <"$BATS_TEST_TMPDIR/refusals"
    assert_output ''
    # It reads what it is to read: some of each kind.
    run cat "$BATS_TEST_TMPDIR/refusals"
    assert_line 'Makefile: BUILD must be one path without spaces or ~ * ? [, not'
    assert_line 'tools/bench.sh: no benchmark was run'
    assert_line 'tools/build_folder.sh: is a file, not a folder'
    assert_line 'tools/defs_flags.sh: a quote is not closed'
    assert_line 'tools/match.c: two expected files are for it'
    assert_line 'tools/match.c: is larger than 1 MiB: not an output of a lesson'
    assert_line 'tools/gpu_probe.c: the driver is too old'
}
