# The lesson's values on the device at hand, its two builds against each other, and planted faults.
load helper

SRC=$ROOT/day68_reproducibility/reproducibility.cu

setup_file() {
    load helper
    if have_fma; then "$(program reproducibility)" >"$BATS_FILE_TMPDIR/fused" 2>"$BATS_FILE_TMPDIR/fused.err"; fi
    "$(program reproducibility_nofmad)" >"$BATS_FILE_TMPDIR/separate" 2>"$BATS_FILE_TMPDIR/separate.err"
    # What an unedited lesson prints with few runs: what edited copies are held against.
    NOFMAD=1 device_build "$ROOT/day68_reproducibility/reproducibility.cu" "$BATS_FILE_TMPDIR/short" -DRUNS=3
    "$BATS_FILE_TMPDIR/short" >"$BATS_FILE_TMPDIR/short.out"
}

# The fields that are the same on every device: pins FILE.
pins() {
    awk '/^reference:/ || /^(run|partials) hash:/ { print; next }
         $1 == "tree" || $1 == "treeOverKahan" || $1 == "control" { print $1, $2, $3, $4, $5, $6, $7, $8; next }
         $1 ~ /^(256|512|1024|2048)$/ { print }' "$1"
}
row() { awk -v key="$2" -v col="$3" '$1 == key { print $col }' "$1"; }

# A planted fault: the edited lesson, in the separate build, must fail a gate or lose a pinned value.
# fault 'perl edit' gate|pins
fault() {
    mutate "$SRC" "$BATS_TEST_TMPDIR/edited.cu" "$1"
    NOFMAD=1 device_build "$BATS_TEST_TMPDIR/edited.cu" "$BATS_TEST_TMPDIR/edited" -O1 -DRUNS=3
    run --separate-stderr "$BATS_TEST_TMPDIR/edited"
    if [ "$2" = gate ]; then
        assert_failure 1
        assert_regex "$stderr" '[1-9][0-9]* gate\(s\) failed$'
    else
        [ "$status" -le 1 ]
        printf '%s\n' "$output" >"$BATS_TEST_TMPDIR/edited.out"
        run diff <(pins "$BATS_FILE_TMPDIR/short.out") <(pins "$BATS_TEST_TMPDIR/edited.out")
        assert_failure 1
    fi
}

@test "separate build: every gate passes, nothing on stderr" {
    run cat "$BATS_FILE_TMPDIR/separate"
    assert_line --regexp '^gates passed: [0-9]+$'
    refute_line --partial FAILED
    assert_equal "$(cat "$BATS_FILE_TMPDIR/separate.err")" ''
}

@test "fused build: every gate passes, nothing on stderr" {
    require_fma
    run cat "$BATS_FILE_TMPDIR/fused"
    assert_line --regexp '^gates passed: [0-9]+$'
    refute_line --partial FAILED
    assert_equal "$(cat "$BATS_FILE_TMPDIR/fused.err")" ''
}

@test "stdout is what expected_output/ has, separate" { assert_expected "$BATS_FILE_TMPDIR/separate"; }
@test "stdout is what expected_output/ has, fused" {
    require_fma
    assert_expected "$BATS_FILE_TMPDIR/fused"
}

@test "pinned: total, run hash, partials and control, separate" {
    out=$BATS_FILE_TMPDIR/separate
    assert_equal "$(sed -n 's/^contraction: //p' "$out")" separate
    assert_equal "$(row "$out" tree 4) $(row "$out" tree 3) $(row "$out" tree 5)" '0x4b25426d 1 1.739e-09'
    assert_equal "$(hash_in "$out" run)" 0x8189389fe1bc0a65
    assert_equal "$(hash_in "$out" partials)" 0x7931a4c32728c5fe
    assert_equal "$(row "$out" control 3)" 1
    grep -q '^reference: 10830445.018838, control: 3146185.75$' "$out"
    assert_equal "$(row "$out" 256 4) $(row "$out" 256 6)" '0x4b254259 0xdad8a60496c86051'
    assert_equal "$(row "$out" 512 4) $(row "$out" 512 6)" '0x4b25425a 0xc334dc8e653e1433'
    assert_equal "$(row "$out" 1024 4) $(row "$out" 1024 6)" '0x4b254259 0x2d48b298f8e5110d'
    assert_equal "$(row "$out" 2048 4) $(row "$out" 2048 6)" '0x4b25425a 0x7999e2337c68aad0'
}

