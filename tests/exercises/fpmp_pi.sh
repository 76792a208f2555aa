# shellcheck shell=bash
# Sourced by the checks of pi-3, pi-4 and pi-5.
. "$ROOT/tests/exercises/beside.sh"

# All own types in one program:
# shellcheck disable=SC2034 # for the checks
all_types='-DPI_FP_TYPES(row)=row(float_pair_low) row(float_pair_mid) row(float_pair_high) row(double_pair)'

# Is each operation of each pair type what it is in the repository's program? In the fused build, where there is one:
# there a product that a compiler may fuse shows, from -O2 on.
same_pairs() {
    local builds
    builds=$(judged_builds)
    cp "$ROOT/fpmp_pi/fpmp_pi.cu" "$WORK/repository.cu"
    HARNESS_BUILD=${builds%% *} harness "$ROOT/tests/exercises/pi-3/pairs.cu" 'the pair types' -O2
}

# same_results WORDS FLAGS...: has each type the lesson's value, digits and partials? Times and numbers of launches
# are not compared.
same_results() {
    local words=$1 build mine reason
    shift
    for build in $(judged_builds); do
        mine=$(submission_output "$build" "$@") || return 1
        reason=$(awk '
            !/ 0x/ || NF != 9 { next }
            FNR == NR { digits[$1] = $3; partials[$1] = $9; value[$1] = $2; alone[$1] = $5; order[++n] = $1; next }
            { seen[$1] = 1 }
            !wrong && ($3 != digits[$1] || $9 != partials[$1] || $2 != value[$1] || $5 != alone[$1]) {
                wrong = 1
                much = $3 < digits[$1] ? "too few" : $3 > digits[$1] ? "too many" : "right"
                if (much == "right" && $9 == partials[$1]) { print $1 " has another value, or other digits in the column alone: " $2 " and " $5 ", not " value[$1] " and " alone[$1]; next }
                printf "%s has %s digits (%s: the lesson has %s), ", $1, $3, much, digits[$1]
                if ($9 == partials[$1]) print "and the right partials"
                else printf "and the partials hash is %s, not %s\n", $9, partials[$1]
            }
            END { for (i = 1; i <= n && !wrong; i++) if (!seen[order[i]]) { print "there is no row of " order[i]; exit } }
            ' "$(reference_output "$build" "$@")" "$mine")
        [ -z "$reason" ] || fail "$words, build $build" "$reason" || return 1
    done
}
