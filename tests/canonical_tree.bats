# The lesson canonical_tree: one definition, and everything that must have its bits. The library part of
# canonical_tree.cu against a reference in C (canonical_tree/), the programs' gates, and faults that
# these must catch.
# shellcheck disable=SC2016 # perl's own variables
# shellcheck disable=SC2030,SC2031 # run sets status in each test's own shell
# shellcheck disable=SC2154 # run --separate-stderr sets stderr
load helper
bats_require_minimum_version 1.5.0

LESSON=$ROOT/canonical_tree/canonical_tree.cu
GRAPH=$ROOT/canonical_tree/tree_in_graph.cu
PARTS=$BATS_TEST_DIRNAME/canonical_tree

# The flags of OpenMP, as the Makefile gives them to this lesson.
openmp() {
    [ "$OPENMP" = yes ] && [ -z "${SANITIZE:-}" ] || return 0
    if [ "$DEVICE" = gpu ]; then echo -Xcompiler=-fopenmp; else echo -fopenmp; fi
}

# start NAME command...: builds run side by side; their messages are shown if one fails.
start() {
    local name=$1
    shift
    "$@" >"$BATS_FILE_TMPDIR/$name.log" 2>&1 &
    pids="$pids $!:$name"
}
finish_builds() {
    local p
    for p in $pids; do
        wait "${p%%:*}" || { cat "$BATS_FILE_TMPDIR/${p#*:}.log"; return 1; }
    done
    pids=
}

# quick LEVEL SRC OUT [flags]: on a smaller input and, on the CPU, with -OLEVEL, for the time it takes.
quick() {
    local level=-O$1
    shift
    [ "$DEVICE" = cpu ] || level=
    # shellcheck disable=SC2086 # a list of words
    device_build "$@" -DELEMENTS=66049 $level
}

# fault NAME LEVEL SRC 'perl code': a lesson with a fault.
fault() {
    mutate "$3" "$BATS_FILE_TMPDIR/$1.cu" "$4" || return
    start "$1" quick "$2" "$BATS_FILE_TMPDIR/$1.cu" "$BATS_FILE_TMPDIR/$1"
}
setup_file() {
    local dir=$BATS_FILE_TMPDIR pids=
    $CC -std=c11 -O3 -ffp-contract=off -Wall -Wextra -Wpedantic -Werror -c -o "$dir/reference.o" "$PARTS/reference.c"
    perl -pe 's/^int main\(/int lessonMain(/' "$LESSON" >"$dir/checks.cu"
    cat "$PARTS/checks.cu" >>"$dir/checks.cu"
    # shellcheck disable=SC2046 # no word, or one
    # g++ contracts from -O2 on.
    start checks quick '2' "$dir/checks.cu" "$dir/checks" -I"$PARTS" "$dir/reference.o" $(openmp)
    NOFMAD=1 start serial quick 0 "$LESSON" "$dir/serial"
    finish_builds
}

check() {
    run --separate-stderr "$BATS_FILE_TMPDIR/checks" "$1"
    assert_success
    assert_line "right: $1"
}

@test "the telling samples are the reference's" { check samples; }
@test "host: every n to 1,025, every leaf count to 1,025, around every power of two to 2^20" { check hostSizes; }
@test "device: the same sizes, by the integer mix" { check deviceSizes; }
@test "known answers and wrong orders are the reference's, and each wrong order shows" { check orders; }
@test "every legal chunking gives the tree, every other chunk is refused by its rule" { check chunks; }
@test "signs of zero, with and without an initial value" { check zeros; }
@test "an initial value is the left operand, once and last" { check initials; }
@test "NaN and infinities at every slot of a leaf, for sum and max" { check specials; }
@test "subnormals count" { check subnormals; }
@test "integer sums, max and all: modulo 2^w, in any order" { check integers; }
@test "1 to 64 threads: the same bits, never more threads than asked for" { check threads; }
@test "a team of threads that shrank grows again beside others" { check teams; }
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
fixed() { sed -n '/^right:/d; /^grid-stride/p; /^path/,$p' | sed 's/^\(host, *[0-9]* asked\) *[0-9]*/\1/'; }

@test "with OpenMP and contracted, or serial and not contracted: the same tables" {
    run --separate-stderr "$BATS_FILE_TMPDIR/serial"
    assert_success
    local serial=$output
    run grep -c '^host, [0-9]* asked  *1 ' <<<"$serial"
    assert_output 6
    run --separate-stderr "$BATS_FILE_TMPDIR/checks" lesson
    assert_success
    if have_fma; then assert_line 'contraction: fused'; fi
    grep -q '^contraction: separate$' <<<"$serial"
    run diff <(fixed <<<"$serial") <(fixed <<<"$output")
    assert_success
}

