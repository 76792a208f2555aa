# The lesson precision_reduction: its values, its refusals, its exercises' reference outcomes, and the
# faults that its gates must catch.
# shellcheck disable=SC2016 # perl's own variables
# shellcheck disable=SC2154 # run --separate-stderr sets stderr
load helper
bats_require_minimum_version 1.5.0

LESSON=$ROOT/precision_reduction/precision_reduction.cu

# Builds run side by side; a build's messages are shown only if it fails.
start() {
    "$@" >"$BATS_FILE_TMPDIR/log.$#.$RANDOM" 2>&1 &
    pids="$pids $!"
}
finish_builds() {
    local pid
    for pid in $pids; do
        wait "$pid" || { cat "$BATS_FILE_TMPDIR"/log.*; return 1; }
    done
    pids=
}
fault() {
    mutate "$LESSON" "$BATS_FILE_TMPDIR/$1.cu" "$2"
    start device_build "$BATS_FILE_TMPDIR/$1.cu" "$BATS_FILE_TMPDIR/$1" "$quick" "${@:3}"
}

setup_file() {
    local dir=$BATS_FILE_TMPDIR pids='' quick=-O1 fast=-ffast-math
    [ "$DEVICE" = cpu ] || quick=-Xcompiler=-O1 fast=-Xcompiler=-ffast-math
    # The lengths and tolerances from the environment: one build for every value that is tried.
    start device_build "$LESSON" "$dir/knobs" "$quick" \
        '-DPARTIAL_BLOCK=atoll(getenv("PARTIAL"))' '-DMANY_TENTHS=atoll(getenv("TENTHS"))' \
        '-DTENTHS_ABS_TOL=atof(getenv("ABS_TOL"))' '-DTENTHS_REL_TOL=atof(getenv("REL_TOL"))'
    start device_build "$LESSON" "$dir/overflow" "$quick" -DOVERFLOW_CASE -DMANY_TENTHS=1000

    perl -pe 's/^int main\(/int lessonMain(/' "$LESSON" >"$dir/parts.cu"
    cat "$BATS_TEST_DIRNAME/precision_reduction_parts.cu" >>"$dir/parts.cu"
    start device_build "$dir/parts.cu" "$dir/parts" "$quick"
    finish_builds

    fault naive 's/return isFinite\(got\).*?;/return !(std::fabs(got - want) > allowed);/s' -DOVERFLOW_CASE -DMANY_TENTHS=1000
    fault scaled 's/(r\.allowed = allowedError\(.*?\));/$1 * (double)c.n;/' -DMANY_TENTHS=1000
    fault float_total 's/double sum = 0\.0;/float sum = 0;/'
    if [ "$DEVICE" = cpu ]; then
        fault no_fill 's/slot\[threadIdx\.x\] = i < n \? (\(Acc\)in\[i\]) : \(Acc\)0;/if (i < n) slot[threadIdx.x] = $1;/'
        fault no_barrier 's/(\+ stride\];)\n +__syncthreads\(\);/$1/'
    fi
    # -ffast-math lets a compiler take every float to be finite: the NaN must be seen all the same.
    start device_build "$LESSON" "$dir/nan" -DNAN_CASE "$fast"
    finish_builds
}

# knobs PARTIAL TENTHS ABS_TOL REL_TOL: runs that build with these values.
knobs() {
    run env PARTIAL="$1" TENTHS="$2" ABS_TOL="$3" REL_TOL="$4" "$BATS_FILE_TMPDIR/knobs"
}
built() { run --separate-stderr "$BATS_FILE_TMPDIR/$1"; }

# The table's rows: without the head and the contraction line, and without the gates.
rows() { sed -n '/^case .*verdict$/,/^Not gated/p' | grep -v '^case\|^Not gated' | tr -s ' '; }

