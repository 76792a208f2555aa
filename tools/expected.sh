#!/usr/bin/env bash
# Records what programs print on this machine, both builds.
#   expected.sh lesson/program ...     (environment: see Makefile)
# Raw outputs go to expected_output/recorded/PROGRAM.DEVICE.txt and are never edited. With ACCEPT=1 the
# expected files follow: the fields that were {...} stay so, old and new lines are shown side by side.
set -euo pipefail

dir=$ROOT/expected_output
mkdir -p "$dir/recorded" "$BUILD/tmp"
# Named after device and toolkit: nvidia_h200.cuda13.0.sm_90, cpu.x86_64.
if [ "$DEVICE" = gpu ]; then
    card=$(sed -n 's/^name=//p' <<<"$("$PROBE")" | tr 'A-Z ' 'a-z_' | tr -cd 'a-z0-9_-')
    tag=$card.cuda$("$NVCC" --version | sed -n 's/.*release \([0-9.]*\),.*/\1/p').$ARCH
else
    tag=cpu.$(uname -m)
fi

for program in "$@"; do
    name=${program##*/}
    for binary in "$name" "${name}_nofmad"; do
        if [ ! -x "$BUILD/$DEVICE/$binary" ]; then echo "$binary: not built here"; continue; fi
        new=$BUILD/tmp/$binary.new
        "$BUILD/$DEVICE/$binary" >"$new"
        cp "$new" "$dir/recorded/$binary.$tag.txt"
        echo "$binary: recorded as expected_output/recorded/$binary.$tag.txt"
        [ -n "${ACCEPT:-}" ] || continue
        old=$dir/$binary.txt
        # A line that the old file's pattern still fits is kept with its {...}; another comes in as printed.
        if [ -f "$old" ]; then "$BUILD/tools/match" --merge "$old" "$new" >"$new.merged"; else cp "$new" "$new.merged"; fi
        if [ -f "$old" ] && cmp -s "$old" "$new.merged"; then
            echo "$binary: expected_output/$binary.txt stays as it is"
        else
            [ ! -f "$old" ] || diff --side-by-side --suppress-common-lines --width=180 "$old" "$new.merged" || true
            mv "$new.merged" "$old"
            echo "$binary: expected_output/$binary.txt written; put {...} where a field may legally differ"
        fi
    done
done
