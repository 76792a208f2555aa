# Programs with one operator, comparison or constant changed: some gate or expected line must notice, or the
# mutant stands in tests/mutants/survivors.txt with a reason.
load ../helper

mutants() { run bash "$ROOT/tests/mutants/mutants.sh" "$@"; }

@test "mutants of the programs are killed, or listed with the reason why they change nothing" {
    # By hand without SHARE: one in four, some 400.
    SHARE=8 mutants
    assert_success
    assert_line --regexp '^mutants: [2-9][0-9][0-9], '
    # Most are killed, or the list would hold what gates should.
    [[ ${lines[0]} =~ killed:\ ([0-9]+),\ survived:\ ([0-9]+) ]]
    [ "${BASH_REMATCH[1]}" -gt $((3 * BASH_REMATCH[2])) ]
}

@test "a survivor that is not listed, a listed one that is killed and one that is no mutant are reported" {
    local before='    return isFinite(got) && isFinite(want) && isFinite(allowed) && std::fabs(got - want) <= allowed;'
    grep -qF -- "${before#    }" "$ROOT/precision_reduction/precision_reduction.cu"
    cat >"$BATS_TEST_TMPDIR/list" <<END
program: precision_reduction/precision_reduction
- ${before#    }
+ return isFinite(got) && isFinite(want) && isFinite(allowed) && std::fabs(got + want) <= allowed;
reason: it is not so

program: precision_reduction/precision_reduction
- no such line
+ no such line either
reason: none

program: precision_reduction/precision_reduction
- ${before#    }
+ ${before/#    return isFinite(got) &&/return isFinite(got) ||}
reason: by luck: not so either, but it may be killed
END
    ONLY='isFinite(' SURVIVORS=$BATS_TEST_TMPDIR/list SHARE=1 mutants precision_reduction/precision_reduction
    assert_failure 1
    assert_line --regexp '^survived, and not in '
    assert_line --regexp 'but killed: precision_reduction/precision_reduction: return isFinite'
    assert_equal "$(grep -c 'but killed' <<<"$output")" 1
    assert_line --regexp 'but no such mutant: precision_reduction/precision_reduction: no such line'
}
