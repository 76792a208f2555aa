#!/usr/bin/env bash
# Hands in every answer that is kept in tests/exercises: the start of each mend must fail and open the exercise's
# first hint, a form that is not filled in must fail and open none, the lesson's program and right/* must pass, and wrong/* must fail with the words of its lines `hint: TEXT`.
#   tests/exercises/answers.sh [NAME ...]   all exercises where none is named
# Prints what is not so, with V=1 every answer. Status 1 then.
set -euo pipefail

. "$(dirname "${BASH_SOURCE[0]}")/../environment.sh"
cd "$ROOT"

# Words in one line: a hint is wrapped where its author wrapped it.
words() { tr -s ' \n' ' '; }

# first_hint NAME REPORT: the hint that belongs to the report, else the first of those that open in turn.
first_hint() {
    local text when in_turn=''
    while IFS= read -r -d '' text; do
        when=$(sed -n '1s/^when: //p' <<<"$text")
        if [ -z "$when" ]; then in_turn=${in_turn:-$text}
        elif sed -nE 's/^  (input|reason) +//p' "$2" | paste -sd '|' | grep -qE -- "$when"; then sed 1d <<<"$text" && return
        fi
    done < <(awk 'BEGIN { RS = "" } { printf "%s%c", $0, 0 }' "exercises/$1/hints.txt")
    printf '%s\n' "$in_turn"
}

one() { # NAME ANSWER
    local name=$1 answer=$2 status=0 want=1 text out missing=''
    out=$work/$name.${answer##*/}
    case $answer in lesson | */right/*) want=0 ;; esac
    FRESH=1 bash tests/exercises/try.sh "$name" "$answer" >"$out" 2>&1 || status=$?
    words <"$out" >"$out.words"
    case $answer in
    start)
        if grep -qx 'kind: mend' "exercises/$name/exercise"; then
            text="Hint 1 of $(awk 'BEGIN { RS = "" } END { print NR }' "exercises/$name/hints.txt")"$'\n'$(first_hint "$name" "$out")
            grep -qF -- "$(printf '%s\n' "$text" | words)The task: " "$out.words" || missing='a hint'
        else
            grep -qF 'reason not answered' "$out.words" && ! grep -qF 'Hint' "$out.words" || missing='report without a hint'
        fi
        ;;
    */wrong/*)
        while IFS= read -r text; do
            grep -qF -- "$(printf '%s' "$text" | words)" "$out.words" || missing="'$text'"
        done < <(sed -nE '/^--- /q; s,^(// |# )?hint: ,,p' "$answer")
        ;;
    esac
    if [ "$status" -eq "$want" ] && [ -z "$missing" ]; then
        echo "as it must be  $name ${answer##*/}"
    else
        echo "NOT SO  $name ${answer#tests/exercises/}: status $status, not $want${missing:+; no $missing}"
        sed 's/^/        /' "$out"
    fi
}

if [ "${1:-}" = --one ]; then
    work=$2
    one "$3" "$4"
    exit
fi
mkdir -p "$BUILD/tmp"
work=$(mktemp -d "$BUILD/tmp/answers.XXXXXX")
trap 'rm -rf "$work"' EXIT
[ $# -gt 0 ] || mapfile -t all < <(cd exercises && ls -d day68-* precision-* pi-* tree-*)
[ $# -eq 0 ] || all=("$@")
for name in "${all[@]}"; do
    [ -e "exercises/$name/exercise" ] || { echo "no such exercise: $name" >&2; exit 2; }
    printf '%s\0' "$name" start
    grep -q '^start: ' "exercises/$name/exercise" || printf '%s\0' "$name" lesson
    for answer in "tests/exercises/$name"/{right,wrong}/*; do
        [ ! -e "$answer" ] || printf '%s\0' "$name" "$answer"
    done
done >"$work/all"
xargs -0 -n 2 -P "${JOBS:-$(nproc 2>/dev/null || echo 1)}" bash "$0" --one "$work" <"$work/all" >"$work/rows"
if [ -n "${V:-}" ]; then cat "$work/rows"; else grep -v '^as it must be' "$work/rows" || true; fi
tried=$(tr '\0' '\n' <"$work/all" | awk 'END { print NR / 2 }')
good=$(grep -c '^as it must be' "$work/rows" || true)
echo "answers: $tried, as they must be: $good"
[ "$tried" -gt 0 ] && [ "$tried" -eq "$good" ]
