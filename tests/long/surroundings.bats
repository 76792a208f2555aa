# The course where it is awkward: other folders, locales and line ends, a checkout that cannot be written to,
# a full disk, builds and runs that are stopped. Nothing half done may be trusted by the next make.
load ../helper

# copy NAME: the tree without what was built, as a folder of its own.
copy() {
    copy_tree "$BATS_TEST_TMPDIR/$1"
    cd "$BATS_TEST_TMPDIR/$1" || return
}
# A plain environment, as in a new terminal.
clean() { env -i PATH="$(outer_path)" HOME="$HOME" "$@"; }
# The suite's files that look at make, the tools and the pages; quick ones.
part='tests/match.bats tests/make.bats tests/run.bats tests/glossary.bats tests/pages.bats'

# Every program that there is passes and is as expected, in make run's table on stdin.
all_as_expected() {
    local table
    table=$(cat)
    [ "$(grep -cE '^[a-z_0-9]+ +(fmad|nofmad) +passed .* as expected$' <<<"$table")" -eq "$1" ] || {
        echo "$table"
        return 1
    }
}
rows=$((8 * ($(have_fma && echo 1 || echo 0) + 1)))
# The two quick lessons, five programs, where a run of all would show no more.
export quick='precision_reduction canonical_tree'
quick_rows=$((rows / 8 * 5))

require_mounts() {
    unshare -m mount -t tmpfs none /mnt 2>/dev/null || skip "no mount namespaces (needs root)"
}

@test "a folder with blanks, umlauts and a quote: all programs, and a part of the suite" {
    copy "Größe  1 o'clock"
    clean make run >log 2>&1
    all_as_expected "$rows" <log
    run clean make check TESTS="$part tests/cpu_headers.bats tests/flags.bats tests/precision_reduction.bats"
    assert_success
}

@test "make -j8, from nothing: all programs, and a part of the suite" {
    copy tree
    clean make -j8 run >log 2>&1
    all_as_expected "$rows" <log
    rm -r build
    run clean make -j8 check TESTS="$part"
    assert_success
}

@test "a checkout that cannot be written to, BUILD elsewhere, and no writable /tmp" {
    require_mounts
    copy tree
    OUTER_PATH=$(outer_path)
    export OUTER_PATH
    # shellcheck disable=SC2016 # the inner shell's own
    run unshare -m bash -c '
        set -e
        mount -t tmpfs none /mnt
        mkdir /mnt/tree /mnt/tmp
        cp -r . /mnt/tree
        mount --bind /mnt/tree /mnt/tree
        mount -o remount,bind,ro /mnt/tree
        for tmp in /tmp /var/tmp; do mount -t tmpfs -o ro none $tmp; done
        cd /mnt/tree
        ! touch x 2>/dev/null
        ! touch /tmp/x 2>/dev/null
        env -i PATH="$PATH" HOME=/mnt/nowhere make run BUILD=/mnt/build
        env -i PATH="$OUTER_PATH" HOME=/mnt/nowhere make check BUILD=/mnt/build TESTS="tests/match.bats tests/run.bats"'
    all_as_expected "$rows" <<<"$output"
    assert_success
}

@test "a German and a Turkish locale: two lessons, and a part of the suite" {
    command -v localedef >/dev/null && [ -d /usr/share/i18n/locales ] || skip "no localedef (Debian: apt-get install locales)"
    local name
    copy tree
    mkdir locales
    for name in de_DE tr_TR; do localedef -i "$name" -f UTF-8 "locales/$name.UTF-8"; done
    export LOCPATH=$PWD/locales
    # The locale is there and has its own decimal comma, or this would test nothing.
    assert_equal "$(LC_ALL=de_DE.UTF-8 bash -c 'printf %.1f 1,5')" 1,5
    for name in de_DE tr_TR; do
        rm -rf build
        clean LOCPATH="$LOCPATH" LC_ALL=$name.UTF-8 LANG=$name.UTF-8 make run LESSON="$quick" >log 2>&1
        all_as_expected "$quick_rows" <log
        run clean LOCPATH="$LOCPATH" LC_ALL=$name.UTF-8 LANG=$name.UTF-8 make check TESTS="$part"
        assert_success
    done
}

@test "a clone with CRLF line ends switched on, and sources that an editor gave them" {
    command -v git >/dev/null || skip "no git"
    copy tree
    git init -q . && git add -A && git -c user.name=x -c user.email=x@example.org commit -qm x
    git clone -q -c core.autocrlf=true -c core.eol=crlf . ../clone
    cd ../clone
    run grep -rlI $'\r' --exclude-dir=.git .
    assert_output ''
    local file
    for file in */*.cu; do sed -i 's/$/\r/' "$file"; done
    grep -q $'\r' precision_reduction/precision_reduction.cu
    clean make >log 2>&1
    clean make run LESSON="$quick" >log 2>&1
    all_as_expected "$quick_rows" <log
}

@test "a full disk: one make fails with a reason, the next one trusts nothing of it" {
    require_mounts
    copy tree
    # shellcheck disable=SC2016 # the inner shell's own
    run unshare -m bash -c '
        mount -t tmpfs none /mnt
        mkdir /mnt/build
        mount -t tmpfs -o size=400k none /mnt/build
        export TMPDIR=/mnt
        env -i PATH="$PATH" HOME="$HOME" make -k BUILD=/mnt/build && echo "full: status 0"
        df --output=avail /mnt/build
        mount -o remount,size=100m /mnt/build
        echo "there is room"
        env -i PATH="$PATH" HOME="$HOME" make BUILD=/mnt/build
        env -i PATH="$PATH" HOME="$HOME" make run BUILD=/mnt/build LESSON="$quick"'
    refute_line 'full: status 0'
    assert_output --partial 'No space left on device'
    sed -n '/^there is room/,$p' <<<"$output" | all_as_expected "$quick_rows"
    assert_success
}

@test "a build that is killed at any time: the next make trusts nothing of it" {
    copy tree
    local after
    for after in 0.2 0.5 1 2 3; do
        rm -rf build
        # A session of its own, so that the compilers are killed with it.
        env -i PATH="$PATH" HOME="$HOME" setsid make >/dev/null 2>&1 3>&- &
        sleep "$after"
        kill -KILL -- "-$!"
        wait "$!" || true
        run clean make run LESSON="$quick"
        assert_success
        all_as_expected "$quick_rows" <<<"$output"
    done
}

@test "Ctrl-C in a run: it ends, and the next run is as if nothing had been" {
    copy tree
    clean make LESSON="$quick" >/dev/null
    local after status
    for after in 0.2 1 2; do
        # Ctrl-C goes to every process of the terminal's foreground group; bash's background jobs ignore it.
        env -i PATH="$PATH" HOME="$HOME" perl -MPOSIX -e 'setsid; $SIG{INT} = "DEFAULT"; exec @ARGV' make run LESSON="$quick" >log 2>&1 3>&- &
        sleep "$after"
        kill -INT -- "-$!"
        status=0
        wait "$!" || status=$?
        [ "$status" -ne 0 ]
        run clean make run LESSON="$quick"
        assert_success
        all_as_expected "$quick_rows" <<<"$output"
    done
}
