# shellcheck shell=bash
# First a short input, on which a race or a barrier that not all threads reach is named; then all values.
small=(-DELEMENTS=20011 -DBLOCKS=16 -DRUNS=2)
sanitized thread "n = 20011, 16 blocks" "${small[@]}" || true
standard || true
