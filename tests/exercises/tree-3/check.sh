# shellcheck shell=bash
# The lesson's own program is asked, and the tree over ten leaves is walked.
said=()
for chunk in 128 1280 1536 2048 2304 3072 4096 6144; do
    word=$(answer_word "chunks of $chunk samples" yes no) || return 0
    said+=("$chunk" "$word")
done
first=$(answer_number 'first leaf of the smallest node that is cut') || return 0
last=$(answer_number 'last leaf of the smallest node that is cut') || return 0
mkdir "$WORK/lesson"
cp "$ROOT/canonical_tree/canonical_tree.cu" "$WORK/lesson"
# shellcheck disable=SC2034 # what harness builds
SRC=$WORK/lesson/canonical_tree.cu
harness "$CHECKS/legal.cu" 'the lesson' -O1 -- "${said[@]}" cut "$first" "$last"
