# tools/match: is this output what the lesson must print?
# Every test makes its own expected files, so that no lesson's output matters.

load helper

setup_file() {
    "${CC:-cc}" -std=c11 -O1 "$ROOT/tools/match.c" -o "$BATS_FILE_TMPDIR/match"
}

# day FILE CONTRACTION N BITS: a file of lesson day/sum; what is in {...} in
# expected files is written so here too.
day() {
    cat >"$1" <<END
program: day/sum
revision: 2
device: {...}
contraction: $2
n: $3

summing $3 floats
kernel   runs  patterns  bits        max rel err
atomic    100  {...}     {...}       1.0e-05
tree      100  1         $4  1.7e-09

tree      512  0x4b254259  0xa60c46ff02dcdcf0
tree     1024  0x4b25425a  0xf8e6389109231114
time      {...} ms
{...}
run hash: 0x8189389fe1bc0a65
gates passed: tree, control
END
}

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    mkdir expected expected/recorded expected/folder.txt
    day expected/day_fused.txt fused 4194915 0x4b25426d
    day expected/day_separate.txt separate 4194915 0x4b25426e
    day expected/day_small.txt fused 1024 0x4523463d
    printf '%s\n' 'program: pi/pi' 'revision: 1' 'device: {...}' 'contraction: fused' \
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

tree      512  0x4b254259  0xa60c46ff02dcdcf0
tree     1024  0x4b25425a  0xf8e6389109231114
time      0.25 ms
atomics move, that is legal
run hash: 0x8189389fe1bc0a65
gates passed: tree, control
END
}

# edit SED-SCRIPT: the output, changed; refuses a script that changes nothing.
edit() {
    output | sed "$1" >out.txt
    ! cmp -s out.txt <(output) || fail "the edit '$1' changes nothing"
}

match() { run "$BATS_FILE_TMPDIR/match" "$@"; }

# refused TEXT: exit 2, nothing on stdout, one line on stderr that holds TEXT.
refused() {
    assert_failure 2
    assert_equal "${#lines[@]}" 1
    assert_output --partial "$1"
    run bash -c '"$@" 2>/dev/null' _ "$BATS_FILE_TMPDIR/match" expected out.txt
    assert_output ''
}

@test "match: equal is 0, one line names the file, lines and free fields" {
    match expected out.txt
    assert_success
    assert_output 'out.txt matches expected/day_fused.txt: 17 lines compared, 5 fields free'
}

@test "match: the build, the type and n pick the expected file" {
    edit 's/fused/separate/; s/0x4b25426d/0x4b25426e/'
    match expected out.txt
    assert_success
    assert_output --partial 'matches expected/day_separate.txt'
    edit 's/4194915/1024/; s/0x4b25426d/0x4523463d/'
    match expected out.txt
    assert_success
    assert_output --partial 'matches expected/day_small.txt'
    sed 's/device: .*/device: a card/' expected/pi.txt >out.txt
    match expected out.txt
    assert_success
    assert_output --partial 'matches expected/pi.txt: 8 lines compared, 1 field free'
}

@test "match: the other build's values do not pass" {
    edit 's/0x4b25426d/0x4b25426e/'
    match expected out.txt
    assert_failure 1
}

@test "match: carriage returns, blanks and a missing last line feed do not matter" {
    edit 's/$/\r/'
    match expected out.txt
    assert_success
    edit 's/  */\t \t/g; s/^/  /; s/$/ \t/'
    match expected out.txt
    assert_success
    edit 's/^$/ \t\r/'
    match expected out.txt
    assert_success
    printf '%s' "$(output)" >out.txt
    match expected out.txt
    assert_success
}

@test "match: blanks separate, a column is not two" {
    edit 's/^tree      100/tree100/'
    match expected out.txt
    assert_failure 1
    edit 's/^tree      100/tree 10 0/'
    match expected out.txt
    assert_failure 1
}

@test "match: a wrong digit is 1, and both lines are shown under each other" {
    edit 's/0x4b25426d/0x4b25426f/'
    match expected out.txt
    assert_failure 1
    assert_output "out.txt differs from expected/day_fused.txt
line 10 differs
  expected: tree 100 1 0x4b25426d 1.7e-09
  found:    tree 100 1 0x4b25426f 1.7e-09
1 line differs, 0 missing, 0 surplus"
    edit 's/0x8189389fe1bc0a65/0x8189389fe1bc0a64/'
    match expected out.txt
    assert_failure 1
    assert_line 'line 16 differs'
}