@test "the values, the same in both builds" {
    NOFMAD_OUT=$BATS_TEST_TMPDIR/separate
    "$(program precision_reduction_nofmad)" >"$NOFMAD_OUT"
    run rows <"$NOFMAD_OUT"
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
    assert_equal "$(hash_in "$NOFMAD_OUT" partials)" 0x072bf91ee536fa29
    assert_equal "$(hash_in "$NOFMAD_OUT" run)" 0xab1e5954f827fc7f
    run grep -c '^broken reference  *512 .* 383  *127  *integers$' "$NOFMAD_OUT"
    assert_output 1

    require_fma
    "$(program precision_reduction)" >"$BATS_TEST_TMPDIR/fused"
    run diff "$BATS_TEST_TMPDIR/fused" "$NOFMAD_OUT"
    assert_line '< contraction: fused'
    assert_line '> contraction: separate'
    assert_equal "${#lines[@]}" 4
}

@test "an argument is refused" {
    run "$(program precision_reduction_nofmad)" 100
    assert_failure 2
}

@test "a NaN in the input, under -ffast-math: exit 2, the case named, no PASS, no bit moved" {
    built nan
    assert_equal "$status" 2
    assert_line --regexp '^nan +REFUSED: element 1 is not finite$'
    refute_line --regexp '^nan.*PASS'
    refute_line --partial 'gates passed'
    assert_line --regexp '^gate: partials hash +passed$'
    assert_line 'run hash: 0xab1e5954f827fc7f'
    assert_line 'partials hash: 0x072bf91ee536fa29'
    assert_line --regexp '^many tenths +CPU float +100958\.6484375 '
    assert_line --regexp '^many tenths .* 100000\.30149012059 +0 +reference$'
    assert_equal "$stderr" 'refused: nan: element 1 is not finite
1 case(s) refused'
}

@test "finite input that overflows in the sum fails, exit 1" {
    built overflow
    assert_equal "$status" 1
    assert_line --regexp '^overflow +GPU float +-?nan +-?nan +FAIL$'
    assert_line --regexp '^overflow +GPU double +0 +0 +PASS$'
    [[ $stderr == 'gate failed: overflow: GPU float: '* ]]
    [[ $stderr == *$'\n1 gate(s) failed' ]]
}

@test "lengths and tolerances that are refused: exit 2, the case named" {
    local most=549755813632 limit='the index cannot hold a length of'
    local -a bad=(
        "0 1000 1 0|partial block|the input is empty"
        "-1 1000 1 0|partial block|$limit -1, only 1 to $most"
        "257 0 1 0|many tenths|the input is empty"
        "257 $((most + 1)) 1 0|many tenths|$limit $((most + 1)), only 1 to $most"
        "257 1000 -1e-300 0|many tenths|abs_tol is negative or not finite"
        "257 1000 inf 0|many tenths|abs_tol is negative or not finite"
        "257 1000 nan 0|many tenths|abs_tol is negative or not finite"
        "257 1000 0 -1|many tenths|rel_tol is negative or not finite"
        "257 1000 0 inf|many tenths|rel_tol is negative or not finite"
        "257 1000 0 nan|many tenths|rel_tol is negative or not finite"
    )
    local row values name reason
    for row in "${bad[@]}"; do
        IFS='|' read -r values name reason <<<"$row"
        # A tolerance of 1 hides an element of many tenths, which fails a gate of its own.
        case $values in *' 1 0') values="${values% 1 0} 1e-6 1e-7" ;; esac
        # shellcheck disable=SC2086 # four words
        knobs $values
        assert_failure 2
        assert_line "refused: $name: $reason"
        assert_line --regexp "^$name +REFUSED: $reason\$"
        refute_line --regexp "^$name.*PASS"
        refute_line --partial 'gates passed'
    done
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

@test "other lengths and tolerances pass where they should" {
    knobs 1 1 0 1e-7
    assert_success
    knobs 513 10000 0 0 # 16 elements in the last block: exact
    assert_success
}

@test "a tolerance that hides an element is reported" {
    knobs 257 1000 0.2 0
    assert_failure 1
    assert_line --partial 'gate failed: many tenths: a dropped element: '
}

