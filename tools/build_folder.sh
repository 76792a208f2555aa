#!/usr/bin/env bash
# Makes the build folder BUILD and marks it as ours, or prints why it cannot be used, for make to stop
# with. Only a folder with the marker is ever built in or removed, so that neither `make BUILD=$HOME`
# nor `make clean BUILD=$HOME` can touch what is not ours.
#   build_folder.sh BUILD clean
#   build_folder.sh BUILD PID     also takes the folder for the make PID, and waits for another make
#                                 that has it: one with other settings must not run this one's programs
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
# Listed before the marker is looked for: it is the first thing that another make puts there.
others=$(ls -A "$build" 2>/dev/null)
if [ -e "$build" ] && [ ! -d "$build" ]; then
    echo "BUILD='$build' is a file, not a folder"
elif [ -n "$others" ] && [ ! -f "$marker" ]; then
    echo "BUILD='$build' is a folder with other things in it: name one that is empty or not there yet"
elif ! { mkdir -p "$build" && : >>"$marker" && [ -w "$build" ]; } 2>/dev/null; then
    echo "the folder BUILD='$build' cannot be written; another: make BUILD=dir"
elif [ -n "${2:-}" ]; then
    # The lock is a link, whose making is atomic, to HOST:PID. It is never taken away: it ends with
    # the process that it names.
    lock=$build/.make said=''
    until ln -s "$(uname -n):$2" "$lock" 2>/dev/null; do
        holder=$(readlink "$lock") || continue
        [ "$holder" != "$(uname -n):$2" ] || break
        if [ "${holder%:*}" != "$(uname -n)" ]; then
            echo "BUILD='$build' is in use by make on ${holder%:*}; another: make BUILD=dir (if that make is gone: rm $lock)"
            break
        elif kill -0 "${holder##*:}" 2>/dev/null || [ -d "/proc/${holder##*:}" ]; then
            [ -n "$said" ] || echo "waiting for another make (process ${holder##*:}) in $build" >&2
            said=yes
            sleep 0.2
        elif mv "$lock" "$lock.$2" 2>/dev/null; then
            # Another make may have been faster: what was taken away must be the dead one's.
            if [ "$(readlink "$lock.$2")" = "$holder" ]; then rm -f "$lock.$2"; else mv "$lock.$2" "$lock"; fi
        fi
    done
fi
exit 0
