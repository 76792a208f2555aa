# shellcheck shell=bash
# On cards of other sizes, at the lesson's own size and at a fresh one; then all that every mend must pass.
read -ra fresh <<<"$(fresh_flags)"
for count in 46 80 108 132; do
    same "a card with $count multiprocessors" -DRUNS=2 -- "WATCH_MULTIPROCESSORS=$count" || true
    same "a card with $count multiprocessors, $(fresh_words)" "${fresh[@]}" -- "WATCH_MULTIPROCESSORS=$count" || true
done
standard || true