@test "match: a free column is one column, neither none nor two" {
    edit 's/12        0x4b254270/0x4b254270/'
    match expected out.txt
    assert_failure 1
    edit 's/12        0x4b254270/12 13 0x4b254270/'
    match expected out.txt
    assert_failure 1
    edit 's/0.25 ms/ms/'
    match expected out.txt
    assert_failure 1
    edit 's/0.25 ms/0.25/'
    match expected out.txt
    assert_failure 1
    edit 's/0.25 ms/0.25 s/'
    match expected out.txt
    assert_failure 1
}

@test "match: a free field at the end takes the rest of the line, not nothing" {
    edit 's/^device: .*/device: CPU/'
    match expected out.txt
    assert_success
    edit 's/^device: .*/device:/'
    match expected out.txt
    assert_failure 1
    assert_line 'line 3 differs'
    edit 's/^device: .*/devices: 2/'
    match expected out.txt
    assert_failure 1
}

@test "match: a free line is one line, not blank, not missing, not two" {
    edit 's/^atomics move.*/x/'
    match expected out.txt
    assert_success
    edit 's/^atomics move.*//'
    match expected out.txt
    assert_failure 1
    edit '/^atomics move/d'
    match expected out.txt
    assert_failure 1
    edit 's/^atomics move.*/&\n&/'
    match expected out.txt
    assert_failure 1
}

@test "match: an output cut off anywhere never passes" {
    local size cut
    size=$(output | wc -c)
    # The last byte is the line feed, which may be absent.
    for ((cut = 0; cut < size - 1; cut += 3)); do
        output | head -c "$cut" >out.txt
        match expected out.txt
        [[ $status == 1 || $status == 2 ]] || fail "cut at $cut of $size: exit $status"
    done
    output | head -n 16 >out.txt
    match expected out.txt
    assert_failure 1
    assert_output "out.txt differs from expected/day_fused.txt
missing after line 16 (line 17 of the expected file)
  expected: gates passed: tree, control
  found:    (no such line)
0 lines differ, 1 missing, 0 surplus"
}

@test "match: surplus lines are named, a blank one too" {
    { output; echo 'one more'; echo; } >out.txt
    match expected out.txt
    assert_failure 1
    assert_output "out.txt differs from expected/day_fused.txt
line 18 is surplus
  expected: (no such line)
  found:    one more
line 19 is surplus
  expected: (no such line)
  found:    (a blank line)
0 lines differ, 0 missing, 2 surplus"
}

@test "match: a line missing or added does not make its followers differ" {
    edit '10d'
    match expected out.txt
    assert_failure 1
    assert_line 'missing after line 9 (line 10 of the expected file)'
    assert_line '0 lines differ, 1 missing, 0 surplus'
    edit '1s/^/$ .\/sum\n/; s/0xa60c46ff02dcdcf0/0xa60c46ff02dcdcf1/'
    match expected out.txt
    assert_failure 1
    assert_line 'line 1 is surplus'
    assert_line 'line 13 differs (line 12 of the expected file)'
    assert_line '1 line differs, 0 missing, 1 surplus'
}

@test "match: lines in another order differ" {
    edit '12{h;d};13{G}'
    match expected out.txt
    assert_failure 1
}

@test "match: ten differences are shown, the others counted" {
    { output; seq 12; } >out.txt
    match expected out.txt
    assert_failure 1
    assert_equal "$(grep -c 'is surplus$' <<<"$output")" 10
    refute_line '  found:    11'
    assert_line '... and 2 more'
    assert_line '0 lines differ, 0 missing, 12 surplus'
}

@test "match: control characters are shown as codes and never sent" {
    edit 's/^kernel/\x1b[2J/'
    match expected out.txt
    assert_failure 1
    assert_line --partial 'found:    \x1b[2J runs'
    edit '1s/day/\x1b[2Jday/'
    match expected out.txt
    refused 'program ?[2Jday/sum'
}

# ---- another revision ---------------------------------------------------------

REVISED='revision 1 is not the current 2: only the pinned values were compared: 6 values'

@test "match: at another revision words may change, values are held" {
    edit 's/revision: 2/revision: 1/; s/summing/adding up/; /^atomic/d; s/^device.*//
        s/ 1.7e-09/, 1.8e-09/; s/^kernel.*//; s/^tree/& of 256/; s/^gates passed.*/gates passed: 2/'
    match expected out.txt
    assert_failure 2 # the head now ends before its contraction line
    edit 's/revision: 2/revision: 1/; s/summing/adding up/; /^atomic/d; s/^device: .*/card/
        s/ 1.7e-09/, 1.8e-09/; s/^kernel.*//; s/^tree/& of 256/; s/^gates passed.*/gates passed: 2/'
    match expected out.txt
    assert_success
    assert_line "$REVISED"
    assert_line 'out.txt holds every pinned value of expected/day_fused.txt'
}

