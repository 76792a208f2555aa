# The lesson's values on the device at hand, its builds against each other, the pairs by themselves,
# CCCL's types where its headers are at hand. Planted faults: tests/fpmp_pi/faults.
load helper

LESSON_DIR=$ROOT/fpmp_pi
PI=$LESSON_DIR/fpmp_pi.cu
TOUR=$LESSON_DIR/fpmp_tour.cu
PARTS=$ROOT/tests/fpmp_pi
OWN='float_pair_low float_pair_mid float_pair_high double_pair'

setup_file() {
    load helper
    cd "$BATS_FILE_TMPDIR"
    # The pair types alone, for plain C++ without CUDA: the marked block.
    sed -n '/^\/\/ pair types/,/^\/\/ end pair types/p' "$ROOT/fpmp_pi/fpmp_pi.cu" >pair_types.inc
    # One program for all own types: the header names them.
    printf '#define PI_FP_TYPES(row) row(float_pair_low) row(float_pair_mid) row(float_pair_high) row(double_pair)\n' >own.h
}

# What the lesson's program NAME prints in a BUILD, and what all own types give at 2^20 terms: files, made
# by the first test that asks. output_of NAME BUILD; own20 BUILD.
output_of() {
    local out=$BATS_FILE_TMPDIR/$1.$2
    [ -e "$out" ] || "$(program "$1" "$2")" >"$out" 2>"$out.err" || true # the tests look at what it printed
    echo "$out"
}
own20() {
    local out=$BATS_FILE_TMPDIR/own20.$1
    [ -e "$out" ] || {
        compile "$PI" "$out.program" "$1" -DPI_LOG2_TERMS=20 -DPI_FP_HEADER="\"$BATS_FILE_TMPDIR/own.h\"" &&
            "$out.program" >"$out"
    } || return
    echo "$out"
}

# Of an output's table: value FILE TYPE, digits FILE TYPE, hash FILE TYPE (no type with a blank).
cell() { awk -v type="$2" -v column="$3" '$1 == type && $NF ~ /^0x/ { print $column }' "$1"; }
value() { cell "$1" "$2" 2; }
hash_of() { cell "$1" "$2" 9; }

cccl_dir() {
    for dir in "${CCCL:-}" "$ROOT/.cccl"; do
        if [ -n "$dir" ] && [ -d "$dir" ]; then
            echo "$dir"
            return
        fi
    done
    return 1
}
require_cccl() { cccl_dir >/dev/null || skip "no CCCL headers (make cccl)"; }

# The builds there are here, and what each says of itself.
builds() { if have_fma; then echo fmad; fi && echo nofmad; }
contraction() { if [ "$1" = fmad ]; then echo fused; else echo separate; fi; }

@test "every gate passes in both builds of both programs, nothing on stderr" {
    for build in $(builds); do
        for name in fpmp_pi fpmp_tour; do
            out=$(output_of $name $build)
            run cat "$out"
            assert_line --regexp '^gates passed: [1-9][0-9]*$'
            refute_line --partial FAILED
            assert_equal "$(cat "$out.err")" ''
            assert_equal "$(sed -n 's/^contraction: //p' "$out")" "$(contraction $build)"
        done
    done
}

@test "stdout is what expected_output/ has, both builds of both programs" {
    for build in $(builds); do
        for name in fpmp_pi fpmp_tour; do assert_expected "$(output_of $name $build)"; done
    done
}

@test "pinned at 2^26 terms: values, digits and partials of double, float and the pair" {
    for build in $(builds); do
        out=$(output_of fpmp_pi $build)
        float=0x185d75634d584420
        [ $build = nofmad ] || float=0x177dfb995add2866
        assert_equal "$(value "$out" double) $(hash_of "$out" double)" '3.1415926535897984 0x4dea84b8b1c9b0c5'
        assert_equal "$(value "$out" float) $(hash_of "$out" float)" "3.1389188766479492 $float"
        assert_equal "$(value "$out" float_pair_mid) $(hash_of "$out" float_pair_mid)" '3.1415926535931646 0xd997b030c8d6693e'
        assert_equal "$(cell "$out" double 3) $(cell "$out" float 3) $(cell "$out" float_pair_mid 3)" '14.78 3.07 11.97'
        assert_equal "$(hash_in "$out" partials)" 0xd997b030c8d6693e
    done
}

