# The tree in CUDA graphs: its program, and faults that each of its gates must catch.
# shellcheck disable=SC2016 # perl's own variables
# shellcheck disable=SC2030,SC2031 # run sets status in each test's own shell
# shellcheck disable=SC2154 # run --separate-stderr sets stderr
load helper
bats_require_minimum_version 1.5.0

FOLDER=$ROOT/canonical_tree

# fault NAME ELEMENTS 'perl code' 'perl code': the program with faults in canonical_tree.cu and in
# tree_in_graph.cu, each of which may be empty; on the CPU lightly optimised, for the time it takes.
fault() {
    local dir=$BATS_FILE_TMPDIR/$1 build=nofmad light=
    mkdir "$dir"
    cp "$FOLDER/canonical_tree.cu" "$FOLDER/tree_in_graph.cu" "$dir"
    [ -z "$3" ] || mutate "$FOLDER/canonical_tree.cu" "$dir/canonical_tree.cu" "$3" || return
    [ -z "$4" ] || mutate "$FOLDER/tree_in_graph.cu" "$dir/tree_in_graph.cu" "$4" || return
    if have_fma; then build=fmad; fi
    [ "$DEVICE" = gpu ] || light=-O1
    # shellcheck disable=SC2086 # nothing or one word
    compile "$dir/tree_in_graph.cu" "$dir/program" $build -DELEMENTS="$2" $light
}

# A stream that comes late: a hundred million clocks before it fills its half.
slow='s/template <typename T>\nvoid fill\(/__global__ void idle(long long clocks) {\n    const long long start = clock64();\n    while (clock64() - start < clocks) {\n    }\n}\n$&/ or die;
    s/ +fill\(b, b\.n \/ 2, b\.n, g_other\);\n/    idle<<<1, 1, 0, g_other>>>(100000000);\n$&/ or die;'