@test "pinned: total, run hash, partials and control, fused" {
    require_fma
    out=$BATS_FILE_TMPDIR/fused
    assert_equal "$(sed -n 's/^contraction: //p' "$out")" fused
    assert_equal "$(row "$out" tree 4) $(row "$out" tree 3) $(row "$out" tree 5)" '0x4b25426d 1 1.739e-09'
    assert_equal "$(hash_in "$out" run)" 0x8189389fe1bc0a65
    assert_equal "$(hash_in "$out" partials)" 0xf05976ad76a02c5f
    assert_equal "$(row "$out" control 3)" 1
    grep -q '^reference: 10830445.018838, control: 3146185.75$' "$out"
    assert_equal "$(row "$out" 256 4) $(row "$out" 256 6)" '0x4b254259 0xa60c46ff02dcdcf0'
    assert_equal "$(row "$out" 512 4) $(row "$out" 512 6)" '0x4b25425a 0xf8f8c6c618a6da81'
    assert_equal "$(row "$out" 1024 4) $(row "$out" 1024 6)" '0x4b25425a 0xf8e6389109231114'
    assert_equal "$(row "$out" 2048 4) $(row "$out" 2048 6)" '0x4b25425a 0x27410b4e2c7a25e6'
}

@test "the builds: totals agree at 4,194,915 and their partials do not; five fewer, the totals part" {
    require_fma
    a=$BATS_FILE_TMPDIR/fused b=$BATS_FILE_TMPDIR/separate
    assert_equal "$(row "$a" tree 4)" "$(row "$b" tree 4)"
    refute [ "$(hash_in "$a" partials)" = "$(hash_in "$b" partials)" ]
    refute [ "$(row "$a" 1024 4)" = "$(row "$b" 1024 4)" ]
}

@test "the builds: at 1,024 elements the totals part, and the grid does not show" {
    require_fma
    device_build_both "$SRC" "$BATS_TEST_TMPDIR/small" -DELEMENTS=1024 -DRUNS=2
    "$BATS_TEST_TMPDIR/small" >"$BATS_TEST_TMPDIR/fused"
    "$BATS_TEST_TMPDIR/small_nofmad" >"$BATS_TEST_TMPDIR/separate"
    assert_equal "$(row "$BATS_TEST_TMPDIR/fused" tree 4)" 0x4523463d
    assert_equal "$(row "$BATS_TEST_TMPDIR/separate" tree 4)" 0x4523463e
    assert_equal "$(hash_in "$BATS_TEST_TMPDIR/fused" partials)" 0x11d1794f113bb14f
    assert_equal "$(hash_in "$BATS_TEST_TMPDIR/separate" partials)" 0xc2916180ee37d4b0
    for file in fused separate; do
        run awk '$1 ~ /^(256|512|1024|2048)$/ { print $4 }' "$BATS_TEST_TMPDIR/$file"
        assert_equal "$(printf '%s\n' "$output" | sort -u | wc -l)" 1
    done
}

@test "Kahan: a thread's own error halves, and the partials come no nearer" {
    for file in fused separate; do
        [ -s "$BATS_FILE_TMPDIR/$file" ] || continue
        run awk '$1 == "tree" { p = $7; t = $8 } $1 == "treeOverKahan" { k = $7; u = $8 }
                 END { print (k > 0 && k < 0.6 * p && t > 0 && u >= t) ? "yes" : "no " p " " k " " t " " u }' "$BATS_FILE_TMPDIR/$file"
        assert_output yes
    done
}

@test "clang++ gives the same pinned values, both builds" {
    require_cpu
    require_clang
    export CXX=clang++
    device_build_both "$SRC" "$BATS_TEST_TMPDIR/clang" -DRUNS=3
    "$BATS_TEST_TMPDIR/clang_nofmad" >"$BATS_TEST_TMPDIR/separate"
    assert_equal "$(pins "$BATS_TEST_TMPDIR/separate")" "$(pins "$BATS_FILE_TMPDIR/short.out")"
    have_fma || return 0
    "$BATS_TEST_TMPDIR/clang" >"$BATS_TEST_TMPDIR/fused"
    assert_equal "$(hash_in "$BATS_TEST_TMPDIR/fused" partials)" 0xf05976ad76a02c5f
    grid_rows() { awk '$1 ~ /^(256|512|1024|2048)$/ { print $1, $4, $6 }' "$1"; }
    assert_equal "$(grid_rows "$BATS_TEST_TMPDIR/fused")" "$(grid_rows "$BATS_FILE_TMPDIR/fused")"
}

# Emulation is slow: two runs of each kernel will do, and one of each row of the second table.
arm_build() {
    mutate "$1" "$BATS_TEST_TMPDIR/few.cu" 's/kRuns < 5 \? kRuns : 5/1/'
    aarch64_build "$BATS_TEST_TMPDIR/few.cu" "$BATS_TEST_TMPDIR/arm" -DRUNS=2
}