@test "match: at another revision too, a run whose gates did not all pass is 1" {
    edit 's/^revision: 2/revision: 1/; /^gates passed:/d'
    match expected out.txt
    assert_failure 1
    assert_output --partial 'a gate failed'
}

@test "match: a newer revision than the expected one is compared by values too" {
    edit 's/revision: 2/revision: 3/'
    match expected out.txt
    assert_success
    assert_line --partial 'revision 3 is not the current 2: only the pinned values'
}

@test "match: at another revision a wrong, lost or foreign value is 1" {
    local change
    for change in 's/0x4b25426d/0x4b25426c/' 's/0xf8e6389109231114/0xf8e6389109231115/' \
        's/0xf8e6389109231114//' '/^run hash/d' 's/0x4b25426d/0x4b25426d0/' \
        's/0x4b25426d/0x4b25426/' 's/0x4b25426d/10x4b25426d/' 's/0x4b25426d/0x4b25426dg/' \
        's/^run hash/the run hash/' '14,99d' '13d' '10s/tree/trees/' \
        's/\(0x4b25425a\)  \(0xf8e6389109231114\)/\2 \1/'; do
        edit "s/revision: 2/revision: 1/"
        match expected out.txt
        assert_success
        sed "$change" out.txt >changed.txt
        match expected changed.txt
        [[ $status == 1 ]] || fail "'$change': exit $status"
        assert_line "$REVISED"
        assert_line --partial '  expected: '
    done
    edit 's/revision: 2/revision: 1/; s/0x8189389fe1bc0a65/0x8189389fe1bc0a64/'
    match expected out.txt
    assert_output "$REVISED
line 16 of the expected file: its values are not all there
  expected: run hash: 0x8189389fe1bc0a65
  found:    run hash: 0x8189389fe1bc0a64
out.txt differs from expected/day_fused.txt: 1 line not pinned"
}

@test "match: punctuation and values between pinned ones do not hide them" {
    edit 's/revision: 2/revision: 1/; s/0x4b25425a  0xf8/(0x4b25425a, 0x00000000), 0xf8/'
    match expected out.txt
    assert_success
}

@test "match: equal expected lines need as many output lines" {
    sed -i 's/^time .*/tree 0x4b25426d/' expected/day_fused.txt
    edit 's/revision: 2/revision: 1/'
    match expected out.txt
    assert_failure 1
    edit 's/revision: 2/revision: 1/; s/^time.*/tree 0x4b25426d/'
    match expected out.txt
    assert_success
}

@test "match: --values compares the values alone at the same revision" {
    edit 's/summing/adding up/'
    match expected out.txt
    assert_failure 1
    match --values expected out.txt
    assert_success
    assert_line '--values: only the pinned values were compared: 6 values'
    edit 's/0x4b25426d/0x4b25426e/'
    match --values expected out.txt
    assert_failure 1
}

@test "match: another revision and nothing pinned is 2" {
    echo 'neither 0x1234567 nor 0x123456789 nor 0x123456789abcdef01 is a value' >>expected/pi.txt
    sed 's/device: .*/device: a card/; s/revision: 1/revision: 2/' expected/pi.txt >out.txt
    match expected out.txt
    refused 'expected/pi.txt: pins no value'
}

# ---- nothing to compare with --------------------------------------------------

@test "match: nothing pinned is 2 and says what is" {
    edit 's/n: 4194915/n: 77/'
    match expected out.txt
    refused 'nothing is pinned for n 77 of program day/sum, contraction fused; pinned n: 4194915, 1024'
    edit '/^n: /d'
    match expected out.txt
    refused 'nothing is pinned for no n of program day/sum'
    edit 's/^n: /type: float\n&/'
    match expected out.txt
    refused 'nothing is pinned for type float of program day/sum, contraction fused; pinned type: none'
    sed 's/device: .*/device: a card/; s/own<8, 10>/own<8, 11>/' expected/pi.txt >out.txt
    match expected out.txt
    refused 'nothing is pinned for type own<8, 11> of program pi/pi, contraction fused; pinned type: own<8, 10>'
    sed -i 's/own.*/own/' out.txt
    match expected out.txt
    refused 'nothing is pinned for type own of'
    sed -i 's/fused/separate/' out.txt
    match expected out.txt
    refused 'nothing is pinned for contraction separate of program pi/pi; pinned contraction: fused'
    edit 's/day.sum/day\/other/'
    match expected out.txt
    refused 'nothing is pinned for program day/other; pinned program: day/sum, pi/pi'
}

