# tools/match: is this output what the lesson must print?
# Every test makes its own expected files, so that no lesson's output matters.
load helper

setup_file() { "$CC" -std=c11 -O1 "$ROOT/tools/match.c" -o "$BATS_FILE_TMPDIR/match"; }

# day FILE CONTRACTION N BITS: an expected file of lesson day.
day() {
    cat >"$1" <<END
program: day/sum
revision: 2
device: {text}
contraction: $2
n: $3

summing $3 floats
kernel   runs  patterns  bits        max rel err
atomic    100  {count}   {bits}      {number}
tree      100  1         $4  1.7e-09

time      {time} ms  {number}x  4:{count}  {text}  end
{text}
run hash: {hash}
gates passed: tree, control
END
}

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    mkdir expected expected/recorded expected/folder.txt
    day expected/day_fused.txt fused 4194915 0x4b25426d
    day expected/day_separate.txt separate 4194915 0x4b25426e
    day expected/day_small.txt fused 1024 0x4523463d
    printf '%s\n' 'program: pi/pi' 'revision: 1' 'device: {text}' 'contraction: fused' \
        'type: own<8, 10>' 'n: 64' '' 'pi 3.14' >expected/pi.txt
    echo 'not an expected file, and not to be read' >expected/README.md
    echo 'nor this' >expected/recorded/h200.txt
    output >out.txt
}

# What a card prints for expected/day_fused.txt.
output() {
    cat <<'END'
program: day/sum
revision: 2
device: NVIDIA H200, compute capability 9.0, 132 multiprocessors
contraction: fused
n: 4194915

summing 4194915 floats
kernel   runs  patterns  bits        max rel err
atomic    100  12        0x4b254270  1.0e-05
tree      100  1         0x4b25426d  1.7e-09

time      0.25 ms  1.5x  4:16  word  end
atomics move, that is legal
run hash: 0x8189389fe1bc0a65
gates passed: tree, control
END
}
separate() { output | sed 's/fused/separate/; s/0x4b25426d/0x4b25426e/'; }

# edit SED-SCRIPT: the output, changed; refuses a script that changes nothing.
edit() {
    output | sed "$1" >out.txt
    ! cmp -s out.txt <(output) || fail "the edit '$1' changes nothing"
}

match() { run "$BATS_FILE_TMPDIR/match" "$@"; }
# same EDIT, differs EDIT: the verdict on the output with that change.
same() { edit "$1" && match expected out.txt && assert_success; }
differs() {
    edit "$1"
    match expected out.txt
    [ "$status" -eq 1 ] || fail "'$1': exit $status"
    assert_line 'out.txt differs from expected/day_fused.txt'
}
# refused TEXT: exit 2, nothing on stdout, one line on stderr that holds TEXT.
refused() {
    match expected out.txt
    assert_failure 2
    assert_equal "${#lines[@]}" 1
    assert_output --partial "$1"
    run bash -c '"$@" 2>/dev/null' _ "$BATS_FILE_TMPDIR/match" expected out.txt
    assert_output ''
}

@test "match: equal is 0, one line names the file, lines and free fields" {
    match expected out.txt
    assert_success
    assert_output 'out.txt matches expected/day_fused.txt: 15 lines compared, 10 fields free'
}

@test "match: the build, the type and n pick the expected file" {
    separate >out.txt
    match expected out.txt
    assert_success
    assert_output --partial 'matches expected/day_separate.txt'
    same 's/4194915/1024/; s/0x4b25426d/0x4523463d/'
    assert_output --partial 'matches expected/day_small.txt'
    match --which expected out.txt
    assert_output expected/day_small.txt
    sed 's/device: .*/device: a card/' expected/pi.txt >out.txt
    match expected out.txt
    assert_success
    assert_output --partial 'matches expected/pi.txt: 8 lines compared, 1 fields free'
}

@test "match: --nearest finds a file of another type, n or revision, never of another build or program" {
    edit 's/n: 4194915/n: 7/; s/revision: 2/revision: 3/'
    match --which expected out.txt
    assert_failure 2
    match --nearest expected out.txt
    assert_success
    assert_output expected/day_fused.txt
    edit 's/4194915/1024/'
    match --nearest expected out.txt
    assert_output expected/day_small.txt
    sed 's/device: .*/device: a card/; s/fused/separate/' expected/pi.txt >out.txt
    match --nearest expected out.txt
    assert_failure 2
}

