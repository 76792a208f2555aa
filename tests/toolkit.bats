# make toolkit: what it fetches, and which nvcc is taken when there are several or none.
load helper

setup() { cd "$BATS_TEST_TMPDIR" || return; }

# A python3 with a pip that notes its arguments and its list, and fails, or is none.
stand_in_pip() {
    mkdir -p bin tools
    cp "$ROOT"/tools/fetch_{toolkit,wheels}.sh tools/
    cat >bin/python3 <<'END'
#!/usr/bin/env bash
[ "$PIP" != none ] || exit 1
[ "$3" != --version ] || exit 0
echo "$*" >args
[ "$PIP" != empty ] || {
    mkdir -p .toolkit.new/nvidia/cu13/bin .toolkit.new/x.dist-info
    touch .toolkit.new/x.whl
    exit
}
cp .toolkit.new/list list
echo 'ERROR: No matching distribution found'
exit 1
END
    chmod +x bin/python3
}
fetch() { run env PIP="$1" PATH="$PWD/bin:$PATH" bash tools/fetch_toolkit.sh; }

@test "make toolkit without pip names the package; what cannot be fetched changes nothing" {
    stand_in_pip
    mkdir .toolkit
    echo old >.toolkit/version
    fetch none
    assert_failure 2
    assert_output 'make toolkit needs pip (Debian: apt-get install python3-pip)'
    fetch fails
    assert_failure 2
    assert_output 'make toolkit: pip could not download CUDA 13.5: ERROR: No matching distribution found'
    assert_equal "$(cat .toolkit/version)" old
    fetch empty
    assert_failure 2
    assert_output --partial 'make toolkit: ptxas of CUDA 13.5 does not run here: '
    assert_equal "$(cat .toolkit/version)" old
    [ ! -e .toolkit.new ]
}

@test "make toolkit asks for seven packages, each with its version and hashes for two machines" {
    stand_in_pip
    fetch fails
    grep -q -e '--require-hashes' args
    assert_equal "$(wc -l <list)" 7
    assert_equal "$(grep -cE '^nvidia-[a-z-]+==13(\.[0-9]+)+( --hash=sha256:[0-9a-f]{64}){2}$' list)" 7
    mkdir .toolkit
    mv list .toolkit/version
    fetch none # not asked: what is there is the same
    assert_success
    assert_output 'CUDA 13.5 is in .toolkit already'
}

# Runs a command where the system has no nvcc: neither on PATH nor in /usr/local/cuda.
hide_system_nvcc() {
    local dir dirs path=''
    IFS=: read -ra dirs <<<"$PATH"
    for dir in "${dirs[@]}"; do [ -x "$dir/nvcc" ] || path+=$dir:; done
    if [ -e /usr/local/cuda/bin/nvcc ]; then
        unshare -rm true 2>/dev/null || skip "/usr/local/cuda cannot be hidden here"
        run unshare -rm bash -c 'mount -t tmpfs none /usr/local/cuda && "$@"' bash env -i PATH="${path%:}" HOME="$HOME" "$@"
    else
        run env -i PATH="${path%:}" HOME="$HOME" "$@"
    fi
}

@test "NVCC: what is given, the system's own, what make toolkit fetched, or the bare name" {
    ask=(make -s BUILD="$BATS_TEST_TMPDIR/b" DEVICE=cpu test-env)
    for tree in tree 'a tree'; do
        mkdir "$tree"
        cp -r "$ROOT/Makefile" "$ROOT/tools" "$ROOT/cpu" "$tree/"
    done
    hide_system_nvcc "${ask[@]}" -C tree
    assert_output --partial " NVCC='nvcc' "
    for tree in tree 'a tree'; do
        mkdir -p "$tree/.toolkit/bin"
        printf '#!/bin/sh\n' >"$tree/.toolkit/bin/nvcc"
        chmod +x "$tree/.toolkit/bin/nvcc"
    done
    hide_system_nvcc "${ask[@]}" -C tree
    assert_output --partial " NVCC='$PWD/tree/.toolkit/bin/nvcc' "
    hide_system_nvcc "${ask[@]}" -C 'a tree'
    assert_output --partial " NVCC='.toolkit/bin/nvcc' "
    hide_system_nvcc "${ask[@]}" -C tree NVCC=/opt/nvcc
    assert_output --partial " NVCC='/opt/nvcc' "
    mkdir bin
    cp tree/.toolkit/bin/nvcc bin/
    run env -i PATH="$PWD/bin:$PATH" HOME="$HOME" "${ask[@]}" -C tree
    assert_output --partial " NVCC='$PWD/bin/nvcc' "
}

@test "with the system's nvcc hidden, make builds a lesson for a card with what make toolkit fetched" {
    [ -e "$ROOT/.toolkit/version" ] || skip "no toolkit (make toolkit)"
    hide_system_nvcc make -s -C "$ROOT" BUILD="$BATS_TEST_TMPDIR/b" DEVICE=gpu ARCH=sm_75 LESSON=precision_reduction V=1
    assert_success
    assert_output --partial '.toolkit/bin/nvcc -arch=sm_75'
    [ -x b/gpu/fmad/precision_reduction ]
    [ -x b/gpu/nofmad/precision_reduction ]
}
