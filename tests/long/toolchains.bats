# The short list of tests/toolchains.sh, and that its verdicts can fail (tests/tools/faults).
load ../helper

# one_row: precision_reduction by one compiler.
one_row() {
    command -v g++-12 >/dev/null || skip "no g++-12"
    require_fma
    PROGRAMS=precision_reduction/precision_reduction run bash "$ROOT/tests/toolchains.sh" 'g++-12 c++17 -O2'
}

@test "toolchains: one program by one compiler is as it must be" {
    one_row
    assert_line --regexp '^g\+\+-12 c\+\+17 -O2 +2/2 +0 +2/2 +2/2 +1/1  ok$'
    assert_line 'combinations: 1, as they must be: 1, left out: 0'
    assert_success
}

@test "toolchains: a compiler that is not at hand is left out by name, and nothing is no success" {
    mkdir "$BATS_TEST_TMPDIR/bin"
    for tool in /usr/bin/*; do case ${tool##*/} in g++-12) ;; *) ln -s "$tool" "$BATS_TEST_TMPDIR/bin/" ;; esac; done
    PATH=$BATS_TEST_TMPDIR/bin run bash "$ROOT/tests/toolchains.sh" 'g++-12 c++17 -O2'
    assert_failure 1
    assert_line 'left out: g++-12 c++17 -O2: no g++-12 (Debian: apt-get install g++-12)'
    run bash "$ROOT/tests/toolchains.sh" 'g++-3'
    assert_failure 2
    assert_output 'no such row; tests/toolchains.sh -l lists them'
}

@test "toolchains: the short list is as it must be" {
    run bash "$ROOT/tests/toolchains.sh" -s
    printf '%s\n' "${lines[@]}" | sed -n 's/^left out/# left out/p' >&3
    assert_success
}
