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
        too_often=0 too_seldom=0
        for blocks in 256 512 2048; do
            said=$(answer_word "n = $n, $build, $blocks blocks" same other) || return 0
            right=same
            [ "$(total_bits $n $which $blocks)" = "$(total_bits $n $which 1024)" ] || right=other
            [ "$said" != "$right" ] || continue
            if [ $right = same ]; then too_often=$((too_often + 1)); else too_seldom=$((too_seldom + 1)); fi
        done
        # Which line it is, would be the answer.
        case $((too_often > 0))$((too_seldom > 0)) in
        00) continue ;;
        10) how="the total is the same more often than you say" ;;
        01) how="the total is another one more often than you say" ;;
        11) how="in both directions" ;;
        esac
        fail "n = $n, $build" "$((too_often + too_seldom)) of the 3 answers wrong: $how" || return 0
    done
done