@test "match: two expected files for one output is 2" {
    cp expected/day_fused.txt expected/copy.txt
    match expected out.txt
    refused 'two expected files are for this output: expected/copy.txt and expected/day_fused.txt'
}

@test "match: an output without a head, or with a broken one, is 2" {
    echo 'Segmentation fault' >out.txt
    match expected out.txt
    refused 'out.txt: has no head'
    { echo; output; } >out.txt
    match expected out.txt
    refused 'out.txt: has no head'
    edit '1,5{/program/d}'
    match expected out.txt
    refused 'out.txt: has no head'
    edit '/^contraction/d'
    match expected out.txt
    refused 'no line "contraction: ..."'
    edit '/^revision/d'
    match expected out.txt
    refused 'no line "revision: ..."'
    edit 's/: fused/: both/'
    match expected out.txt
    refused 'neither fused nor separate'
    edit 's/revision: 2/revision: two/'
    match expected out.txt
    refused 'revision "two" is not a number'
    edit 's/^n: .*/n:/'
    match expected out.txt
    refused 'line 5: "n:" must name its value'
    edit 's/^n: .*/&\n&/'
    match expected out.txt
    refused 'line 6: a second "n:"'
}

@test "match: an expected file is no output" {
    cp expected/day_fused.txt out.txt
    match expected out.txt
    refused 'line 3 holds {...}: this is an expected file'
}

@test "match: empty, absent, binary, endless and folder inputs are 2" {
    : >out.txt
    match expected out.txt
    refused 'out.txt: is empty'
    rm out.txt
    match expected out.txt
    refused 'out.txt: cannot be read: '
    mkdir out.txt
    match expected out.txt
    refused 'out.txt: is a folder'
    rmdir out.txt
    { output; printf 'a\0b\n'; } >out.txt
    match expected out.txt
    refused 'line 18 holds a NUL byte'
    output | iconv -t UTF-16 >out.txt 2>/dev/null || printf '\xff\xfep\0' >out.txt
    match expected out.txt
    refused 'byte order mark'
    printf '\xef\xbb\xbf%s' "$(output)" >out.txt
    match expected out.txt
    refused 'byte order mark'
    { output; printf '%02001d\n' 0; } >out.txt
    match expected out.txt
    refused 'line 18 is longer than 2000 characters'
    { output; seq 1984; } >out.txt
    match expected out.txt
    refused 'more than 2000 lines'
    { output; head -c 1100000 /dev/zero | tr '\0' x; } >out.txt
    match expected out.txt
    refused 'larger than'
}

@test "match: the longest line and the most lines allowed are compared" {
    { output; printf '%02000d\n' 0; } >out.txt
    match expected out.txt
    assert_failure 1
    { output; seq 1983; } >out.txt
    match expected out.txt
    assert_failure 1
    assert_line '0 lines differ, 0 missing, 1983 surplus'
}

@test "match: a folder without expected files, or with a broken one, is 2" {
    match nowhere out.txt
    assert_failure 2
    assert_output --partial 'nowhere: cannot be read as a folder'
    match expected/recorded/h200.txt out.txt
    assert_failure 2
    assert_output --partial 'cannot be read as a folder'
    match expected/folder.txt out.txt
    assert_failure 2
    assert_output --partial 'no expected file (*.txt) in this folder'
    : >expected/empty.txt
    match expected out.txt
    refused 'expected/empty.txt: is empty'
    echo 'no head' >expected/empty.txt
    match expected out.txt
    refused 'expected/empty.txt: has no head'
    ln -sf nowhere expected/empty.txt
    match expected out.txt
    refused 'expected/empty.txt: cannot be read'
    ln -sf /dev/null expected/empty.txt # not a regular file, so not read
    match expected out.txt
    assert_success
    echo 'a Mac puts such files there' >expected/._day.txt
    match expected out.txt
    assert_success
}

@test "match: in an expected file {...} must be a column, and no key of the head" {
    echo 'max {...}, min' >>expected/pi.txt
    match expected out.txt
    refused 'expected/pi.txt: line 9: {...} must be a column of its own'
    sed -i 's/^max.*/0x{...}/' expected/pi.txt
    match expected out.txt
    refused 'expected/pi.txt: line 9: {...} must be a column of its own'
    sed -i 's/^0x.*//; s/^n: .*/n: {...}/' expected/pi.txt
    match expected out.txt
    refused 'expected/pi.txt: line 6: "n:" must name its value'
}

