# shellcheck shell=bash
# What runs decides: subnormal.cu compares its totals with the bits that were answered.
bits=()
for way in 'global atomic' 'shared atomic' tree; do
    text=$(answer "$way") || return 0
    digits=$(printf '%s' "$text" | sed -nE 's/^(0[xX])?([0-9a-fA-F]{1,8})$/\2/p')
    [ -n "$digits" ] || no_answer "$way" "'$text' is not up to eight hexadecimal digits" || return 0
    bits+=("$digits")
done
for build in $(judged_builds); do
    confined_build "$CHECKS/subnormal.cu" "$WORK/subnormal.$build" "$build" &
done
wait
for build in $(judged_builds); do
    built "$WORK/subnormal.$build" "build $build" || return 0
    output=$WORK/subnormal.$build.out
    run_submission "$WORK/subnormal.$build" "$output" -- "${bits[@]}"
    case $(cat "$output.status") in
    0) ;;
    1) fail "$(head -n 1 "$output" | cut -d '|' -f 1)" "$(head -n 1 "$output" | cut -d '|' -f 2)" || return 0 ;;
    *) echo "subnormal.cu ended with status $(cat "$output.status")" >&2; exit 2 ;;
    esac
done
