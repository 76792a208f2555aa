# What every program asks of the runtime, seen on the CPU default through tests/calls.c: a launch that is
# refused, what is allocated and freed, and for fpmp_pi what lies between its two events.
# shellcheck disable=SC2154 # run --separate-stderr sets stderr
load helper

# Each program, small, with the calls that calls.c defines under its own names.
setup_file() {
    load helper
    local dir=$BATS_FILE_TMPDIR flags small program pids='' pid
    $CC -std=c11 -O1 -Wall -Wextra -I"$ROOT/cpu" -c -o "$dir/calls.o" "$ROOT/tests/calls.c"
    mapfile -t flags < <(sed -n 's/^[a-zA-Z].* seen_\([a-zA-Z_]*\)(.*/-D\1=seen_\1/p' "$ROOT/tests/calls.c")
    for program in $(programs); do
        case $program in
        day68_reproducibility/*) small='-DELEMENTS=20011 -DBLOCKS=16 -DRUNS=2' ;;
        fpmp_pi/*) small=-DPI_LOG2_TERMS=17 ;;
        canonical_tree/*) small=-DELEMENTS=1025 ;;
        *) small='' ;;
        esac
        # shellcheck disable=SC2046,SC2086 # lists of words
        DEVICE=cpu compile "$ROOT/$program.cu" "$dir/${program##*/}" nofmad -O1 "${flags[@]}" \
            $small $(openmp_flag "$program") "$dir/calls.o" >"$dir/${program##*/}.log" 2>&1 &
        pids="$pids $!"
    done
    for pid in $pids; do
        wait "$pid" || { cat "$dir"/*.log; return 1; }
    done
}

# The calls of a run in which all is well: a file, made by the first test that asks. calls_of PROGRAM
calls_of() {
    local name=$BATS_FILE_TMPDIR/${1##*/}
    [ -e "$name.calls" ] || CALLS=$name.calls "$name" >"$name.out" || return
    echo "$name.calls"
}

@test "what a program makes it frees: memory, streams, events, graphs" {
    for program in $(programs); do
        calls=$(calls_of "$program")
        while read -r kind; do
            made=$(grep -cx "make $kind" "$calls")
            freed=$(grep -cx "free $kind" "$calls" || true)
            assert_equal "$program: $kind: $freed freed" "$program: $kind: $made freed"
        done < <(sed -n 's/^make //p' "$calls" | sort -u)
        grep -qx 'make memory' "$calls"
    done
}

# The line soon after a kernel's launch that asks for its error, FILE:LINE: ...; FILE without its folder.
check_after() { # LESSON KERNEL
    (cd "$ROOT/$1" && awk -v launch="$2<<<" '
        index($0, launch) { until = FNR + 8; on = 1 }
        FNR > until { on = 0 }
        on && /LastError\(\)/ { print FILENAME ":" FNR ": " $0; exit }' ./*.cu)
}

@test "the first launch of each kernel, refused: exit status 2, and the line after it says so" {
    for program in $(programs); do
        calls=$(calls_of "$program")
        kernels=0
        while read -r _ number kernel; do
            kernels=$((kernels + 1))
            REFUSE=$number run --separate-stderr "$BATS_FILE_TMPDIR/${program##*/}"
            check=$(check_after "${program%/*}" "$kernel")
            echo "$program: $kernel, launch $number: status $status; checked at: $check; $stderr"
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
    TIMES='90 7 1 4 2 3  900 70 10 40 20 30  9 .7 .1 .4 .2 .3' run "$BATS_FILE_TMPDIR/fpmp_pi"
    assert_success
    assert_equal "$(awk '/ 0x/ && NF == 9 { print $1, $6, $7, $8 }' <<<"$output")" 'double 1+5 3.0000 1.000x
float 1+5 30.0000 0.100x
float_pair_mid 1+5 0.3000 10.000x'
}
