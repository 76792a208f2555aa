# Commands that nobody has read run within limits, and in a sandbox where bubblewrap works (tools/confine.sh).
# shellcheck disable=SC2016 # what a shell in the sandbox expands
load helper

setup_file() {
    # Whatever the caller chose.
    unset NO_SANDBOX CONFINED_BY
}
confine() { bash "$ROOT/tools/confine.sh" "$@"; }
# Each test of a limit is one of both ways.
both_ways() {
    local way
    for way in '' 1; do NO_SANDBOX=$way "$@" || return; done
}
require_sandbox() {
    [ "$(confine --which)" = bubblewrap ] || skip "no bubblewrap that works here"
}
# ends STATUS COMMAND...: with this status, and leaves neither a folder nor a process.
ends() {
    local want=$1
    shift
    TMPDIR=$BATS_TEST_TMPDIR run confine "$@"
    # Not left to errexit, which is off behind a ||, as in both_ways.
    assert_equal "$status" "$want" || return
    assert_equal "$(ls -A "$BATS_TEST_TMPDIR")" ''
}

@test "which way is said: bubblewrap, or no sandbox where it is refused or not there" {
    NO_SANDBOX=1 run confine --which
    assert_output 'no sandbox: limits only'
    mkdir "$BATS_TEST_TMPDIR/bin"
    printf '#!/bin/sh\nexit 1\n' >"$BATS_TEST_TMPDIR/bin/bwrap"
    chmod +x "$BATS_TEST_TMPDIR/bin/bwrap"
    PATH=$BATS_TEST_TMPDIR/bin:$PATH run confine --which
    assert_output 'no sandbox: limits only'
    require_sandbox
    run confine --which
    assert_output bubblewrap
}

@test "a command has its status, its arguments and its output" {
    both_ways ends 3 -- sh -c 'exit 3'
    both_ways ends 139 -- sh -c 'kill -SEGV $$'
    run both_ways confine -- printf '%s,' 'a b' '$HOME' ''
    assert_output 'a b,$HOME,,a b,$HOME,,'
}

@test "stdin is empty, and the environment has what it is given alone" {
    SECRET=yes run both_ways confine --set 'A=b c' -- sh -c 'cat; echo "$A $SECRET"' <<<text
    assert_output $'b c \nb c '
    run both_ways confine -- sh -c 'case $PWD in "$HOME") echo home ;; esac; ls -A'
    assert_output $'home\nhome'
}

@test "a file that is copied can be deleted, with the folder it lies in, and stays" {
    mkdir "$BATS_TEST_TMPDIR/theirs"
    echo text >"$BATS_TEST_TMPDIR/theirs/a file"
    TMPDIR=$BATS_TEST_TMPDIR run both_ways confine --copy "$BATS_TEST_TMPDIR/theirs/a file" -- sh -c 'cat "a file"; rm -rf ./* "$PWD"' 2>/dev/null
    assert_line --index 0 text
    assert_equal "$(cat "$BATS_TEST_TMPDIR/theirs/a file")" text
    assert_equal "$(ls "$BATS_TEST_TMPDIR")" theirs
}

@test "what does not end in time is ended, with its children and what they started in another session" {
    local way sleeps=15.$$ # so that no other run of this test has processes of this name; what stays, stays for a moment
    for way in '' 1; do
        NO_SANDBOX=$way ends 124 --time 1 -- sh -c "sleep $sleeps & setsid sleep $sleeps >/dev/null 2>&1 3>&- & sleep $sleeps"
        run pgrep -f "sleep $sleeps"
        assert_output ''
        # The same for one that ends by itself.
        NO_SANDBOX=$way ends 0 -- sh -c "sleep $sleeps & setsid sleep $sleeps >/dev/null 2>&1 3>&- & exit 0"
        run pgrep -f "sleep $sleeps"
        assert_output ''
    done
}

@test "processor time, output, processes, memory, open files and core files have limits" {
    both_ways ends 152 --cpu 1 -- sh -c 'while :; do :; done'
    local way
    for way in '' 1; do
        NO_SANDBOX=$way confine --output 1 -- yes >"$BATS_TEST_TMPDIR/out" 2>/dev/null || assert_equal "$?" 153
        assert_equal "$(wc -c <"$BATS_TEST_TMPDIR/out")" 1048576
        rm "$BATS_TEST_TMPDIR/out"
        NO_SANDBOX=$way ends 125 --processes 8 -- sh -c 'for i in 1 2 3 4 5 6 7 8 9 10 11 12; do sleep 30 & done; wait'
    done
    both_ways ends 0 --processes 12 -- sh -c 'for i in 1 2 3 4 5 6; do sleep 0.5 & done; wait'
    # shellcheck disable=SC2016
    run both_ways confine --memory 100 --open 20 -- bash -c 'echo $(ulimit -v) $(ulimit -n) $(ulimit -c)'
    assert_output $'102400 20 0\n102400 20 0'
}

@test "a child without the mark, in a session of its own, is counted and does not stay" {
    local way sleeps=16.$$
    for way in '' 1; do
        NO_SANDBOX=$way ends 0 -- sh -c "env -i setsid sleep $sleeps >/dev/null 2>&1 3>&- & sleep 0.1"
        run pgrep -f "sleep $sleeps"
        assert_output ''
        # It has left the folder, but it is the submission's own program.
        NO_SANDBOX=$way ends 0 --copy "$(command -v sleep)" -- sh -c "env -i sh -c 'cd /; setsid \$0/sleep $sleeps' \"\$PWD\" >/dev/null 2>&1 3>&- & sleep 0.1"
        run pgrep -f "sleep $sleeps"
        assert_output ''
        NO_SANDBOX=$way ends 125 --processes 8 -- sh -c 'for i in 1 2 3 4 5 6 7 8 9 10 11 12; do env -i sleep 30 & done; wait'
    done
}

