# FMA instructions in the machine code of every kernel, for sm_75, sm_80, sm_90 and sm_120, in both
# builds: what tests/machine_code.txt says. A test per program, so that a fault builds one.
load ../helper

counts_as_written() { # LESSON/PROGRAM
    [ -e "$ROOT/.toolkit/version" ] || skip "no toolkit (make toolkit)"
    cd "$BATS_TEST_TMPDIR"
    bash "$ROOT/tests/machine_code.sh" table "$1" >made
    grep "^${1##*/} " "$ROOT/tests/machine_code.txt" | sort >written
    diff written made
}

@test "machine code: reproducibility" { counts_as_written day68_reproducibility/reproducibility; }
@test "machine code: precision_reduction" { counts_as_written precision_reduction/precision_reduction; }
@test "machine code: fpmp_pi" { counts_as_written fpmp_pi/fpmp_pi; }
@test "machine code: fpmp_tour" { counts_as_written fpmp_pi/fpmp_tour; }
@test "machine code: canonical_tree" { counts_as_written canonical_tree/canonical_tree; }
@test "machine code: wrong_orders" { counts_as_written canonical_tree/wrong_orders; }
@test "machine code: fused_tree" { counts_as_written canonical_tree/fused_tree; }
@test "machine code: tree_in_graph" { counts_as_written canonical_tree/tree_in_graph; }

@test "machine code: an FMA in a separate build has a reason in the table" {
    # A line of words stands over the rows that it explains, up to a blank line.
    run awk '!NF { reason = 0 } /^# / { reason = 1 } /^[^#]/ && !/ none$/ && !reason && $(NF - 3) + $(NF - 2) > 0' "$ROOT/tests/machine_code.txt"
    assert_output ''
}
