# shellcheck shell=bash
for n in 1 256 300 513 1024; do
    said=$(answer_number "$n elements") || return 0
    [ "$said" = $(((n - 1) % 256 + 1)) ] || fail "$n elements" "the last block does not have $said of them" || return 0
done
