# The lesson precision_reduction: its values, its refusals, its exercises' reference outcomes, and the
# faults that its gates must catch, by the gates' names.
# shellcheck disable=SC2016 # perl's own variables
# shellcheck disable=SC2154 # run --separate-stderr sets stderr
load helper

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
# edited NAME 'perl edit' [flags]: an edited lesson's separate build.
edited() {
    mutate "$LESSON" "$BATS_FILE_TMPDIR/$1.cu" "$2"
    start compile "$BATS_FILE_TMPDIR/$1.cu" "$BATS_FILE_TMPDIR/$1" nofmad "${@:3}"
}

# All faults outside of the kernel, in one build: the environment's FAULT says which. 1 to 9: the rule.
plant_faults='
    my $edits = 0;
    $edits += s{    return (isFinite\(got\).*?);}{
    const double error = std::fabs(got - want);
    switch (kFault) {
    case 1: return !(error > allowed);
    case 2: return isFinite(got) && isFinite(want) && isFinite(allowed) && error < allowed;
    case 3: return isFinite(got) || (isFinite(want) && isFinite(allowed) && error <= allowed);
    case 4: return isFinite(want) && isFinite(allowed) && !(error > allowed);
    case 5: return isFinite(got) && isFinite(allowed) && !(error > allowed);
    case 6: return isFinite(got) && isFinite(want) && !(error > allowed);
    case 7: return isFinite(got) && isFinite(want) && error <= allowed;
    case 8: return isFinite(want) && isFinite(allowed) && !(error > allowed && error < HUGE_VAL);
    case 9: return isFinite(allowed) && error / std::fabs(want) <= allowed / std::fabs(want);
    }
    return $1;}s;
    $edits += s{(// snippet: sumPerBlock)}{static const int kFault = atoi(getenv("FAULT"));\n$1};
    $edits += s{\(gpuIn, n, }{(gpuIn, kFault == 10 ? n - 1 : n, };
    $edits += s{(r\.allowed = )(.*?;)}{$1$2 if (kFault == 11) $1 1.0; if (kFault == 12) r.allowed *= (double)c.n;};
    $edits += s{sum \+= partials\[b\];}{sum = kFault == 13 ? (float)(sum + partials[b]) : sum + partials[b];};
    $edits += s{addBits\(g_partialsHash, partials\[b\]\)}{addBits(g_partialsHash, partials[kFault == 14 ? blocks - 1 - b : b])};
    $edits += s{(float zeroAt\(long long i\) \{)}{$1 if (kFault == 15) return i % 2 == 1 ? -3e38f : 3e38f;};
    die "a fault was not planted" unless $edits == 7;'

setup_file() {
    local dir=$BATS_FILE_TMPDIR pids='' quick=-O1 fast=-ffast-math
    [ "$DEVICE" = cpu ] || quick=-Xcompiler=-O1 fast=-Xcompiler=-ffast-math
    # The lengths and tolerances from the environment: one build for every value that is tried.
    start compile "$LESSON" "$dir/knobs" nofmad "$quick" \
        '-DPARTIAL_BLOCK=atoll(getenv("PARTIAL"))' '-DMANY_TENTHS=atoll(getenv("TENTHS"))' \
        '-DTENTHS_ABS_TOL=atof(getenv("ABS_TOL"))' '-DTENTHS_REL_TOL=atof(getenv("REL_TOL"))'
    start compile "$BATS_TEST_DIRNAME/precision_reduction_parts.cu" "$dir/parts" nofmad "$quick"
    finish_builds

    edited faults "$plant_faults" "$quick"
    # A sixth case with a NaN in it. -ffast-math lets a compiler take every float to be finite, and g++ 13
    # then folds a NaN that it sees away: hence the volatile.
    edited nan 's/(    \{"broken reference".*?\n)/$1    {"nan", 3, 1e-6, 0, false, [](long long i) {
        volatile unsigned asWritten = i == 1 ? 0x7fc00000 : 0x3f800000;
        const unsigned bits = asWritten;
        float x;
        memcpy(&x, &bits, sizeof x);
        return x;
    }},\n/' "$fast"
    # Exercise 3 as the page has it.
    edited exercise3 's/(float input\[\] = \{1e8f, )1.0f(, -1e8f, 1.0f)/$1NAN$2/; s/\{1e8f, 1.0f, -1e8f, -1.0f\}/{3e38f, -3e38f, 3e38f, -3e38f}/' "$quick"
    finish_builds
    if [ "$DEVICE" = cpu ]; then
        edited no_fill 's/slot\[threadIdx\.x\] = i < n \? (\(Acc\)in\[i\]) : \(Acc\)0;/if (i < n) slot[threadIdx.x] = $1;/' -O1
        edited no_barrier 's/(\+ stride\];)\n +__syncthreads\(\);/$1/' -O1
        finish_builds
    fi
}

# knobs PARTIAL TENTHS ABS_TOL REL_TOL: runs that build with these values.
knobs() {
    run env PARTIAL="$1" TENTHS="$2" ABS_TOL="$3" REL_TOL="$4" "$BATS_FILE_TMPDIR/knobs"
}
built() { run --separate-stderr "$BATS_FILE_TMPDIR/$1"; }

# The gates that failed in the last run with a separate stderr: exactly those given on stdin, a line each.
failed_gates_are() {
    assert_equal "$(printf '%s\n' "$stderr" | sed -n 's/^gate failed: \(.*\): [^:]*$/\1/p')" "$(cat)"
}
# fault NUMBER, with the gates that must fail on stdin.
fault() {
    FAULT=$1 built faults
    assert_equal "fault $1: status $status" "fault $1: status 1"
    failed_gates_are
    assert_equal "${stderr_lines[-1]}" "$((${#stderr_lines[@]} - 1)) gate(s) failed"
    refute_line --partial 'gates passed'
}
every_dropped() { printf '%s: a dropped element\n' cancellation zero 'partial block' 'many tenths' 'broken reference'; }

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
}

@test "a NaN in the input, under -ffast-math: exit 2, the case named, no PASS, no bit moved" {
    built nan
    assert_equal "$status" 2
    assert_line --regexp '^nan +REFUSED: element 1 is not finite$'
    refute_line --regexp '^nan.*PASS'
    refute_line --partial 'gates passed'
    refute_line --partial FAILED
    assert_line 'run hash: 0xab1e5954f827fc7f'
    assert_line 'partials hash: 0x072bf91ee536fa29'
    assert_line --regexp '^many tenths +CPU float +100958\.6484375 '
    assert_line --regexp '^many tenths .* 100000\.30149012059 +0 +reference$'
    assert_equal "$stderr" 'refused: nan: element 1 is not finite
1 case(s) refused'
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

@test "exercise 3: a NaN in the input is refused, one that arises in the sum fails" {
    built exercise3
    assert_equal "$status" 2
    assert_line --regexp '^cancellation +REFUSED: element 1 is not finite$'
    assert_line --regexp '^zero +GPU float +-?nan +-?nan +FAIL$'
    assert_line --regexp '^zero +GPU double +0 +0 +PASS$'
    failed_gates_are <<<'zero: GPU float'
}

# What no output shows, and exercises 4 and 5: precision_reduction_parts.cu.
@test "parts: lengths about 2^31 without allocating, inputs, the rule, other orders, exercises 4 and 5" {
    built parts
    assert_equal "$stderr" ''
    assert_success
    assert_line 'gates passed: 102'
}

@test "faults in the rule: NaN, infinity, the limit itself, and for or, a relative error alone" {
    fault 1 <<'END'
rule: a NaN sum does not pass
rule: a NaN reference does not pass
rule: a NaN tolerance does not pass
rule: infinity for infinity does not pass
rule: an infinite tolerance does not pass
END
    fault 2 <<'END'
rule: the limit itself passes
rule: 0 passes for 0
END
    fault 3 < <(printf 'rule: a NaN reference does not pass\nrule: a NaN tolerance does not pass\nrule: an infinite tolerance does not pass\n'
        every_dropped)
    fault 4 <<<'rule: a NaN sum does not pass'
    fault 5 <<<'rule: a NaN reference does not pass'
    fault 6 <<'END'
rule: a NaN tolerance does not pass
rule: an infinite tolerance does not pass
END
    fault 7 <<<'rule: an infinite tolerance does not pass'
    fault 8 <<'END'
rule: a NaN sum does not pass
rule: an infinite sum does not pass
END
    fault 9 <<'END'
rule: 0 passes for 0
zero: GPU float
zero: GPU double
zero: a dropped element
END
}

@test "fault: the last element is left out" {
    fault 10 < <(printf '%s: GPU float\n%s: GPU double\n' cancellation{,} zero{,} 'partial block'{,} 'many tenths'{,} 'broken reference'{,}
        echo 'partials hash')
}

@test "faults: one tolerance of 1 for every case; a tolerance scaled by n" {
    fault 11 < <(every_dropped)
    fault 12 <<<'many tenths: a dropped element'
}

@test "fault: partials added in float come out 3.7 off" {
    fault 13 <<'END'
many tenths: GPU float
many tenths: GPU double
END
    [[ $stderr == *' within 0.0101'* ]] # what the two tolerances allow together
    assert_line --regexp '^many tenths +GPU float +100004\.046[0-9]* +3\.74'
}

@test "fault: partials in another order move the hash alone" { fault 14 <<<'partials hash'; }

@test "fault: finite input that overflows in the sum fails, exit 1" {
    fault 15 <<'END'
zero: GPU float
partials hash
END
    assert_line --regexp '^zero +GPU float +-?nan +-?nan +FAIL$'
}

@test "no fault planted: that build passes" {
    FAULT=0 built faults
    assert_success
    assert_line 'gates passed: 24'
}

@test "exercise 4, fault: no zero fill in the last block" {
    require_cpu # a card may have zeros there by chance
    built no_fill
    assert_failure 1
    [[ $stderr == *'gate failed: partial block: GPU float: '* ]]
    [[ $stderr == *'gate failed: partials hash: '* ]]
}

@test "fault: a missing barrier in the tree" {
    require_cpu # on a card a race may be lost unseen
    built no_barrier
    assert_failure 1
    [[ $stderr == *'gate failed: cancellation: GPU float: '* ]]
    [[ $stderr == *'gate failed: partials hash: '* ]]
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