# Digits at 2^26 terms: the next test but one measures them.
digits26='double 14.78
float 3.07
float_pair_low 8.71
float_pair_mid 11.97
float_pair_high 12.67
double_pair 17.23'

@test "each type's least and most digits lie around what it has at 2^26 terms, at most 0.4 away" {
    while read -r type digits; do
        limits=$(grep -o "{\"$type\", [0-9.]*, [0-9.]*}" "$PI" | tr -d "{}\",")
        awk -v digits=$digits -v limits="$limits" 'BEGIN {
            exit !(split(limits, x) == 3 && digits - 0.4 <= x[2] && x[2] <= digits && digits <= x[3] && x[3] <= digits + 0.4)
        }' || { echo "$type has $digits digits; its limits: $limits"; false; }
    done <<<"$digits26"
}

@test "pinned at 2^26 terms: every own type, fused" {
    require_fma
    [ -n "${ALL:-}" ] || [ "$DEVICE" = gpu ] || skip "half a minute on a CPU: check-all"
    cd "$BATS_TEST_TMPDIR"
    compile "$PI" own26 fmad -DPI_FP_HEADER="\"$BATS_FILE_TMPDIR/own.h\""
    ./own26 >out
    assert_equal "$(value out float_pair_low) $(hash_of out float_pair_low)" '3.1415926474146545 0xd621b50def06c5fd'
    assert_equal "$(value out float_pair_mid) $(hash_of out float_pair_mid)" '3.1415926535931646 0xd997b030c8d6693e'
    assert_equal "$(value out float_pair_high) $(hash_of out float_pair_high)" '3.1415926535891288 0xabf83a522f2066cc'
    assert_equal "$(value out double_pair) $(hash_of out double_pair)" '3.1415926535897931 0x3f22d82c575968a5'
    assert_equal "$(awk '/ 0x/ && NF == 9 { print $1, $3 }' out)" "$digits26"
    assert_equal "$(grep -c ' digits  *passed$' out)" 6
}

# What all own types give at 2^20 terms: pinned20 FILE fmad|nofmad
pinned20() {
    local float=0xe7b9b1875efdae49
    [ "$2" = nofmad ] || float=0xaf6f395b13cc7405
    assert_equal "$(value "$1" double) $(hash_of "$1" double)" '3.1415926535898611 0x2fbcfbfab81ec80d'
    assert_equal "$(hash_of "$1" float)" "$float"
    assert_equal "$(value "$1" float_pair_low) $(hash_of "$1" float_pair_low)" '3.1415926657173259 0x28c7394f1172486b'
    assert_equal "$(value "$1" float_pair_mid) $(hash_of "$1" float_pair_mid)" '3.1415926535902940 0x027e1b3ad8e4b26e'
    assert_equal "$(value "$1" float_pair_high) $(hash_of "$1" float_pair_high)" '3.1415926535896688 0x7d3198c1ba2a2cab'
    assert_equal "$(value "$1" double_pair) $(hash_of "$1" double_pair)" '3.1415926535898691 0x7ebda3d516432f7b'
}

@test "pinned at 2^20 terms: every own type, both builds; only float's partials differ" {
    for build in $(builds); do pinned20 "$(own20 $build)" $build; done
}

@test "clang++ gives the same pinned values at 2^20 terms" {
    require_cpu
    require_clang
    cd "$BATS_TEST_TMPDIR"
    export CXX=clang++
    for build in $(builds); do
        compile "$PI" clang $build -DPI_LOG2_TERMS=20 -DPI_FP_HEADER="\"$BATS_FILE_TMPDIR/own.h\""
        ./clang >out
        pinned20 out $build
    done
}

@test "AArch64 at 2^18 terms: every own type has the partials that x86-64 has" {
    require_aarch64
    cd "$BATS_TEST_TMPDIR"
    for build in fmad nofmad; do
        float=0x64697f03c61d4866
        [ $build = fmad ] || float=0x2c1408cb8ccb0b76
        aarch64_build "$PI" arm $build -DPI_LOG2_TERMS=18 -DPI_FP_HEADER="\"$BATS_FILE_TMPDIR/own.h\""
        aarch64_run ./arm >arm.out
        assert_equal "$(sed -n 's/^contraction: //p' arm.out)" "$(contraction $build)"
        assert_equal "$(hash_of arm.out double) $(hash_of arm.out float)" "0xaebda83f86d8b200 $float"
        assert_equal "$(hash_of arm.out float_pair_low)" 0x1b4700bf0baa6614
        assert_equal "$(hash_of arm.out float_pair_mid)" 0x999a8d286f7fe542
        assert_equal "$(hash_of arm.out float_pair_high)" 0x08e882e2ddc3201c
        assert_equal "$(hash_of arm.out double_pair)" 0xb9e346400dd18735
    done
}

