# shellcheck shell=bash
# The rule by itself, then cases with a NaN, an infinity and an overflow in the program's own table: status,
# names, no PASS. TENTHS_REL_TOL brings them in.
harness "$CHECKS/rule.cu" "the rule" || true
same "cases that are not finite" -include "$CHECKS/cases.h" || true
read -ra fresh <<<"$(fresh_flags)"
same fresh "${fresh[@]}" || true
same lesson || true
for flaw in $(flaws); do same_gates flawed "${fresh[@]}" -- WATCH_FLAW="$flaw" || break; done
