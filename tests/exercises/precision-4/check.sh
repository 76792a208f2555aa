# shellcheck shell=bash
# All lengths, first under AddressSanitizer, which sees what is read past the end; then values and gates as for any program.
HARNESS=$CHECKS/lengths.cu sanitized address "1 to 513 elements" || true
harness "$CHECKS/lengths.cu" "1 to 513 elements" || true
read -ra fresh <<<"$(fresh_flags)"
same fresh "${fresh[@]}" || true
same lesson || true
for flaw in $(flaws); do same_gates flawed "${fresh[@]}" -- WATCH_FLAW="$flaw" || break; done
