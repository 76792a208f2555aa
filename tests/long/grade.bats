# Bad submissions of every kind, each with its verdict, in the sandbox and without it.
load ../helper
# shellcheck source=tests/grading/submissions.sh
. "$ROOT/tests/grading/submissions.sh"

# The verdict that is written down: of a submission without a sandbox, where it is another one.
pinned() { # NAME [no sandbox]
    sed -n "s/^$1${2:+ ($2)} | //p" "$ROOT/tests/grading/verdicts.txt"
}
judge_all() { # [no sandbox]
    local name want
    [ "$(bad_submissions | wc -l)" -ge 24 ]
    for name in $(bad_submissions); do
        want=$(pinned "$name" "$@")
        [ -n "$want" ] || want=$(pinned "$name")
        assert_equal "$name: $(grade_bad "$name" "$BATS_TEST_TMPDIR")" "$name: $want"
        # Nothing of it lives on, and the other student's work is whole.
        run pgrep -f 'sleep 3599'
        assert_output ''
        assert_equal "$(cksum <"$BATS_TEST_TMPDIR/theirs.cu")" "$(cksum <"$ROOT/precision_reduction/precision_reduction.cu")"
    done
}

@test "each bad submission has its verdict, in the sandbox" {
    have_fma || skip "this CPU has no FMA, so there is no fused build"
    [ "$(bash "$ROOT/tools/confine.sh" --which)" = bubblewrap ] || skip "no bubblewrap that works here"
    judge_all
}

@test "each bad submission has its verdict, without a sandbox" {
    have_fma || skip "this CPU has no FMA, so there is no fused build"
    NO_SANDBOX=1 judge_all 'no sandbox'
    grep -qx 'There was no sandbox (no sandbox: limits only): what was handed in ran with the grader.s own rights\.' "$BATS_TEST_TMPDIR/report"
}

@test "each lesson's own program gets all points, whatever the student's name" {
    local lesson program
    while read -r lesson program; do
        LESSON=$lesson SRC=$ROOT/$lesson/$program.cu run bash "$ROOT/tools/grade.sh" --student "Zoë O'Neil, \"2\"" --into "$BATS_TEST_TMPDIR/$lesson"
        assert_success
        assert_line '100 of 100 points; passed'
        assert_line --regexp '^between the builds: .*, as in the lesson.s program$'
        refute_line --regexp '^ +on '
    done <<'END'
day68_reproducibility reproducibility
precision_reduction precision_reduction
fpmp_pi fpmp_pi
canonical_tree canonical_tree
END
}

# Gates that look at nothing from the device: of the host's own arithmetic, of what a case is, of counts.
host_gates() {
    case $1 in
    reproducibility) echo '^reference: its compensation' ;;
    precision_reduction) echo '^rule: |: a dropped element$' ;;
    fpmp_pi) echo 'a warm-up, then 5 launches$|^two-sum keeps its error on the host$' ;;
    canonical_tree) echo '^a chunk of three leaves is refused$|^the known answers$' ;;
    esac
}

@test "each gate that looks at what comes from the device fails under a flaw" {
    local gates
    # shellcheck disable=SC2034,SC1091
    while read -r LESSON PROGRAM; do
        # shellcheck disable=SC2034
        SRC='' WORK=$BATS_TEST_TMPDIR SEED=any N='' CHECKS=''
        . "$ROOT/tools/judge.sh"
        read -ra fresh <<<"$(fresh_flags)"
        read -ra own <<<"$(lesson_flaw_flags)"
        for flaw in $(flaws); do cat "$(reference_output nofmad ${fresh[@]+"${fresh[@]}"} -- WATCH_FLAW="$flaw")"; done >"$BATS_TEST_TMPDIR/flawed"
        for flaw in $(lesson_flaws); do cat "$(reference_output nofmad ${own[@]+"${own[@]}"} -- WATCH_FLAW="$flaw")"; done >>"$BATS_TEST_TMPDIR/flawed"
        gates=$(sed -n 's/^gate: \(.*[^ ]\) *passed$/\1/p' "$BATS_TEST_TMPDIR/flawed" | sort -u)
        run comm -23 <(echo "$gates") <(sed -n 's/^gate: \(.*[^ ]\) *FAILED$/\1/p' "$BATS_TEST_TMPDIR/flawed" | sort -u)
        if [ "$PROGRAM" = fpmp_pi ]; then # the clock's gate of a type that the fresh input does not have
            output=$(grep -v '_pair.*: a time, and the speed from it$' <<<"$output")
        fi
        output=$(grep -vE "$(host_gates "$PROGRAM")" <<<"$output" || true)
        assert_output ''
    done <<'END'
day68_reproducibility reproducibility
precision_reduction precision_reduction
fpmp_pi fpmp_pi
canonical_tree canonical_tree
END
}
