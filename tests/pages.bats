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

# stands_in EXPECTED BLOCK: found, or not found. A free field of the expected file may hold any word in the block.
stands_in() {
    awk 'function fits(want, have,   w, h, i, nw, nh) {
                 nw = split(want, w, " "); nh = split(have, h, " ")
                 for (i = 1; i <= nw; i++) {
                     if (w[i] == "{...}") { if (i == nw) return nh >= i; continue }
                     if (i > nh || (w[i] "") != (h[i] "")) return 0 # as words: a number would lose digits of a hash
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

@test "that comparison can fail: the last digit of a hash, a word, a line" {
    cd "$BATS_TEST_TMPDIR"
    expected=$ROOT/expected_output/fpmp_pi.txt
    sed -n '/^double /,/^float_pair_mid /s/{\.\.\.}/1.0/gp' "$expected" >block
    assert_equal "$(wc -l <block)" 3
    assert_equal "$(stands_in "$expected" block)" found
    for edit in 's/0c5$/0c4/' 's/14\.78/14.79/' '2d' 's/$/ 1/' 's/1+5/1+50/'; do
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
        done
    done
}

@test "the shared helpers are the same in every lesson program" {
    cd "$ROOT"
    n=0
    for file in $(lessons); do
        sed -n '/^\/\/ shared helpers:/,/^\/\/ end shared helpers/p' "$file" >"$BATS_TEST_TMPDIR/block"
        [ "$(wc -l <"$BATS_TEST_TMPDIR/block")" -gt 50 ] || { echo "$file: no shared helpers"; false; }
        [ -e "$BATS_TEST_TMPDIR/first" ] || cp "$BATS_TEST_TMPDIR/block" "$BATS_TEST_TMPDIR/first"
        diff "$BATS_TEST_TMPDIR/first" "$BATS_TEST_TMPDIR/block" || { echo "$file differs"; false; }
        n=$((n + 1))
    done
    [ $n -ge 1 ]
}

@test "every excerpt and every output on a lesson's page carries its marker, or nothing would hold it" {
    cd "$ROOT"
    for page in */README.md; do
        case $page in cpu/* | expected_output/*) continue ;; esac
        assert_equal "$page $(grep -cE '^```(cuda|text)$' "$page")" "$page $(grep -cE '^<!-- (snippet|output): ' "$page")"
        [ "$(grep -c '^<!-- snippet: ' "$page")" -ge 1 ] && [ "$(grep -c '^<!-- output: ' "$page")" -ge 1 ]
    done
}

@test "hashes in a page's prose and tables are some program's own" {
    cd "$ROOT"
    # Those that stand for a planted fault or another size are pinned by the lessons' tests.
    for page in README.md */README.md; do
        for value in $(grep -oE '0x[0-9a-f]{16}' "$page" | sort -u); do
            grep -qrF "$value" expected_output --include='*.txt' || grep -qF "$value" tests/*.bats tests/*/*.cu */*.cu ||
                { echo "$page: $value is nowhere else"; false; }
        done
    done
}

@test "lessons: plain ASCII, LF, no local include, and of a readable length" {
    cd "$ROOT"
    for file in $(lessons); do
        run grep -nP '[^\x00-\x7F]|\r' "$file"
        assert_output ''
        run grep -n '#include *"' "$file"
        assert_output ''
        # canonical_tree.cu is a library to lift out and the table of its promises, in one file.
        most=420
        [ "$file" != canonical_tree/canonical_tree.cu ] || most=650
        [ "$(wc -l <"$file")" -le $most ] || { echo "$file is too long to read in one sitting"; false; }
    done
}

@test "expected files: every free field is listed, their number is pinned, none hides a pinned column" {
    cd "$ROOT/expected_output"
    for file in *.txt; do
        run "$BUILD/tools/match" --count-free "$file"
        assert_success
        # The README's table has a row `| file | number | reasons |`.
        listed=$(awk -F'|' -v f="\`$file\`" '{ gsub(/^ +| +$/, "", $2); gsub(/ /, "", $3) } $2 == f { print $3 }' README.md)
        assert_equal "$file $output" "$file $listed"
        run free_elsewhere "$file"
        assert_output ''
    done
}

# Free fields that stand where none may: free_elsewhere FILE. The device line has one, rows of kernels
# with atomics and of OpenMP's own sum have them anywhere, any other row under these headings alone.
free_elsewhere() {
    awk 'BEGIN { split("ms speed threads", names, " "); for (i in names) may[names[i]] = 1 }
         FNR == 1 || last == "" { heading = $0 }
         { last = $0 }
         /^device: / || /^(sumSquaresAtomic|sumSquaresKahanAtomic|omp reduction)[ ,]/ { next }
         {
             for (from = 1; at = index(substr($0, from), "{...}"); from += at + 4) {
                 first = from + at - 1
                 name = "" # the heading over the field: its word that ends or begins within it
                 for (i = first; i < first + 5; i++) {
                     if (substr(heading, i, 1) !~ /[^ ]/) continue
                     for (a = i; a > 1 && substr(heading, a - 1, 1) != " "; a--) ;
                     name = substr(heading, a)
                     sub(/ .*/, "", name)
                 }
                 if (!(name in may)) print FILENAME ": " FNR ": under \"" name "\": " $0
             }
         }' "$1"
}

@test "that rule about free fields can fail: a hash, bits, digits, a whole line" {
    cd "$BATS_TEST_TMPDIR"
    while IFS='|' read -r file edit; do
        sed -E "$edit" "$ROOT/expected_output/$file" >edited
        run cmp -s edited "$ROOT/expected_output/$file"
        assert_failure
        run free_elsewhere edited
        assert_equal "$file $edit: ${#lines[@]}" "$file $edit: 1"
    done <<'END'
fpmp_pi.txt|s/^(float .*) 0x[0-9a-f]+$/\1 {...}             /
fpmp_pi.txt|/^double /s/ 14\.78/ {...}/
fpmp_pi.txt|/^double /s/16\.28/{...}/
canonical_tree.txt|s/^(device, level .* )0xc2c19544/\1{...}     /
canonical_tree.txt|s/^(max, all -0\.0 +)0x80000000/\1{...}     /
reproducibility.txt|s/^(partials hash:) .*/\1 {...}/
reproducibility.txt|s/^(sumSquares)?tree .*/{...}/
tree_in_graph.txt|s/^(gates passed:) .*/\1 {...}/
END
}

@test "raw outputs of real devices hold what the expected files pin" {
    cd "$ROOT/expected_output/recorded"
    n=0
    for file in *.txt; do
        run "$BUILD/tools/match" "$ROOT/expected_output" "$file"
        [ "$status" -eq 0 ] || { echo "$file: $output"; false; }
        # An older revision is held by its values alone, and reported: its recording is due.
        case $output in *'is not the current'*) echo "# due for a new recording: $file" >&3 ;; esac
        n=$((n + 1))
    done
    [ $n -ge 1 ]
}

@test "scripts are clean under shellcheck" {
    command -v shellcheck >/dev/null || skip "no shellcheck (Debian: apt-get install shellcheck)"
    cd "$ROOT"
    run shellcheck -S warning tools/*.sh .ci/run tests/helper.bash
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
