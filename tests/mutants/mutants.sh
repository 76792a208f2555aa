#!/usr/bin/env bash
# Changes one operator, comparison or constant of a program at a time (mutants.c) and asks whether its gates
# or its expected output notice. A mutant that nothing notices survives: it needs a better gate or input, or
# a place in survivors.txt with the reason why it changes nothing that the program promises.
#   tests/mutants/mutants.sh [--all] [PROGRAM ...]     (canonical_tree/fused_tree; default: all programs)
# One mutant in SHARE is tried (default 4), always the same ones, chosen by their text. One that the list has
# and that a small size does not kill counts as a survivor; --all tries every one, and all of them in full.
# ONLY=text: those alone whose line holds this text.
# Prints the survivors that the list does not have, and entries of the list that are wrong; status 1 then.
set -euo pipefail

. "$(dirname "${BASH_SOURCE[0]}")/../environment.sh"
cd "$ROOT"
list=${SURVIVORS:-tests/mutants/survivors.txt}
share=${SHARE:-4}

# A size at which all of a program's gates pass in a moment, as flags; nothing where the program itself is quick.
small_size() {
    case $1 in
    day68_reproducibility/reproducibility) echo -DELEMENTS=20011 -DBLOCKS=16 -DRUNS=2 ;;
    fpmp_pi/fpmp_pi) echo -DPI_LOG2_TERMS=17 ;;
    canonical_tree/canonical_tree) echo -DELEMENTS=66049 ;;
    esac
}

# compile SOURCE OUT fmad|nofmad PROGRAM [flags]
compile() {
    local flags
    read -ra flags <<<"$(openmp_flag "$4")"
    sooner "$3" bash tools/compile.sh "$1" "$2" "$3" "${flags[@]}" "${@:5}" >/dev/null 2>&1
}
# passes SECONDS PROGRAM OUT: the program ends with 0. A limit in processor time holds on a busy machine too:
# several times what a program takes. A mutant whose threads wait for each other uses none: hence the other limit.
passes() { { (ulimit -c 0 -f 20480 -t "$1" && exec timeout -k 1 $((4 * $1)) "$2") >"$3"; } 2>/dev/null; }

