# The lesson's values on the device at hand, and its two builds against each other. Its gates and endings:
# day68_flawed_device.bats; planted faults: day68_reproducibility/faults.
# shellcheck disable=SC2154 # run --separate-stderr sets stderr
load helper

SRC=$ROOT/day68_reproducibility/reproducibility.cu

setup_file() {
    load helper
    if have_fma; then "$(program reproducibility fmad)" >"$BATS_FILE_TMPDIR/fused" 2>"$BATS_FILE_TMPDIR/fused.err"; fi
    "$(program reproducibility nofmad)" >"$BATS_FILE_TMPDIR/separate" 2>"$BATS_FILE_TMPDIR/separate.err"
}

# The fields that are the same on every device and for any number of runs from 5 on: pins FILE.
pins() {
    awk '/^reference:/ || /^partials hash:/ { print; next }
         $1 == "tree" || $1 == "treeOverKahan" || $1 == "control" { print $1, $3, $4, $5, $7, $8; next }
         $1 ~ /^(256|512|1024|2048)$/ { print }' "$1"
}
row() { awk -v key="$2" -v col="$3" '$1 == key { print $col }' "$1"; }
rows() { awk '$1 ~ /^(256|512|1024|2048)$/ { print $1, $4, $6 }' "$1"; }

@test "separate build: every gate passes, nothing on stderr" {
    run cat "$BATS_FILE_TMPDIR/separate"
    assert_line 'gates passed: 19'
    refute_line --partial FAILED
    assert_equal "$(cat "$BATS_FILE_TMPDIR/separate.err")" ''
}

@test "fused build: every gate passes, nothing on stderr" {
    require_fma
    run cat "$BATS_FILE_TMPDIR/fused"
    assert_line 'gates passed: 19'
    refute_line --partial FAILED
    assert_equal "$(cat "$BATS_FILE_TMPDIR/fused.err")" ''
}

@test "stdout is what expected_output/ has, separate" { assert_expected "$BATS_FILE_TMPDIR/separate"; }
@test "stdout is what expected_output/ has, fused" {
    require_fma
    assert_expected "$BATS_FILE_TMPDIR/fused"
}

# pinned FILE contraction: what both builds share.
pinned() {
    assert_equal "$(sed -n 's/^contraction: //p' "$1")" "$2"
    assert_equal "$(row "$1" tree 4) $(row "$1" tree 3) $(row "$1" tree 5)" '0x4b25426d 1 1.739e-09'
    assert_equal "$(hash_in "$1" run)" 0x8189389fe1bc0a65
    assert_equal "$(row "$1" control 3)" 1
    grep -q '^reference: 10830445.018838, control: 3146185.75$' "$1"
}

@test "pinned: total, run hash, partials and control, separate" {
    pinned "$BATS_FILE_TMPDIR/separate" separate
    assert_equal "$(hash_in "$BATS_FILE_TMPDIR/separate" partials)" 0x7931a4c32728c5fe
    assert_equal "$(rows "$BATS_FILE_TMPDIR/separate")" "256 0x4b254259 0xdad8a60496c86051
512 0x4b25425a 0xc334dc8e653e1433
1024 0x4b254259 0x2d48b298f8e5110d
2048 0x4b25425a 0x7999e2337c68aad0"
}

@test "pinned: total, run hash, partials and control, fused" {
    require_fma
    pinned "$BATS_FILE_TMPDIR/fused" fused
    assert_equal "$(hash_in "$BATS_FILE_TMPDIR/fused" partials)" 0xf05976ad76a02c5f
    assert_equal "$(rows "$BATS_FILE_TMPDIR/fused")" "256 0x4b254259 0xa60c46ff02dcdcf0
512 0x4b25425a 0xf8f8c6c618a6da81
1024 0x4b25425a 0xf8e6389109231114
2048 0x4b25425a 0x27410b4e2c7a25e6"
}

@test "the builds: totals agree at 4,194,915 and their partials do not; five fewer, the totals disagree" {
    require_fma
    a=$BATS_FILE_TMPDIR/fused b=$BATS_FILE_TMPDIR/separate
    assert_equal "$(row "$a" tree 4)" "$(row "$b" tree 4)"
    refute [ "$(hash_in "$a" partials)" = "$(hash_in "$b" partials)" ]
    refute [ "$(row "$a" 1024 4)" = "$(row "$b" 1024 4)" ]
}

