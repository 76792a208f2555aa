# shellcheck shell=bash
# The second table of the lesson's program sums 5 elements fewer, with all four grids.
case $(judged_builds) in *fmad\ *) ;; *) echo "this CPU has no FMA, so there is no fused build to compare" >&2; exit 2 ;; esac
for n in 4194900 4194902; do
    for build in fmad nofmad; do reference_output $build "-DELEMENTS=$((n + 5))" -DRUNS=2 >"$WORK/path.$n.$build"; done &
done
wait
# total_bits N BUILD BLOCKS
total_bits() { awk -v blocks="$3" '/^blocks/ { table = 1 } table && $1 == blocks { print $4 }' "$(cat "$WORK/path.$1.$2")"; }
for n in 4194900 4194902; do
    for build in fused separate; do
        which=fmad
        [ $build = fused ] || which=nofmad
        wrong=0 moved_too_often=0
        for blocks in 256 512 2048; do
            said=$(answer_word "n = $n, $build, $blocks blocks" same other) || return 0
            right=same
            [ "$(total_bits $n $which $blocks)" = "$(total_bits $n $which 1024)" ] || right=other
            [ "$said" != "$right" ] || continue
            wrong=$((wrong + 1))
            [ "$right" = other ] || moved_too_often=1
        done
        # Which line it is, would be the answer.
        if [ $wrong -gt 0 ] && [ $moved_too_often -eq 1 ]; then
            fail "n = $n, $build" "$wrong of the 3 answers wrong: the total is the same more often than you say" || return 0
        elif [ $wrong -gt 0 ]; then
            fail "n = $n, $build" "$wrong of the 3 answers wrong: the total is another one more often than you say" || return 0
        fi
    done
done
