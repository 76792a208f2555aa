#!/usr/bin/env bash
# Builds a program of the user's own in both builds, runs them, and says what differs between their outputs
# (make run SRC=...).
#   run_source.sh [flags]     (environment, see Makefile: SRC ARGS INCLUDE CALLED_FROM ROOT BUILD DEVICE DEVICE_WHY FMA)
# SRC is one file, or several with blanks between them, which are linked together; INCLUDE likewise folders. Names are
# looked for from CALLED_FROM, where make was called, and the program runs there.
# Outputs lie in BUILD/DEVICE/own/NAME/fmad.txt and nofmad.txt, stderr in fmad.err and nofmad.err.
# Status: 0 both ended with 0, whatever they printed; 1 one ended with another status; 2 it does not build.
set -euo pipefail

refuse() {
    echo "make run SRC: $1" >&2
    exit 2
}
cd "$ROOT"
BUILD=$(cd "$BUILD" && pwd)
[ -d "$CALLED_FROM" ] || CALLED_FROM=$ROOT
# The whole path of a file or folder named by the user; fails where there is none.
whole_path() {
    local folder
    case $1 in /*) [ -e "$1" ] && echo "$1" && return ;; esac
    for folder in "$CALLED_FROM" "$ROOT"; do
        [ ! -e "$folder/$1" ] || { echo "$folder/$1"; return; }
    done
    return 1
}
# A name with blanks in it stands alone.
sources=("$SRC") folders=()
whole_path "$SRC" >/dev/null || read -ra sources <<<"$SRC"
if [ -n "$INCLUDE" ]; then
    folders=("$INCLUDE")
    whole_path "$INCLUDE" >/dev/null || read -ra folders <<<"$INCLUDE"
fi
files=()
for name in "${sources[@]}"; do
    file=$(whole_path "$name") || refuse "no such file: '$name'"
    case $file in
    *.cu | *.cpp | *.cc | *.cxx | *.c) ;;
    *) refuse "'$name' is no source: its name must end in .cu, .cpp, .cc, .cxx or .c" ;;
    esac
    [ -f "$file" ] || refuse "'$name' is no file"
    files+=("${file#"$ROOT/"}") # as a compiler is to name it
done
for name in ${folders[@]+"${folders[@]}"}; do
    folder=$(whole_path "$name") || refuse "no such folder: INCLUDE='$name'"
    set -- "$@" "-I$folder"
done
read -ra arguments <<<"$ARGS"

name=${files[0]##*/}
out=$BUILD/$DEVICE/own/${name//[!A-Za-z0-9._-]/_}
mkdir -p "$out"
rm -f "$out"/*
builds=(fmad nofmad)
[ "$DEVICE-$FMA" != cpu-no ] || builds=(nofmad)

echo "device: $DEVICE ($DEVICE_WHY)"
for build in "${builds[@]}"; do
    # What a compiler says of one build it would say of the other.
    bash tools/compile_own.sh "$out/$build" "$build" "${files[@]}" -- "$@" 2>"$out/$build.log" || { cat "$out/$build.log" >&2; refuse "$SRC does not build ($build)"; }
done
cat "$out/${builds[0]}.log" >&2

failed=0
for build in "${builds[@]}"; do
    status=0
    (cd "$CALLED_FROM" && exec "$out/$build" ${arguments[@]+"${arguments[@]}"}) >"$out/$build.txt" 2>"$out/$build.err" || status=$?
    [ $status -eq 0 ] || failed=1
    printf '== %s, build %s: status %s' "$name" "$build" "$status"
    if [ $status -gt 128 ] && signal=$(kill -l $((status - 128)) 2>/dev/null); then printf ' (SIG%s)' "${signal#SIG}"; fi
    if [ "$build" = nofmad ] && [ ${#builds[@]} -eq 2 ] && cmp -s "$out/fmad.txt" "$out/nofmad.txt" && cmp -s "$out/fmad.err" "$out/nofmad.err"; then
        echo ", and the same output"
        continue
    fi
    echo
    cat "$out/$build.txt"
    [ -z "$(tail -c 1 "$out/$build.txt")" ] || echo
    cat "$out/$build.err" >&2
done

if [ ${#builds[@]} -eq 1 ]; then
    echo 'left out: the fused build: this CPU has no FMA'
elif ! cmp -s "$out/fmad.txt" "$out/nofmad.txt"; then
    # Line by line: of what both print, few lines move. What is longer in one build stands at the end.
    awk -v most=20 'NR == FNR { fused[FNR] = $0; lines = FNR; next }
        { separate = FNR }
        FNR > lines || $0 == fused[FNR] { next }
        moved == 0 { print "== what differs" }
        ++moved <= most {
            print "  line " FNR ", fused:    " fused[FNR]
            print "  line " FNR ", separate: " $0
        }
        END {
            if (moved > most) print "  and " moved - most " more"
            printf "%d of %d lines differ between the builds", moved, (separate < lines ? separate : lines)
            if (lines != separate) printf "; fused has %d lines, separate %d", lines, separate
            print ""
        }' "$out/fmad.txt" "$out/nofmad.txt"
fi
echo "whole outputs: $out/fmad.txt, $out/nofmad.txt"
exit $failed