@test "the builds: at 1,024 elements the totals disagree, the grid does not show, and thread err is not gated" {
    compile_both "$SRC" "$BATS_TEST_TMPDIR/small" -DELEMENTS=1024 -DRUNS=2
    small() { # small build total partials
        "$BATS_TEST_TMPDIR/small.$1" >"$BATS_TEST_TMPDIR/out"
        assert_equal "$(row "$BATS_TEST_TMPDIR/out" tree 4) $(hash_in "$BATS_TEST_TMPDIR/out" partials)" "$2 $3"
        assert_equal "$(rows "$BATS_TEST_TMPDIR/out" | cut -d' ' -f2 | sort -u | wc -l)" 1
        grep -q '^gates passed: 18$' "$BATS_TEST_TMPDIR/out"
        ! grep nan "$BATS_TEST_TMPDIR/out" || fail "thread err is nan: threads without a sample have no error"
        grep -q '^Not gated: thread err\. A thread has fewer than 16 samples here\.$' "$BATS_TEST_TMPDIR/out"
    }
    small nofmad 0x4523463e 0xc2916180ee37d4b0
    ! have_fma || small fmad 0x4523463d 0x11d1794f113bb14f
}

@test "Kahan: a thread's own error halves, and the partials come no nearer" {
    for file in fused separate; do
        [ -s "$BATS_FILE_TMPDIR/$file" ] || continue
        run awk '$1 == "tree" { p = $7; t = $8 } $1 == "treeOverKahan" { k = $7; u = $8 }
                 END { print (k > 0 && k < 0.6 * p && t > 0 && u >= t) ? "yes" : "no " p " " k " " t " " u }' "$BATS_FILE_TMPDIR/$file"
        assert_output yes
    done
}

@test "a line says when the last stride is not ragged, and only then" {
    refute grep -q ragged "$BATS_FILE_TMPDIR/separate"
    compile "$SRC" "$BATS_TEST_TMPDIR/even" nofmad -O1 -DELEMENTS=2048 -DBLOCKS=4 -DRUNS=2
    run "$BATS_TEST_TMPDIR/even"
    assert_success
    assert_line 'The last stride is not ragged: every thread has the same number of samples.'
}

# The lesson's tree once more in plain C, from the page's words: what the page says of values and partials.
@test "a replay in C: 73 partials and 39 values differ, each where x*x + 0.25 passes a power of two" {
    cat >"$BATS_TEST_TMPDIR/replay.c" <<'END'
#include <math.h>
#include <stdio.h>
static float in[4194915];
static float block(int b, int fused) {
    float slot[256] = {0};
    for (int t = 0; t < 256; ++t)
        for (int i = b * 256 + t; i < 4194915; i += 1024 * 256) {
            const float product = in[i] * in[i];
            slot[t] += fused ? fmaf(in[i], in[i], 0.25f) : product + 0.25f;
        }
    for (int s = 128; s > 0; s /= 2)
        for (int t = 0; t < s; ++t) slot[t] += slot[t + s];
    return slot[0];
}
int main(void) {
    int values = 0, crossing = 0, partials = 0;
    for (int i = 0; i < 4194915; ++i) {
        const volatile float product = (float)(i % 1000) * 0.001f;
        in[i] = 1.0f + product;
    }
    for (int i = 0; i < 1000; ++i) {
        const volatile float product = in[i] * in[i], twice = product + 0.25f;
        if (fmaf(in[i], in[i], 0.25f) == twice) continue;
        if (values++ == 0) printf("%d: %.9g %.9g %.9g\n", i, (double)in[i] * in[i], fmaf(in[i], in[i], 0.25f), twice);
        crossing += ilogbf(twice) != ilogb((double)in[i] * in[i]);
    }
    for (int b = 0; b < 1024; ++b) partials += block(b, 1) != block(b, 0);
    printf("%d partials, %d values, %d crossing\n", partials, values, crossing);
}
END
    # shellcheck disable=SC2086 # a list of words
    ${CC:-cc} -O2 -ffp-contract=off -o "$BATS_TEST_TMPDIR/replay" "$BATS_TEST_TMPDIR/replay.c" -lm
    run "$BATS_TEST_TMPDIR/replay"
    assert_output '323: 1.75032888 2.00032878 2.00032902
73 partials, 39 values, 39 crossing'
    for words in '1,024 partials, 73 differ' 'for 39 of the 1,000 values' '(i = 323) has x·x = 1.75032888' 'the sum is 2.00032878; rounded twice, 2.00032902'; do grep -qF "$words" "$ROOT/day68_reproducibility/README.md"; done
}

