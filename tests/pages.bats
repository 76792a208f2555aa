# What holds the pages, the lessons' common parts and the expected files together.
load helper

# Lesson programs are what the Makefile takes for them; neither needs git, so an unpacked archive will do.
lessons() { (cd "$ROOT" && for dir in $(sed -n 's/^LESSONS := \([a-z].*\)/\1/p' Makefile); do ls "$dir"/*.cu 2>/dev/null; done); }
pages() { (cd "$ROOT" && ls README.md */README.md); }

# The blocks of a page that follow a marker: blocks PAGE snippet|output -> files N.name, N.body
blocks() {
    awk -v kind="$2" -v dir="$BATS_TEST_TMPDIR" '
        $1 == "<!--" && $2 == kind ":" { name = $3; part = $4; want = 1; next }
        want && /^```/ { n++; want = 0; inside = 1; print name, (part == "-->" ? "" : part) > (dir "/" n ".name"); printf "" > (dir "/" n ".body"); next }
        inside && /^```/ { inside = 0; next }
        inside { print > (dir "/" n ".body") }
        END { print n + 0 }' "$1"
}

@test "each lesson page has code excerpts and output, and each code excerpt is the file's own" {
    cd "$ROOT"
    total=0
    for page in $(pages); do
        rm -f "$BATS_TEST_TMPDIR"/*.name
        n=$(blocks "$page" snippet)
        total=$((total + n))
        for i in $(seq 1 "$n"); do
            read -r file part <"$BATS_TEST_TMPDIR/$i.name"
            source=$(dirname "$page")/$file
            awk -v part="$part" '$0 ~ "// snippet: " part "$" { on = 1; next } /\/\/ end snippet/ { on = 0 } on' "$source" >"$BATS_TEST_TMPDIR/have"
            [ -s "$BATS_TEST_TMPDIR/have" ] || { echo "$page: no snippet '$part' in $source"; false; }
            run diff "$BATS_TEST_TMPDIR/have" "$BATS_TEST_TMPDIR/$i.body"
            assert_success
        done
    done
    [ "$total" -ge "$(lessons | cut -d/ -f1 | sort -u | wc -l)" ]
}

# stands_in EXPECTED BLOCK: found, or not found. A free field of the expected file may hold any value of its
# type in the block.
stands_in() {
    awk 'function fits(want, have,   w, h, i, nw, nh) {
                 nw = split(want, w, " "); nh = split(have, h, " ")
                 for (i = 1; i <= nw; i++) {
                     if (i > nh) return 0
                     if (h[i] "" == w[i] "") continue # as words: as numbers, long ones would lose digits
                     if (i == nw && w[i] ~ /{text}$/) return 1
                     if (w[i] ~ /{/) {
                         sub(/{count}/, "[0-9]+", w[i]); sub(/{bits}|{hash}/, "0x[0-9a-f]+", w[i])
                         sub(/{number}|{time}/, "[-+0-9.e]+", w[i]); sub(/{text}/, "[^ ]+", w[i])
                         if (h[i] !~ ("^" w[i] "$")) return 0
                     } else return 0
                 }
                 return nw == nh
             }
             NR == FNR { want[++n] = $0; next }
             { have[++m] = $0 }
             END {
                 for (s = 0; s + m <= n; s++) {
                     ok = 1
                     for (j = 1; j <= m && ok; j++) ok = fits(want[s + j], have[j])
                     if (ok && m) { print "found"; exit }
                 }
                 print "not found"
             }' "$1" "$2"
}

@test "each output block of a page stands in the expected file it names, line after line" {
    cd "$ROOT"
    total=0
    for page in $(pages); do
        rm -f "$BATS_TEST_TMPDIR"/*.name
        n=$(blocks "$page" output)
        total=$((total + n))
        for i in $(seq 1 "$n"); do
            read -r file _ <"$BATS_TEST_TMPDIR/$i.name"
            run stands_in "expected_output/$file" "$BATS_TEST_TMPDIR/$i.body"
            [ "$output" = found ] || { echo "$page: block $i is not in expected_output/$file:"; cat "$BATS_TEST_TMPDIR/$i.body"; false; }
        done
    done
    [ "$total" -ge 1 ]
}

@test "that comparison can fail: the last digit of a hash, a word, a line, a value of no such type" {
    cd "$BATS_TEST_TMPDIR"
    expected=want
    printf '%s\n' 'row   hash                 speed      value' 'one   0x000000000000000c5  {number}x  14.78' \
        'two   0x00000000000000011  {time} {bits}' 'device: {text}' >want
    sed -n '2,4{s/{number}/1.0/;s/{time} {bits}/0.5 0x1f/;s/{text}/a card/;p}' want >block
    assert_equal "$(stands_in want block)" found
    for edit in 's/0c5 /0c4 /' 's/14\.78/14.79/' '2d' '1s/$/ 1/' 's/1\.0x/1.0/' 's/1\.0x/nanx/' 's/0x1f/31/' 's/device/devices/' 's/: .*/:/'; do
        sed "$edit" block >edited
        assert_equal "$edit: $(stands_in "$expected" edited)" "$edit: not found"
    done
    : >edited
    assert_equal "$(stands_in "$expected" edited)" 'not found'
}

