# tools/check.sh over tiny suites: what counts as passed, failed and skipped, and what a strict run allows.
load helper

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    mkdir -p tree/tests/long tree/b/tools bin
    unset STRICT SKIPS ALL JOBS TESTS
}
# suite NAME [TEST:BODY ...]: a test file of the tree.
suite() {
    local file=tree/tests/$1.bats test
    shift
    : >"$file"
    for test; do printf '@test "%s" { %s; }\n' "${test%%:*}" "${test#*:}" >>"$file"; done
}
# check [VARIABLE=VALUE ...] [-- FILE ...]: check.sh in the tree, as make calls it.
check() {
    local settings=()
    while [ $# -gt 0 ] && [ "$1" != -- ]; do settings+=("$1"); shift; done
    [ $# -eq 0 ] || shift
    run env -u BATS_TMPDIR -u BATS_RUN_TMPDIR -u BATS_TEST_TMPDIR -u BATS_FILE_TMPDIR -u BATS_SUITE_TMPDIR PATH="$PWD/bin:$PATH" \
        ROOT="$PWD/tree" BUILD="$PWD/tree/b" DEVICE=cpu "${settings[@]}" bash "$ROOT/tools/check.sh" "$@"
}
# fake_bats STATUS: a bats that says what stdin says, or with no more lines its arguments.
fake_bats() {
    cat >said
    printf '#!/bin/sh\necho "$*" >"%s/arguments"\ncat "%s/said"\nexit %s\n' "$PWD" "$PWD" "$1" >bin/bats
    chmod +x bin/bats
}
last_line() { assert_equal "${lines[${#lines[@]} - 1]}" "$1"; }

@test "check: passed, failed and skipped are counted, skips have their reasons, the count is the last line" {
    suite mixed 'good:true' 'bad:false' 'left:skip "why"'
    check -- tests/mixed.bats
    assert_failure 1
    assert_line '  left: why'
    assert_line --regexp '^[0-9]+ s$'
    last_line '1 passed, 1 failed, 1 skipped'
    suite good 'good:true' 'left:skip "why"'
    check -- tests/good.bats
    assert_success
    last_line '1 passed, 0 failed, 1 skipped'
}

@test "check: a strict run allows the reasons of SKIPS alone, and names each other skip" {
    suite skips 'good:true' 'card:skip "no card (none at all)"' 'tool:skip "no tool"' 'silent:skip'
    check STRICT=1 -- tests/skips.bats
    assert_failure 1
    assert_line "strict: 'card' must not be skipped: no card (none at all)"
    assert_line "strict: 'tool' must not be skipped: no tool"
    assert_line "strict: 'silent' must not be skipped: no reason is given"
    last_line '1 passed, 0 failed, 3 skipped'
    check STRICT=1 SKIPS=$'another\nno card (none at all)' -- tests/skips.bats
    assert_failure 1
    refute_line --partial "'card'"
    assert_line "strict: 'tool' must not be skipped: no tool"
    # Part of a reason, or a pattern, is another reason.
    check STRICT=1 SKIPS=$'no card\nno.tool\ntool' -- tests/skips.bats
    assert_failure 1
    assert_line "strict: 'card' must not be skipped: no card (none at all)"
    assert_line "strict: 'tool' must not be skipped: no tool"
    suite skips 'good:true' 'card:skip "no card"'
    check STRICT=1 SKIPS='no card' -- tests/skips.bats
    assert_success
    refute_output --partial 'strict:'
    last_line '1 passed, 0 failed, 1 skipped'
    # A test that left out some of what it tries says so itself.
    suite skips 'rows:echo "# left out: a row: no tool" >&3'
    check -- tests/skips.bats
    assert_success
    check STRICT=1 SKIPS='no card' -- tests/skips.bats
    assert_failure 1
    assert_line "strict: 'a row' must not be skipped: no tool"
    check STRICT=1 SKIPS='no tool' -- tests/skips.bats
    assert_success
    refute_output --partial 'strict:'
    # Without STRICT a list of skips says nothing.
    check SKIPS='another' -- tests/skips.bats
    assert_success
}

@test "check: a file that does not load, a test that never reported and a suite of skips fail" {
    suite broken never:true
    sed -i '1i load no_such_file' tree/tests/broken.bats
    check -- tests/broken.bats
    assert_failure 1
    assert_output --regexp ', [1-9][0-9]* failed, 0 skipped$'
    fake_bats 0 <<<$'1..3\nok 1 a in 1ms\nok 2 b in 1ms'
    suite some
    check -- tests/some.bats
    assert_failure 1
    last_line '2 passed, 1 failed, 0 skipped'
    fake_bats 0 <<<$'1..1\nok 1 a in 1ms # skip why'
    check -- tests/some.bats
    assert_failure 1
    last_line '0 passed, 0 failed, 1 skipped'
}

@test "check: the status of bats is not lost, whatever the lines before it say" {
    fake_bats 1 <<<$'1..1\nok 1 a in 1ms'
    suite some
    check -- tests/some.bats
    assert_failure 1
    last_line '1 passed, 0 failed, 0 skipped'
    fake_bats 0 <<<$'1..1\nok 1 a in 1ms'
    check -- tests/some.bats
    assert_success
}

@test "check: ALL=1 adds the long files, the longest of them first; the strict list is not handed to the tests" {
    local name
    for name in fpmp_pi day68_reproducibility cpu_sanitize canonical_tree short \
        long/{faults,mutants,exercises,cpu_functions,slow}; do
        suite "$name"
    done
    fake_bats 0 <<<$'1..1\nok 1 a in 1ms'
    sed -i '$i echo "strict ${STRICT-none} skips ${SKIPS-none} all ${ALL-none}"' bin/bats
    check STRICT=1 SKIPS=x ALL=1
    assert_success
    assert_line 'strict none skips none all 1'
    run cat arguments
    assert_output --partial ' tests/long/faults.bats tests/long/mutants.bats tests/long/exercises.bats'
    assert_output --regexp 'exercises\.bats tests/long/cpu_functions\.bats tests/fpmp_pi\.bats .* tests/canonical_tree\.bats tests/long/slow\.bats tests/short\.bats$'
    check
    assert_success
    run cat arguments
    refute_output --partial long
    assert_output --regexp ' tests/fpmp_pi\.bats .* tests/short\.bats$'
    check ALL=1 -- tests/short.bats
    run cat arguments
    refute_output --partial long
    assert_output --regexp ' tests/short\.bats$'
}

@test "check: a test file that is not there, no bats, and a card that is not there: one line, status 2" {
    check -- tests/absent.bats
    assert_failure 2
    assert_output 'no such test file: tests/absent.bats'
    local tool
    mkdir few
    for tool in bash dirname; do ln -s "$(command -v "$tool")" few/; done
    check PATH="$PWD/few" -- tests/absent.bats
    assert_failure 2
    assert_output 'make check needs bats, bats-support and bats-assert (Debian: apt-get install bats bats-support bats-assert)'
    printf '#!/bin/sh\necho "reason=no driver"\nexit 77\n' >tree/b/tools/gpu_probe
    chmod +x tree/b/tools/gpu_probe
    check DEVICE=gpu -- tests/absent.bats
    assert_failure 2
    assert_output 'make check DEVICE=gpu needs a usable card: no driver'
}

@test "check: .ci/run runs the suite, strictly, and its list holds nothing but reasons that a test has" {
    run grep -c '^make check STRICT=1$' "$ROOT/.ci/run"
    assert_output 1
    local reason
    eval "$(sed -n "/^SKIPS='/,/'\$/p" "$ROOT/.ci/run")"
    [ -n "$SKIPS" ]
    while read -r reason; do
        grep -qF -e "skip \"$reason\"" -e "skip '$reason'" -e "left_out \"$reason\"" \
            "$ROOT"/tests/*.bats "$ROOT"/tests/long/*.bats "$ROOT/tests/helper.bash" "$ROOT/tests/faults.sh" ||
            fail "no test is skipped for '$reason'"
    done <<<"$SKIPS"
}

@test "check: .ci/run also allows what a compiler is missing for that could not be installed" {
    printf '#!/bin/sh\ncase " $* " in *" clang-14 "*) exit 100 ;; esac\n' >bin/apt-get
    printf '#!/bin/sh\nexec "$@"\n' >bin/sudo
    printf '#!/bin/sh\n[ "$1" != check ] || { echo "make $*"; echo "$SKIPS"; }\n' >bin/make
    chmod +x bin/*
    PATH=$PWD/bin:$PATH run bash "$ROOT/.ci/run"
    assert_success
    assert_line 'clang-14 could not be installed'
    assert_line 'make check STRICT=1'
    assert_line 'for DEVICE=gpu'
    # As tests/toolchains.sh and tests/faults.sh say it.
    assert_line 'no clang++-14 (Debian: apt-get install clang-14)'
    assert_line 'no clang++-14'
    refute_line --partial 'clang++-19'
    refute_line --partial 'no g++'
}

@test "left_out: what a script says it left out is what a strict run reads" {
    suite rows 'rows:run printf "%s\n" "left out: g++-11 c++17 -O1: no g++-11 (Debian: apt-get install g++-11)" "left out  tools/x.patch: no jq" "faults: 1, caught: 0, left out: 1"; left_out'
    sed -i "1i . '$ROOT/tests/helper.bash'" tree/tests/rows.bats
    check STRICT=1 BUILD="$BUILD" -- tests/rows.bats
    assert_failure 1
    assert_line "strict: 'g++-11 c++17 -O1' must not be skipped: no g++-11 (Debian: apt-get install g++-11)"
    assert_line "strict: 'tools/x.patch' must not be skipped: no jq"
    assert_equal "$(grep -c '^strict: ' <<<"$output")" 2
}

@test "repeats: a test that fails now and then is named with how often; so is a suite that does not run" {
    # A make whose suite has a test that fails in every third run.
    cat >bin/make <<'MAKE'
#!/bin/sh
echo "$*" >>asked
case $(($(wc -l <asked) % 3)) in
    0) printf '1..2\nok 1 steady in 1ms\nnot ok 2 now and then in 5ms\n# why\n1 s\n1 passed, 1 failed, 0 skipped\n'; exit 2 ;;
    *) printf '1..2\nok 1 steady in 1ms\nok 2 now and then in 5ms\n1 s\n2 passed, 0 failed, 0 skipped\n' ;;
esac
MAKE
    chmod +x bin/make
    MAKE=$PWD/bin/make run bash "$ROOT/tests/repeats.sh" 7 tests/a.bats tests/b.bats
    assert_failure 1
    assert_line '2 of 7: 2 passed, 0 failed, 0 skipped'
    assert_line '3 of 7: 1 passed, 1 failed, 0 skipped'
    assert_line '# why'
    last_line 'failed 2 of 7: now and then'
    run sort -u asked
    assert_output --partial "-C $ROOT check TESTS=tests/a.bats tests/b.bats BUILD="
    MAKE=$PWD/bin/make run bash "$ROOT/tests/repeats.sh" 1
    assert_success
    MAKE=false run bash "$ROOT/tests/repeats.sh" 2
    assert_failure 1
    last_line 'failed 2 of 2: make check itself'
    run bash "$ROOT/tests/repeats.sh" often
    assert_failure 2
    assert_output 'usage: repeats.sh TIMES [FILE.bats ...]'
}
