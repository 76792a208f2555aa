# The lesson precision_reduction: its values, its refusals, its parts, its exercises' reference outcomes.
# The faults that its gates and its parts' checks must catch: tests/precision_reduction/faults.
load helper

LESSON=$ROOT/precision_reduction/precision_reduction.cu
CHECKS=$ROOT/tests/precision_reduction

# Builds run side by side; a build's messages are shown only if it fails.
setup_file() {
    local dir=$BATS_FILE_TMPDIR pids='' pid quick=-O1 fast=-ffast-math
    [ "$DEVICE" = cpu ] || quick=-Xcompiler=-O1 fast=-Xcompiler=-ffast-math
    start() {
        compile "$@" >"$2.log" 2>&1 &
        pids="$pids $!"
    }
    # The lengths and tolerances from the environment: one build for every value that is tried.
    start "$LESSON" "$dir/knobs" nofmad "$quick" \
        '-DPARTIAL_BLOCK=atoll(getenv("PARTIAL"))' '-DMANY_TENTHS=atoll(getenv("TENTHS"))' \
        '-DTENTHS_ABS_TOL=atof(getenv("ABS_TOL"))' '-DTENTHS_REL_TOL=atof(getenv("REL_TOL"))'
    start "$CHECKS/parts.cu" "$dir/parts" nofmad "$quick"
    [ "$DEVICE" = gpu ] || start "$CHECKS/index_64_bits.cu" "$dir/index_64_bits" nofmad "$quick"
    # A NaN from strtof: under -ffast-math g++ 13 folds one that it sees away.
    mutate "$LESSON" "$dir/nan.cu" 's/\{1e8f, 1\.0f, -1e8f, -1\.0f\}/{1e8f, strtof("nan", nullptr), -1e8f, -1.0f}/'
    start "$dir/nan.cu" "$dir/nan" nofmad "$fast"
    for pid in $pids; do
        wait "$pid" || { cat "$dir"/*.log; return 1; }
    done
}

# knobs PARTIAL TENTHS ABS_TOL REL_TOL: runs that build with these values.
knobs() {
    run env PARTIAL="$1" TENTHS="$2" ABS_TOL="$3" REL_TOL="$4" "$BATS_FILE_TMPDIR/knobs"
}

# The table's rows: without the head and the contraction line, and without the gates.
rows() { sed -n '/^case .*verdict$/,/^Not gated/p' | grep -v '^case\|^Not gated' | tr -s ' '; }

@test "stdout is what expected_output/ has, both builds" {
    for build in fmad nofmad; do
        [ $build = nofmad ] || have_fma || continue
        "$(program precision_reduction $build)" >"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err"
        assert_equal "$(cat "$BATS_TEST_TMPDIR/err")" ''
        assert_expected "$BATS_TEST_TMPDIR/out"
    done
}

@test "the values, the same in both builds" {
    there=$BATS_TEST_TMPDIR/separate
    "$(program precision_reduction nofmad)" >"$there"
    run rows <"$there"
    assert_output - <<'END'
cancellation CPU float 1 1 reported
cancellation GPU float 2 0 PASS
cancellation GPU double 2 0 PASS
zero CPU float -1 1 reported
zero GPU float 0 0 PASS
zero GPU double 0 0 PASS
partial block CPU float 32.125 0 reported
partial block GPU float 32.125 0 PASS
partial block GPU double 32.125 0 PASS
many tenths CPU float 100958.6484375 958.34694737941027 reported
many tenths GPU float 100000.30149030685 1.862645149230957e-07 PASS
many tenths GPU double 100000.30149012059 0 PASS
broken reference CPU float 383 127 reported
broken reference GPU float 510 0 PASS
broken reference GPU double 510 0 PASS
END
    assert_equal "$(hash_in "$there" partials)" 0x072bf91ee536fa29
    assert_equal "$(hash_in "$there" run)" 0xab1e5954f827fc7f
    run cat "$there"
    assert_line --regexp '^broken reference  *512 .* 383  *127  *integers$'
    assert_line 'gates passed: 24'

    require_fma
    "$(program precision_reduction fmad)" >"$BATS_TEST_TMPDIR/fused"
    run diff "$BATS_TEST_TMPDIR/fused" "$there"
    assert_line '< contraction: fused'
    assert_line '> contraction: separate'
    assert_equal "${#lines[@]}" 4
}

@test "embed.cu: the sequence gives 1 and the tree 2, the same bits in both builds" {
    [ "$(wc -l <"$ROOT/precision_reduction/embed.cu")" -lt 60 ]
    compile_both "$ROOT/precision_reduction/embed.cu" "$BATS_TEST_TMPDIR/embed"
    run "$BATS_TEST_TMPDIR/embed.nofmad"
    assert_success
    assert_output 'contraction: separate
in sequence: 0x3f800000  1
tree:        0x40000000  2'
    have_fma || return 0
    run "$BATS_TEST_TMPDIR/embed.fmad"
    assert_success
    assert_output 'contraction: fused
in sequence: 0x3f800000  1
tree:        0x40000000  2'
}

@test "an argument is refused" {
    run "$(program precision_reduction nofmad)" 100
    assert_failure 2
    assert_output 'precision_reduction/precision_reduction takes no arguments; -D macros at the build change it'
}

@test "a NaN in the input, under -ffast-math: exit 2, the case named, no PASS, no other bit moved" {
    run --separate-stderr "$BATS_FILE_TMPDIR/nan"
    assert_equal "$status" 2
    assert_line --regexp '^zero +REFUSED: element 1 is not finite$'
    refute_line --regexp '^zero.*PASS'
    refute_line --partial 'gates passed'
    refute_line --partial FAILED
    # shellcheck disable=SC2154 # set by run --separate-stderr
    assert_equal "$stderr" 'refused: zero: element 1 is not finite
1 case(s) refused'
    local others
    others=$(rows <<<"$output" | grep -v '^zero ')
    assert_equal "$others" "$("$(program precision_reduction nofmad)" | rows | grep -v '^zero ')"
    assert_regex "$others" $'^cancellation CPU float 1 1 reported\n'
}

@test "lengths and tolerances that are refused: exit 2, the case named" {
    local most=549755813632 limit='the index cannot hold a length of' tolerance='a tolerance is negative or not finite'
    local -a bad=(
        "0 1000 1e-6 1e-7|partial block|the input is empty"
        "-1 1000 1e-6 1e-7|partial block|$limit -1, only 1 to $most"
        "257 0 1e-6 1e-7|many tenths|the input is empty"
        "257 $((most + 1)) 1e-6 1e-7|many tenths|$limit $((most + 1)), only 1 to $most"
        "257 1000 -1e-300 0|many tenths|$tolerance"
        "257 1000 inf 0|many tenths|$tolerance"
        "257 1000 nan 0|many tenths|$tolerance"
        "257 1000 0 -1|many tenths|$tolerance"
        "257 1000 0 inf|many tenths|$tolerance"
        "257 1000 0 nan|many tenths|$tolerance"
    )
    local row values name reason
    for row in "${bad[@]}"; do
        IFS='|' read -r values name reason <<<"$row"
        # shellcheck disable=SC2086 # four words
        knobs $values
        assert_failure 2
        assert_line "refused: $name: $reason"
        assert_line --regexp "^$name +REFUSED: $reason\$"
        assert_line '1 case(s) refused'
        refute_line --regexp "^$name.*PASS"
        refute_line --partial 'gates passed'
    done
}

@test "a length that the index holds and the host's memory does not: exit 2 and one line" {
    require_cpu # a card's driver needs more address space than this limit
    run bash -c 'ulimit -v 4000000; PARTIAL=257 TENTHS=549755813632 ABS_TOL=1e-4 REL_TOL=1e-7 "$1" 2>&1 >/dev/null' - "$BATS_FILE_TMPDIR/knobs"
    assert_failure 2
    assert_output 'out of host memory'
}

@test "the macros, and a hash that is reported at other lengths" {
    knobs 513 1000 0 1e-9
    assert_failure 1 # 1e-9 is too narrow at 1,000 elements
    assert_line 'n: 513 1000'
    assert_line --regexp '^partial block +513 +1 +1e-06 +0 '
    assert_line --regexp '^many tenths +1000 +232 +0 +1e-09 '
    assert_line --regexp '^many tenths +GPU float +100\.00000190734863 +4\.1723251342773438e-07 +FAIL$'
    assert_line --partial 'Not gated: the partials hash'
    refute_line --partial 'gate: partials hash'
}

@test "other lengths and tolerances pass where they should; the page's table of tenths" {
    knobs 1 1 0 1e-7
    assert_success
    knobs 513 10000 0 0 # 16 elements in the last block: exact
    assert_success
    assert_line --regexp '^many tenths +CPU float +[0-9.]+ +0\.0971[0-9]* +reported$'
    assert_line --regexp '^many tenths +GPU double +[0-9.]+ +0 +PASS$'
    knobs 257 1000 1e-4 1e-7
    assert_success
    assert_line --regexp '^many tenths +CPU float +[0-9.]+ +0\.0009[56][0-9]* +reported$'
    assert_line --regexp '^many tenths +GPU double +[0-9.]+ +0 +PASS$'
}

@test "a tolerance that hides an element is reported: an absolute one, and 1e-7 of 20,000,000 tenths" {
    knobs 257 1000 0.2 0
    assert_failure 1
    assert_line --partial 'gate failed: many tenths: a dropped element: '
    knobs 257 20000000 1e-4 1e-7
    assert_failure 1
    assert_line --partial 'gate failed: many tenths: a dropped element: '
    assert_line '1 gate(s) failed'
}

@test "exercise 1: valid elements in the last block" {
    local pair
    for pair in 1:1 256:256 257:1 513:1; do
        knobs "${pair%:*}" 1000 1e-6 1e-7
        assert_success
        assert_line --regexp "^partial block +${pair%:*} +${pair#*:} "
    done
}

@test "exercise 2: 1e-8 is the narrowest power of ten that passes at both lengths" {
    local n
    for n in 1000 1000003; do
        knobs 257 $n 0 1e-8
        assert_success
    done
    knobs 257 1000 0 1e-9
    assert_failure 1
    assert_line --regexp '^many tenths +GPU float .*FAIL$'
    # The usual wrong answer, 11, is right for the longer input alone.
    knobs 257 1000003 0 1e-11
    assert_success
    knobs 257 1000003 0 1e-12
    assert_failure 1
}

@test "parts: lengths about 2^31 without allocating, inputs, the rule, other orders, exercises 4 and 5" {
    run "$BATS_FILE_TMPDIR/parts"
    assert_success
    assert_line 'gates passed: 103'
}

@test "the kernel's index holds 2^32, seen without 16 GiB" {
    require_cpu
    run "$BATS_FILE_TMPDIR/index_64_bits"
    assert_success
    assert_line 'gates passed: 2'
}

# The names come from the runs: a check that does not run has no name here, and its fault fails.
@test "no check of the parts is without a fault" {
    local program
    for program in parts index_64_bits; do
        [ -e "$BATS_FILE_TMPDIR/$program" ] || continue
        "$BATS_FILE_TMPDIR/$program" | sed -n 's/^gate: \(.*[^ ]\) *passed$/\1/p' | sort -u >"$BATS_TEST_TMPDIR/names"
        [ -s "$BATS_TEST_TMPDIR/names" ]
        grep -lxZ "program: tests/precision_reduction/$program" "$CHECKS"/faults/*.patch |
            xargs -0 sed -n 's/^expect: gate //p' | sort -u >"$BATS_TEST_TMPDIR/failed_by_a_fault"
        run comm -23 "$BATS_TEST_TMPDIR/names" "$BATS_TEST_TMPDIR/failed_by_a_fault"
        assert_output ''
    done
}

# Without our host flags g++ contracts host and device code there, and no value may notice.
@test "AArch64 under emulation, contracted throughout: the same rows and hashes" {
    require_cpu
    require_aarch64
    HOST=none aarch64_build "$LESSON" "$BATS_TEST_TMPDIR/arm" fmad
    aarch64_run "$BATS_TEST_TMPDIR/arm" >"$BATS_TEST_TMPDIR/arm.out"
    "$(program precision_reduction nofmad)" >"$BATS_TEST_TMPDIR/here.out"
    run diff "$BATS_TEST_TMPDIR/here.out" "$BATS_TEST_TMPDIR/arm.out"
    assert_line '< contraction: separate'
    assert_line '> contraction: fused'
    assert_equal "${#lines[@]}" 4
}

# Every instruction of the kinds that matter, counted per kernel: kernel, instruction, how often.
float_instructions() {
    awk '/\.entry/ { kernel = /probeContraction/ ? "probe" : /sumPerBlockIf/ ? "float" : /sumPerBlockId/ ? "double" : "other" }
         $1 ~ /^(fma|mul|mad|add|sub)\..*f(32|64)$/ { sub(/\.rn\./, ".", $1); count[kernel " " $1]++ }
         END { for (key in count) print key, count[key] }' "$1" | sort
}

@test "the header's build lines and embed.cu without a warning; no multiplication in their PTX but the probe's" {
    require_nvcc
    local line pids=
    local -a words
    while read -r line; do
        read -ra words <<<"$line"
        local dir=$BATS_TEST_TMPDIR/separate
        [[ $line == *-fmad=false* ]] || dir=$BATS_TEST_TMPDIR/fused
        mkdir "$dir"
        cp "$LESSON" "$ROOT/precision_reduction/embed.cu" "$dir"
        (cd "$dir" && "$NVCC" "${words[@]:1}" --keep) >"$dir/log" 2>&1 &
        pids="$pids $!"
    done < <(sed -n 's,^// *\(nvcc .*\),\1,p' "$LESSON")
    for pid in $pids; do wait "$pid" || { cat "$BATS_TEST_TMPDIR"/*/log; false; }; done
    (cd "$BATS_TEST_TMPDIR/fused" && "$NVCC" -std=c++17 -o embed embed.cu) >>"$BATS_TEST_TMPDIR/fused/log" 2>&1
    run cat "$BATS_TEST_TMPDIR"/*/log
    assert_output '' # no warning either
    for program in separate/precision_reduction_nofmad fused/precision_reduction fused/embed; do
        CUDA_VISIBLE_DEVICES='' run "$BATS_TEST_TMPDIR/$program"
        assert_failure 77
        assert_equal "${#lines[@]}" 1
        assert_regex "$output" '^skipped: no usable CUDA device'
    done

    run float_instructions "$BATS_TEST_TMPDIR/fused/precision_reduction.ptx"
    assert_output - <<'END'
double add.f64 8
float add.f32 8
probe fma.f32 1
END
    run float_instructions "$BATS_TEST_TMPDIR/separate/precision_reduction.ptx"
    assert_output - <<'END'
double add.f64 8
float add.f32 8
probe add.f32 1
probe mul.f32 1
END
}