# The block compiled as plain C++ must give these, whatever the compiler may contract.
host20='float_pair_low 0x28c7394f1172486b
float_pair_mid 0x027e1b3ad8e4b26e
float_pair_high 0x7d3198c1ba2a2cab
double_pair 0x7ebda3d516432f7b'

@test "the pairs' host branch has the device's bits, and the stated error bounds hold" {
    cd "$BATS_TEST_TMPDIR"
    # shellcheck disable=SC2086 # a list of words
    $CXX $HOST_FLAGS $MFMA -I"$BATS_FILE_TMPDIR" -x c++ -o host "$PARTS/host_branch.cu"
    run ./host
    assert_success
    assert_equal "$(printf '%s\n' "${lines[@]:0:4}")" "$host20"
    refute_output --partial EXCEEDED
    # The bounds that are checked are those that the block states: of the product first high's, then mid's.
    assert_equal "$(grep -o '[0-9]*u^2' "$BATS_FILE_TMPDIR/pair_types.inc" | tr '\n' ' ')" '3u^2 2u^2 4u^2 5u^2 21u^2 14u^2 '
    assert_equal "$(awk 'NF == 3 { print $1, $3 }' <<<"$output")" 'pair+pair 3
scalar+pair 2
pair*pair 5
pair/pair 21
scalar/pair 14
pair+pair 3
scalar+pair 2
pair*pair 4
pair/pair 21
scalar/pair 14'
}

@test "the host branch keeps its bits where the compiler may contract everything" {
    for cxx in "$CXX" clang++; do
        command -v ${cxx%% *} >/dev/null || continue
        # shellcheck disable=SC2086 # lists of words
        $cxx -std=c++17 -O3 -ffp-contract=fast $MFMA -DTRIALS=1 -I"$BATS_FILE_TMPDIR" -x c++ -o "$BATS_TEST_TMPDIR/host" "$PARTS/host_branch.cu"
        run "$BATS_TEST_TMPDIR/host"
        assert_success
        assert_equal "$(printf '%s\n' "${lines[@]:0:4}")" "$host20"
    done
}

@test "the host branch on AArch64, as a plain nvcc line's host compiler takes it" {
    require_aarch64
    cd "$BATS_TEST_TMPDIR"
    flags=(-std=c++17 -DPI_LOG2_TERMS=18 -DTRIALS=1000 -I"$BATS_FILE_TMPDIR" -x c++ "$PARTS/host_branch.cu")
    $CXX -O2 -ffp-contract=off -o here "${flags[@]}"
    aarch64-linux-gnu-g++ -O3 -o arm "${flags[@]}"
    ./here >here.out
    aarch64_run ./arm >arm.out
    assert_equal "$(head -n 4 arm.out)" "$(head -n 4 here.out)"
}

@test "special values: what each level makes of them" {
    cd "$BATS_TEST_TMPDIR"
    compile "$PARTS/special_values.cu" special nofmad -O1
    run ./special
    assert_success
}