@test "AArch64: the same totals and partials, both builds" {
    require_aarch64
    for build in fused separate; do
        [ $build = fused ] || export NOFMAD=1
        arm_build "$SRC"
        aarch64_run "$BATS_TEST_TMPDIR/arm" >"$BATS_TEST_TMPDIR/$build"
        assert_equal "$(row "$BATS_TEST_TMPDIR/$build" tree 4)" 0x4b25426d
    done
    assert_equal "$(hash_in "$BATS_TEST_TMPDIR/fused" partials)" 0xf05976ad76a02c5f
    assert_equal "$(hash_in "$BATS_TEST_TMPDIR/separate" partials)" 0x7931a4c32728c5fe
    assert_equal "$(row "$BATS_TEST_TMPDIR/fused" 1024 4) $(row "$BATS_TEST_TMPDIR/fused" 1024 6)" '0x4b25425a 0xf8e6389109231114'
    assert_equal "$(row "$BATS_TEST_TMPDIR/separate" 1024 4) $(row "$BATS_TEST_TMPDIR/separate" 1024 6)" '0x4b254259 0x2d48b298f8e5110d'
}

@test "AArch64 without our host flags: the same inputs, the same partials" {
    require_aarch64
    # g++ contracts there by default: device code is fused either way, and the fill must not be.
    HOST=none arm_build "$SRC"
    aarch64_run "$BATS_TEST_TMPDIR/arm" >"$BATS_TEST_TMPDIR/out"
    grep -q '^reference: 10830445.018838' "$BATS_TEST_TMPDIR/out"
    assert_equal "$(hash_in "$BATS_TEST_TMPDIR/out" partials)" 0xf05976ad76a02c5f
}

@test "AArch64 without our host flags: without the volatile, that compiler would contract the fill" {
    require_aarch64
    mutate "$SRC" "$BATS_TEST_TMPDIR/bare.cu" 's/volatile float product/float product/'
    HOST=none arm_build "$BATS_TEST_TMPDIR/bare.cu"
    aarch64_run "$BATS_TEST_TMPDIR/arm" >"$BATS_TEST_TMPDIR/bare.out"
    assert_equal "$(hash_in "$BATS_TEST_TMPDIR/bare.out" partials)" 0x783fb2ef44e7c8fb
}

@test "exit status 2: an argument is refused in one line" {
    run --separate-stderr "$(program reproducibility_nofmad)" --runs 5
    assert_failure 2
    assert_equal "${#stderr_lines[@]}" 1
    assert_regex "$stderr" 'takes no arguments'
}

@test "exit status 2: a CUDA error names file, line, call and message" {
    mutate "$SRC" "$BATS_TEST_TMPDIR/edited.cu" 's/constexpr int kThreads = 256/constexpr int kThreads = 2048/'
    NOFMAD=1 device_build "$BATS_TEST_TMPDIR/edited.cu" "$BATS_TEST_TMPDIR/edited" -DRUNS=2
    run --separate-stderr "$BATS_TEST_TMPDIR/edited"
    assert_failure 2
    assert_regex "$stderr" 'edited\.cu:[0-9]+: cudaGetLastError\(\): error [19] \(cudaErrorInvalid(Value|Configuration)\)' # 1 from CUDA 13 on
}

@test "exit status 2: an output that cannot be written is no pass" {
    [ -w /dev/full ] || skip "no /dev/full"
    NOFMAD=1 device_build "$SRC" "$BATS_TEST_TMPDIR/small" -DELEMENTS=1024 -DRUNS=2
    run bash -c "'$BATS_TEST_TMPDIR/small' >/dev/full"
    assert_failure 2
    assert_output --partial 'could not be written'
}

@test "what the kernels cannot do is refused when building, with the reason" {
    require_cpu
    while read -r flag reason; do
        run cpu_build "$SRC" "$BATS_TEST_TMPDIR/refused" "$flag" -fsyntax-only
        assert_failure
        assert_output --partial "$reason"
    done <<'END'
-DELEMENTS=5 ELEMENTS must be above 5
-DELEMENTS=5592406 ELEMENTS must be at most 5592405
-DBLOCKS=0 BLOCKS must be 1 to 65536
-DRUNS=1 RUNS must be 2 to 10000
END
    run cpu_build "$SRC" "$BATS_TEST_TMPDIR/allowed" -O1 -DELEMENTS=5592405 -DRUNS=2
    assert_success
    run "$BATS_TEST_TMPDIR/allowed"
    assert_success
}

