#!/usr/bin/env bash
# Makes the build folder BUILD and marks it as ours, or prints why it cannot be used, for make to stop
# with. Only a folder with the marker is ever built in or removed, so that neither `make BUILD=$HOME`
# nor `make clean BUILD=$HOME` can touch what is not ours.
#   build_folder.sh BUILD [clean]
set -u

build=$1 marker=$1/.same-bits-build
if [ "${2:-}" = clean ]; then
    if [ -f "$marker" ]; then
        rm -rf "$build"
    elif [ -e "$build" ]; then
        echo "make clean: '$build' was not made by this Makefile (no $marker), so it stays" >&2
        exit 2
    fi
    exit 0
fi
[ ! -f "$marker" ] || [ ! -w "$build" ] || exit 0
if [ -e "$build" ] && [ ! -d "$build" ]; then
    echo "BUILD='$build' is a file, not a folder"
elif [ -d "$build" ] && [ ! -f "$marker" ] && [ -n "$(ls -A "$build" 2>/dev/null)" ]; then
    echo "BUILD='$build' is a folder with other things in it: name one that is empty or not there yet"
elif ! { mkdir -p "$build" && : >"$marker"; } 2>/dev/null; then
    echo "the folder BUILD='$build' cannot be written; another: make BUILD=dir"
fi
exit 0
