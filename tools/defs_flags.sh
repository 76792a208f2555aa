#!/usr/bin/env bash
# Checks DEFS and prints its words, quoted for a shell, on one line; or `error what...` for make to
# stop with. Called while make reads the Makefile, so it never fails.
#   defs_flags.sh [LESSON ...]    (environment: DEFS, DEVICE); without a lesson any macro is taken
# DEFS is cut into words as a shell cuts them, quotes taken off; ( ) < > $ mean nothing special.
set -u

fail() {
    echo "error $*"
    exit 0
}

nvcc() { fail "DEFS: '$1' is no option of g++ and clang++, which build the CPU default (nvcc's own are for DEVICE=gpu)"; }

words=$(printf '%s' "$DEFS" | xargs -n 1 printf '%s\n' 2>/dev/null) || fail "DEFS=$DEFS: a quote is not closed"
# The macros of the lessons asked for: what their programs' preprocessor lines ask about.
known=$(for lesson in "$@"; do
    sed -nE 's/^# *if(n?def| defined) ?\(?([A-Z][A-Z0-9_]*).*/\2/p' "$lesson"/*.cu
done | grep -v '_NO_MAIN$' | sort -u | tr '\n' ' ')
# macro DEFINITION: is it one of a lesson's, or the language's and its library's own?
macro() {
    local name=${1%%[=(]*}
    [ -n "$lessons" ] || return 0
    case " $known NDEBUG " in *" $name "*) return ;; esac
    case $name in _[A-Z]* | __*) return ;; esac
    fail "DEFS: no program of $lessons has a macro $name; they have: $known"
}

lessons=$* out='' before='' # before: the option whose argument comes next
while IFS= read -r word; do
    [ -n "$word" ] || continue
    case $before$word in
        -D) ;;
        -D*) if [ -n "$before" ]; then macro "$word"; else macro "${word#-D}"; fi ;;
    esac
    if [ -n "$before" ]; then
        before=''
    else
        case $word in
            -D | -I | -U | -include | -isystem) before=$word ;;
            -fmad* | -ftz* | -gencode* | -maxrregcount* | -lineinfo | -m64) [ "$DEVICE" = gpu ] || nvcc "$word" ;;
            # What g++, clang++ and nvcc read alike, or hand on.
            -[DIUOLlfmWgw]* | -std=* | -pedantic* | -pthread | -isystem* | -save-temps) ;;
            -*) [ "$DEVICE" = gpu ] || nvcc "$word" ;;
            *=*) fail "DEFS: '$word' is no option; was -D$word meant?" ;;
            *) fail "DEFS: '$word' is no option" ;;
        esac
    fi
    out+="'${word//\'/\'\\\'\'}' "
done <<<"$words"
[ -z "$before" ] || fail "DEFS: $before needs a word behind it"
echo "$out"
