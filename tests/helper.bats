# tests/helper.bash: what every test trusts must be able to fail.
load helper

setup() { cd "$BATS_TEST_TMPDIR" || return; }

@test "helper: mutate edits a copy, and fails where its edit changes nothing" {
    echo 'int a = 1;' >a.cu
    mutate a.cu b.cu 's/1/2/'
    assert_equal "$(cat a.cu b.cu)" 'int a = 1;
int a = 2;'
    run mutate a.cu b.cu 's/3/4/'
    assert_failure 1
    assert_output "mutate: 's/3/4/' changed nothing in a.cu"
}

@test "helper: a fused build is where the device is a card or the CPU has FMA" {
    DEVICE=gpu FMA=no have_fma
    DEVICE=cpu FMA=yes have_fma
    DEVICE=cpu FMA=no run have_fma
    assert_failure 1
}

@test "helper: compile_both makes both builds, without FMA the separate one alone, and says when one fails" {
    # Stands in for the compiler: OUT holds the build; one named FAIL fails.
    compile() { [ "$3" != "${FAIL:-}" ] && echo "$3 ${*:4}" >"$2"; }
    DEVICE=cpu FMA=yes compile_both p.cu p -DX
    assert_equal "$(cat p.fmad p.nofmad)" 'fmad -DX
nofmad -DX'
    rm p.*
    DEVICE=cpu FMA=no compile_both p.cu p
    assert_equal "$(ls p.*)" p.nofmad
    for build in fmad nofmad; do
        FAIL=$build DEVICE=cpu FMA=yes run compile_both p.cu p
        assert_failure 1
    done
}

@test "helper: a wrong digit, a missing line and no output at all are not what a program must print" {
    sed 's/{text}/x/; s/{count}/1/g; s/{bits}/0x00000000/g; s/{hash}/0x0000000000000000/g; s/{number}/1/g; s/{time}/1/g' \
        "$ROOT/expected_output/wrong_orders.txt" >good
    assert_expected "$PWD/good"
    sed 's/^\(gates passed: \).*/\1none/' good >digit
    sed '$d' good >line
    : >empty
    for file in digit line empty none; do
        run assert_expected "$PWD/$file"
        assert_failure
    done
}

@test "helper: hash_in reads the line of that name, whole" {
    printf '%s\n' 'run hash: 0x0123456789abcdef' 'partials hash: 0x1' 'other run hash: 0x2' >out
    assert_equal "$(hash_in out run)" 0x0123456789abcdef
    assert_equal "$(hash_in out partials)" 0x1
    assert_equal "$(hash_in out total)" ''
}

@test "helper: copy_build minds a file that is removed meanwhile no more than that; what cannot be read stops it" {
    cd "$BATS_TEST_TMPDIR"
    mkdir bin build tree other
    echo one >build/one
    # tar that says so: 1 is a file that changed or is gone, 2 an error.
    # shellcheck disable=SC2016 # the inner shell's own
    printf '#!/bin/sh\n%s "$@"\n[ "$1" != -cf ] || exit "$TAR_STATUS"\n' "$(command -v tar)" >bin/tar
    chmod +x bin/tar
    # shellcheck disable=SC2016
    copied() { PATH=$PWD/bin:$PATH BUILD=$PWD/build TAR_STATUS=$1 run bash -c 'set -euo pipefail; . "$ROOT/tests/environment.sh"; copy_build "$0"' "$2"; }
    copied 1 tree
    assert_success
    assert_equal "$(cat tree/build/one)" one
    copied 2 other
    assert_failure
}
