# shellcheck shell=bash
# Verdicts on fresh inputs and sums. Then the program itself must end with a pass; and where the device has a flaw,
# its verdict must be that of judgeDot, which the start's main asks.
harness "$CHECKS/verdict.cu" "the verdict" -- "$(fresh_number 1 1 1000000)" || true
for build in $(judged_builds); do
    output=$(submission_output "$build") || return 0
    status=$(cat "$output.status")
    [ "$status" = 0 ] || fail "the program itself, build $build" "ended with status $status" || return 0
done
with_main_of_the_start() {
    local SRC=$WORK/asks.cu
    {
        echo '#define DOT_NO_MAIN'
        cat -- "$WORK/submission/$PROGRAM.cu"
        echo
        sed -n '/^int main() {/,/^}/p' "$ROOT/exercises/precision-5/dot.start"
    } >"$SRC"
    local WORK=$WORK/asks
    mkdir -p "$WORK"
    submission_output "$@"
}
verdict() { echo "status $(cat "$1.status"), $(grep -axE 'PASS|FAIL' "$1" || echo 'neither PASS nor FAIL')"; }
for flaw in nan one near; do
    output=$(submission_output nofmad -- WATCH_FLAW=$flaw) || return 0
    said=$(verdict "$output")
    output=$(with_main_of_the_start nofmad -- WATCH_FLAW=$flaw) ||
        fail "the start's main with judgeDot" "$(head -n 1 "$WORK/asks/failures" | cut -d '|' -f 2-)" || return 0
    want=$(verdict "$output")
    case $want in *neither*) fail "the start's main with judgeDot, on a device with a flaw ($flaw)" "ended with $want" || return 0 ;; esac
    [ "$said" = "$want" ] || fail "the program itself, on a device with a flaw ($flaw)" "ended with $said; by judgeDot it is $want" || return 0
done