@test "links between the pages lead to files that are there" {
    cd "$ROOT"
    for page in $(pages); do
        # Prose alone: in code, ]( may stand for something else.
        for link in $(awk '/^```/ { code = !code } !code { gsub(/`[^`]*`/, ""); print }' "$page" | grep -oE '\]\([^)#]+' | sed 's/](//' | grep -vE '^https?:'); do
            [ -e "$(dirname "$page")/$link" ] || { echo "$page: $link is not there"; false; }
            links=$((${links:-0} + 1))
        done
    done
    [ "${links:-0}" -ge 20 ] || { echo "only ${links:-0} links were looked at"; false; }
}

@test "the helpers are the same in the four lessons, at the top and at the end" {
    cd "$ROOT"
    n=0
    for file in day68_reproducibility/reproducibility.cu precision_reduction/precision_reduction.cu fpmp_pi/fpmp_pi.cu canonical_tree/canonical_tree.cu; do
        sed -n '/^\/\/ helpers:/,/^\/\/ end helpers/p; /^\/\/ helper bodies:/,/^\/\/ end helper bodies/p' "$file" >"$BATS_TEST_TMPDIR/block"
        [ "$(wc -l <"$BATS_TEST_TMPDIR/block")" -gt 70 ] || { echo "$file: no helpers"; false; }
        [ -e "$BATS_TEST_TMPDIR/first" ] || cp "$BATS_TEST_TMPDIR/block" "$BATS_TEST_TMPDIR/first"
        diff "$BATS_TEST_TMPDIR/first" "$BATS_TEST_TMPDIR/block" || { echo "$file differs"; false; }
        n=$((n + 1))
    done
    assert_equal $n 4
}

@test "every excerpt and every output on a lesson's page carries its marker, or nothing would hold it" {
    cd "$ROOT"
    for page in */README.md; do
        case $page in cpu/* | expected_output/* | embeds/* | exercises/* | tests/*) continue ;; esac
        pages=$((${pages:-0} + 1))
        assert_equal "$page $(grep -cE '^```(cuda|text)$' "$page")" "$page $(grep -cE '^<!-- (snippet|output): ' "$page")"
        [ "$(grep -c '^<!-- snippet: ' "$page")" -ge 1 ]
        [ "$(grep -c '^<!-- output: ' "$page")" -ge 1 ]
    done
    assert_equal "$pages" 4
}

@test "hashes in a page's prose and tables are some program's own" {
    cd "$ROOT"
    # Those that stand for a planted fault or another size are pinned by the lessons' tests.
    for page in README.md */README.md; do
        for value in $(grep -oE '0x[0-9a-f]{16}' "$page" | sort -u); do
            grep -qrF "$value" expected_output --include='*.txt' || grep -qF "$value" tests/*.bats tests/*/*.cu tests/*/faults/*.patch */*.cu ||
                { echo "$page: $value is nowhere else"; false; }
            values=$((${values:-0} + 1))
        done
    done
    [ "${values:-0}" -ge 4 ] || { echo "only ${values:-0} hashes were looked at"; false; }
}

