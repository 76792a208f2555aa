# shellcheck shell=bash
# The lesson's program with x = t h is built here and run at the k that was found and at one less.
case $(judged_builds) in fmad*) ;; *) echo 'this CPU has no FMA, so there is no fused build to compare' >&2; exit 2 ;; esac
k=$(answer_number k) || return 0
case $k in 18 | 19 | 2[0-9] | 30) ;; *) fail "k = $k" 'k is a whole number from 18 to 30' || return 0 ;; esac
mkdir -p "$WORK/left/fpmp_pi"
cp "$ROOT/fpmp_pi/fpmp_pi.cu" "$WORK/left/fpmp_pi"
patch -p1 -F0 -s -N -d "$WORK/left" <"$ROOT/tests/fpmp_pi/faults/left_end_of_the_step.patch" ||
    { echo 'the start at t h does not fit the lesson any more' >&2; exit 2; }
cp "$ROOT/tests/exercises/pi-2/partials.cu" "$WORK/left/fpmp_pi"
# g++ contracts nothing at -O1.
for terms in $((k - 1)) "$k"; do
    for build in fmad nofmad; do
        {
            HOST_FLAGS=${HOST_FLAGS/-O3/-O2} bash "$ROOT/tools/compile.sh" "$WORK/left/fpmp_pi/partials.cu" \
                "$WORK/left/$build.$terms" $build "-DPI_LOG2_TERMS=$terms" &&
                CUDA_CPU_WORKERS=1 "$WORK/left/$build.$terms" >"$WORK/left/$build.$terms.out"
        } &
    done
    wait
    [ -s "$WORK/left/fmad.$terms.out" ] && [ -s "$WORK/left/nofmad.$terms.out" ] || { echo 'the changed program did not run' >&2; exit 2; }
done
same_at() { cmp -s "$WORK/left/fmad.$1.out" "$WORK/left/nofmad.$1.out"; }
if same_at "$k"; then
    fail "k = $k" "both builds have the same partials of double at 2^$k terms"
elif ! same_at $((k - 1)); then
    fail "k = $k" "the partials of double differ with fewer terms too, at 2^$((k - 1))"
fi
