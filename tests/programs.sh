#!/usr/bin/env bash
# Public CUDA programs on the CPU default, and beside a card where nvcc and one are there: how many compile, run to an
# end, and print the same. None of them is part of this repository: fetch some, and name their folders.
#   tests/programs.sh OUT FOLDER ...
# A program is a .cu with a main. It is compiled by tools/cudacpu -fmad=false and by nvcc -fmad=false (ARCH, default
# sm_90), with -I for each folder of FOLDER called inc, include, common or Common, and runs for at most LIMIT seconds
# (20). OUT gets the outputs and rows.txt: FILE, the CPU's end, the card's end (-: no card), same or different (lines
# that speak of time, speed or the device left out), or what the compiler said first. The table comes last.
set -euo pipefail

[ $# -ge 2 ] || { echo 'usage: tests/programs.sh OUT FOLDER ...' >&2; exit 2; }
. "$(dirname "${BASH_SOURCE[0]}")/environment.sh"
export ROOT DEVICE=cpu LIMIT=${LIMIT:-20} CARD_ARCH=${ARCH:-sm_90} CARD=''
if command -v "${NVCC%% *}" >/dev/null && nvidia-smi >/dev/null 2>&1; then CARD=yes; fi
mkdir -p "$1"
OUT=$(cd "$1" && pwd)
export OUT
shift
for folder; do [ -d "$folder" ] || { echo "no such folder: '$folder'" >&2; exit 2; }; done

# without_times FILE: what two devices can be asked to print alike.
without_times() { LC_ALL=C grep -aviE 'time|second|[0-9] *(ms|us|s|sec)\b|elapsed|speed|bandwidth|GB/s|flops|device|GPU|clock' "$1" || true; }
# ends PROGRAM NAME: how it ends; its output is in OUT/NAME.txt. It runs in an empty folder of its own.
ends() {
    local status=0
    mkdir -p "$OUT/in/$2"
    (cd "$OUT/in/$2" && ulimit -c 0 -f 1000000 && exec timeout -k 1 "$LIMIT" "$1" </dev/null) >"$OUT/$2.txt" 2>"$OUT/$2.err" || status=$?
    case $status in 0) echo ends ;; 124 | 137) echo stopped ;; *) echo "status-$status" ;; esac
}
one() { # FOLDER FILE
    local name cpu=- card=- same=- dir flags=() said=''
    name=$(printf '%s' "$2" | tr -c 'A-Za-z0-9._\n-' _)
    while read -r dir; do flags+=("-I$dir"); done < <(find "$1" -type d \( -name inc -o -name include -o -name common -o -name Common \) | sort)
    if bash "$ROOT/tools/cudacpu" "$2" -o "$OUT/$name.cpu" -fmad=false ${flags[@]+"${flags[@]}"} >"$OUT/$name.log" 2>&1; then
        cpu=$(ends "$OUT/$name.cpu" "$name.on-cpu")
    else
        cpu=no-compile
        said=$(LC_ALL=C grep -m 1 -aE 'error|cu_rewrite:|cudacpu:|undefined reference' "$OUT/$name.log" | tail -c 200)
    fi
    if [ -n "$CARD" ]; then
        if $NVCC -std=c++17 -arch="$CARD_ARCH" -fmad=false ${flags[@]+"${flags[@]}"} -o "$OUT/$name.card" "$2" >"$OUT/$name.nvcc.log" 2>&1; then
            card=$(ends "$OUT/$name.card" "$name.on-card")
        else
            card=no-compile
        fi
        if [ "$cpu-$card" = ends-ends ]; then
            same=same
            cmp -s <(without_times "$OUT/$name.on-cpu.txt") <(without_times "$OUT/$name.on-card.txt") || same=different
        fi
    fi
    rm -f "$OUT/$name.cpu" "$OUT/$name.card"
    printf '%s\t%s\t%s\t%s\t%s\n' "$2" "$cpu" "$card" "$same" "$said"
}
export -f one ends without_times

for folder; do
    find "$folder" -name '*.cu' ! -name '._*' -exec grep -lE '\bmain[[:space:]]*\(' {} + | sed "s|^|$folder\n|"
done | tr '\n' '\0' | xargs -0 -n 2 -P "${JOBS:-$(nproc)}" bash -c 'one "$@"' - >"$OUT/rows"
sort "$OUT/rows" >"$OUT/rows.txt"
rm "$OUT/rows"
awk -F '\t' '{ n++ }
    $2 != "no-compile" { compiles++ }
    $2 == "ends" { ends++ }
    $3 != "-" && $3 != "no-compile" { card_compiles++ }
    $3 == "ends" { card_ends++ }
    $4 != "-" { both++ }
    $4 == "same" { same++ }
    END {
        printf "programs %d: on the CPU %d compile, %d end with 0", n, compiles, ends
        if (card_compiles) printf "; on the card %d compile, %d end with 0; of %d that end on both %d print the same", card_compiles, card_ends, both, same
        print ""
    }' "$OUT/rows.txt"