@test "conversions that lose the low limb do not compile" {
    cd "$BATS_TEST_TMPDIR"
    # accepted CODE / refused CODE: in a function, after the block.
    check() {
        { printf '#define __host__\n#define __device__\n#include <cmath>\n#include <limits>\n#include <type_traits>\n'
          cat "$BATS_FILE_TMPDIR/pair_types.inc"
          printf 'void use(float_pair_mid p, float_pair_low q, double_pair d) { (void)p, (void)q, (void)d; %s }\n' "$1"
        } >check.cpp
        # shellcheck disable=SC2086 # a list of words
        $CXX $HOST_FLAGS -fsyntax-only check.cpp 2>check.log
    }
    check 'p = 1.0f; p = p + 1.0f; p = 4.0f / p; d = 0.1; d = d * 2; p = float_pair_mid(0.1); q = float_pair_low(p); double x = (double)p; (void)x;'
    for code in 'p = 0.1;' 'float x = p; (void)x;' 'double x = p; (void)x;' 'p = q;' 'p = d;' 'd = p;' 'p = p + 0.1;' 'p = 0.1 / p;' \
        'p = p * 16777217;' 'p = p + q;' 'd = d + 9007199254740993LL;' 'float x = (float)p; (void)x;' \
        'float_pair_mid s = {0.1, 0.0}; (void)s;' 'd = double_pair(9007199254740993LL);' 'd = double_pair(0.1L);'; do
        if check "$code"; then
            echo "compiled: $code"
            false
        fi
        grep -qE 'no match|cannot convert|conversion|converting|invalid|no viable|explicit' check.log
    done
}

@test "the reciprocal is the correctly rounded one, over all floats in its range" {
    cd "$BATS_TEST_TMPDIR"
    stride=1
    [ "$DEVICE" = gpu ] || [ -n "${ALL:-}" ] || stride=16 # all of them on a CPU: check-all
    build=nofmad
    ! have_fma || build=fmad
    compile "$PARTS/reciprocal_walk.cu" walk $build -DSTRIDE=$stride
    run ./walk
    assert_success
}

@test "the tour shows the own types; double and float leave the limbs out by name" {
    cd "$BATS_TEST_TMPDIR"
    types='float float_pair_low double_pair' # on a card all: there host and device are two
    [ "$DEVICE" = cpu ] || types="float double $OWN"
    for type in $types; do
        compile "$TOUR" tour nofmad -O1 -DPI_FP_T=$type
        run ./tour
        assert_success
        assert_line "type: $type"
        case $type in
            float | double)
                assert_line 'gates passed: 2'
                assert_line --regexp '^left out: .*add<high>\(p,q\).*exp\(a\) sin\(a\)$'
                ;;
            *)
                assert_line 'gates passed: 6'
                assert_line 'left out: exp(a) sin(a)'
                ;;
        esac
    done
}

@test "CCCL: every type runs at 2^20 terms, and fp64emu has double's partials" {
    require_cccl
    cd "$BATS_TEST_TMPDIR"
    DEFS='' CCCL=$(cccl_dir) PI_LOG2_TERMS=20 bash "$ROOT/tools/pi_types.sh" >out
    if have_fma; then pinned20 out fmad; else pinned20 out nofmad; fi
    grep -qE '^gate: cuda::fp64emu: double.s partials +passed$' out
    assert_equal "$(hash_of out cuda::fp64emu)" 0x2fbcfbfab81ec80d
    for type in cuda::fp32mp2_low cuda::fp32mp2 cuda::fp32mp2_high cuda::fp64mp2 cuda::fp64emu_unpacked; do
        # Its header shifts by 2047, which C++ leaves undefined; the page says what clang++ makes of it.
        case $type-$DEVICE-$($CXX --version) in cuda::fp64emu_unpacked-cpu-*clang*) continue ;; esac
        awk -v type="$type" '$1 == type && $3 ~ /^[0-9]/ && $3 >= 8 && $3 <= 20 { found = 1 } END { exit !found }' out
    done
    grep -qE '^cuda::fp64_custom<8, 10> 0\.062500000000000000 ' out
}

@test "CCCL: the tour takes its types, without exp and sin and with them" {
    require_cccl
    require_cpu
    cd "$BATS_TEST_TMPDIR"
    for header in fpmp fpmp_math; do
        eval "flags=($(CCCL=$(cccl_dir) PI_FP_T=cuda::fp32mp2 PI_FP_HEADER="<cuda/$header>" bash "$ROOT/tools/pi_flags.sh"))"
        compile "$TOUR" tour nofmad -O1 "${flags[@]}"
        run ./tour
        assert_success
        assert_line --regexp '^same bits on host and device: [0-9]+ of [0-9]+$'
        if [ $header = fpmp ]; then
            assert_line 'left out: exp(a) sin(a)'
        else
            assert_line --regexp '^exp\(a\) .* 1\.105'
        fi
    done
}

