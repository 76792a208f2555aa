#!/usr/bin/env bash
# Runs programs in both builds, shows what each prints, and ends with one table.
#   run.sh lesson/program ...        (environment: BUILD, DEVICE, DEVICE_WHY, FMA, DEFS, PI_*; see Makefile)
# Status: 0 all that ran passed and one ran; 1 a gate or a pinned value failed; 2 a program could not
# do its work; 77 every program was skipped.
set -euo pipefail

out=$BUILD/tmp/run
mkdir -p "$out"
echo "device: $DEVICE ($DEVICE_WHY)"
ran=0 failed=0 broken=0
table=()

# The hash that a file's line `NAME hash: 0x...` holds, or -.
hash_of() { sed -n "s/^$1 hash: \(0x[0-9a-f]*\).*/\1/p" "$2" 2>/dev/null | grep . || echo -; }

# same or different, of two hashes; - where one is missing.
compare() {
    if [ "$1" = - ] || [ "$2" = - ]; then echo -
    elif [ "$1" = "$2" ]; then echo same
    else echo different; fi
}

row() { table+=("$(printf '%-20s %-7s %-10s %-19s %-19s %s' "$@")"); }

row program build gates 'run hash' 'partials hash' expected
for program in "$@"; do
    name=${program##*/}
    pinned=yes both=0
    parameters=default
    case $program in fpmp_pi/*) set_by="${PI_FP_T:-}${PI_FP_HEADER:-}${PI_LOG2_TERMS:-}" ;; *) set_by='' ;; esac
    [ -z "${DEFS:-}$set_by" ] || parameters=other
    for build in fmad nofmad; do
        binary=$name stdout=$out/$name.$build
        contraction=fused
        [ "$build" = fmad ] || binary=${name}_nofmad contraction=separate
        rm -f "$stdout"
        if [ "$build-$DEVICE-$FMA" = fmad-cpu-no ]; then
            row "$name" $build 'left out' - - 'this CPU has no FMA'
            continue
        fi
        printf '\n== %s, build %s\n' "$program" "$build"
        status=0
        "$BUILD/$DEVICE/$binary" >"$stdout" 2>"$stdout.err" || status=$?
        cat "$stdout"
        cat "$stdout.err" >&2
        gates=$(sed -n 's/^gates passed: /passed /p' "$stdout")
        expected='' matched=0
        case $status in
            0) ran=$((ran + 1)) ;;
            1) ran=$((ran + 1)) failed=$((failed + 1)) gates="FAILED $(grep -c '^gate: .*FAILED$' "$stdout" || true)" ;;
            77) gates=skipped expected=$(head -n 1 "$stdout.err") ;;
            *) broken=$((broken + 1)) gates="ERROR $status" ;;
        esac
        if [ $status -le 1 ]; then
            both=$((both + 1))
            "$BUILD/tools/match" "$ROOT/expected_output" "$stdout" >"$stdout.match" 2>&1 || matched=$?
            case $matched-$parameters in
                0-*) expected='as expected' ;;
                # Other parameters than the default ones have no expected file.
                *-other) expected='nothing pinned for this' pinned=no ;;
                1-*) expected='DIFFERS' failed=$((failed + 1)) ;;
                *) expected='NOTHING PINNED' pinned=no failed=$((failed + 1)) ;;
            esac
            # match goes by what the output says of itself, so that is held against what was built.
            if ! grep -qx "contraction: $contraction" "$stdout"; then
                expected="NOT $contraction" failed=$((failed + 1))
            fi
            [ $matched -eq 0 ] || [ $parameters = other ] || cat "$stdout.match" >&2
        fi
        row "$name" $build "${gates:-no verdict}" "$(hash_of run "$stdout")" "$(hash_of partials "$stdout")" "$expected"
    done
    # Between the builds: what was found under each hash, and what expected_output/ has there.
    a=$out/$name.fmad b=$out/$name.nofmad
    want_a=$ROOT/expected_output/$name.txt want_b=$ROOT/expected_output/${name}_nofmad.txt
    found="$(compare "$(hash_of run "$a")" "$(hash_of run "$b")") $(compare "$(hash_of partials "$a")" "$(hash_of partials "$b")")"
    want='- -'
    [ $pinned = no ] || want="$(compare "$(hash_of run "$want_a")" "$(hash_of run "$want_b")") $(compare "$(hash_of partials "$want_a")" "$(hash_of partials "$want_b")")"
    # shellcheck disable=SC2086 # two words, two columns
    row '' builds '' $found "${want/ /, }"
    if [ $pinned-$both = yes-2 ] && [ "$found" != "$want" ]; then
        echo "$name: between the builds: $found, expected: $want" >&2
        failed=$((failed + 1))
    fi
done

printf '\n'
printf '%s\n' "${table[@]}" | sed 's/ *$//'
if [ $broken -gt 0 ]; then exit 2; fi
if [ $failed -gt 0 ]; then exit 1; fi
if [ $ran -eq 0 ]; then
    echo "every program was skipped, so nothing was shown" >&2
    exit 77
fi
