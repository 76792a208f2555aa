# What lesson 1's gates, and its ending, say on a device with a flaw (day68_reproducibility/flawed_device.cu),
# and what stops its build.
# shellcheck disable=SC2154 # run --separate-stderr sets stderr
load helper

SRC=$ROOT/day68_reproducibility/reproducibility.cu

# It is built with NDEBUG, as a release build is, which must leave every gate in place.
setup_file() {
    load helper
    compile "$ROOT/tests/day68_reproducibility/flawed_device.cu" "$BATS_FILE_TMPDIR/flawed" nofmad -O1 -DNDEBUG -DRUNS=3 -DELEMENTS=20011 -DBLOCKS=16
}

row() { awk -v key="$2" -v col="$3" '$1 == key { print $col }' "$1"; }

# With one flaw: flawed 'bit 1'.
flawed() { FLAW=$1 run --separate-stderr "$BATS_FILE_TMPDIR/flawed"; }
# The runtime calls of a run without a flaw: NUMBER LINE NAME.
runtime_calls() { FLAW=list "$BATS_FILE_TMPDIR/flawed" 2>&1 >/dev/null | sed -n 's/^call //p'; }
# Which gates failed, by their names, a line each: exactly those that are given on stdin. Both streams
# and the status say so.
failed_gates_are() {
    local names
    names=$(cat)
    assert_equal "$(printf '%s\n' "$stderr" | sed -n 's/^gate failed: \(.*: [a-z ]*\): .*/\1/p')" "$names"
    assert_equal "$(printf '%s\n' "$output" | sed -n 's/^gate: \(.*[^ ]\) *FAILED$/\1/p')" "$names"
    assert_equal "${stderr_lines[-1]}" "$(grep -c . <<<"$names") gate(s) failed"
    refute_line --partial 'gates passed'
    assert_failure 1
}
SERIES=(tree treeOverKahan control 'fewer, 256 blocks' 'fewer, 512 blocks' 'fewer, 1024 blocks' 'fewer, 2048 blocks')
# The one-bit-pattern gates that failed with these counts, and no other gate: not_one_bit TOTALS PARTIALS SERIES...
not_one_bit() {
    local totals=$1 partials=$2
    shift 2
    assert_equal "$(grep ': one bit pattern: ' <<<"$stderr")" \
        "$(printf "gate failed: %s: one bit pattern: $totals patterns of the total and $partials of the partials in 3 runs\n" "$@")"
}

@test "without a flaw every gate passes, and the device line fits the device" {
    flawed none
    assert_success
    assert_line 'gates passed: 18'
    refute_line --partial FAILED
    assert_equal "$stderr" ''
    # What is allocated is freed.
    assert_equal "$(runtime_calls | grep -c ' cudaFree$')" "$(runtime_calls | grep -c ' cudaMalloc$')"
    if [ "$DEVICE" = cpu ]; then
        assert_line --regexp '^device: .*, [0-9]+ cores$'
    else
        assert_line --regexp '^device: .*, compute capability [1-9][0-9]*\.[0-9], [0-9]+ multiprocessors$'
    fi
}

@test "one bit in one run's total, or in its last partial, is a second pattern" {
    flawed none
    hash=$(hash_in <(echo "$output") run) first=$(row <(echo "$output") tree 4)
    for at in 0 1 2; do
        flawed "bit $at"
        assert_line --regexp '^tree +3 +2 '
        refute [ "$(hash_in <(echo "$output") run)" = "$hash" ]
        if [ "$at" -eq 0 ]; then refute [ "$(row <(echo "$output") tree 4)" = "$first" ]; else
            assert_equal "$(row <(echo "$output") tree 4)" "$first"; fi
        not_one_bit 2 1 "${SERIES[@]}"
        { for series in "${SERIES[@]}"; do
            echo "$series: one bit pattern"
            [ "$series $at" != 'control 0' ] || echo 'control: the exact total'
        done; } | failed_gates_are

        flawed "partial $at"
        not_one_bit 1 2 tree treeOverKahan "${SERIES[@]:3}"
        printf '%s: one bit pattern\n' tree treeOverKahan "${SERIES[@]:3}" | failed_gates_are
    done
}

@test "one run's NaN, or a total off by 2e-5 either way, is not near the reference; off by 5e-6 is" {
    while read -r at flaw; do
        flawed "times $at $flaw"
        { for series in sumSquaresAtomic sumSquaresKahanAtomic "${SERIES[@]}"; do
            case $series in sum*) ;; *) echo "$series: one bit pattern" ;; esac
            echo "$series: near the reference"
            [ "$series $at" != 'control 0' ] || echo 'control: the exact total'
        done; } | failed_gates_are
    done <<'END'
0 nan
1 nan
2 nan
1 1.00002
2 0.99998
END
    for flaw in 1.000005 0.999995; do
        flawed "times 2 $flaw"
        printf '%s: one bit pattern\n' "${SERIES[@]}" | failed_gates_are
    done
}

@test "every run is computed anew: where the samples change, no two runs have one total" {
    flawed samples
    for series in "${SERIES[@]}"; do
        partials=3
        [ "$series" != control ] || partials=1 # it has none
        assert_regex "$stderr" "gate failed: $series: one bit pattern: 3 patterns of the total and $partials of the partials in 3 runs"
    done
    assert_equal "$(awk '/^(sumSquares|tree|control)/ || /^(256|512|1024|2048) / { print $1, $2, $3 }' <<<"$output")" \
        "$(printf '%s 3 3\n' sumSquaresAtomic sumSquaresKahanAtomic tree treeOverKahan control 256 512 1024 2048)"
}

