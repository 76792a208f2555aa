# The short list of tests/toolchains.sh, and that its verdicts can fail (tests/tools/faults).
load ../helper

# one_row ROW: precision_reduction by one compiler.
one_row() {
    local reason
    PROGRAMS=precision_reduction/precision_reduction run bash "$ROOT/tests/toolchains.sh" "$1"
    reason=$(sed -n "s|^left out: $1: ||p" <<<"$output")
    [ -z "$reason" ] || skip "$reason"
}

@test "toolchains: one program by one compiler is as it must be" {
    require_fma
    one_row 'g++-12 c++17 -O2'
    assert_line --regexp '^g\+\+-12 c\+\+17 -O2 +2/2 +0 +2/2 +2/2 +1/1  ok$'
    assert_line 'combinations: 1, as they must be: 1, left out: 0'
    assert_success
}

@test "toolchains: one program by an nvcc from PyPI is as it must be" {
    one_row 'nvcc 13.0 sm_75'
    assert_line --regexp '^nvcc 13\.0 sm_75 +2/2 +0 +- +- +-  ok$'
    assert_success
}

@test "toolchains: one program by clang as CUDA compiler is as it must be" {
    one_row 'clang-19 CUDA 12.9 sm_90'
    assert_line --regexp '^clang-19 CUDA 12\.9 sm_90 +2/2 +0 +- +- +1/1  ok$'
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
    left_out
    assert_success
}