@test "match: carriage returns, blanks and a missing last line feed do not matter; columns do" {
    same 's/$/\r/'
    same 's/  */\t \t/g; s/^/  /; s/$/ \t/'
    same 's/^$/ \t\r/'
    printf '%s' "$(output)" >out.txt
    match expected out.txt
    assert_success
    differs 's/^tree      100/tree100/'
    differs 's/^tree      100/tree 10 0/'
}

@test "match: a wrong digit is 1, and both lines are shown under each other" {
    differs 's/0x4b25426d/0x4b25426f/'
    assert_output "out.txt differs from expected/day_fused.txt
line 10
  expected: tree      100  1         0x4b25426d  1.7e-09
  found:    tree      100  1         0x4b25426f  1.7e-09"
    differs 's/0x4b25426d/0x4b25426e/' # the other build's
}

@test "match: a free field takes what fits its type, and nothing else" {
    while IFS='|' read -r field good bad; do
        for value in $good; do same "s/$field/${value/_/ }/"; done
        for value in $bad; do differs "s/$field/${value/_/ }/"; done
    done <<'END'
12 |0_ 7_ 18446744073709551616_|-1_ 1.5_ 1e3_ 0x1_ banana_ nan_ +_
0x4b254270|0x00000000 0x0123456789abcdef|0x4b25427 0x4b2542701 0x4b25427g 4b254270 0X4b254270 banana 1.0
1.0e-05|0 -1.0e-5 +2. .5 1e308|nan -nan inf -inf NaN Infinity banana 0x1p3 1e999 1.5.5 1e e5 - . 1.5x
0.25|1e-3 0 12|-0.25 -0 nan inf banana
1.5x|-2x 3.25x|1.5 x 1.5y nanx bananax 1.5xx y1.5x
4:16|4:0|5:16 4: 4:x 4:1:6 16
0x8189389fe1bc0a65|0x0000000000000000|0x00000000 0x8189389fe1bc0a6 0x8189389fe1bc0a655 nan
END
}

@test "match: {text} is one column, or the rest of its line, and never nothing" {
    same 's/^device: .*/device: CPU/'
    differs 's/^device: .*/device:/'
    differs 's/^device: .*/devices: 2/'
    differs 's/word  end/end/'
    differs 's/word  end/two words  end/'
    same 's/^atomics move.*/x/'
    differs 's/^atomics move.*//'
    differs '/^atomics move/d'
    differs 's/^atomics move.*/&\n&/'
}

@test "match: an output cut off anywhere never passes" {
    local size cut
    size=$(output | wc -c)
    # The last byte is the line feed, which may be absent.
    for ((cut = 0; cut < size - 1; cut += 7)); do
        output | head -c "$cut" >out.txt
        match expected out.txt
        [[ $status == 1 || $status == 2 ]] || fail "cut at $cut of $size: exit $status"
    done
    differs '$d'
    assert_output "out.txt differs from expected/day_fused.txt
line 15
  expected: gates passed: tree, control"
}

@test "match: lines missing, added or in another order are shown, and their followers do not differ" {
    { output; echo 'one more'; echo; } >out.txt
    match expected out.txt
    assert_failure 1
    assert_output "out.txt differs from expected/day_fused.txt
line 16
  found:    one more
  found:    (a blank line)"
    differs '10d'
    assert_equal "${#lines[@]}" 3
    assert_line --partial '  expected: tree'
    differs '9s/^/new\n/; s/4b25426d/4b25426f/'
    assert_line --index 1 'line 9'
    assert_line --index 2 '  found:    new'
    assert_line --index 3 'line 11'
    assert_equal "${#lines[@]}" 6
    differs '9{h;d};10{G}'
    { output; seq 50; } >out.txt
    match expected out.txt
    assert_failure 1
    assert_equal "$(grep -c '  found: ' <<<"$output")" 40
    assert_line '... and 10 lines more'
}

@test "match: control characters are shown as codes and never sent" {
    differs 's/^kernel/\x1b[2J/'
    assert_line --partial 'found:    \x1b[2J'
    edit '1s/day/\x1b[2Jday/'
    refused 'nothing is pinned for ?[2Jday/sum'
}

# ---- several outputs in one file ------------------------------------------------------------

