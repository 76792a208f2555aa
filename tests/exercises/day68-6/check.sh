# shellcheck shell=bash
# The grid is the default one here, not the fresh one: a card's may be larger or smaller than it.
read -ra fresh <<<"$(fresh_flags)"
small=("${fresh[0]}" -DRUNS=3)
n="n = ${fresh[0]#*=}"
partials() { sed -n 's/^partials hash: //p' "$1" 2>/dev/null; }
one=$(partials "$(submission_output nofmad "${small[@]}" -- WATCH_MULTIPROCESSORS=46)")
other=$(partials "$(submission_output nofmad "${small[@]}" -- WATCH_MULTIPROCESSORS=132)")
right=$(partials "$(reference_output nofmad "${small[@]}")")
if [ -n "$one" ] && [ "$one" = "$other" ] && [ "$one" != "$right" ]; then
    fail "$n" "the partials are the same on two cards, but not the lesson's: hash $one in place of $right" || return 0
fi
# The largest first: a minimum of the card and 1,024 is right there.
for count in 200 132 108 80 46; do
    same "a card with $count multiprocessors, $n" "${small[@]}" -- "WATCH_MULTIPROCESSORS=$count" || true
done
for count in 132 46; do
    same "a card with $count multiprocessors, the lesson's input" -DRUNS=2 -- "WATCH_MULTIPROCESSORS=$count" || true
done
# In one build: what looks at the copies is host code.
for flaw in $(flaws); do JUDGED_BUILDS=nofmad same_gates flawed "${small[@]}" -- WATCH_FLAW="$flaw" || break; done
# What is printed of runs that differ: their number, the first one's bits, the hash of all.
JUDGED_BUILDS=nofmad same flawed "${small[@]}" -- WATCH_FLAW=bit || true