@test "CCCL: rows that are near pass the tour's gate, a row that is not finite too; one farther away does not" {
    require_cccl
    require_cpu
    cd "$BATS_TEST_TMPDIR"
    # On a CPU host and device agree in all bits: two of the device's rows are changed.
    cp "$PI" .
    mutate "$TOUR" far.cu 's/(?= {4}printf\("\\n%-22s %-7s %24s)/    for (int i = 0; i < record.count; ++i) {
        if (strcmp(names[i], "a\/b") == 0) device[i] = device[i] * Type(1 + atof(getenv("DISTANCE")));
        if (strcmp(names[i], "inf+1.0f") == 0) device[i] = Type(NAN);
    }\n/'
    eval "flags=($(CCCL=$(cccl_dir) PI_FP_T=cuda::fp32mp2 PI_FP_HEADER="<cuda/fpmp>" bash "$ROOT/tools/pi_flags.sh"))"
    compile far.cu far nofmad -O1 "${flags[@]}"
    DISTANCE=1e-9 run ./far
    assert_success
    assert_line --regexp '^gate: host and device: near +passed$'
    assert_line 'same bits on host and device: 30 of 32'
    DISTANCE=1e-5 run --separate-stderr ./far
    assert_failure 1
    assert_equal "${stderr_lines[0]}" 'gate failed: host and device: near: in 31 of 32'
}

@test "CCCL: nvcc takes the type's name, comma and all" {
    require_nvcc
    cd "$BATS_TEST_TMPDIR"
    printf '#define TEXT_(...) #__VA_ARGS__\n#define TEXT(...) TEXT_(__VA_ARGS__)\nLABEL TEXT(PI_FP_T)\n' >label.cu
    eval "flags=($(DEVICE=gpu PI_FP_T='cuda::fp64_custom<8, 10>' PI_FP_HEADER='<x>' bash "$ROOT/tools/pi_flags.sh"))"
    run "$NVCC" -E "${flags[@]}" label.cu
    assert_line 'LABEL "cuda::fp64_custom<8, 10>"'
}

@test "CCCL: nvcc compiles every type" {
    require_cccl
    require_nvcc
    [ -n "${ALL:-}${CI:-}" ] || skip "a minute of nvcc: check-all and CI"
    cd "$BATS_TEST_TMPDIR"
    for type in cuda::fp32mp2_low cuda::fp32mp2 cuda::fp32mp2_high cuda::fp64mp2 cuda::fp64emu cuda::fp64emu_unpacked 'cuda::fp64_custom<8, 10>'; do
        eval "flags=($(DEVICE=gpu CCCL=$(cccl_dir) PI_FP_T="$type" bash "$ROOT/tools/pi_flags.sh"))"
        DEVICE=gpu compile "$PI" typed fmad "${flags[@]}"
    done
}

@test "CCCL: what is missing or too old is said in one line" {
    flags() { env -u PI_FP_T -u PI_FP_HEADER -u CCCL -u PI_LOG2_TERMS "$@" bash "$ROOT/tools/pi_flags.sh"; }
    cd "$BATS_TEST_TMPDIR"
    mkdir -p old/cuda/std/__cccl empty
    : >old/cuda/std/version
    echo '#define CCCL_VERSION 3000001' >old/cuda/std/__cccl/version.h
    run flags PI_FP_T=cuda::fp32mp2
    assert_output --regexp '^error <cuda/fpmp> .*make cccl'
    run flags PI_FP_T=cuda::fp64emu CCCL=nowhere
    assert_output "error CCCL='nowhere' is no folder"
    run flags PI_FP_T=cuda::fp64emu CCCL=empty
    assert_output --regexp "^error CCCL='empty' is neither"
    run flags PI_FP_T='cuda::fp64_custom<8, 10>' CCCL=old
    assert_output --regexp "^error CCCL='old' is CCCL 3.0.1, which has no <cuda/fptool>"
    run flags PI_FP_T=quad
    assert_output --regexp "^error unknown PI_FP_T 'quad'"
    run flags PI_LOG2_TERMS=many
    assert_output --regexp '^error PI_LOG2_TERMS must be'
    run flags PI_FP_T='cuda::x<8, 10>' PI_FP_HEADER='<x>' DEVICE=gpu
    assert_output "'-DPI_FP_T=cuda::x<8\\, 10>' '-DPI_FP_HEADER=<x>' "
    run env CCCL=old ROOT="$ROOT" BUILD="$PWD" DEFS= DEVICE=cpu FMA=yes bash "$ROOT/tools/pi_types.sh"
    assert_failure 2
    assert_equal "${#lines[@]}" 1
}

