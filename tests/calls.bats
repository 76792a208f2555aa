# What every program asks of the runtime, seen on the CPU default through tests/calls.c: a launch that is
# refused, what is allocated and freed, and for fpmp_pi what lies between its two events.
# shellcheck disable=SC2154 # run --separate-stderr sets stderr
load helper

# What calls.c defines, compiled once; and the flags that give a program's calls its names.
setup_file() {
    load helper
    $CC -std=c11 -O1 -Wall -Wextra -I"$ROOT/cpu" -c -o "$BATS_FILE_TMPDIR/calls.o" "$ROOT/tests/calls.c"
    sed -n 's/^[a-zA-Z].* seen_\([a-zA-Z_]*\)(.*/-D\1=seen_\1/p' "$ROOT/tests/calls.c" >"$BATS_FILE_TMPDIR/flags"
}

# A program, small, with those calls, built by the first test that asks: small LESSON/PROGRAM prints its path.
small() {
    local made=$BATS_FILE_TMPDIR/${1##*/} size=''
    if [ ! -e "$made" ]; then
        case $1 in
        day68_reproducibility/*) size='-DELEMENTS=20011 -DBLOCKS=16 -DRUNS=2' ;;
        fpmp_pi/*) size=-DPI_LOG2_TERMS=17 ;;
        canonical_tree/*) size=-DELEMENTS=1025 ;;
        esac
        # shellcheck disable=SC2046,SC2086 # lists of words
        DEVICE=cpu compile "$ROOT/$1.cu" "$made" nofmad -O1 $(cat "$BATS_FILE_TMPDIR/flags") $size $(openmp_flag "$1") \
            "$BATS_FILE_TMPDIR/calls.o" >&2 || return
    fi
    echo "$made"
}

# The calls of a run in which all is well: a file, made by the first test that asks. calls_of LESSON/PROGRAM
calls_of() {
    local made
    made=$(small "$1") || return
    [ -e "$made.calls" ] || CALLS=$made.calls "$made" >"$made.out" || return
    echo "$made.calls"
}

# What is made is freed: memory, streams, events, graphs.
frees_all() { # LESSON/PROGRAM
    calls=$(calls_of "$1")
    while read -r kind; do
        made=$(grep -cx "make $kind" "$calls")
        freed=$(grep -cx "free $kind" "$calls" || true)
        assert_equal "$kind: $freed freed" "$kind: $made freed"
    done < <(sed -n 's/^make //p' "$calls" | sort -u)
    grep -qx 'make memory' "$calls"
}

# The line soon after a kernel's launch that asks for its error, FILE:LINE: ...; FILE without its folder.
check_after() { # LESSON KERNEL
    (cd "$ROOT/$1" && awk -v launch="$2<<<" '
        index($0, launch) { until = FNR + 8; on = 1 }
        FNR > until { on = 0 }
        on && /LastError\(\)/ { print FILENAME ":" FNR ": " $0; exit }' ./*.cu)
}

# The first launch of each kernel is refused: the program ends with 2 and one line, by the check after the launch.
checks_launches() { # LESSON/PROGRAM
    calls=$(calls_of "$1")
    kernels=0
    while read -r _ number kernel; do
        kernels=$((kernels + 1))
        REFUSE=$number run --separate-stderr "$(small "$1")"
        check=$(check_after "${1%/*}" "$kernel")
        echo "$kernel, launch $number: status $status; checked at: $check; $stderr"
        assert_failure 2
        assert_equal "${#stderr_lines[@]}" 1
        assert_regex "$stderr" ': invalid argument$'
        case $kernel-$check in
        *'CUDA_CHECK(cudaGetLastError());')
            place=${check#./}
            assert_regex "$stderr" "/${place%%: *}: cudaGetLastError\(\): error 1 " ;;
        *cudaPeekAtLastError*) ;; # the function returns the error, and its caller says it
        fillInput-* | readTotal-*) assert_equal "$stderr" 'deviceTree: invalid argument' ;; # which begins by asking
        *) fail "nothing asks for the launch's error" ;;
        esac
    done < <(awk '$1 == "launch" && !seen[$3]++' "$calls")
    [ "$kernels" -gt 0 ]
}

# A test per program, so that a fault builds one.
@test "reproducibility: what it makes it frees" { frees_all day68_reproducibility/reproducibility; }
@test "precision_reduction: what it makes it frees" { frees_all precision_reduction/precision_reduction; }
@test "fpmp_pi: what it makes it frees" { frees_all fpmp_pi/fpmp_pi; }
@test "fpmp_tour: what it makes it frees" { frees_all fpmp_pi/fpmp_tour; }
@test "canonical_tree: what it makes it frees" { frees_all canonical_tree/canonical_tree; }
@test "wrong_orders: what it makes it frees" { frees_all canonical_tree/wrong_orders; }
@test "fused_tree: what it makes it frees" { frees_all canonical_tree/fused_tree; }
@test "tree_in_graph: what it makes it frees" { frees_all canonical_tree/tree_in_graph; }

@test "reproducibility: a first launch that is refused: exit status 2, and the line after it says so" { checks_launches day68_reproducibility/reproducibility; }
@test "precision_reduction: a first launch that is refused: exit status 2, and the line after it says so" { checks_launches precision_reduction/precision_reduction; }
@test "fpmp_pi: a first launch that is refused: exit status 2, and the line after it says so" { checks_launches fpmp_pi/fpmp_pi; }
@test "fpmp_tour: a first launch that is refused: exit status 2, and the line after it says so" { checks_launches fpmp_pi/fpmp_tour; }
@test "canonical_tree: a first launch that is refused: exit status 2, and the line after it says so" { checks_launches canonical_tree/canonical_tree; }
@test "wrong_orders: a first launch that is refused: exit status 2, and the line after it says so" { checks_launches canonical_tree/wrong_orders; }
@test "fused_tree: a first launch that is refused: exit status 2, and the line after it says so" { checks_launches canonical_tree/fused_tree; }
@test "tree_in_graph: a first launch that is refused: exit status 2, and the line after it says so" { checks_launches canonical_tree/tree_in_graph; }

@test "every program has its two tests here" {
    for program in $(programs); do
        assert_equal "$program: $(grep -cE "^@test .* \{ (frees_all|checks_launches) $program; \}$" "$BATS_TEST_FILENAME")" "$program: 2"
    done
}

@test "fpmp_pi: the kernel alone lies between its two events, and the time is read when the second one is over" {
    calls=$(calls_of fpmp_pi/fpmp_pi)
    run sed -nE '/^(record|synchronize|time) |sumTerms/ { s/^launch [0-9]+ /launch /; p }' "$calls"
    for ((i = 0; i < 18; ++i)); do # a warm-up and five launches of each of three types
        assert_equal "${lines[*]:5*i:5}" 'record 1 launch sumTerms<T> record 2 synchronize 2 time 1 2'
    done
    assert_equal "${#lines[@]}" 90
}

@test "fpmp_pi: ms is the median of the five, in whatever order they came; the warm-up is none of them" {
    # Of each type first the warm-up. The mean, the first, the third as it came and the least are others.
    TIMES='90 7 1 4 2 3  900 70 10 40 20 30  9 .7 .1 .4 .2 .3' run "$(small fpmp_pi/fpmp_pi)"
    assert_success
    assert_equal "$(awk '/ 0x/ && NF == 9 { print $1, $6, $7, $8 }' <<<"$output")" 'double 1+5 3.0000 1.000x
float 1+5 30.0000 0.100x
float_pair_mid 1+5 0.3000 10.000x'
}