# log A B: two outputs as make run prints them, with what stands around them.
log() {
    printf '%s\n' 'CXX sum (fmad)' 'device: cpu (why)' '' '== day/sum, build fmad'
    cat "$1"
    printf '%s\n' '== day/sum, build fmad: passed' '' '== day/sum, build nofmad'
    cat "$2"
    printf '%s\n' '== day/sum, build nofmad: passed' 'moved: nothing' '' 'program build gates' 'sum fmad passed'
}

@test "match: the whole output of make run is taken apart, one verdict for each program" {
    output >a.txt
    separate >b.txt
    log a.txt b.txt >all.txt
    match expected all.txt
    assert_success
    assert_equal "${#lines[@]}" 2
    assert_line 'all.txt, line 5, day/sum matches expected/day_fused.txt: 15 lines compared, 10 fields free'
    assert_line 'all.txt, line 23, day/sum matches expected/day_separate.txt: 15 lines compared, 10 fields free'
    sed -i 's/0x4b25426e/0x4b25426f/' b.txt
    log a.txt b.txt >all.txt
    match expected all.txt
    assert_failure 1
    assert_equal "${#lines[@]}" 5
    assert_line 'all.txt, line 23, day/sum differs from expected/day_separate.txt'
    assert_line 'line 32'
    # Without the lines around them: an end is at `gates passed:`, where that is lacking at the next program.
    { cat a.txt; echo 'user$ ./sum_nofmad'; separate; echo 'user$'; } >all.txt
    match expected all.txt
    assert_success
    { sed '$d' a.txt; separate; } >all.txt
    match expected all.txt
    assert_failure 1
    assert_line '  expected: gates passed: tree, control'
    assert_line --partial 'line 15, day/sum matches expected/day_separate.txt'
}

@test "match: a part that cannot be compared is named: 2, and 1 where another one differs" {
    output >a.txt
    separate | sed 's/^n: .*/n: 7/' >b.txt
    log a.txt b.txt >all.txt
    match expected all.txt
    assert_failure 2
    assert_line --partial 'match: all.txt, line 23, day/sum: nothing is pinned for day/sum, separate, n 7'
    : >b.txt
    log a.txt b.txt >all.txt
    match expected all.txt
    assert_failure 2
    assert_line 'match: all.txt: no output after `== day/sum, build nofmad`'
    { cat a.txt; echo '== day/sum, build nofmad'; } >all.txt # the run was stopped there
    match expected all.txt
    assert_failure 2
    assert_line 'match: all.txt: no output after `== day/sum, build nofmad`'
    log b.txt a.txt >all.txt # the first one
    match expected all.txt
    assert_failure 2
    sed -i 's/0x4b25426d/0x4b25426f/' a.txt
    log a.txt b.txt >all.txt
    match expected all.txt
    assert_failure 1
    log b.txt b.txt >all.txt
    match expected all.txt
    assert_failure 2
    printf '%s\n' 'device: cpu (why)' 'program build gates' 'sum fmad passed' >out.txt
    refused 'out.txt: holds no output: no line "program: ..." (`make run V=1` prints them)'
}

# ---- nothing to compare with ----------------------------------------------------------------

@test "match: another revision is named and not compared" {
    edit 's/revision: 2/revision: 1/'
    refused 'out.txt: is of revision 1, expected/day_fused.txt is of revision 2: nothing compared'
    edit 's/revision: 2/revision: 3/; s/0x4b25426d/0x4b25426f/'
    refused 'is of revision 3'
}

@test "match: nothing pinned is 2 and says what is" {
    edit 's/n: 4194915/n: 77/'
    refused 'nothing is pinned for day/sum, fused, n 77; pinned of that program: day/sum, fused, n 4194915; day/sum, separate'
    edit '/^n: /d'
    refused 'nothing is pinned for day/sum, fused; pinned'
    edit 's/^n: /type: float\n&/'
    refused 'nothing is pinned for day/sum, fused, type float, n 4194915'
    edit 's/day.sum/day\/other/'
    refused 'nothing is pinned for day/other, fused, n 4194915; pinned of that program: nothing'
    for change in 's/own<8, 10>/own<8, 11>/' 's/own.*/own/' 's/fused/separate/'; do
        sed "s/device: .*/device: a card/; $change" expected/pi.txt >out.txt
        refused 'pinned of that program: pi/pi, fused, type own<8, 10>, n 64'
    done
}

