# shellcheck shell=bash
# The control's sums are exact: its rows show whether a run began at zero, and which one did not.
read -ra fresh <<<"$(fresh_flags)"
row=$(awk '$1 == "control" { print $3, $4 }' "$(submission_output nofmad "${fresh[@]}")" 2>/dev/null)
right=$(awk '$1 == "control" { print $3, $4 }' "$(reference_output nofmad "${fresh[@]}")")
if [ -n "$row" ] && [ "${row#* }" = "${right#* }" ] && [ "$row" != "$right" ]; then
    fail "$(fresh_words)" "the control's first run is right, and a later run is not: $row in place of $right" || return 0
fi
same fresh "${fresh[@]}" || true
same "the lesson's input, 5 runs" -DRUNS=5 || true
# In one build: what looks at the copies is host code.
for flaw in $(flaws); do JUDGED_BUILDS=nofmad same_gates flawed "${fresh[@]}" -- WATCH_FLAW="$flaw" || break; done
# What is printed of runs that differ: their number, the first one's bits, the hash of all.
JUDGED_BUILDS=nofmad same flawed "${fresh[@]}" -- WATCH_FLAW=bit || true