@test "a limit of 14 processes ends no run" {
    [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null || skip "only root can give a run a user without other processes"
    require_cpu
    # A folder that the other user may enter: bats' own is not, and the build folder may be in a closed home.
    local dir
    dir=$(TMPDIR=/tmp mktemp -d)
    chmod 755 "$dir"
    cp "$BATS_FILE_TMPDIR/checks" "$dir"
    local limit
    for limit in 2 14; do  # two: the shell and the program
        run setpriv --reuid=65534 --regid=65534 --clear-groups \
            bash -c "ulimit -u $limit && '$dir/checks' threads && '$dir/checks' teams && exec '$dir/checks' lesson"
        echo "limit $limit: $output"
        [ "$status" -eq 0 ] || break
    done
    rm -r "$dir"
    assert_success
    assert_line --regexp '^host, 64 asked +[0-9]+ .* same$'
}

@test "the marked blocks are the same in every program of the lesson" {
    local block file have count
    for block in 'tree definition' 'integer mix' 'level tree' 'telling input' 'known answers'; do
        count=0
        for file in "$ROOT"/canonical_tree/*.cu; do
            have=$(sed -n "\\|^// $block:|,\\|^// end $block|p" "$file")
            [ -n "$have" ] || continue
            count=$((count + 1))
            diff <(sed -n "\\|^// $block:|,\\|^// end $block|p" "$LESSON") - <<<"$have" || { echo "$block: $file"; false; }
        done
        [ "$count" -ge 2 ]
    done
}

# refuses NAME text...: the fault NAME ends with status 1, and each text stands on stderr or stdout.
refuses() {
    run --separate-stderr "$BATS_FILE_TMPDIR/$1"
    assert_equal "$status" 1
    local text
    for text in "${@:2}"; do
        [[ $stderr$'\n'$output == *"$text"* ]] || { echo "$1: no '$text' in: $stderr"; echo "$output"; false; }
    done
}

# Faults that different gates or rows must catch share a build.
@test "faults in the tree fail its gates" {
    local pids=
    # On the device strides ascend; max without its rules; an odd node goes up in the order that merges it.
    fault ascending 0 "$LESSON" '
        s/(for \(size_t stride = )kLeaf \/ 2; stride > 0; stride \/= 2(\) \{\n +if \()t < stride/${1}1; stride < kLeaf; stride *= 2${2}t % (2 * stride) == 0/ or die;
        s/if \(a != a \|\| b != b\) return a != a \? a : b;\n.*\n// or die;
        s/\(apart \|\| order == kOddMerged\)/apart/ or die'
    # An odd node is merged left; every chunk takes the initial value.
    fault merged 0 "$LESSON" '
        s/(if \(count % 2 != 0\)) node\[count \/ 2\] = node\[count - 1\];/$1 node[count \/ 2 - 1] = op(node[count \/ 2 - 1], node[count - 1]), --count;/ or die;
        s/(hostTree\(op, chunkIn, count, )nullptr/$1init/ or die'
    finish_builds
    # The levels on the device pair node i with i + half; chunks of three leaves are allowed.
    fault half 0 "$LESSON" '
        s/parent\[i\] = op\(node\[2 \* i\], node\[2 \* i \+ 1\]\)/parent[i] = op(node[i], node[i + count \/ 2 + count % 2])/ or die;
        s/parent\[i\] = node\[count - 1\]/parent[i] = node[i]/ or die;
        s/return chunk >= kLeaf && \(chunk & \(chunk - 1\)\) == 0;/return chunk > 0 && chunk % kLeaf == 0;/ or die;
        s/for \(size_t chunk = kLeaf; chunk == kLeaf/for (size_t chunk = 3 * kLeaf; chunk == 3 * kLeaf/ or die'
    # Leaves are folded from left to right; the whole leaf combines neighbours first.
    fault fold 0 "$LESSON" '
        s/(TypeOf<Op> hostPairs\(.*\n)/$1    for (size_t i = 1; i < count; ++i) node[0] = op(node[0], node[i]);\n    return node[0];\n/ or die;
        s/op\.sample\(in\(first \+ t\)\), op\.sample\(in\(first \+ t \+ kHalf\)\)/op.sample(in(first + 2 * t)), op.sample(in(first + 2 * t + 1))/ or die'
    finish_builds
    # On the device absent slots are zeros.
    fault padded 0 "$LESSON" '
        s/if \(t < count\) slot\[t\] = (op\.sample\(in\[first \+ t\]\));/slot[t] = t < count ? $1 : TypeOf<Op>();/ or die;
        s/if \(t < stride && t \+ stride < count\) (slot\[t\] = .*\n +__sync)/if (t < stride) $1/ or die'
    # A sample of one leaf in the middle is wrong on the device.
    fault leaf 0 "$LESSON" 's/op\.sample\(in\[first \+ t\]\)/op.sample(in[first + (blockIdx.x == 5 \&\& t == 3 ? 0 : t)])/ or die'
    # Each thread takes an equal share of the leaves.
    fault shares 0 "$LESSON" '
        s/constexpr size_t kGroup = 256;/const size_t kGroup = leafCount(n) \/ (threads != nullptr ? *threads : 1) + 1;/ or die'
    finish_builds

    local paths='gate failed: the same bits on every path: first: ' sizes='gate failed: host = device = chunks at small sizes: first: n = '
    local operators='gate failed: operators, zeros, NaN, initial value: first: '
    refuses ascending "${paths}device, level by level, n = 66049, from index 0 on" "${operators}max, the last +0.0" \
        "${sizes}255, from index 0 on" \
        'gate failed: each wrong order shows: first not: odd node merged left, n = 1025'
    refuses merged 'gate failed: the known answers: first: the canonical tree, n = 1025' "${operators}the same, init 1"
    refuses half "${paths}device, level by level, n = 66049, from index 512 on" "${sizes}513, from index 512 on"
    assert_line --regexp '^chunks of 768 .* different$'
    refuses fold 'gate failed: the known answers: first: the canonical tree, n = 1025' "${paths}host, 1 asked" "${sizes}256, from index 0 on"
    refuses leaf "${paths}device, level by level, n = 66049, from index 1280 on" "${sizes}8449, from index 1280 on"
    refuses shares "${paths}host, 2 asked"
    assert_line --regexp '^host, 1 asked .* same$'
    refuses padded "${paths}device, level by level, n = 66049, from index 66048 on" "${operators}all" \
        'sum, all -0.0          0x80000000  0x00000000  0x80000000'
}

@test "faults in the graphs fail their gates" {
    local pids=
    start none quick 1 "$GRAPH" "$BATS_FILE_TMPDIR/none"
    # A graph runs once; the second graph fills its first half twice.
    fault once 1 "$GRAPH" '
        s/(CUDA_CHECK\(cudaGraphLaunch)/if (launch == 0) $1/ or die;
        s/fill\(b, b\.n \/ 2, b\.n, g_other\)/fill(b, 0, b.n \/ 2, g_other)/ or die'
    finish_builds
    # A graph runs once, and the input stays the same: only the poison shows it.
    fault stale 1 "$GRAPH" '
        s/(CUDA_CHECK\(cudaGraphLaunch)/if (launch == 0) $1/ or die;
        s/return launch % 2 == 1 .*;/return sampleAt<T>(i);/ or die'
    fault unjoined 1 "$GRAPH" 's/ +CUDA_CHECK\(cudaStreamWaitEvent\(g_stream, join, 0\)\);\n//'
    # Another tree on the host than on the device; the third graph keeps its total on the host.
    fault kept 1 "$GRAPH" '
        s/(for \(size_t stride = )kLeaf \/ 2; stride > 0; stride \/= 2(\)\n +for \()/${1}kLeaf \/ 2; stride > 1; stride \/= 2$2/ or die;
        s/ +CUDA_CHECK\(cudaMemcpyAsync\(b\.total, .*\n// or die'
    finish_builds

    run --separate-stderr "$BATS_FILE_TMPDIR/none"
    assert_success
    assert_line 'gates passed: 8'
    refuses once 'gate failed: tree, float sum: first: launch 1' 'gate failed: host node, float sum: first: launch 1' \
        'gate failed: fork and join, float sum: first: launch 0'
    refuses stale 'gate failed: tree, float sum: first: launch 1' 'gate failed: host node, float sum: first: launch 1'
    refuses kept 'gate failed: tree, integer mix: first: launch 0' 'gate failed: host node, double sum: first: launch 0'
    # Never joined: the capture itself cannot be ended.
    run --separate-stderr "$BATS_FILE_TMPDIR/unjoined"
    assert_equal "$status" 2
    [[ $stderr == *cudaErrorStreamCaptureUnjoined* ]] || { echo "$stderr"; false; }
}