@test "lessons: plain ASCII, LF, no local include but a lesson's own program, the first kernel early" {
    cd "$ROOT"
    [ "$(lessons | wc -l)" -ge 8 ] || { echo "only $(lessons | wc -l) programs"; false; }
    for file in $(lessons); do
        run grep -nP '[^\x00-\x7F]|\r' "$file"
        assert_output ''
        run grep -nE '#include *"' "$file"
        case $file in
            canonical_tree/wrong_orders.cu | canonical_tree/fused_tree.cu | canonical_tree/tree_in_graph.cu)
                assert_output --regexp '^[0-9]+:#include "canonical_tree.cu"$' ;;
            fpmp_pi/fpmp_tour.cu) assert_output --regexp '^[0-9]+:#include "fpmp_pi.cu"$' ;;
            *) assert_output '' ;;
        esac
    done
    for file in day68_reproducibility/reproducibility.cu precision_reduction/precision_reduction.cu fpmp_pi/fpmp_pi.cu canonical_tree/canonical_tree.cu; do
        first=$(grep -n '^__global__' "$file" | head -n 1 | cut -d : -f 1)
        [ "$first" -le 80 ] || { echo "$file: the first kernel stands on line $first"; false; }
    done
}

# The free fields of expected files, one a line: program, type, row, column, by tabs.
free_in() {
    for file in "$1"/*.txt; do
        program=$(basename "$file" .txt)
        awk -v list=1 -f "$ROOT/tools/moved.awk" "$file" | sed "s/^/${program%_nofmad}\t/"
    done
}

# free_faults FOLDER: what is wrong between the free fields of its expected files and its README's table
# | program | row | column | `{type}` | why |: a field without a row, a row without a field or a reason, and
# bits, hashes, sums or digits that are free in a row of neither atomics nor OpenMP's reduction.
free_faults() {
    free_in "$1" | awk -F'\t' '
        FNR == NR {
            split($0, cell, "|")
            for (i in cell) gsub(/^ +| +$|`/, "", cell[i])
            if (cell[5] !~ /^{[a-z]+}$/) next
            rows++
            for (i = 1; i <= 4; i++) want[rows, i] = cell[i + 1]
            if (cell[6] == "") print "no reason: " $0
            if (cell[5] ~ /bits|hash/ || cell[4] ~ /bits|hash|sum|total|value|digits|gained/)
                if (cell[3] !~ /tomic|omp reduction/) print "must not be free: " $0
            next
        }
        {
            covered = 0
            for (r = 1; r <= rows; r++)
                if ((want[r, 1] == "all" || want[r, 1] == $1) && want[r, 4] == $2 && index($3, want[r, 2]) == 1 && want[r, 3] == $4)
                    covered = used[r] = 1
            if (!covered) print "in no row: " $0
        }
        END { for (r = 1; r <= rows; r++) if (!(r in used)) print "unused: " want[r, 1] ", " want[r, 2] ", " want[r, 3] }
    ' "$1/README.md" -
}

@test "expected files: each free field has its reason in the README's table, and each row there its field" {
    run free_faults "$ROOT/expected_output"
    assert_output ''
    # Both builds of a program have the same ones.
    for file in "$ROOT"/expected_output/*_nofmad.txt; do
        assert_equal "$(awk -v list=1 -f "$ROOT/tools/moved.awk" "$file")" "$(awk -v list=1 -f "$ROOT/tools/moved.awk" "${file%_nofmad.txt}.txt")"
    done
}

@test "that rule about free fields can fail: bits, a hash, digits, a type, an unused row, no reason" {
    mkdir "$BATS_TEST_TMPDIR/e"
    cd "$BATS_TEST_TMPDIR/e"
    cat >sum.txt <<'END'
program: x/sum
device: {text}

kernel       first bits  digits  threads
atomicSum    {bits}       14.78        4
treeSum      0x00000001   14.78  {count}

run hash: 0x0000000000000001
END
    cat >README.md <<'END'
| program | row | column | type | why it may differ |
| --- | --- | --- | --- | --- |
| all | `device:` | device | `{text}` | the card |
| sum | `atomicSum` | first bits | `{bits}` | any order |
| sum | `treeSum` | threads | `{count}` | the machine |
END
    mkdir ../good
    cp ./* ../good
    run free_faults .
    assert_output ''
    while IFS=@ read -r file edit fault; do
        cp ../good/* .
        sed -i "$edit" "$file"
        run cmp -s "$file" "../good/$file"
        assert_failure
        run free_faults .
        assert_line --partial "$fault"
    done <<'END'
sum.txt@s/0x00000001 /{bits}     /@in no row: sum	{bits}	treeSum	first bits
sum.txt@s/ 14.78/{number}/@in no row: sum	{number}	atomicSum	digits
sum.txt@s/^run hash: .*/run hash: {hash}/@in no row: sum	{hash}	run
sum.txt@s/{count}/{number}/@in no row: sum	{number}	treeSum	threads
sum.txt@s/{count}/      4/@unused: sum, treeSum, threads
README.md@s/ the card / /@no reason
README.md@$a| sum | treeSum | first bits | {bits} | why |@must not be free
README.md@$a| sum | treeSum | digits | {number} | why |@must not be free
END
}