@test "exit status 2: an argument is refused" {
    for name in fpmp_pi fpmp_tour; do
        run "$(program $name nofmad)" extra
        assert_failure 2
        assert_output "fpmp_pi/$name takes no arguments; -D macros at the build change it"
    done
}

@test "PTX of float's kernel: the term's fma in the one build, none in the other; the pairs' in both" {
    require_nvcc
    cd "$BATS_TEST_TMPDIR"
    for build in fused separate; do
        flag=
        [ $build = fused ] || flag=-fmad=false
        # shellcheck disable=SC2086 # none or one
        "$NVCC" -std=c++17 -O3 -arch="$ARCH" $flag -ptx -o $build.ptx "$PI" &
    done
    wait
    # entry FILE: the body of sumTerms for float (f) or the pair.
    entry() { awk -v name="$2" '/\.entry/ { on = index($0, name) > 0 } on' "$1"; }
    # Eight terms a turn of the unrolled loop; the division's own steps are not in PTX yet.
    assert_equal "$(entry fused.ptx sumTermsIfE | grep -c 'fma.rn.f32')" 8
    assert_equal "$(entry separate.ptx sumTermsIfE | grep -c 'fma.rn.f32')" 0
    assert_equal "$(entry separate.ptx sumTermsIfE | grep -c 'mul.rn.f32')" 9 # and the first x
    pairs=$(entry fused.ptx sumTermsI4Pair | grep -c 'fma.rn.f32')
    [ "$pairs" -ge 40 ]
    assert_equal "$(entry separate.ptx sumTermsI4Pair | grep -c 'fma.rn.f32')" "$pairs"
}