@test "memory has a limit for all processes together, and what they share counts once" {
    [ -r /proc/self/smaps_rollup ] || skip "needs Linux"
    both_ways ends 123 --memory 400 -- perl -e 'for (1..8) { if (!fork) { $n = 60000000; $x = "a" x $n; sleep 30; exit } } 1 while wait > 0;'
    both_ways ends 0 --memory 400 -- perl -e '$n = 120000000; $x = "a" x $n; for (1..8) { if (!fork) { sleep 1; exit } } 1 while wait > 0;'
    both_ways ends 0 --memory 0 -- perl -e 'for (1..8) { if (!fork) { $n = 60000000; $x = "a" x $n; sleep 1; exit } } 1 while wait > 0;'
}

@test "the folders of its own have limits: a number of files, and 64 MiB" {
    both_ways ends 122 --files 50 -- sh -c 'i=0; while [ $i -lt 60 ]; do : >f$i; i=$((i+1)); done; sleep 30'
    both_ways ends 122 --files 50 -- sh -c 'i=0; while [ $i -lt 60 ]; do : >$TMPDIR/f$i; i=$((i+1)); done; cd /; env -i sleep 30'
    both_ways ends 0 --files 50 -- sh -c 'i=0; while [ $i -lt 40 ]; do : >f$i; i=$((i+1)); done; sleep 1'
    NO_SANDBOX=1 ends 122 --output 0 -- sh -c 'dd if=/dev/zero of=big bs=1M count=66 2>/dev/null; sleep 30'
}

@test "in the sandbox /dev takes no file, and /dev/shm 4 MiB" {
    require_sandbox
    run confine --output 0 -- sh -c 'echo x >/dev/new; echo x >/dev/null && echo there; dd if=/dev/zero of=/dev/shm/big bs=1M count=8; wc -c </dev/shm/big'
    assert_line --partial 'Read-only file system'
    assert_line there
    assert_line --partial 'No space left on device'
    assert_line 4194304
}

@test "in the sandbox there is no network, nothing to write and nothing of the users" {
    require_sandbox
    echo secret >"$BATS_TEST_TMPDIR/secret"
    run confine -- sh -c 'cat "$1"; ls "$2"; touch /usr/x /x; ls -d /root /etc/passwd; cut -d: -f1 /proc/net/dev | tail -n +3' sh "$BATS_TEST_TMPDIR/secret" "$ROOT"
    refute_line secret
    assert_line --partial "cannot touch '/usr/x'"
    assert_line --partial "cannot touch '/x'"
    assert_line --partial "cannot access '/root'"
    assert_line --partial "cannot access '/etc/passwd'"
    assert_equal "$(grep -v ': ' <<<"$output" | tr -d ' ')" lo
}

@test "in the sandbox a named path can be read, another written, and a full /tmp ends at 64 MiB" {
    require_sandbox
    mkdir "$BATS_TEST_TMPDIR/in" "$BATS_TEST_TMPDIR/out"
    echo text >"$BATS_TEST_TMPDIR/in/file"
    run confine --read "$BATS_TEST_TMPDIR/in" --write "$BATS_TEST_TMPDIR/out" -- sh -c 'cat "$1/in/file"; echo x >"$1/in/new"; echo y >"$1/out/new"' sh "$BATS_TEST_TMPDIR"
    assert_line text
    assert_equal "$(ls "$BATS_TEST_TMPDIR/in") $(cat "$BATS_TEST_TMPDIR/out/new")" 'file y'
    run confine --output 0 -- sh -c 'dd if=/dev/zero of=big bs=1M count=80 2>&1; wc -c <big'
    assert_line --partial 'No space left on device'
    assert_line 67108864
}

@test "a status is said in words" {
    while IFS='|' read -r code words; do
        run confine --say "$code" --time 7 --cpu 5 --output 3 --processes 9 --memory 6 --files 4
        assert_output "$words"
    done <<'END'
0|ended with status 0
3|ended with status 3
122|put more than 4 files or 64 MiB into its folders
123|needed more than 6 MiB of memory
124|did not end within 7 s
125|had more than 9 processes at one time
134|crashed: signal SIGABRT
152|used more than 5 s of processor time
153|wrote more than 3 MiB
END
}

@test "a call that is no use is refused in one line" {
    while IFS='|' read -r words message; do
        read -ra call <<<"$words"
        run confine ${call[@]+"${call[@]}"}
        assert_output "confine.sh: $message"
        assert_failure 2
    done <<'END'
|no command to run
--time x -- true|--time takes a whole number, not 'x'
--memory -1 -- true|--memory takes a whole number, not '-1'
--say|--say takes a status
--read /no/such -- true|--read: no such file or folder: '/no/such'
--write /no/such -- true|--write: no such file or folder: '/no/such'
--copy /no/such -- true|--copy: no such file: '/no/such'
--set 9=1 -- true|--set takes NAME=VALUE, not '9=1'
--quick -- true|no such option: '--quick'
END
}
