# The lesson canonical_tree: one definition, and everything that must have its bits. What canonical_tree.cu
# and wrong_orders.cu define against a reference in C (canonical_tree/), the programs' gates, and faults
# that these must catch.
# shellcheck disable=SC2016 # perl's own variables
# shellcheck disable=SC2030,SC2031 # run sets status in each test's own shell
# shellcheck disable=SC2154 # run --separate-stderr sets stderr
load helper
bats_require_minimum_version 1.5.0

LESSON=$ROOT/canonical_tree/canonical_tree.cu
WRONG=$ROOT/canonical_tree/wrong_orders.cu
PARTS=$BATS_TEST_DIRNAME/canonical_tree

# The flag of OpenMP, as the Makefile gives it to this lesson.
openmp() { [ "$OPENMP" != yes ] || [ -n "${SANITIZE:-}" ] || echo -fopenmp; }

# quick LEVEL: on a smaller input and, on the CPU, with -OLEVEL, for the time it takes.
quick() {
    echo -DELEMENTS=66049
    [ "$DEVICE" != cpu ] || echo "-O$1"
}

# Faults, by number, in copies of both programs: FAULT=n plants one when the program runs, so that one
# build has them all; without FAULT nothing is planted, and these copies must pass.
plant_faults() {
    mutate "$LESSON" "$1/canonical_tree.cu" '
        # Code of the host reads FAULT, code of the device a variable, which main sets.
        s/(?=constexpr size_t kElements)/__device__ int g_planted;
static int asked() {
    static const int number = getenv("FAULT") != nullptr ? atoi(getenv("FAULT")) : 0;
    return number;
}
static __host__ __device__ bool planted(int fault) {
#ifdef __CUDA_ARCH__
    return g_planted == fault;
#else
    return asked() == fault;
#endif
}
static void plant() {
    const int number = asked();
    if (cudaMemcpyToSymbol(g_planted, &number, sizeof number) != cudaSuccess) exit(2);
}
/ or die;
        s/(?=    printf\("n: )/    plant();\n/ or die;
        # 1: on the device the strides ascend.
        s/size_t stride = kLeaf \/ 2; stride > 0; stride \/= 2\) \{\n +if \(t < stride/size_t stride = planted(1) ? 1 : kLeaf \/ 2; stride > 0 && stride < kLeaf;
         stride = planted(1) ? 2 * stride : stride \/ 2) {
        if ((planted(1) ? t % (2 * stride) == 0 : t < stride)/ or die;
        # 2, 3: a maximum with no rule for NaN and zeros, of two kinds.
        s/(?=        if \(a != a \|\| b != b\))/        if (planted(2)) return a > b ? a : b;\n        if (planted(3)) return a < b ? b : a;\n/ or die;
        # 4: an odd node is merged into its left neighbour. 8: nodes are combined from left to right.
        s/(?=        if \(count % 2 != 0\) node\[count \/ 2\])/        if (planted(4) && count % 2 != 0) {
            node[count \/ 2 - 1] = op(node[count \/ 2 - 1], node[count - 1]);
            --count;
        }
/ or die;
        s/(TypeOf<Op> hostPairs\(.*\n)/$1    for (size_t i = 1; planted(8) && i < count; ++i) node[0] = op(node[0], node[i]);
    if (planted(8)) return node[0];
/ or die;
        # 5: every chunk takes the initial value.
        s/(hostTree\(op, chunkIn, count, )nullptr/$1planted(5) ? init : nullptr/ or die;
        # 6: levels on the device combine node i with i + half.
        s/parent\[i\] = op\(node\[2 \* i\], node\[2 \* i \+ 1\]\)/parent[i] = planted(6) ? op(node[i], node[i + count \/ 2 + count % 2]) : op(node[2 * i], node[2 * i + 1])/ or die;
        s/parent\[i\] = node\[count - 1\]/parent[i] = node[planted(6) ? i : count - 1]/ or die;
        # 7: chunks of three leaves are allowed.
        s/(?=return chunk >= kLeaf &&)/if (planted(7)) return chunk > 0 && chunk % kLeaf == 0;\n    / or die;
        # 9: a whole leaf on the host combines neighbours first.
        s/in\(first \+ t\)\), op\.sample\(in\(first \+ t \+ kHalf\)/in(first + (planted(9) ? 2 * t : t))), op.sample(in(first + (planted(9) ? 2 * t + 1 : t + kHalf))/ or die;
        # 10: absent slots are zeros on the device. 11: a sample of leaf 5 is wrong there. 15: and one at n = 257.
        s/const size_t count = left < kLeaf \?/const size_t count = planted(10) ? kLeaf : left < kLeaf ?/ or die;
        s/slot\[t\] = op\.sample\(in\[first \+ t\]\);\n +__sync/slot[t] = t >= left ? TypeOf<Op>() : op.sample(in[first + ((planted(11) \&\& blockIdx.x == 5 \&\& t == 3) || (planted(15) \&\& n == 257 \&\& t == 3) ? 0 : t)]);\n    __sync/ or die;
        # 12: each thread takes an equal share of the leaves.
        s/constexpr size_t kGroup = 256;/const size_t kGroup = planted(12) ? leafCount(n) \/ (threads != nullptr ? *threads : 1) + 1 : 256;/ or die;
        # 13, 14: pieces stand on the wrong side.
        s/\+\+level\) tree = op\(node\[level\], tree\)/++level) tree = planted(13) ? op(tree, node[level]) : op(node[level], tree)/ or die;
        s/(!= 0\)) tree = op\(node\[level\], tree\)/$1 tree = planted(14) ? op(tree, node[level]) : op(node[level], tree)/ or die;
        # 16: the device forgets the initial value.
        s/hasInit \? op/hasInit \&\& !planted(16) ? op/ or die;
        # 35: an integer sum that subtracts.
        s/return a \+ b; \}/return planted(35) \&\& T(0.5) == T(0) ? a - b : a + b; }/ or die' || return
    mutate "$WRONG" "$1/wrong_orders.cu" '
        # 21 to 26: a wrong order is the tree after all. 31 to 33: on floats, doubles, integers alone.
        # 34: the tree is a wrong order.
        s/(?=    std::vector<T> sample\(n\))/    const bool integer = T(0.5) == T(0);
    if (planted(20 + order)) order = kTree;
    if (order == kChunkFold \&\& ((planted(31) \&\& !integer \&\& sizeof(T) == 4) || (planted(32) \&\& !integer \&\& sizeof(T) == 8) || (planted(33) \&\& integer))) order = kTree;
    if (order == kTree \&\& planted(34)) order = kAscending;
/ or die;
        # 36, 37: a wrong maximum is right.
        s/return a > b \? a : b;/return planted(36) ? Max<float>()(a, b) : a > b ? a : b;/ or die;
        s/return a > b \|\| b != b \? a : b;/return planted(37) ? Max<float>()(a, b) : a > b || b != b ? a : b;/ or die;
        # 38: padded with -0.0. 39: the samples are +0.0.
        s/(padded \? 2048 : kSlots), 0\.0f/$1, planted(38) ? -0.0f : 0.0f/ or die;
        s/zeros\(kSlots, -0\.0f\)/zeros(kSlots, planted(39) ? 0.0f : -0.0f)/ or die;
        s/(?=    printf\("n: )/    plant();\n/ or die'
}

setup_file() {
    local dir=$BATS_FILE_TMPDIR
    $CC -std=c11 -O3 -ffp-contract=off -Wall -Wextra -Wpedantic -Werror -c -o "$dir/reference.o" "$PARTS/reference.c"
    # g++ contracts from -O2 on. $(openmp) and $(quick) are lists of words.
    # shellcheck disable=SC2046
    compile "$PARTS/checks.cu" "$dir/checks" fmad $(quick 2) -I"$PARTS" "$dir/reference.o" $(openmp) &
    plant_faults "$dir"
    # shellcheck disable=SC2046
    compile "$dir/canonical_tree.cu" "$dir/canonical_tree" fmad $(quick 2) $(openmp)
    wait $!
    # shellcheck disable=SC2046
    compile "$dir/wrong_orders.cu" "$dir/wrong_orders" fmad $(quick 1) $(openmp) &
    # shellcheck disable=SC2046
    compile "$LESSON" "$dir/serial" nofmad $(quick 0)
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
@test "known answers and wrong orders are the reference's, and each wrong order shows" { check orders; }
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
@test "more than 2^32 samples on the host" { check hostIndices; }
@test "more than 2^32 samples on the host, in chunks" {
    [ -n "${ALL:-}" ] || skip "seconds on one core: check-all"
    check chunkIndices
}
@test "more than 2^32 samples on a card" {
    require_large_card
    check large
}
@test "index arithmetic at 2^31 - 1, 2^31 + 1, 2^32 + 1 and beyond, without the samples" { check indices; }


# The tables without what may differ: the OpenMP sum's rows and the threads that ran.
fixed() { sed -n '/^grid-stride/p; /^path/,$p' | sed 's/^\(host, [0-9]* asked\) *[0-9]*/\1/'; }

@test "with OpenMP and contracted, or serial and not contracted: the same tables" {
    run --separate-stderr "$BATS_FILE_TMPDIR/serial"
    assert_success
    local serial=$output
    run grep -c '^host, [0-9]* asked  *1 ' <<<"$serial"
    assert_output 5
    run --separate-stderr "$BATS_FILE_TMPDIR/canonical_tree"
    assert_success
    if have_fma; then assert_line 'contraction: fused'; fi
    grep -q '^contraction: separate$' <<<"$serial"
    run diff <(fixed <<<"$serial") <(fixed <<<"$output")
    assert_success
}

@test "a limit of 14 processes, as Compiler Explorer has it, ends no run" {
    [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null || skip "only root can give a run a user without other processes"
    require_cpu
    # A folder that the other user may enter: bats' own is not, and the build folder may be in a closed home.
    local dir
    dir=$(TMPDIR=/tmp mktemp -d)
    chmod 755 "$dir"
    cp "$BATS_FILE_TMPDIR/canonical_tree" "$dir"
    run setpriv --reuid=65534 --regid=65534 --clear-groups bash -c "ulimit -u 14 && exec '$dir/canonical_tree'"
    rm -r "$dir"
    assert_success
    assert_line --regexp '^host, 8 asked +[0-9]+ .* same$'
}

# refuses FAULT PROGRAM GATES text...: with the fault planted, the program ends with status 1, so many
# gates fail, and each text stands on stderr.
refuses() {
    local fault=$1 name=$2 gates=$3
    FAULT=$fault run --separate-stderr "$BATS_FILE_TMPDIR/$name"
    [ "$status" -eq 1 ] || { echo "fault $fault of $name: status $status"; echo "$output"; echo "$stderr"; false; }
    local text
    for text in "${@:4}" "$gates gate(s) failed"; do
        grep -qxF -- "$text" <<<"$stderr" || { echo "fault $fault: no line '$text' in: $stderr"; echo "$output"; false; }
    done
}

@test "faults in the tree fail their gates" {
    local failed='gate failed:'
    local paths="$failed the same bits on every path: first:" known="$failed the known answers: first:"
    local sizes="$failed host = device = chunks = pieces at small sizes: first: n =" values="$failed zeros, NaN, initial value: first:"
    refuses 1 canonical_tree 2 "$paths device, level by level" "$sizes 255"
    refuses 2 canonical_tree 1 "$values max, the first +0.0"
    refuses 3 canonical_tree 1 "$values max, a middle +0.0"
    refuses 4 canonical_tree 3 "$known the first 1025"
    refuses 5 canonical_tree 1 "$values the same, init 1"
    refuses 6 canonical_tree 2 "$paths device, level by level" "$sizes 513"
    refuses 7 canonical_tree 1 "$failed a chunk of three leaves is refused: it was accepted"
    refuses 8 canonical_tree 3 "$known the first 1025"
    refuses 9 canonical_tree 2 "$paths host, 1 asked" "$sizes 256"
    refuses 10 canonical_tree 3 "$paths device, level by level" "$values sum, all -0.0"
    refuses 11 canonical_tree 2 "$paths device, level by level" "$sizes 1793"
    refuses 13 canonical_tree 2 "$paths in pieces of 256" "$sizes 257"
    refuses 14 canonical_tree 2 "$paths in pieces of 256" "$sizes 513"
    refuses 15 canonical_tree 1 "$sizes 257"
    refuses 16 canonical_tree 1 "$values the same, init +0.0"
}

@test "shares per thread fail the gate of the paths" {
    [ -n "$(openmp)" ] || skip "no OpenMP: one thread alone"
    refuses 12 canonical_tree 1 'gate failed: the same bits on every path: first: host, 2 asked'
    assert_line --regexp '^host, 1 asked .* same$'
}

@test "a wrong order that is the tree, and wrong values that are right, fail their gates" {
    run --separate-stderr "$BATS_FILE_TMPDIR/wrong_orders"
    assert_success
    local shows='gate failed: each wrong order shows: first that does not:'
    refuses 21 wrong_orders 1 "$shows strides 1, 2, .. 128, n = 1025"
    refuses 22 wrong_orders 1 "$shows odd node merged left, n = 1025"
    refuses 23 wrong_orders 1 "$shows node i with i + half, n = 1025"
    refuses 24 wrong_orders 1 "$shows samples left to right, n = 1025"
    refuses 25 wrong_orders 1 "$shows chunks left to right, n = 1025"
    refuses 26 wrong_orders 1 "$shows chunks of 3 leaves, n = 1025"
    local fault
    for fault in 31 32 33; do refuses $fault wrong_orders 1 "$shows chunks left to right, n = 1025"; done
    refuses 34 wrong_orders 2 'gate failed: the known answers: first: the canonical tree, n = 1025'
    refuses 35 wrong_orders 1 "gate failed: unsigned sum, max and all need no order: see 'other' in their columns"
    refuses 2 wrong_orders 1 'gate failed: max: NaN wins and -0.0 < +0.0, in every slot: 4 of 6 slots'
    for fault in 36 37; do refuses $fault wrong_orders 1 'gate failed: each wrong max shows: one is right everywhere'; done
    refuses 38 wrong_orders 1 'gate failed: padding with zeros shows: 0x80000000 without, 0x80000000 with it'
    refuses 39 wrong_orders 1 'gate failed: padding with zeros shows: 0x00000000 without, 0x00000000 with it'
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
