#!/usr/bin/env bats
# Does each host compiler contract what we think, and nothing else? Results, and the code it emits.

load helper

setup() {
    require_cpu
    SRC=$ROOT/tests/cpu/contraction.cu
    OUT=$BATS_TEST_TMPDIR/out
}

# The two builds of the contraction program and of the intrinsics': device code fused or not, host code never.
both_builds() {
    require_fma
    compile "$SRC" "$OUT" fmad -DFUSED=1
    run "$OUT"
    assert_success
    compile "$SRC" "$OUT" nofmad -DFUSED=0
    run "$OUT"
    assert_success
    # The other way round the program must fail, or it says nothing.
    compile "$SRC" "$OUT" fmad -DFUSED=0
    run "$OUT"
    assert_failure 1
}
intrinsics() {
    require_fma
    compile "$ROOT/tests/cpu/intrinsics.cu" "$OUT" fmad -DFUSED=1
    run "$OUT"
    assert_success
    compile "$ROOT/tests/cpu/intrinsics.cu" "$OUT" nofmad -DFUSED=0 -DSTRIDE=101
    run "$OUT"
    assert_success
}

# The functions of an assembly file that a pattern is in: functions_with FILE PATTERN
functions_with() {
    awk -v pattern="$2" '/^[A-Za-z_][A-Za-z0-9_.$]*:/ { name = $1 } $0 ~ pattern { print name }' "$1" | sort -u
}

# In the emitted code: fused in the block's loop over threads, into which the kernel is inlined, and not in main.
emitted() {
    [ -n "$MFMA" ] || skip "looks for x86-64's instructions"
    compile "$SRC" "$OUT.s" fmad -DFUSED=1 -S
    functions_with "$OUT.s" 'vfn?m(add|sub)' >"$OUT.fused"
    functions_with "$OUT.s" '(call|jmp)q?[ \t].*elementwise' >"$OUT.callers"
    run grep -c 'Closure.*threads' "$OUT.fused"
    assert_output 3 # all, kernelTemplate and elementwise
    run grep -E '^main:|host|Host' "$OUT.fused"
    assert_failure
    run cat "$OUT.callers"
    assert_output ''
    compile "$SRC" "$OUT.s" nofmad -DFUSED=0 -S
    run functions_with "$OUT.s" 'vfn?m(add|sub)'
    assert_output ''
}

@test "the default compiler: device code is contracted in the fused build, host code in none" { both_builds; }
@test "the default compiler: fused instructions are in the kernel's loop and not in main" { emitted; }
@test "the default compiler: intrinsics round once, beside whatever neighbour" { intrinsics; }
@test "clang++: device code is contracted in the fused build, host code in none" { require_clang; CXX=clang++; both_builds; }
@test "clang++: fused instructions are in the kernel's loop and not in main" { require_clang; CXX=clang++; emitted; }
@test "clang++: intrinsics round once, beside whatever neighbour" { require_clang; CXX=clang++; intrinsics; }

@test "g++ -O0 and -O1 never contract, whatever the marks say" {
    case $($CXX --version) in *clang*) skip "the default compiler is clang" ;; esac
    for level in 0 1; do
        compile "$SRC" "$OUT" fmad -DFUSED=0 -O$level
        run "$OUT"
        assert_success
    done
}

@test "AArch64: contracted in the fused build, host code in none, and intrinsics round once" {
    require_aarch64
    aarch64_build "$SRC" "$OUT" fmad -DFUSED=1
    run aarch64_run "$OUT"
    assert_success
    aarch64_build "$SRC" "$OUT" nofmad -DFUSED=0
    run aarch64_run "$OUT"
    assert_success
    aarch64_build "$ROOT/tests/cpu/intrinsics.cu" "$OUT" fmad -DFUSED=1 -DSTRIDE=101
    run aarch64_run "$OUT"
    assert_success
}

@test "AArch64 without our host flags: g++ contracts host code, so the self-check can see it" {
    require_aarch64
    HOST=none aarch64_build "$SRC" "$OUT" nofmad -DFUSED=1
    run aarch64_run "$OUT"
    assert_failure 1
    assert_output --partial 'hostFunction(x, y) == 0.0f'
}
