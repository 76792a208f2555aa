# shellcheck shell=bash
# First the kernels on a short input: a barrier that not all threads reach, then a race, each with its lines.
harness "$CHECKS/race.cu" "n = 20011, 16 blocks" || true
HARNESS=$CHECKS/race.cu sanitized thread "n = 20011, 16 blocks" || true
read -ra fresh <<<"$(fresh_flags)"
same fresh "${fresh[@]}" || true
same "the lesson's input, 5 runs" -DRUNS=5 || true
# In one build: what looks at the copies is host code.
for flaw in $(flaws); do JUDGED_BUILDS=nofmad same_gates flawed "${fresh[@]}" -- WATCH_FLAW="$flaw" || break; done
# What is printed of runs that differ: their number, the first one's bits, the hash of all.
JUDGED_BUILDS=nofmad same flawed "${fresh[@]}" -- WATCH_FLAW=bit || true
