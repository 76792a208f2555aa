# The fused tree: its program, every case against a tree written from the definition, edited copies
# that must give other bits, and faults that each of its gates must catch.
# shellcheck disable=SC2016 # perl's own variables
# shellcheck disable=SC2030,SC2031 # run sets status in each test's own shell
# shellcheck disable=SC2154 # run --separate-stderr sets stderr
load helper
bats_require_minimum_version 1.5.0

FOLDER=$ROOT/canonical_tree

# Edits that leave a plausible tree: each must show. NAME, a tab, perl code.
edits() {
    cat <<'END'
padding	s/return T\(-0\.0\);/return T(0);/
lane_takes_neighbours	s/kLeaf \* l \+ 32 \* k \+ threadIdx\.x % 32/kLeaf * l + k + kLane * (threadIdx.x % 32)/
one_sample_too_many	s/i < left \?/i <= left ?/
last_sample_left_out	s/i < left \?/i + 1 < left ?/
lane_strides_ascend	s/int s = kLane \/ 2; s > 0; s \/= 2\)(.*?)k < s; \+\+k/int s = 1; s < kLane; s *= 2)$1k < kLane; k += 2 * s/s
shuffles_ascend	s/int s = 16; s > 0; s \/= 2/int s = 1; s < 32; s *= 2/
leaves_half_apart	s/int s = 1; s < kAtOnce; s \*= 2\)(.*?)l < kAtOnce; l \+= 2 \* s/int s = kAtOnce \/ 2; s > 0; s \/= 2)$1l < s; ++l/s
nodes_half_apart	s/int s = 1; s < 32; s \*= 2/int s = 16; s > 0; s \/= 2/
slots_by_warp	s/slot\[step \* kWarps \+ warp\]/slot[warp * steps + step]/
top_crosswise	s/at\(i \+ 1\)(.*?)at\(i \+ 2\)/at(i + 2)$1at(i + 1)/
top_drops_ragged	s/i < count \? node\[i\] : identity/i < count \/ 4 * 4 ? node[i] : identity/
one_block_short	s/\(n - 1\) \/ \((kSpan \* kWarps \* steps)\) \+ 1/(n - 1) \/ ($1) + (n < $1)/
END
}

