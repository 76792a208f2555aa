# The fused tree: its program, and every case against a tree written from the definition. Its faults are
# canonical_tree/faults/fused_*.patch.
load helper

FOLDER=$ROOT/canonical_tree

# On the CPU lightly optimised, for the time it takes.
setup_file() {
    local build=nofmad light=
    if have_fma; then build=fmad; fi
    [ "$DEVICE" = gpu ] || light=-O1
    # shellcheck disable=SC2086 # nothing or one word
    compile "$BATS_TEST_DIRNAME/canonical_tree/fused_tree_cases.cu" "$BATS_FILE_TMPDIR/cases" $build $light
    "$BATS_FILE_TMPDIR/cases" >"$BATS_FILE_TMPDIR/checks" 2>"$BATS_FILE_TMPDIR/wrong" || true # judged below
}

@test "both builds pass and print the same trees" {
    local out=$BATS_TEST_TMPDIR build
    for build in fmad nofmad; do
        [ $build = nofmad ] || have_fma || continue
        "$(program fused_tree $build)" >"$out/$build"
        grep -q '^gates passed: 8$' "$out/$build"
        grep -v '^contraction: ' "$out/$build" >"$out/$build.rest"
        assert_expected "$out/$build"
    done
    if have_fma; then diff "$out/fmad.rest" "$out/nofmad.rest"; fi
}

@test "every case gives the definition's bits, and bad input is refused by name" {
    assert_equal "$(cat "$BATS_FILE_TMPDIR/wrong")" ''
    diff - "$BATS_FILE_TMPDIR/checks" <<'END'
small, sum float: 3075 right, 0 wrong
small, sum double: 2050 right, 0 wrong
small, sum uint32: 1025 right, 0 wrong
small, sum uint64: 1025 right, 0 wrong
small, sum of squares: 1025 right, 0 wrong
small, max float: 1025 right, 0 wrong
small, max double: 1025 right, 0 wrong
small, max uint32: 1025 right, 0 wrong
small, all float: 1025 right, 0 wrong
leaves, sum float: 1025 right, 0 wrong
powers, sum float: 96 right, 0 wrong
powers, sum double: 96 right, 0 wrong
slots, sum: 1536 right, 0 wrong
slots, max: 1024 right, 0 wrong
slots, all: 1024 right, 0 wrong
zeros, sum: 160 right, 0 wrong
zeros, max: 160 right, 0 wrong
zeros, all: 160 right, 0 wrong
zeros, max int: 6 right, 0 wrong
refused, out of memory: 1 right, 0 wrong
refused, n is 0: 1 right, 0 wrong
refused, pointer is null: 3 right, 0 wrong
refused, buffer is too small: 2 right, 0 wrong
refused, 1, 2 or 4 steps: 3 right, 0 wrong
refused, 2^31 - 1 blocks: 1 right, 0 wrong
refused, nothing is enqueued: 1 right, 0 wrong
refused, a launch's error: 1 right, 0 wrong
captured, accepted: 1 right, 0 wrong
captured, launches: 2 right, 0 wrong
sizes, blocks: 8 right, 0 wrong
sizes, work: 8 right, 0 wrong
top, sum float: 4 right, 0 wrong
END
}

@test "every check of the cases has a fault that shows it" {
    local check uncovered='' count=0
    while read -r check; do
        count=$((count + 1))
        grep -qF "expect: status 1 wrong: $check: " "$BATS_TEST_DIRNAME"/canonical_tree/faults/fused_*.patch ||
            uncovered=$uncovered$check$'\n'
    done < <(sed 's/: [0-9]* right, .*//' "$BATS_FILE_TMPDIR/checks"; echo 'big, sum float')
    assert_equal "$uncovered" ''
    [ "$count" -ge 32 ]
}

@test "more than 2^32 samples" {
    require_large_card
    run "$BATS_FILE_TMPDIR/cases" big
    assert_output 'big, sum float: 3 right, 0 wrong'
}

@test "no array of the pass lies in local memory, for old and new cards" {
    require_nvcc
    # double: with 64 registers of samples the likeliest to spill
    { printf '#define FUSED_TREE_NO_MAIN\n#include "%s"\n' "$FOLDER/fused_tree.cu"; cat; } >"$BATS_TEST_TMPDIR/pass.cu" <<'END'
template const char* fusedTree(Sum<double>, const double*, size_t, double*, size_t, double*,
                               cudaStream_t, int);
END
    run "$NVCC" -std=c++17 -O3 -t 2 -gencode arch=compute_75,code=sm_75 -gencode arch=compute_90,code=sm_90 \
        -Xptxas -v -c -o "$BATS_TEST_TMPDIR/pass.o" "$BATS_TEST_TMPDIR/pass.cu"
    assert_success
    assert_line --regexp "fusedPass.*sm_75"
    assert_line --regexp "fusedPass.*sm_90"
    refute_line --regexp '[1-9][0-9]* bytes (stack frame|spill)'
}

# levels N: its leaves, and how many of the levels that are combined have an odd node.
levels() {
    local count=$((($1 + 255) / 256)) all=0 odd=0
    printf '%d leaves, ' $count
    while [ $count -gt 1 ]; do
        odd=$((odd + count % 2))
        all=$((all + 1))
        count=$(((count + 1) / 2))
    done
    printf '%d of %d odd' $odd $all
}

@test "the page's numbers are the programs' own and the recorded ones" {
    local page=$FOLDER/README.md wrong=$ROOT/expected_output/wrong_orders.txt count=0 type n fused cub any levels
    # The table of measurements: a row of the page is part of a row of the benchmark's.
    while IFS='|' read -r _ type n fused cub any levels _; do
        grep -qF "|$type|$n|$fused|" "$ROOT/tests/bench/tries.md" || { echo "no such row: $type $n $fused"; false; }
        grep -F "|$type|$n|$fused|" "$ROOT/tests/bench/tries.md" | grep -qF "|$cub|$any|$levels|" || { echo "other times: $type $n"; false; }
        count=$((count + 1))
    done < <(grep -E '^\| (float|double) \| ' "$page")
    assert_equal $count 3
    # "Four of the six wrong orders have the same float sum", and which of them a - b shows.
    assert_equal "$(grep -cE ' 1025 ' "$wrong")" 7
    assert_equal "$(grep -cE '^[^t].* 1025 +0 ' "$wrong")" 4
    grep -qE '^node i with i \+ half +1025 +0 +other ' "$wrong"
    # Eight leaves have no odd node; five have; and what n makes.
    assert_equal "$(levels 1793) / $(levels 1025) / $(levels 4194915)" \
        '8 leaves, 0 of 3 odd / 5 leaves, 2 of 3 odd / 16387 leaves, 13 of 15 odd'
    assert_equal $((4194915 - 16386 * 256)) 99
    grep -qE '^chunks of 768: .*256\*2\^q' "$ROOT/expected_output/canonical_tree.txt"
    grep -qE '^tree, float sum +8449 +100 +100 ' "$ROOT/expected_output/tree_in_graph.txt"
}