@test "match: bad usage is 2, one line" {
    local -a arguments
    for arguments in '' 'expected' 'expected out.txt more' '--value expected out.txt' \
        '--values expected' '--count-free' '-h' '--lesson day' '--lesson day expected' \
        '--merge expected/pi.txt' '--lesson'; do
        # shellcheck disable=SC2086 # split on purpose
        match $arguments
        assert_failure 2
        assert_output --partial 'usage: match'
        assert_equal "${#lines[@]}" 1
    done
}

@test "match: --lesson refuses another lesson's output" {
    match --lesson day expected out.txt
    assert_success
    match --lesson day --values expected out.txt
    assert_success
    assert_line --partial -- '--values: only'
    local other
    for other in pi da dax days day/sum ''; do
        match --lesson "$other" expected out.txt
        assert_failure 2
        assert_output "match: out.txt: is an output of day/sum, which is not of lesson $other"
    done
}

@test "match: --merge keeps the lines that still fit, with their free fields" {
    # One line reworded, one dropped, one added; the others are the expected
    # file's own, spacing included, and match accepts the result.
    edit 's/summing/adding up/; /^gates/d; s/^time/new   line\n&/; s/$/\r/'
    match --merge expected/day_fused.txt out.txt
    assert_success
    printf '%s\n' "$output" >merged.txt
    sed 's/summing/adding up/; /^gates/d; s/^time/new   line\n&/' expected/day_fused.txt >wanted.txt
    run diff wanted.txt merged.txt
    assert_success
    mv merged.txt expected/day_fused.txt
    match expected out.txt
    assert_success
}

@test "match: --merge refuses another program's or build's output" {
    match --merge expected/day_separate.txt out.txt
    assert_failure 2
    assert_output 'match: expected/day_separate.txt: is for another program or contraction than out.txt'
    match --merge expected/pi.txt out.txt
    assert_failure 2
    match --merge expected/README.md out.txt
    assert_failure 2
    match --merge expected/day_fused.txt expected/day_fused.txt
    assert_failure 2
}

@test "match: a result that cannot be written is 2" {
    [[ -w /dev/full ]] || skip 'no /dev/full here'
    run bash -c '"$1/match" expected out.txt >/dev/full' _ "$BATS_FILE_TMPDIR"
    assert_failure 2
}

@test "match: --count-free counts the free fields of a file" {
    match --count-free expected/day_fused.txt
    assert_success
    assert_output 5
    match --count-free expected/README.md
    assert_success
    assert_output 0
    echo '{...} {...} x {...}' >free.txt
    match --count-free free.txt
    assert_output 3
    echo 'x{...}' >free.txt
    match --count-free free.txt
    assert_failure 2
}

@test "match: no read or write out of bounds, no leak, on mangled inputs" {
    local size cut
    "${CC:-cc}" -std=c11 -g -fsanitize=address,undefined -fno-sanitize-recover=all \
        "$ROOT/tools/match.c" -o match.san 2>/dev/null && ./match.san expected out.txt ||
        skip 'no address sanitizer here'
    size=$(output | wc -c)
    for ((cut = 0; cut < size; cut += 17)); do
        { output | head -c "$cut"; output | tail -c "+$((cut + 9))"; } >cut.txt
        run ./match.san expected cut.txt
        [[ $status == [012] ]] || fail "$output"
        refute_output --partial 'Sanitizer'
        run ./match.san --merge expected/day_fused.txt cut.txt
        [[ $status == [02] ]] || fail "$output"
        refute_output --partial 'Sanitizer'
        run ./match.san --values expected cut.txt
        [[ $status == [012] ]] || fail "$output"
        refute_output --partial 'Sanitizer'
        # Carriage return, line feed, NUL and 0xff over one byte each.
        { output | head -c "$cut"; printf '\r\n\0\xff'; output | tail -c "+$((cut + 5))"; } >cut.txt
        run ./match.san expected cut.txt
        [[ $status == [012] ]] || fail "$output"
        refute_output --partial 'Sanitizer'
    done
    for ((cut = 1; cut < 4; cut++)); do
        printf '\xff\xfe\xef' | head -c "$cut" >cut.txt
        run ./match.san expected cut.txt
        assert_failure 2
    done
}
