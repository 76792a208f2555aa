# The lesson canonical_tree: one definition, and everything that must have its bits. What canonical_tree.cu
# and wrong_orders.cu define against a reference in C (canonical_tree/). The faults that their gates, these
# checks and the reference must show are canonical_tree/faults/.
load helper

PARTS=$BATS_TEST_DIRNAME/canonical_tree

setup_file() {
    local dir=$BATS_FILE_TMPDIR
    $CC -std=c11 -Wall -Wextra -Wpedantic -Werror -fsyntax-only "$PARTS/reference.c" # in C++ it is part of checks.cu
    # $(openmp_flag ...) is a word or none, and so is -O1, for the time it takes.
    # shellcheck disable=SC2046
    compile "$PARTS/checks.cu" "$dir/checks" fmad $(openmp_flag "$PARTS/checks") &
    # shellcheck disable=SC2046
    compile "$ROOT/canonical_tree/canonical_tree.cu" "$dir/serial" nofmad $([ "$DEVICE" != cpu ] || echo -O1)
    wait $!
}

check() {
    run --separate-stderr "$BATS_FILE_TMPDIR/checks" "$1"
    assert_success
    assert_line "right: $1"
}

@test "the samples are the reference's" { check samples; }
@test "host: every n to 1,025, every leaf count to 1,025, around every power of two to 2^20" { check hostSizes; }
@test "device: the same sizes, by the integer mix" { check deviceSizes; }
@test "known answers and wrong orders are the reference's" { check orders; }
@test "every legal chunking gives the tree, every other chunk is refused by its rule" { check chunks; }
@test "data in pieces gives the tree, and keeps one node per level" { check pieces; }
@test "an order shows only if it shows on floats, on doubles and on integers" { check shows; }
@test "signs of zero, with and without an initial value" { check zeros; }
@test "an initial value is the left operand, once and last" { check initials; }
@test "NaN and infinities at every slot of a leaf, for sum and max" { check specials; }
@test "subnormals count" { check subnormals; }
@test "integer sums, max and all: modulo 2^w, in any order" { check integers; }
@test "1 to 64 threads: the same bits, never more threads than asked for" { check threads; }
@test "both work buffers of the levels are used in turns" { check buffers; }
@test "bad calls are refused by their rule, and nothing is written" { check refusals; }
@test "CUDA's errors are returned, and one from before stops the tree" { check errors; }
@test "more than 2^32 samples on the host, whole and in chunks" {
    [ -n "${ALL:-}" ] || skip "seconds on one core: check-all"
    check hostIndices
    check chunkIndices
}
@test "more than 2^32 samples on a card" {
    require_large_card
    check large
}
@test "index arithmetic at 2^31 - 1, 2^31 + 1, 2^32 + 1 and beyond, without the samples" { check indices; }

@test "serial: one thread, and the expected tables" {
    run --separate-stderr "$BATS_FILE_TMPDIR/serial"
    assert_success
    echo "$output" >"$BATS_TEST_TMPDIR/output"
    run grep -c '^host, [0-9]* asked  *1 ' "$BATS_TEST_TMPDIR/output"
    assert_output 5
    assert_expected "$BATS_TEST_TMPDIR/output"
}

@test "a limit of 14 processes, as Compiler Explorer has it, ends no run" {
    [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null || skip "only root can give a run a user without other processes"
    require_cpu
    # A folder that the other user may enter: bats' own is not, and the build folder may be in a closed home.
    local dir
    dir=$(TMPDIR=/tmp mktemp -d)
    chmod 755 "$dir"
    cp "$(program canonical_tree nofmad)" "$dir"
    # A user of this run's own: the limit counts all processes of a user.
    run setpriv --reuid=$((20000 + $$ % 40000)) --regid=65534 --clear-groups bash -c "ulimit -u 14 && CUDA_CPU_WORKERS=16 exec '$dir/canonical_tree'"
    rm -r "$dir"
    assert_success
    assert_line --regexp '^host, 8 asked +[0-9]+ .* same$'
}

@test "every text of the checks, and every check, has a fault that brings it out" {
    local text faults
    faults=$(grep -lx 'program: tests/canonical_tree/checks' "$PARTS"/faults/*.patch | xargs -d '\n' grep -hE '^(expect|flags): ')
    # A text: what a call of wrong, is or refused gives, up to its first %.
    perl -0777 -ne 'while (/\b(wrong|is|refused)\((?:[^;"]*?,\s*)?"([^"%]+)/g) { print $1 eq "refused" ? "not refused: $2:" : $1 eq "is" ? "$2, n = " : $2, "\n" }' \
        "$PARTS/checks.cu" >"$BATS_TEST_TMPDIR/texts"
    assert [ "$(wc -l <"$BATS_TEST_TMPDIR/texts")" -gt 60 ]
    assert_equal "$(sort "$BATS_TEST_TMPDIR/texts" | uniq -d)" ''
    sed -n 's/^ .*{"\([a-zA-Z]*\)", \1}.*/-DCHECK=\1/p' "$PARTS/checks.cu" >>"$BATS_TEST_TMPDIR/texts"
    assert_equal "$(sed -n "s/-DCHECK=//p" "$BATS_TEST_TMPDIR/texts" | sort)" \
        "$(sed -n "s/.*[ {]check \\([a-zA-Z]*\\)\\(; }\\)*$/\\1/p" "$BATS_TEST_FILENAME" | sort)" # each has a test
    while read -r text; do
        grep -qF -e "expect: status 1 $text" -e "flags: $text" <<<"$faults" || echo "no fault brings out: $text"
    done <"$BATS_TEST_TMPDIR/texts" >"$BATS_TEST_TMPDIR/missing"
    assert_equal "$(cat "$BATS_TEST_TMPDIR/missing")" ''
}

@test "one leaf, two orders (embed.cu): the same two bit patterns in both builds" {
    local build
    compile_both "$ROOT/canonical_tree/embed.cu" "$BATS_TEST_TMPDIR/embed"
    for build in fmad nofmad; do
        [ "$build" = nofmad ] || have_fma || continue
        run "$BATS_TEST_TMPDIR/embed.$build"
        assert_success
        assert_line "contraction: $([ "$build" = fmad ] && echo fused || echo separate)"
        assert_line 'strides 128, 64, .. 1   0xc16d99fa  -14.8500919'
        assert_line 'strides 1, 2, .. 128    0xc16d99f9  -14.850091'
    done
    if [ "$DEVICE" = gpu ]; then
        CUDA_VISIBLE_DEVICES='' run "$BATS_TEST_TMPDIR/embed.nofmad"
        assert_equal "$status" 77
        assert_output 'skipped: no usable CUDA device'
    fi
}