# A recording of another revision than the expected file of its program and build is due anew and not
# compared; any other must match: recording_faults EXPECTED_DIR FILE...
recording_faults() {
    local folder=$1 file revision
    shift
    for file; do
        expected=$folder/$(basename "$file" | cut -d. -f1).txt
        revision=$(sed -n '1,/^\r*$/s/^revision: \([0-9]*\)\r*$/\1/p' "$file")
        if [ -n "$revision" ] && [ "$revision" -lt "$(sed -n 's/^revision: //p' "$expected")" ]; then
            echo "due: $(basename "$file")"
        else
            "$BUILD/tools/match" "$folder" "$file" >/dev/null 2>&1 || echo "differs: $(basename "$file")"
        fi
    done
}

@test "raw outputs of real devices are what the expected files say, or named as due for a new recording" {
    cd "$ROOT/expected_output"
    run recording_faults . recorded/*.txt
    refute_output --partial 'differs: '
    if [ -n "$output" ]; then sed 's/^/# /' <<<"$output" >&3; fi
}

@test "that check of recordings can fail: another bit, and an older revision is due" {
    cd "$BATS_TEST_TMPDIR"
    mkdir e
    printf '%s\n' 'program: x/sum' 'revision: 2' 'device: {text}' 'contraction: fused' '' 'bits 0x00000001' >e/sum.txt
    sed 's/{text}/a card/' e/sum.txt >sum.card.txt
    run recording_faults e sum.card.txt
    assert_output ''
    sed -i 's/1$/3/' sum.card.txt
    run recording_faults e sum.card.txt
    assert_output 'differs: sum.card.txt'
    sed -i 's/revision: 2/revision: 1/' sum.card.txt
    run recording_faults e sum.card.txt
    assert_output 'due: sum.card.txt'
}

@test "scripts are clean under shellcheck" {
    command -v shellcheck >/dev/null || skip "no shellcheck (Debian: apt-get install shellcheck)"
    cd "$ROOT"
    run shellcheck -S warning tools/*.sh .ci/run tests/helper.bash tests/*.sh tests/mutants/*.sh tests/exercises/*.sh tests/exercises/*/*.sh
    assert_success
}

@test "C tools compile without a warning" {
    cd "$ROOT"
    for file in tools/*.c cpu/*.c; do
        run "$CC" -std=c11 -Wall -Wextra -Wpedantic -Icpu -c -o "$BATS_TEST_TMPDIR/o" "$file"
        assert_success
        assert_output ''
    done
}