@test "the page's constants are the program's" {
    page=$ROOT/day68_reproducibility/README.md
    while IFS='|' read -r words line; do
        grep -qF "$words" "$page" && grep -qF "$line" "$SRC" || fail "$words, $line"
    done <<'END'
1,024 blocks of 256 threads|#define BLOCKS 1024
1,024 blocks of 256 threads|constexpr int kThreads = 256;
n = 4·1024·1024 + 611|#define ELEMENTS (4 * 1024 * 1024 + 611)
100 runs|#define RUNS 100
at most 5,592,405 elements|kElements <= 5592405
Tolerance 1e-5, relative|constexpr double kRelTol = 1e-5;
Five elements fewer|constexpr int kFewer = 5;
END
    # The plain lines: Linux as in the program's header, Windows the same with .exe.
    while read -r line; do
        [ "$(grep -cF "$line" "$page")" -ge 1 ] || fail "$line"
    done < <(sed -n 's|^//   ||p' "$SRC" | sed 'p; s|-o \([a-z_]*\) |-o \1.exe |; s|\./\([a-z_]*\)|.\\\1.exe|g')
}

@test "clang++ gives the same pinned values, both builds" {
    require_cpu
    require_clang
    export CXX=clang++
    compile_both "$SRC" "$BATS_TEST_TMPDIR/clang" -DRUNS=5
    "$BATS_TEST_TMPDIR/clang.nofmad" >"$BATS_TEST_TMPDIR/separate"
    assert_equal "$(pins "$BATS_TEST_TMPDIR/separate")" "$(pins "$BATS_FILE_TMPDIR/separate")"
    have_fma || return 0
    "$BATS_TEST_TMPDIR/clang.fmad" >"$BATS_TEST_TMPDIR/fused"
    assert_equal "$(pins "$BATS_TEST_TMPDIR/fused")" "$(pins "$BATS_FILE_TMPDIR/fused")"
}

# Emulation is slow: two runs of each kernel will do, and one of each row of the second table.
arm_build() { # arm_build SRC fmad|nofmad
    mutate "$1" "$BATS_TEST_TMPDIR/few.cu" 's/kRuns < 5 \? kRuns : 5/1/'
    aarch64_build "$BATS_TEST_TMPDIR/few.cu" "$BATS_TEST_TMPDIR/arm" "$2" -DRUNS=2
}

@test "AArch64: the same totals and partials, both builds" {
    require_aarch64
    for build in fmad nofmad; do
        arm_build "$SRC" $build
        aarch64_run "$BATS_TEST_TMPDIR/arm" >"$BATS_TEST_TMPDIR/$build"
        assert_equal "$(row "$BATS_TEST_TMPDIR/$build" tree 4)" 0x4b25426d
    done
    assert_equal "$(hash_in "$BATS_TEST_TMPDIR/fmad" partials)" 0xf05976ad76a02c5f
    assert_equal "$(hash_in "$BATS_TEST_TMPDIR/nofmad" partials)" 0x7931a4c32728c5fe
    assert_equal "$(row "$BATS_TEST_TMPDIR/fmad" 1024 4) $(row "$BATS_TEST_TMPDIR/fmad" 1024 6)" '0x4b25425a 0xf8e6389109231114'
    assert_equal "$(row "$BATS_TEST_TMPDIR/nofmad" 1024 4) $(row "$BATS_TEST_TMPDIR/nofmad" 1024 6)" '0x4b254259 0x2d48b298f8e5110d'
}

@test "AArch64 without our host flags: the same inputs, the same partials" {
    require_aarch64
    # g++ contracts there by default: device code is fused either way, and the fill must not be.
    HOST=none arm_build "$SRC" fmad
    aarch64_run "$BATS_TEST_TMPDIR/arm" >"$BATS_TEST_TMPDIR/out"
    grep -q '^reference: 10830445.018838' "$BATS_TEST_TMPDIR/out"
    assert_equal "$(hash_in "$BATS_TEST_TMPDIR/out" partials)" 0xf05976ad76a02c5f
}

@test "AArch64 without our host flags: without the volatile, that compiler would contract the fill" {
    require_aarch64
    mutate "$SRC" "$BATS_TEST_TMPDIR/bare.cu" 's/volatile float product/float product/'
    HOST=none arm_build "$BATS_TEST_TMPDIR/bare.cu" fmad
    aarch64_run "$BATS_TEST_TMPDIR/arm" >"$BATS_TEST_TMPDIR/bare.out"
    assert_equal "$(hash_in "$BATS_TEST_TMPDIR/bare.out" partials)" 0x783fb2ef44e7c8fb
}

