# shellcheck shell=bash
# The error and the wanted sum of `GPU float` at each length, from the lesson's own program.
k=$(answer_number k) || return 0
case $k in *[!0-9]* | ???*) fail "k = $k" "k must be a whole number from 0 to 99" || return 0 ;; esac
lengths='300 700 2000003'
for n in $lengths; do reference_output nofmad "-DMANY_TENTHS=$n" >"$WORK/path.$n" & done
wait
# passes N K: is the sum within 10^-K of what is wanted?
passes() {
    awk -v k="$2" '/^many tenths +[0-9]/ { want = $7 + 0 } /^many tenths +GPU float/ { off = $6 + 0; seen = 1 }
        END { exit !(seen && want > 0 && off <= 10 ^ -k * want) }' "$(cat "$WORK/path.$1")"
}
larger=1
for n in $lengths; do
    passes "$n" "$k" || fail "rel_tol = 1e-$k" "the sum does not pass at $n elements" || return 0
    passes "$n" $((k + 1)) || larger=0
done
[ $larger = 0 ] || fail "rel_tol = 1e-$k" "$k is not the largest: the sum passes at all three lengths with a smaller tolerance too" || true