@test "match: two expected files for one output is 2" {
    cp expected/day_fused.txt expected/copy.txt
    refused 'two expected files are for it: expected/copy.txt and expected/day_fused.txt'
}

@test "match: an output without a head, or with a broken one, is 2" {
    while IFS='|' read -r change message; do
        edit "$change"
        refused "$message"
    done <<'END'
1d|out.txt: holds no output: no line "program: ..."
/^contraction/d|no line "contraction: ..." in its head
/^revision/d|no line "revision: ..." in its head
1s/$/\n/|in its head
s/: fused/: both/|its contraction is neither fused nor separate
s/^n: .*/n:/|line 5: "n:" must name its value
s/^n: .*/&\n&/|line 6: a second "n:"
END
    edit '1s/^/$ .\/sum\n\n/' # what stands before is no part of it
    match expected out.txt
    assert_success
}

@test "match: an expected file is no output" {
    cp expected/day_fused.txt out.txt
    refused 'line 3 holds a free field: this is an expected file, not an output'
}

@test "match: empty, absent, binary, endless and folder inputs are 2" {
    : >out.txt
    refused 'out.txt: is empty'
    rm out.txt
    refused 'out.txt: cannot be read: '
    mkdir out.txt
    refused 'out.txt: is a folder'
    rmdir out.txt
    { output; printf 'a\0b\n'; } >out.txt
    refused 'holds a NUL byte: not a text'
    output | iconv -t UTF-16 >out.txt 2>/dev/null || printf '\xff\xfep\0' >out.txt
    refused 'begins with a byte order mark (PowerShell writes one): save it as plain ASCII'
    printf '\xef\xbb\xbf%s' "$(output)" >out.txt
    refused 'byte order mark'
    { output; seq 1986; } >out.txt
    refused 'has more than 2000 lines: not an output of a lesson'
    { output; seq 1985; } >out.txt
    match expected out.txt
    assert_failure 1
    assert_line '... and 1945 lines more'
    { output; head -c 1100000 /dev/zero | tr '\0' x; } >out.txt
    refused 'is larger than 1 MiB: not an output of a lesson'
}

@test "match: stray files are left out with a note; a damaged file of the program itself is 2" {
    echo 'a Mac puts such files there' >expected/._day.txt
    ln -s /dev/null expected/null.txt
    match expected out.txt
    assert_success
    assert_equal "${#lines[@]}" 1
    echo 'my notes' >expected/notes.txt
    : >expected/empty.txt
    ln -s nowhere expected/nowhere.txt
    match expected out.txt
    assert_success
    assert_line --partial 'match: note: expected/notes.txt is left out: no line "'
    assert_line 'match: note: expected/empty.txt is left out: is empty'
    assert_line --partial 'match: note: expected/nowhere.txt is left out: cannot be read'
    rm expected/notes.txt expected/empty.txt expected/nowhere.txt
    # Another program's damage is its own.
    sed -i '/^contraction/d' expected/pi.txt
    match expected out.txt
    assert_success
    sed -i '/^contraction/d' expected/day_fused.txt
    refused 'expected/day_fused.txt: no line "contraction: ..." in its head'
    printf '\xef\xbb\xbf' | cat - expected/day_small.txt >expected/day_fused.txt
    match expected out.txt
    assert_failure 2
}

@test "match: a folder that is none, or has no expected file, is 2" {
    match nowhere out.txt
    assert_failure 2
    assert_output --partial 'nowhere: cannot be read as a folder: '
    match expected/recorded/h200.txt out.txt
    assert_failure 2
    match expected/folder.txt out.txt
    assert_failure 2
    assert_output --partial 'nothing is pinned'
}

@test "match: a free field of no type, two in a column, and one in a key of the head are refused" {
    for field in '{...}' '{banana}' '{count' '{count}{bits}' '0x{...}' 'a{count}{'; do
        day expected/day_fused.txt fused 4194915 0x4b25426d
        sed -i "s/^summing/$field/" expected/day_fused.txt
        refused 'expected/day_fused.txt: line 7: a free field is one of {count} {bits} {hash} {number} {time} {text}, one in a column'
    done
    day expected/day_fused.txt fused '{count}' 0x4b25426d
    refused 'expected/day_fused.txt: line 5: "n:" must name its value'
}