@test "embed.cu: a total that differs between the builds, bit for bit" {
    [ "$(wc -l <"$ROOT/day68_reproducibility/embed.cu")" -lt 60 ]
    compile_both "$ROOT/day68_reproducibility/embed.cu" "$BATS_TEST_TMPDIR/embed"
    run "$BATS_TEST_TMPDIR/embed.nofmad"
    assert_success
    assert_output "contraction: separate
block 0: 0x43c36b7a  390.839661
block 1: 0x440ad9a4  555.400635
block 2: 0x443c6105  753.51593
block 3: 0x4464288f  912.633728
total:   0x4523463e  2612.39014"
    have_fma || return 0
    run "$BATS_TEST_TMPDIR/embed.fmad"
    assert_success
    assert_output "contraction: fused
block 0: 0x43c36b7a  390.839661
block 1: 0x440ad9a3  555.400574
block 2: 0x443c6105  753.51593
block 3: 0x4464288f  912.633728
total:   0x4523463d  2612.38989"
}

@test "the largest allowed size passes, and 300 blocks, no multiple of the 256 threads of the second pass" {
    compile "$SRC" "$BATS_TEST_TMPDIR/allowed" nofmad -O1 -DELEMENTS=5592405 -DRUNS=2
    run "$BATS_TEST_TMPDIR/allowed"
    assert_success
    assert_line 'gates passed: 19'
    # Samples enough for all 300: a partial that is 0 would not be missed.
    compile "$SRC" "$BATS_TEST_TMPDIR/ragged" nofmad -O1 -DELEMENTS=100003 -DBLOCKS=300 -DRUNS=2
    run "$BATS_TEST_TMPDIR/ragged"
    assert_success
    assert_line 'gates passed: 18'
}

@test "PTX: fma.rn.f32 in the one build, none in the other; fast math leaves the compensation" {
    require_nvcc
    "$NVCC" -std=c++17 -O3 -ptx -o "$BATS_TEST_TMPDIR/fused.ptx" "$SRC"
    "$NVCC" -std=c++17 -O3 -fmad=false -ptx -o "$BATS_TEST_TMPDIR/separate.ptx" "$SRC"
    "$NVCC" -std=c++17 -O3 --use_fast_math -ptx -o "$BATS_TEST_TMPDIR/fast.ptx" "$SRC"
    grep -q 'fma\.rn\.f32' "$BATS_TEST_TMPDIR/fused.ptx"
    run grep -c 'fma\.rn\.f32' "$BATS_TEST_TMPDIR/separate.ptx"
    assert_output 0
    # Only Kahan subtracts.
    subtractions=$(grep -cE 'sub(\.rn)?\.f32' "$BATS_TEST_TMPDIR/fused.ptx")
    [ "$subtractions" -gt 0 ]
    assert_equal "$(grep -cE 'sub(\.rn)?(\.ftz)?\.f32' "$BATS_TEST_TMPDIR/fast.ptx")" "$subtractions"
}

@test "the header's plain nvcc lines compile, and embed.cu; without a device, exit status 77 and one line" {
    require_nvcc
    cd "$BATS_TEST_TMPDIR"
    cp "$SRC" "$ROOT/day68_reproducibility/embed.cu" .
    run sed -n 's|^//   \(nvcc .*\)|\1|p' reproducibility.cu
    assert_equal "${#lines[@]}" 2
    for line in "${lines[@]}" 'nvcc -std=c++17 -o embed embed.cu'; do PATH=$(dirname "$(command -v "$NVCC")"):$PATH bash -c "$line"; done
    for binary in reproducibility reproducibility_nofmad; do
        CUDA_VISIBLE_DEVICES='' run --separate-stderr "./$binary"
        assert_failure 77
        assert_equal "${#stderr_lines[@]}" 1
        assert_regex "$stderr" '^skipped: no usable CUDA device '
        assert_equal "$output" ''
    done
    CUDA_VISIBLE_DEVICES='' run ./embed
    assert_failure 77
    assert_output 'skipped: no usable CUDA device'
}

@test "a grid of 16 blocks does not show in the total at 4,194,915" {
    compile "$SRC" "$BATS_TEST_TMPDIR/sixteen" nofmad -O1 -DBLOCKS=16 -DRUNS=2
    "$BATS_TEST_TMPDIR/sixteen" >"$BATS_TEST_TMPDIR/out"
    assert_equal "$(row "$BATS_TEST_TMPDIR/out" tree 4)" 0x4b25426d
    refute [ "$(hash_in "$BATS_TEST_TMPDIR/out" partials)" = "$(hash_in "$BATS_FILE_TMPDIR/separate" partials)" ]
}