# The nvcc lines of a header: header_lines NAME how-many, of the two that it has.
header_lines() {
    cd "$BATS_TEST_TMPDIR"
    cp "$LESSON_DIR"/*.cu .
    run sed -n 's|^//   \(nvcc .*\)|\1|p' "$1.cu"
    assert_equal "${#lines[@]}" 2
    for line in "${lines[@]:0:$2}"; do bash -c "PATH=$(dirname "$(command -v "$NVCC")"):\$PATH; $line"; done
    [ -x "$1" ]
    [ "$2" -lt 2 ] || [ -x "${1}_nofmad" ]
}
@test "the header's plain nvcc lines compile, fpmp_pi" {
    require_nvcc
    header_lines fpmp_pi $((${ALL:+1} + 1))
}
@test "the header's plain nvcc lines compile, fpmp_tour" {
    require_nvcc
    header_lines fpmp_tour $((${ALL:+1} + 1))
}

@test "clang++ -ffast-math fails the gates of two-sum, and those alone" {
    require_cpu
    require_clang
    CXX=clang++ compile "$PI" "$BATS_TEST_TMPDIR/fast" nofmad -O1 -ffast-math -DPI_LOG2_TERMS=17
    run --separate-stderr "$BATS_TEST_TMPDIR/fast"
    assert_failure 1
    # shellcheck disable=SC2154 # run sets it
    assert_regex "${stderr_lines[0]}" '^gate failed: two-sum keeps its error on the host: .* 0 by plain operators'
    assert_regex "${stderr_lines[1]}" '^gate failed: two-sum keeps its error on the device: .* 0 by plain operators'
    assert_equal "${stderr_lines[2]}" '2 gate(s) failed'
}

@test "the partials hash of the output is the asked type's own, for double and float too" {
    cd "$BATS_TEST_TMPDIR"
    for type in double float; do
        compile "$PI" typed nofmad -O1 -DPI_FP_T=$type -DPI_LOG2_TERMS=20
        ./typed >out
        assert_equal "$(hash_in out partials)" "$(hash_of out $type)"
        # Asked for again, it is neither measured nor printed twice.
        assert_equal "$(grep -c "^$type .* 0x" out)" 1
    done
    assert_equal "$(hash_in out partials)" 0xe7b9b1875efdae49
}

@test "digits at 2^20 terms, and a sentence per type with the table's speed and digits" {
    for build in $(builds); do
        out=$(own20 $build)
        assert_equal "$(cell "$out" double 3) $(cell "$out" float 3)" '13.67 5.21'
        for type in float $OWN; do
            speed=$(cell "$out" $type 8)
            gained=$(cell "$out" $type 4)
            word=more
            [ "${gained#-}" = "$gained" ] || word=fewer
            grep -qxF "$type is ${speed%x} times as fast as double, with ${gained#[-+]} digits $word." "$out"
        done
        refute grep -q '^double is ' "$out"
    done
}

@test "digits at 2^28 terms: double 13.73, float 2.81" {
    [ -n "${ALL:-}" ] || [ "$DEVICE" = gpu ] || skip "some seconds on a CPU: check-all"
    cd "$BATS_TEST_TMPDIR"
    compile "$PI" large nofmad -DPI_FP_T=double -DPI_LOG2_TERMS=28
    ./large >out
    assert_equal "$(cell out double 3) $(cell out float 3)" '13.73 2.81'
}

@test "at 2^27 terms double's partials differ between the builds" {
    cd "$BATS_TEST_TMPDIR"
    compile_both "$PI" large -DPI_FP_T=double -DPI_LOG2_TERMS=27
    ./large.nofmad >out
    assert_equal "$(hash_in out partials)" 0x839e98f9edbe235e
    have_fma || return 0
    ./large.fmad >out
    assert_equal "$(hash_in out partials)" 0x907ea77dd129ee85
}

@test "cuda::fp64emu is held against double up to 2^26 terms, and no further: there the builds differ" {
    [ -n "${ALL:-}" ] || [ "$DEVICE" = gpu ] || skip "some seconds on a CPU: check-all"
    cd "$BATS_TEST_TMPDIR"
    # A float of that name, so that the gate fails wherever it is asked, in seconds.
    cat >emu.h <<'END'
namespace cuda {
struct fp64emu {
    float value;
    fp64emu() = default;
    __host__ __device__ fp64emu(float x) : value(x) {}
    __host__ __device__ operator float() const { return value; }
};
}
END
    for terms in 26 27; do
        compile "$PI" emu nofmad -DPI_FP_T=cuda::fp64emu -DPI_FP_HEADER="\"$PWD/emu.h\"" -DPI_LOG2_TERMS=$terms
        run --separate-stderr ./emu
        if [ $terms = 26 ]; then
            assert_failure 1
            assert_regex "${stderr_lines[0]}" "^gate failed: cuda::fp64emu: double's partials: 0x"
        else
            assert_success
            refute_line --partial "double's partials"
            assert_line --regexp '^gate: cuda::fp64emu: constant partials +passed$'
        fi
    done
}

@test "embed.cu: the errors' bits are the same in both builds, the plain expression's are not" {
    cd "$BATS_TEST_TMPDIR"
    [ "$(wc -l <"$LESSON_DIR/embed.cu")" -lt 60 ]
    compile_both "$LESSON_DIR/embed.cu" embed
    for build in $(builds); do
        plain='0x40017e4a  2.02333307'
        [ $build = nofmad ] || plain='0x40017e4b  2.02333331'
        run ./embed.$build
        assert_success
        assert_output "x = 1.3f, y = 1.0f/3
x + y       0x3fd11111  1.63333333
its error   0xb3000000  -2.98023224e-08
x * x       0x3fd851ea  1.68999982
its error   0x3375c290  5.72204613e-08
x*x + y     $plain
fma(x,x,y)  0x40017e4b  2.02333331
x*x + y is $(contraction $build)"
    done
}

@test "the page's digits are those that the tests pin, and its example of a square is right" {
    page=$LESSON_DIR/README.md
    grep -qxF '| 2^20 | 13.67 | 5.2 |' "$page" # "digits at 2^20 terms"
    grep -qxF '| 2^26 | 14.78 | 3.1 |' "$page" # "pinned at 2^26 terms"
    grep -qxF '| 2^28 | 13.73 | 2.8 |' "$page" # "digits at 2^28 terms"
    grep -qF 'k = 134,217,727, k² = 18,014,398,241,046,529 = 8·2,251,799,780,130,816 + 1.' "$page"
    assert_equal "$((134217727 * 134217727)) $((8 * 2251799780130816 + 1))" '18014398241046529 18014398241046529'
    [ 134217727 -lt $((1 << 27)) ] # the last grid point at 2^26 terms
}