@test "PTX: fma.rn.f32 in the one build, none in the other" {
    require_nvcc
    "$NVCC" -std=c++17 -O3 -ptx -o "$BATS_TEST_TMPDIR/fused.ptx" "$SRC"
    "$NVCC" -std=c++17 -O3 -fmad=false -ptx -o "$BATS_TEST_TMPDIR/separate.ptx" "$SRC"
    grep -q 'fma\.rn\.f32' "$BATS_TEST_TMPDIR/fused.ptx"
    run grep -c 'fma\.rn\.f32' "$BATS_TEST_TMPDIR/separate.ptx"
    assert_output 0
}

@test "the header's plain nvcc lines compile; without a device, exit status 77 and one line" {
    require_nvcc
    cd "$BATS_TEST_TMPDIR"
    cp "$SRC" .
    run sed -n 's|^//   \(nvcc .*\)|\1|p' reproducibility.cu
    assert_equal "${#lines[@]}" 2
    for line in "${lines[@]}"; do PATH=$(dirname "$(command -v "$NVCC")"):$PATH bash -c "$line"; done
    for binary in reproducibility reproducibility_nofmad; do
        CUDA_VISIBLE_DEVICES='' run --separate-stderr "./$binary"
        assert_failure 77
        assert_equal "${#stderr_lines[@]}" 1
        assert_regex "$stderr" '^skipped: no usable CUDA device .*make run DEVICE=cpu$'
        assert_equal "$output" ''
    done
}

@test "fault: the grid derived from the card" {
    fault 's/for \(int blocks : kGrids\) \{/cudaDeviceProp p; cudaGetDeviceProperties(&p, 0);\n    for (int asked : kGrids) { const int blocks = p.multiProcessorCount * 8 + 0 * asked;/; s/kElements, kBlocks, kRuns, want\)/kElements, g_blocks(), kRuns, want)/g; s/(static double relErr)/static int g_blocks() { cudaDeviceProp p; cudaGetDeviceProperties(&p, 0); return 8 * p.multiProcessorCount; }\n$1/' pins
}
@test "fault: a grid derived from the card does not show in the total at 4,194,915" {
    mutate "$SRC" "$BATS_TEST_TMPDIR/edited.cu" 's/constexpr int kBlocks = BLOCKS/constexpr int kBlocks = 16/'
    NOFMAD=1 device_build "$BATS_TEST_TMPDIR/edited.cu" "$BATS_TEST_TMPDIR/edited" -O1 -DRUNS=3
    "$BATS_TEST_TMPDIR/edited" >"$BATS_TEST_TMPDIR/out"
    assert_equal "$(row "$BATS_TEST_TMPDIR/out" tree 4)" 0x4b25426d
    refute [ "$(hash_in "$BATS_TEST_TMPDIR/out" partials)" = "$(hash_in "$BATS_FILE_TMPDIR/short.out" partials)" ]
}
@test "fault: an atomic tail in the tree" {
    fault 's/if \(threadIdx\.x == 0\) \*total = sum;/atomicAdd(total, sum);/; s/(float sum = 0\.0f;\n    for \(int i = threadIdx\.x; i < count[^\n]*\n)    sum = blockTree\(sum\);/$1/' pins
}
@test "fault: a serial final fold" {
    fault 's/for \(int i = threadIdx\.x; i < count; i \+= kThreads\) sum/if (threadIdx.x == 0) for (int i = 0; i < count; ++i) sum/' pins
}
@test "fault: a lost partial" {
    fault 's/i < count; i \+= kThreads/i < count - 1; i += kThreads/' gate
}
@test "fault: a read past the end" {
    fault 's/i < n; i \+= stride/i <= n; i += stride/' pins
}
@test "fault: a NaN result" {
    fault 's/return x \* x \+ 0\.25f;/return (x * x + 0.25f) * (float)(INFINITY - INFINITY);/' gate
}
@test "fault: the total not zeroed before each run" {
    fault 's/    CUDA_CHECK\(cudaMemset\(g_total[^\n]*\n//' gate
}
@test "fault: a contracted fill" {
    fault 's/volatile float product = \(float\)\(i % 1000\) \* 0\.001f;//; s/1\.0f \+ product;/fmaf((float)(i % 1000), 0.001f, 1.0f);/' pins
    # Total and run hash stay; the partials and the reference betray it.
    [ "$(row "$BATS_TEST_TMPDIR/edited.out" tree 4)" = 0x4b25426d ]
    assert_equal "$(hash_in "$BATS_TEST_TMPDIR/edited.out" partials)" 0x92650778d1f2766a
    grep -q '^reference: 10830445.027577' "$BATS_TEST_TMPDIR/edited.out"
}
