#!/usr/bin/env bash
# make match: is OUTPUT what its program must print? Needs a C compiler, and neither a C++ one, a card
# nor a checkout that can be written: where BUILD cannot be, the tool is built in a temporary folder.
#   match.sh             (environment: ROOT, BUILD, CC, OUTPUT, LESSON where LESSON_GIVEN)
# Status: match's own (tools/match.c): 0 equal, 1 different, 2 nothing could be compared.
set -euo pipefail

if [ -z "$OUTPUT" ]; then
    echo 'make match needs OUTPUT=file: what the program printed' >&2
    exit 2
fi
tool=$BUILD/tools/match
if [ ! -x "$tool" ] || [ "$ROOT/tools/match.c" -nt "$tool" ]; then
    dir=$(mktemp -d)
    trap 'rm -rf "$dir"' EXIT
    tool=$dir/match
    $CC -std=c11 -O2 -o "$tool" "$ROOT/tools/match.c" || exit 2
fi
lesson=()
[ -z "${LESSON_GIVEN:-}" ] || lesson=(--lesson "$LESSON")
"$tool" ${lesson[@]+"${lesson[@]}"} "$ROOT/expected_output" "$OUTPUT"