@test "match: bad usage is 2, one line" {
    local arguments
    for arguments in '' 'expected' 'expected out.txt more' '--value expected out.txt' '-h' '--lesson day' \
        '--lesson day expected' '--merge expected/pi.txt' '--lesson' '--values expected out.txt' '-x out.txt'; do
        # shellcheck disable=SC2086 # split on purpose
        match $arguments
        assert_failure 2
        assert_output 'match: usage: match [--lesson LESSON | --which | --nearest] EXPECTED_DIR OUTPUT | match --merge EXPECTED_FILE OUTPUT'
        assert_equal "${#lines[@]}" 1
    done
}

@test "match: --lesson refuses another lesson's output; of several it takes its own" {
    match --lesson day expected out.txt
    assert_success
    local other
    for other in pi da dax days day/sum ''; do
        match --lesson "$other" expected out.txt
        assert_failure 2
        assert_output "match: out.txt: is an output of day/sum, which is not of lesson $other"
    done
    { output; sed 's/device: .*/device: a card/' expected/pi.txt; } >all.txt
    match --lesson pi expected all.txt
    assert_success
    assert_output --partial 'pi/pi matches expected/pi.txt'
    assert_equal "${#lines[@]}" 1
}

@test "match: --merge keeps the lines with free fields that still fit" {
    edit 's/summing/adding up/; s/^time/new   line\n&/; s/12        0x4b254270/banana    0x4b254270/'
    match --merge expected/day_fused.txt out.txt
    assert_success
    sed 's/summing/adding up/; s/^time/new   line\n&/; s/^atomic .*/atomic    100  banana    0x4b254270  1.0e-05/' \
        expected/day_fused.txt >wanted.txt
    printf '%s\n' "$output" >merged.txt
    run diff wanted.txt merged.txt
    assert_success
    match --merge expected/day_separate.txt out.txt
    assert_failure 2
    assert_output 'match: expected/day_separate.txt: is for another program or contraction than out.txt'
    for file in expected/pi.txt expected/README.md; do
        match --merge "$file" out.txt
        assert_failure 2
    done
    match --merge expected/day_fused.txt expected/day_fused.txt
    assert_failure 2
}

@test "match: a result that cannot be written is 2" {
    [[ -w /dev/full ]] || skip 'no /dev/full here'
    run bash -c '"$1/match" expected out.txt >/dev/full' _ "$BATS_FILE_TMPDIR"
    assert_failure 2
    assert_output --partial 'match: the result cannot be written: '
}

@test "match: without memory it says so, 2" {
    echo 'void *calloc(unsigned long n, unsigned long size) { return n == size ? &n : 0; }' >none.c
    "$CC" -std=c11 -w -fno-builtin -o match.none "$ROOT/tools/match.c" none.c
    run ./match.none expected out.txt
    assert_failure 2
    assert_output 'match: out of memory'
}

@test "match: no read or write out of bounds on mangled inputs" {
    local size cut
    # What one call reads it never frees.
    export ASAN_OPTIONS=detect_leaks=0
    "$CC" -std=c11 -g -fsanitize=address,undefined -fno-sanitize-recover=all \
        "$ROOT/tools/match.c" -o match.san 2>/dev/null && ./match.san expected out.txt || skip 'no address sanitizer here'
    size=$(output | wc -c)
    for ((cut = 0; cut < size; cut += 17)); do
        { output | head -c "$cut"; output | tail -c "+$((cut + 9))"; } >cut.txt
        # Carriage return, line feed, brace and 0xff over one byte each.
        { output | head -c "$cut"; printf '\r\n{\xff'; output | tail -c "+$((cut + 5))"; } >over.txt
        { cat cut.txt; output; } >two.txt
        for file in cut.txt over.txt two.txt; do
            run ./match.san expected $file
            [[ $status == [012] ]] || fail "$output"
            refute_output --partial 'Sanitizer'
        done
        cp over.txt expected/day_small.txt
        run ./match.san --merge expected/day_fused.txt cut.txt
        [[ $status == [02] ]] || fail "$output"
        refute_output --partial 'Sanitizer'
    done
    for ((cut = 1; cut < 4; cut++)); do
        printf '\xff\xfe\xef' | head -c "$cut" >cut.txt
        run ./match.san expected cut.txt
        assert_failure 2
    done
}