# All edited copies in one program, each in a namespace of its own over one canonical_tree.cu: the
# known answers and a sum of -0.0s, with the fewest steps and the most. Prints how many are wrong.
edited_program() {
    local name edit names=unedited
    printf '#define CANONICAL_TREE_NO_MAIN\n#define FUSED_TREE_NO_MAIN\n#include "%s"\n#include <limits>\n' "$FOLDER/canonical_tree.cu"
    perl -ne 'print unless /canonical_tree\.cu"|CANONICAL_TREE_NO_MAIN/' "$FOLDER/fused_tree.cu" >"$1/lesson.cu"
    printf 'namespace unedited {\n%s\n}\n' "$(cat "$1/lesson.cu")"
    while IFS=$'\t' read -r name edit; do
        mutate "$1/lesson.cu" "$1/$name.cu" "$edit" || return
        printf 'namespace %s {\n%s\n}\n' "$name" "$(cat "$1/$name.cu")"
        names="$names $name"
    done < <(edits)
    cat <<'END'
typedef const char* Tree(Sum<float>, const float*, size_t, float*, size_t, float*, cudaStream_t, int);
static unsigned long long bitsOf(Tree tree, const std::vector<float>& x, int steps) {
    const size_t capacity = unedited::fusedWorkCount(x.size());
    const size_t bytes = 4 * x.size();
    float *in, *work, *result, got = 0.0f;
    CUDA_CHECK(cudaMalloc(&in, bytes + 4));  // one more: an edit may read it
    CUDA_CHECK(cudaMalloc(&work, 4 * capacity));
    CUDA_CHECK(cudaMalloc(&result, 4));
    CUDA_CHECK(cudaMemset(in, 0x3f, bytes + 4));
    CUDA_CHECK(cudaMemset(work, 0x3f, 4 * capacity));
    CUDA_CHECK(cudaMemcpy(in, x.data(), bytes, cudaMemcpyHostToDevice));
    const char* error = tree(Sum<float>(), in, x.size(), work, capacity, result, 0, steps);
    if (error != nullptr) fprintf(stderr, "%s\n", error);
    CUDA_CHECK(cudaMemcpy(&got, result, 4, cudaMemcpyDeviceToHost));
    for (float* p : {in, work, result}) CUDA_CHECK(cudaFree(p));
    return canonicalBits(got);
}
static int wrongTrees(Tree tree) {
    int wrong = 0;
    for (int steps : {1, unedited::kMaxSteps}) {
        wrong += bitsOf(tree, std::vector<float>(1000, -0.0f), steps) != 0x80000000;
        for (const KnownAnswer& known : kKnownAnswers) {
            std::vector<float> x(known.n);
            for (size_t i = 0; i < known.n; ++i) x[i] = sampleAt<float>(i);
            wrong += bitsOf(tree, x, steps) != known.floatSum;
        }
    }
    return wrong;
}
int main() {
END
    for name in $names; do
        printf '    printf("%%s: %%d of 8 wrong\\n", "%s", wrongTrees(%s::fusedTree<Sum<float>>));\n' "$name" "$name"
    done
    printf '    return 0;\n}\n'
}

# quick SRC OUT [flags]: on the CPU lightly optimised, for the time it takes.
quick() {
    local build=nofmad light=
    if have_fma; then build=fmad; fi
    [ "$DEVICE" = gpu ] || light=-O1
    # shellcheck disable=SC2086 # nothing or one word
    compile "$1" "$2" $build "${@:3}" $light
}

# fault NAME 'perl code' 'perl code': the program, main and all, with faults in canonical_tree.cu and in
# fused_tree.cu; an empty code leaves its file as it is.
fault() {
    local dir=$BATS_FILE_TMPDIR/$1
    mkdir "$dir"
    cp "$FOLDER/canonical_tree.cu" "$FOLDER/fused_tree.cu" "$dir"
    [ -z "$2" ] || mutate "$FOLDER/canonical_tree.cu" "$dir/canonical_tree.cu" "$2" || return
    [ -z "$3" ] || mutate "$FOLDER/fused_tree.cu" "$dir/fused_tree.cu" "$3" || return
    quick "$dir/fused_tree.cu" "$dir/program"
}

# Each gate has its fault here, and each fault its gate.
faults() {
    # Known answers of two sizes; an identity for each operator that is none; for the planted one, one that is.
    fault identities '
        s/0xc152ee96/0xc152ee97/ and s/0x43c91abb/0x43c91abc/ and s/0x4060c23ab8400001/0x4060c23ab8400002/ or die' '
        s/return T\(-0\.0\);/return T(0.5) == T(0) ? T(1) : T(0);/ or die;
        s/return T\(1\);/return T(0);/ or die;
        s/return Limits::has_infinity .*;/return T(0);/ or die;
        s/(identityOf\(PaddedSum\) \{ return )0\.0f/$1-0.0f/ or die' || return
    # The right operand wins a comparison with NaN and one of two zeros. Nodes of a block of four steps in
    # a wrong order: the block of one step is right.
    fault right_wins '
        s/if \(a != a \|\| b != b\) return .*\n// or die; s/if \(a == 0 && b == 0\) return .*\n// or die;
        s/return a < b \? b : a;/return a > b ? a : b;/ or die' '
        s/slot\[step \* kWarps \+ warp\]/slot[warp * steps + step]/ or die' || return
    # The left one does.
    fault left_wins '
        s/if \(a != a \|\| b != b\) return .*\n// or die; s/if \(a == 0 && b == 0\) return .*\n// or die;' '' || return
    # Floats are compared by their bits as integers: those below zero are in reverse, and -0.0 is the least.
    fault integer_bits '
        s/if \(a != a \|\| b != b\) return .*\n// or die; s/if \(a == 0 && b == 0\) return .*\n// or die;
        s/return a < b \? b : a;/return integerBits(a) < integerBits(b) ? b : a;/ or die;
        s/template <typename T>\nstruct Max/template <typename T>\n__host__ __device__ int integerBits(T x) {\n    int bits;\n    memcpy(&bits, &x, sizeof bits);\n    return bits;\n}\n$&/ or die' ''
}

setup_file() {
    local dir=$BATS_FILE_TMPDIR pid pids=
    quick "$BATS_TEST_DIRNAME/fused_tree_cases.cu" "$dir/cases" >"$dir/cases.log" 2>&1 &
    pids=$!
    {
        edited_program "$dir" >"$dir/edited.cu" && quick "$dir/edited.cu" "$dir/edited" && faults
    } >"$dir/edits.log" 2>&1 &
    pids="$pids $!"
    for pid in $pids; do
        wait "$pid" || { cat "$dir"/*.log; return 1; }
    done
}

cases() {
    run "$BATS_FILE_TMPDIR/cases" "$1"
    assert_success
    assert_line --regexp "^agreed: $2, different: 0\$"
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

@test "every n from 1 to 1,025, all operators and types" { cases small 12300; }
@test "every leaf count from 1 to 1,025, the last leaf ragged" { cases leaves 1025; }
@test "around every power of two to 2^20, and blocks' borders" { cases powers 402; }
@test "NaN, infinities, zeros at every slot of a leaf" { cases slots 3584; }
@test "signs of zero, subnormals, inputs of one value" { cases zeros 480; }
@test "bad input is refused by name, and nothing is computed" { cases refused 11; }
@test "all of it goes into the stream that was given" { cases captured 2; }
@test "counts beyond 2^31 and 2^32, without a sample" { cases sizes 16; }

@test "more than 2^32 samples" {
    require_large_card
    cases big 3
}

# A program that includes the lesson without its main: with_lesson FILE, the rest on stdin.
with_lesson() {
    { printf '#define FUSED_TREE_NO_MAIN\n#include "%s"\n' "$FOLDER/fused_tree.cu"; cat; } >"$1"
}

@test "an operator without an identity does not compile" {
    with_lesson "$BATS_TEST_TMPDIR/minus.cu" <<'END'
int main() {
    return fusedTree(Difference<float>(), nullptr, 1, nullptr, 1, nullptr, 0) != nullptr;
}
END
    run quick "$BATS_TEST_TMPDIR/minus.cu" "$BATS_TEST_TMPDIR/minus"
    assert_failure
    assert_output --partial 'identityOf'
}

@test "no array of the pass lies in local memory, for old and new cards" {
    require_nvcc
    # double: with 64 registers of samples the likeliest to spill
    with_lesson "$BATS_TEST_TMPDIR/pass.cu" <<'END'
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

@test "every edited copy gives other bits, and the lesson's own gives none" {
    local name edit
    run "$BATS_FILE_TMPDIR/edited"
    assert_success
    assert_line 'unedited: 0 of 8 wrong'
    while IFS=$'\t' read -r name edit; do
        assert_line --regexp "^$name: [1-8] of 8 wrong\$"
    done < <(edits)
}

# fails NAME, the whole of stderr on stdin: the program with the fault NAME fails these gates and no other.
fails() {
    run --separate-stderr "$BATS_FILE_TMPDIR/$1/program"
    assert_equal "$status" 1
    assert_equal "$stderr" "$(cat)"
    refute_line --partial 'gates passed'
    assert_equal "$(grep -c '^gate: .* FAILED$' <<<"$output")" "$(grep -c '^gate failed: ' <<<"$stderr")"
}

@test "each gate fails by its name, and says the first wrong size" {
    fails identities <<'END'
gate failed: sum float: first at n = 1025
gate failed: sum double: first at n = 4194915
gate failed: sum uint32: first at n = 1
gate failed: max float: first at n = 1
gate failed: all float: first at n = 1
gate failed: max: NaN and signs of zero: first: -0.0 alone, slot 0
gate failed: all -0.0 gives -0.0: 0x00000000
gate failed: planted: +0.0 is no identity: 0x80000000, want 0
8 gate(s) failed
END
}

@test "a maximum written a > b ? a : b, and large blocks alone, fail their gates" {
    fails right_wins <<'END'
gate failed: sum float: first at n = 4194915
gate failed: sum double: first at n = 4194915
gate failed: max: NaN and signs of zero: first: NaN, else infinity, slot 0
3 gate(s) failed
END
}

@test "a maximum written a < b ? b : a fails its gate" {
    fails left_wins <<'END'
gate failed: max: NaN and signs of zero: first: NaN, else infinity, slot 896
1 gate(s) failed
END
}

@test "a float maximum by integer bits fails its gates" {
    fails integer_bits <<'END'
gate failed: max float: first at n = 1
gate failed: max: NaN and signs of zero: first: -0.0 alone, slot 0
2 gate(s) failed
END
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
