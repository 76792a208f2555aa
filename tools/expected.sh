#!/usr/bin/env bash
# Records what programs print on this machine, both builds.
#   expected.sh LESSON/PROGRAM ...     (environment: see Makefile)
# Raw outputs go to expected_output/recorded/PROGRAM.DEVICE.txt and are never edited. With ACCEPT=1 the
# expected files follow: a line that one with free fields still fits stays that one; old and new lines
# are shown side by side. All programs run and all files are made before the first one is replaced.
# Status: 0 recorded; 1 a program did not pass; 2 other parameters, or a program is not built. Unless it
# is 0, expected_output/ is as it was.
set -euo pipefail

cd "$ROOT"
for parameter in DEFS PI_FP_T PI_FP_HEADER PI_LOG2_TERMS SANITIZE; do
    if [ -n "${!parameter:-}" ]; then
        echo "make expected records the default parameters alone, not $parameter='${!parameter}'" >&2
        exit 2
    fi
done

dir=expected_output
match=$BUILD/tools/match
# Beside the files, so that each move at the end is one rename; a hidden folder is no expected file.
new=$dir/.new.$$
trap 'rm -rf "$new"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
mkdir -p "$dir/recorded" "$new/recorded"

# Named after device and toolkit: nvidia_h200.cuda13.0.sm_90, cpu.x86_64.
if [ "$DEVICE" = gpu ]; then
    card=$(sed -n 's/^name=//p' <<<"$("$BUILD/tools/gpu_probe")" | tr 'A-Z ' 'a-z_' | tr -cd 'a-z0-9_-')
    tag=$card.cuda$("$NVCC" --version | sed -n 's/.*release \([0-9.]*\),.*/\1/p').$ARCH
else
    tag=cpu.$(uname -m)
fi

# record PROGRAM BUILD FILE: runs it and leaves its output as $new/recorded/FILE.$tag.txt.
record() {
    local binary=$BUILD/$DEVICE/$2/${1##*/} output=$new/recorded/$3.$tag.txt status=0
    if [ ! -x "$binary" ]; then
        echo "${1##*/}, build $2: not built; nothing was recorded" >&2
        exit 2
    fi
    "$binary" >"$output" || status=$?
    if [ $status -ne 0 ] || ! grep -q '^gates passed: ' "$output"; then
        echo "${1##*/}, build $2: did not pass (status $status); nothing was recorded" >&2
        exit 1
    fi
}

# accept FILE: makes the expected file for what was recorded as FILE, and shows what changes.
accept() {
    local output=$new/recorded/$1.$tag.txt old
    old=$("$match" --which "$dir" "$output" 2>/dev/null) || old=$dir/$1.txt
    if [ ! -e "$old" ]; then
        cp "$output" "$new/$1.txt"
        echo "$1: $old is new; write its free fields where a value may legally differ"
        return
    fi
    "$match" --merge "$old" "$output" >"$new/${old##*/}"
    if cmp -s "$old" "$new/${old##*/}"; then
        echo "$1: $old stays as it is"
    else
        echo "$1: $old, old and new:"
        diff --side-by-side --suppress-common-lines --width=180 "$old" "$new/${old##*/}" || true
    fi
}

for program in "$@"; do
    for build in fmad nofmad; do
        file=${program##*/}
        [ $build = fmad ] || file=${file}_nofmad
        if [ "$build-$DEVICE-$FMA" = fmad-cpu-no ]; then
            echo "$file: left out: this CPU has no FMA"
            continue
        fi
        record "$program" $build "$file"
        [ -z "${ACCEPT:-}" ] || accept "$file"
    done
done

trap '' INT TERM HUP # from here on it is a matter of renames
for file in "$new"/recorded/*.txt "$new"/*.txt; do
    [ -e "$file" ] || continue
    mv "$file" "$dir/${file#"$new"/}"
    echo "written: $dir/${file#"$new"/}"
done
