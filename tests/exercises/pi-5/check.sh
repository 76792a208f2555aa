# shellcheck shell=bash
# More launches than the lesson's are right too, so the outputs are not compared as a whole: gates and results are.
. "$ROOT/tests/exercises/fpmp_pi.sh"
harness "$CHECKS/measurement.cu" 'the measurement' -O1 -DPI_LOG2_TERMS=17
same_pairs
read -ra fresh <<<"$(fresh_flags)"
if ! stopped; then
    beside lesson separately same_gates '2^26 terms' -DPI_FP_T=float
    beside limits flawed_at_lesson_size
    same_results "$(fresh_words)" "${fresh[@]}"
    same_gates fresh "${fresh[@]}"
    for flaw in $(flaws); do same_gates flawed "${fresh[@]}" -- WATCH_FLAW="$flaw" || break; done
    all_in
fi
