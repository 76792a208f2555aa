# The tree in CUDA graphs: its program. Its faults are canonical_tree/faults/graph_*.patch.
# shellcheck disable=SC2016 # perl's own variables
load helper

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

# The control of the fault graph_joined_behind_the_tree: the same stream comes late, and is waited for.
@test "another size passes too, with a stream that comes 50 ms late" {
    local dir=$BATS_TEST_TMPDIR
    mutate "$ROOT/canonical_tree/tree_in_graph.cu" "$dir/late.cu" \
        's/( +)fill\(b, b\.n \/ 2, b\.n, g_other\);/$1CUDA_CHECK(cudaLaunchHostFunc(g_other, comeLate, nullptr));\n$&/;
         s/template <typename T>\nvoid fill/static void CUDART_CB comeLate(void*) { usleep(50000); }\n$&/;
         s/\n#include "/\n#include <unistd.h>\n#include "/'
    cp "$ROOT/canonical_tree/canonical_tree.cu" "$dir"
    compile "$dir/late.cu" "$dir/late" nofmad -DELEMENTS=66049
    run "$dir/late"
    assert_success
    assert_line 'gates passed: 8'
}