# The verdict on one mutant: unbuilt, killed or survived. It runs in a folder with the program's neighbours.
one() {
    local program=$1 number=$2 dir build small
    local name=${program##*/} folder=${program%/*}
    dir=$work/$name.$number
    mkdir -p "$dir/$folder"
    cp "$folder"/*.cu "$dir/$folder"
    "$work/mutants" "$program.cu" "$number" >"$dir/$program.cu"
    read -ra small <<<"$(small_size "$program")"
    local verdict=survived
    # Most are killed at a small size, by a gate.
    if [ "${#small[@]}" -gt 0 ] && compile "$dir/$program.cu" "$dir/program" nofmad "$program" "${small[@]}" &&
        ! passes 5 "$dir/program" "$dir/out"; then
        verdict=killed
    elif [ "${#small[@]}" -eq 0 ] || ! grep -qxF "$program	$number" "$work/taken_as_listed"; then
        for build in nofmad fmad; do
            [ "$build" = nofmad ] || have_fma || continue
            if ! compile "$dir/$program.cu" "$dir/program" "$build" "$program"; then
                verdict=unbuilt
                break
            fi
            if ! passes 30 "$dir/program" "$dir/out" || ! "$BUILD/tools/match" expected_output "$dir/out" >/dev/null 2>&1; then
                verdict=killed
                break
            fi
        done
    fi
    rm -rf "$dir"
    printf '%s\t%s\t%s\n' "$verdict" "$program" "$number"
}

# The mutants to try: PROGRAM, number, line number, before, after, with tabs between.
chosen() {
    local program
    for program in "${programs[@]}"; do
        "$work/mutants" "$program.cu" | sed "s|^|$program	|"
    done | { grep -F -e "${ONLY:-}" || true; } | if [ "$share" -eq 1 ]; then cat; else
        # By a sum over the characters of both lines, so that the choice does not move with other lines.
        awk -F '\t' -v share="$share" '
            BEGIN { for (c = 32; c < 127; ++c) code[sprintf("%c", c)] = c }
            { sum = 7; text = $4 $5; for (i = 1; i <= length(text); ++i) sum = (sum * 31 + code[substr(text, i, 1)]) % 65521 }
            sum % share == 0'
    fi
}

if [ "${1:-}" = --one ]; then
    work=$2
    one "$3" "$4"
    exit
fi
all=''
[ "${1:-}" != --all ] || { all=1 share=1; shift; }
mkdir -p "$BUILD/tmp"
work=$(mktemp -d "$BUILD/tmp/mutants.XXXXXX")
trap 'rm -rf "$work"' EXIT
$CC -std=c11 -O1 -Wall -Wextra -o "$work/mutants" tests/mutants/mutants.c

programs=("$@")
[ $# -gt 0 ] || mapfile -t programs < <(programs)
for program in "${programs[@]}"; do
    [ -e "expected_output/${program##*/}.txt" ] || { echo "no such program: $program" >&2; exit 2; }
    # The unchanged program must pass, or every mutant would count as killed.
    if ! "$BUILD/$DEVICE/nofmad/${program##*/}" >"$work/unchanged" 2>/dev/null ||
        ! "$BUILD/tools/match" expected_output "$work/unchanged" >/dev/null; then
        echo "the unchanged $program does not pass" >&2
        exit 2
    fi
    read -ra small <<<"$(small_size "$program")"
    if [ "${#small[@]}" -gt 0 ] &&
        ! { compile "$program.cu" "$work/small" nofmad "$program" "${small[@]}" && passes 5 "$work/small" "$work/unchanged"; }; then
        echo "the unchanged $program does not pass with ${small[*]}" >&2
        exit 2
    fi
done

# The list's entries whose reason starts with $1, as PROGRAM, before, after.
listed() {
    awk -v OFS='\t' -v reason="^reason: $1" '/^program: / { program = substr($0, 10) } /^- / { before = substr($0, 3) }
        /^\+ / { after = substr($0, 3) } $0 ~ reason { print program, before, after; before = after = "" }' "$list" | LC_ALL=C sort -u
}
listed . >"$work/listed"
listed 'by luck' >"$work/by_luck"
chosen >"$work/chosen"
{ [ -n "$all" ] || awk -F '\t' -v OFS='\t' 'NR == FNR { listed[$0]; next } ($1 OFS $4 OFS $5) in listed { print $1, $2 }' \
    "$work/listed" "$work/chosen"; } >"$work/taken_as_listed"
cut -f 1,2 "$work/chosen" | tr '\t' '\n' | tr '\n' '\0' |
    xargs -0 -r -n 2 -P "${JOBS:-$(nproc 2>/dev/null || echo 1)}" bash "$0" --one "$work" >"$work/verdicts"
count() { grep -c "^$1" "$work/verdicts" || true; }
echo "mutants: $(wc -l <"$work/chosen"), unbuilt: $(count unbuilt), killed: $(count killed), survived: $(count survived)"

# Both lists as PROGRAM, before, after.
awk -F '\t' 'NR == FNR { verdict[$2, $3] = $1; next } { print verdict[$1, $2] "\t" $1 "\t" $4 "\t" $5 }' \
    "$work/verdicts" "$work/chosen" | LC_ALL=C sort -u >"$work/judged"
sed -n 's/^survived\t//p' "$work/judged" >"$work/survived"
# An entry is wrong when its mutant is killed in every place where it stands, or stands nowhere.
for program in "${programs[@]}"; do
    "$work/mutants" "$program.cu" | cut -f 3,4 | sed "s|^|$program	|"
done | LC_ALL=C sort -u >"$work/all"
status=0
LC_ALL=C comm -23 "$work/survived" "$work/listed" >"$work/new"
if [ -s "$work/new" ]; then
    status=1
    echo "survived, and not in $list:"
    awk -F '\t' '{ print "\nprogram: " $1 "\n- " $2 "\n+ " $3 "\nreason:" }' "$work/new"
fi
while IFS=$'\t' read -r program before after; do
    [[ " ${programs[*]} " == *" $program "* ]] || continue
    line="$program	$before	$after"
    if ! grep -qxF -- "$line" "$work/all"; then
        status=1
        printf 'in %s, but no such mutant: %s: %s -> %s\n' "$list" "$program" "$before" "$after"
    elif grep -qxF -- "killed	$line" "$work/judged" && ! grep -qxF -- "$line" "$work/survived" &&
        ! grep -qxF -- "$line" "$work/by_luck"; then
        status=1
        printf 'in %s, but killed: %s: %s -> %s\n' "$list" "$program" "$before" "$after"
    fi
done <"$work/listed"
exit $status