@test "exit status 2: an argument is refused in one line" {
    run --separate-stderr "$BATS_FILE_TMPDIR/flawed" --runs 5
    assert_equal "$stderr" 'day68_reproducibility/reproducibility takes no arguments; -D macros at the build change it'
    assert_equal "$output" ''
    assert_failure 2
}

@test "exit status 2: whichever runtime call fails, its file, line, text and error are named" {
    local calls=0
    while read -r number line name; do
        calls=$((calls + 1))
        flawed "call $number 2"
        assert_regex "$stderr" "reproducibility\.cu:$line: $name\(.*\): error 2 \(cudaErrorMemoryAllocation\): out of memory\$"
        assert_equal "${#stderr_lines[@]}" 1
        assert_failure 2
    done < <(runtime_calls | awk '!seen[$2]++')
    # As many lines as the source has calls: none goes unasked.
    assert_equal "$calls" "$(sed '/#define/d; s|//.*||' "$SRC" | grep -cE '\bcuda(Get(Device|DeviceProperties|LastError)|Malloc|Memset|Memcpy|Free)\(')"
}

@test "exit status 2: a launch that fails is named where the lesson asks for its error" {
    local before=0 seen=' '
    while read -r number line name; do
        if [ "$name" = cudaGetLastError ] && [[ $seen != *" $line "* ]]; then
            flawed "launch $before"
            # 1 from CUDA 13 on
            assert_regex "$stderr" "reproducibility\.cu:$line: cudaGetLastError\(\): error [19] \(cudaErrorInvalid(Value|Configuration)\): "
            assert_failure 2
            seen+="$line "
        fi
        before=$number
    done < <(runtime_calls)
    # The probe's, the threads' sums', and one for either pass.
    assert_equal "$(wc -w <<<"$seen")" 4
}

@test "exit status 2: a build for another card, or too new for the driver, says what to type" {
    for error in '209 (cudaErrorNoKernelImageForDevice)' '222 (cudaErrorUnsupportedPtxVersion)'; do
        flawed "call 4 ${error%% *}"
        assert_regex "${stderr_lines[0]}" "reproducibility\.cu:[0-9]+: cudaGetLastError\(\): error ${error/ (*/ }"
        assert_equal "${stderr_lines[1]}" \
            "This build does not fit the card or its driver: name the card's own architecture when you build, -arch=sm_NN"
        assert_failure 2
    done
}

@test "exit status 77: no device, or a driver too old, is one line and no other status" {
    for error in 100 35; do
        flawed "call 1 $error"
        assert_equal "$(cut -d: -f1-2 <<<"$stderr")" "skipped: no usable CUDA device (error $error"
        assert_equal "${#stderr_lines[@]} $output" '1 '
        assert_failure 77
    done
}

@test "exit status 2: a host without memory is said in one line" {
    flawed memory
    assert_equal "$stderr" 'out of host memory'
    assert_failure 2
}

@test "exit status 2: an output that cannot be written is no pass, nor one that lost a part" {
    [ -w /dev/full ] || skip "no /dev/full"
    run bash -c "FLAW=none '$BATS_FILE_TMPDIR/flawed' >/dev/full"
    assert_output 'the output could not be written'
    assert_failure 2
    flawed full
    assert_equal "$stderr" 'the output could not be written'
    assert_line 'gates passed: 18'
    assert_failure 2
}

@test "every n from 1 to 1,030: no sample is lost or added twice" {
    compile "$ROOT/tests/day68_reproducibility/every_size.cu" "$BATS_TEST_TMPDIR/every_size" nofmad -O1
    run --separate-stderr "$BATS_TEST_TMPDIR/every_size"
    assert_equal "$stderr" ''
    assert_success
    assert_line 'gates passed: 4'
}

@test "what the kernels cannot do is refused when building, with the reason" {
    while read -r flag reason; do
        DEVICE=cpu run compile "$SRC" "$BATS_TEST_TMPDIR/refused" nofmad "$flag" -fsyntax-only
        [ "$status" -ne 0 ] || fail "$flag builds: $reason"
        assert_output --partial "$reason"
    done <<'END'
-DELEMENTS=5 ELEMENTS must be above 5
-DELEMENTS=5592406 ELEMENTS must be at most 5592405
-DBLOCKS=0 BLOCKS must be 1 to 65536
-DBLOCKS=65537 BLOCKS must be 1 to 65536
-DRUNS=1 RUNS must be 2 to 10000
-DRUNS=10001 RUNS must be 2 to 10000
END
}

@test "fast math drops both compensations" {
    require_cpu
    compile "$SRC" "$BATS_TEST_TMPDIR/fast" nofmad -O1 -ffast-math -DRUNS=5
    run --separate-stderr "$BATS_TEST_TMPDIR/fast"
    failed_gates_are <<'END'
reference: its compensation is there
Kahan: its compensation is there
END
    # Every bit pattern and every other gate is as before: nothing else would have said it.
    assert_equal "$(row <(printf '%s\n' "$output") tree 4)" 0x4b25426d
}