faults() {
    fault none 66049 '' '' || return
    # A graph runs once; the second graph fills its first half twice.
    fault once 66049 '' '
        s/(CUDA_CHECK\(cudaGraphLaunch)/if (launch == 0) $1/ or die;
        s/fill\(b, b\.n \/ 2, b\.n, g_other\)/fill(b, 0, b.n \/ 2, g_other)/ or die' || return
    # A graph runs once, and the input stays the same: only the poison shows it.
    fault stale 66049 '' '
        s/(CUDA_CHECK\(cudaGraphLaunch)/if (launch == 0) $1/ or die;
        s/return launch % 2 == 1 .*;/return sampleAt<T>(i);/ or die' || return
    # The third graph keeps its total on the host.
    fault kept 66049 '' 's/ +CUDA_CHECK\(cudaMemcpyAsync\(b\.total, .*\n//' || return
    # Another tree on the host than on the device.
    fault other_tree 66049 '
        s/(TypeOf<Op> hostLeaf\(.*?for \(size_t stride = kLeaf \/ 2; stride > )0/${1}1/s' '' || return
    # Host and device agree on a tree of other samples: only the known answers show it.
    fault other_samples '4*1024*1024+611' '' 's/sampleAt<T>\(launch \* n \+ i\)/sampleAt<T>(launch * n + i + 1)/' || return
    fault unjoined 66049 '' 's/ +CUDA_CHECK\(cudaStreamWaitEvent\(g_stream, join, 0\)\);\n//' || return
    [ "$DEVICE" = gpu ] || return 0
    fault slow 66049 '' "$slow" || return
    # Joined behind the tree. The capture is complete, and nothing but time decides what the tree reads.
    fault joined_late 66049 '' "$slow"'
        s/( +CUDA_CHECK\(cudaEventRecord\(join, g_other\)\);\n.*\n)( +treeAlone\(op, b\);\n)/$2$1/ or die'
}

setup_file() { faults >"$BATS_FILE_TMPDIR/log" 2>&1 || { cat "$BATS_FILE_TMPDIR/log"; false; }; }

@test "both builds pass and print the same trees" {
    local out=$BATS_TEST_TMPDIR build
    for build in fmad nofmad; do
        [ $build = nofmad ] || have_fma || continue
        "$(program tree_in_graph $build)" >"$out/$build"
        grep -q '^gates passed: 8$' "$out/$build"
        grep -v '^contraction: ' "$out/$build" >"$out/$build.rest"
        assert_expected "$out/$build"
    done
    if have_fma; then diff "$out/fmad.rest" "$out/nofmad.rest"; fi
}

@test "another size passes too" {
    run --separate-stderr "$BATS_FILE_TMPDIR/none/program"
    assert_success
    assert_line 'gates passed: 8'
}

# fails NAME, the whole of stderr on stdin: the program with the fault NAME fails these gates and no other.
fails() {
    run --separate-stderr "$BATS_FILE_TMPDIR/$1/program"
    assert_equal "$status" 1
    assert_equal "$stderr" "$(cat)"
    refute_line --partial 'gates passed'
    assert_equal "$(grep -c '^gate: .* FAILED$' <<<"$output")" "$(grep -c '^gate failed: ' <<<"$stderr")"
}

@test "a graph that runs only once fails every gate, and a half that is not filled the first launch" {
    fails once <<'END'
gate failed: tree, float sum: first: launch 1
gate failed: tree, float max: first: launch 1
gate failed: tree, float all: first: launch 1
gate failed: tree, integer mix: first: launch 1
gate failed: fork and join, float sum: first: launch 0
gate failed: fork and join, double sum: first: launch 0
gate failed: host node, float sum: first: launch 1
gate failed: host node, double sum: first: launch 1
8 gate(s) failed
END
}

@test "the poison alone shows a graph that runs only once" {
    fails stale <<'END'
gate failed: tree, float sum: first: launch 1
gate failed: tree, float max: first: launch 1
gate failed: tree, float all: first: launch 1
gate failed: tree, integer mix: first: launch 1
gate failed: fork and join, float sum: first: launch 1
gate failed: fork and join, double sum: first: launch 1
gate failed: host node, float sum: first: launch 1
gate failed: host node, double sum: first: launch 1
8 gate(s) failed
END
}

@test "a host node whose total stays on the host fails its gates" {
    fails kept <<'END'
gate failed: host node, float sum: first: launch 0
gate failed: host node, double sum: first: launch 0
2 gate(s) failed
END
}

@test "another tree on the host fails the gates of what is computed on the device" {
    run --separate-stderr "$BATS_FILE_TMPDIR/other_tree/program"
    assert_equal "$status" 1
    [[ $stderr == *'gate failed: tree, float sum: first: launch 0'* ]] || { echo "$stderr"; false; }
    [[ $stderr == *'gate failed: tree, integer mix: first: launch 0'* ]] || { echo "$stderr"; false; }
    [[ $stderr == *'gate failed: fork and join, double sum: first: launch 0'* ]] || { echo "$stderr"; false; }
    [[ $stderr != *'host node'* ]]
}

@test "the known answers alone show a tree of other samples" {
    fails other_samples <<'END'
gate failed: fork and join, float sum: first: launch 0
gate failed: fork and join, double sum: first: launch 0
gate failed: host node, float sum: first: launch 0
gate failed: host node, double sum: first: launch 0
4 gate(s) failed
END
    assert_line --regexp '^fork and join, float sum +4194915 +2 +2 '
}

@test "a stream that is never joined ends the capture with CUDA's error" {
    run --separate-stderr "$BATS_FILE_TMPDIR/unjoined/program"
    assert_equal "$status" 2
    [[ $stderr == *cudaErrorStreamCaptureUnjoined* ]] || { echo "$stderr"; false; }
}

@test "a stream that comes late is waited for; joined behind the tree, it is not" {
    [ "$DEVICE" = gpu ] || skip "on the CPU default a graph runs in the order of the calls"
    "$BATS_FILE_TMPDIR/slow/program"
    run --separate-stderr "$BATS_FILE_TMPDIR/joined_late/program"
    assert_equal "$status" 1
    [[ $stderr == *'gate failed: fork and join, float sum: first: launch 0'* ]] || { echo "$stderr"; false; }
    [[ $stderr == *'gate failed: fork and join, double sum: first: launch 0'* ]] || { echo "$stderr"; false; }
}