@test "exercise 1: valid elements in the last block" {
    local pair
    for pair in 1:1 256:256 257:1 513:1; do
        knobs "${pair%:*}" 1000 1e-6 1e-7
        assert_success
        assert_line --regexp "^partial block +${pair%:*} +${pair#*:} "
    done
}

@test "exercise 2: 1e-8 is the narrowest power of ten that passes at all three lengths" {
    local n
    for n in 1000 10000 1000003; do
        knobs 257 $n 0 1e-8
        assert_success
    done
    knobs 257 1000 0 1e-9
    assert_failure 1
    assert_line --regexp '^many tenths +GPU float .*FAIL$'
    # The usual wrong answer, 11, is right for the longest input alone.
    knobs 257 1000003 0 1e-11
    assert_success
}

# The other exercises, and what no output shows: precision_reduction_parts.cu says what it checks.
@test "parts: lengths about 2^31 without allocating, inputs, the rule, exercises 4 and 5" {
    built parts
    assert_equal "$stderr" ''
    assert_equal "$status" 0
    assert_output 'all parts right'
}

@test "exercise 3, fault: a comparison that lets NaN pass" {
    built naive
    assert_line --regexp '^overflow +GPU float +-?nan +-?nan +PASS$'
    assert_equal "$status" 1
    [[ $stderr == 'gate failed: rule: no NaN passes: '* ]]
}

@test "fault: a tolerance scaled by n" {
    built scaled
    assert_equal "$status" 1
    [[ $stderr == 'gate failed: many tenths: a dropped element: '* ]]
}

@test "fault: partials added in float" {
    built float_total
    assert_equal "$status" 1
    [[ $stderr == 'gate failed: many tenths: GPU float: 100004.046'* ]]
}

@test "exercise 4, fault: no zero fill in the last block" {
    require_cpu # a card may have zeros there by chance
    built no_fill
    assert_equal "$status" 1
    [[ $stderr == *'gate failed: partial block: GPU float: '* ]]
    [[ $stderr == *'gate failed: partials hash: '* ]]
}

@test "fault: a missing barrier in the tree" {
    require_cpu # on a card a race may be lost unseen
    built no_barrier
    assert_equal "$status" 1
    [[ $stderr == *'gate failed: cancellation: GPU float: '* ]]
    [[ $stderr == *'gate failed: partials hash: '* ]]
}

# Without our host flags g++ contracts host and device code there, and no value may notice.
@test "AArch64 under emulation, contracted throughout: the same rows and hashes" {
    require_cpu
    require_aarch64
    HOST=none aarch64_build "$LESSON" "$BATS_TEST_TMPDIR/arm"
    aarch64_run "$BATS_TEST_TMPDIR/arm" >"$BATS_TEST_TMPDIR/arm.out"
    "$(program precision_reduction_nofmad)" >"$BATS_TEST_TMPDIR/here.out"
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

@test "the header's build lines, and no multiplication in their PTX but the probe's" {
    require_nvcc
    local line pids=
    local -a words
    while read -r line; do
        read -ra words <<<"$line"
        local dir=$BATS_TEST_TMPDIR/separate
        [[ $line == *-fmad=false* ]] || dir=$BATS_TEST_TMPDIR/fused
        mkdir "$dir"
        cp "$LESSON" "$dir"
        (cd "$dir" && "$NVCC" "${words[@]:1}" --keep) >"$dir/log" 2>&1 &
        pids="$pids $!"
    done < <(sed -n 's,^// *\(nvcc .*\),\1,p' "$LESSON")
    for pid in $pids; do wait "$pid" || { cat "$BATS_TEST_TMPDIR"/*/log; false; }; done
    run cat "$BATS_TEST_TMPDIR"/*/log
    assert_output '' # no warning either
    [ -x "$BATS_TEST_TMPDIR/fused/precision_reduction" ]
    [ -x "$BATS_TEST_TMPDIR/separate/precision_reduction_nofmad" ]

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
