# The fused tree: its program, every case against a tree written from the definition, and edited copies
# that must give other bits.
# shellcheck disable=SC2016 # perl's own variables
load helper
bats_require_minimum_version 1.5.0

LESSON=$ROOT/canonical_tree/fused_tree.cu

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

# What stands behind an edited copy: the known answers and a sum of -0.0s, with the fewest steps
# and the most. Prints how many are wrong.
answers() {
    cat <<'END'
static unsigned long long bitsOf(const std::vector<float>& x, int steps) {
    const size_t capacity = fusedWorkCount(x.size());
    float *in, *work, *result, tree = 0.0f;
    CUDA_CHECK(cudaMalloc(&in, 4 * (x.size() + 1)));  // one more: an edit may read it
    CUDA_CHECK(cudaMalloc(&work, 4 * capacity));
    CUDA_CHECK(cudaMalloc(&result, 4));
    CUDA_CHECK(cudaMemset(in, 0x3f, 4 * (x.size() + 1)));
    CUDA_CHECK(cudaMemset(work, 0x3f, 4 * capacity));
    CUDA_CHECK(cudaMemcpy(in, x.data(), 4 * x.size(), cudaMemcpyHostToDevice));
    const char* error = fusedTree(Sum<float>(), in, x.size(), work, capacity, result, 0, steps);
    if (error != nullptr) fprintf(stderr, "%s\n", error);
    CUDA_CHECK(cudaMemcpy(&tree, result, 4, cudaMemcpyDeviceToHost));
    for (float* p : {in, work, result}) CUDA_CHECK(cudaFree(p));
    return canonicalBits(tree);
}
int main() {
    int wrong = 0;
    for (int steps : {1, kMaxSteps}) {
        wrong += bitsOf(std::vector<float>(1000, -0.0f), steps) != 0x80000000;
        for (const KnownAnswer& k : kKnownAnswers) {
            std::vector<float> x(k.n);
            for (size_t i = 0; i < k.n; ++i) x[i] = sampleAt<float>(i);
            wrong += bitsOf(x, steps) != k.floatSum;
        }
    }
    printf("wrong: %d of 8\n", wrong);
    return wrong != 0;
}
END
}

# quick SRC OUT: the lesson without its main; on the CPU lightly optimised, for the time it takes.
quick() {
    local light=
    [ "$DEVICE" = gpu ] || light=-O1
    # shellcheck disable=SC2086 # nothing or one word
    device_build "$1" "$2" -DFUSED_TREE_NO_MAIN $light
}

setup_file() {
    local dir=$BATS_FILE_TMPDIR name edit pid pids=
    { cat "$LESSON" "$BATS_TEST_DIRNAME/fused_tree_cases.cu"; } >"$dir/cases.cu"
    { cat "$LESSON"; answers; } >"$dir/unedited.cu"
    have_fma || export NOFMAD=1
    quick "$dir/cases.cu" "$dir/cases" >"$dir/cases.log" 2>&1 &
    pids=$!
    {
        quick "$dir/unedited.cu" "$dir/unedited"
        edits | while IFS=$'\t' read -r name edit; do
            mutate "$dir/unedited.cu" "$dir/$name.cu" "$edit"
            quick "$dir/$name.cu" "$dir/$name"
        done
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
    for build in fused_tree fused_tree_nofmad; do
        case $build in *_nofmad) ;; *) have_fma || continue ;; esac
        "$(program $build)" >"$out/$build"
        grep -q '^gates passed: 7$' "$out/$build"
        grep -v '^contraction: ' "$out/$build" >"$out/$build.rest"
    done
    if have_fma; then diff "$out/fused_tree.rest" "$out/fused_tree_nofmad.rest"; fi
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

@test "an operator without an identity does not compile" {
    { cat "$LESSON"; echo 'struct Minus : Operator<float> {'
      echo '    __host__ __device__ float operator()(float a, float b) const { return a - b; }'
      echo '};'
      echo 'int main() { return fusedTree(Minus(), nullptr, 1, nullptr, 1, nullptr, 0) != nullptr; }'
    } >"$BATS_TEST_TMPDIR/minus.cu"
    run quick "$BATS_TEST_TMPDIR/minus.cu" "$BATS_TEST_TMPDIR/minus"
    assert_failure
    assert_output --partial 'identityOf'
}

@test "no array of the pass lies in local memory, for old and new cards" {
    require_nvcc
    { cat "$LESSON"  # double: with 64 registers of samples the likeliest to spill
      echo 'template const char* fusedTree(Sum<double>, const double*, size_t, double*, size_t, double*,'
      echo '                               cudaStream_t, int);'
    } >"$BATS_TEST_TMPDIR/pass.cu"
    run "$NVCC" -std=c++17 -O3 -t 2 -gencode arch=compute_75,code=sm_75 -gencode arch=compute_90,code=sm_90 \
        -DFUSED_TREE_NO_MAIN -Xptxas -v -c -o "$BATS_TEST_TMPDIR/pass.o" "$BATS_TEST_TMPDIR/pass.cu"
    assert_success
    assert_line --regexp "fusedPass.*sm_75"
    assert_line --regexp "fusedPass.*sm_90"
    refute_line --regexp '[1-9][0-9]* bytes (stack frame|spill)'
}

@test "every edited copy gives other bits" {
    local name edit
    "$BATS_FILE_TMPDIR/unedited"
    edits | while IFS=$'\t' read -r name edit; do
        if "$BATS_FILE_TMPDIR/$name" >"$BATS_TEST_TMPDIR/out" 2>&1; then
            echo "$name was not noticed: $edit"
            return 1
        fi
        grep -q '^wrong: ' "$BATS_TEST_TMPDIR/out" || { cat "$BATS_TEST_TMPDIR/out"; return 1; }
    done
}
