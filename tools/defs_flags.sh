#!/usr/bin/env bash
# Checks DEFS and prints its words, quoted for a shell, on one line; or `error what...` for make to
# stop with. Called while make reads the Makefile, so it never fails.
#   defs_flags.sh LESSON ...      (environment: DEFS, DEVICE)
# DEFS is cut into words as a shell cuts them, quotes taken off; ( ) < > $ mean nothing special.
set -u

fail() {
    echo "error $*"
    exit 0
}

words=$(printf '%s' "$DEFS" | xargs -n 1 printf '%s\n' 2>/dev/null) || fail "DEFS=$DEFS: a quote is not closed"
# The macros of the lessons asked for: what their programs' preprocessor lines ask about.
known=$(for lesson in "$@"; do
    sed -nE 's/^# *if(n?def| defined) ?\(?([A-Z][A-Z0-9_]*).*/\2/p' "$lesson"/*.cu
done | grep -v '_NO_MAIN$' | sort -u | tr '\n' ' ')
argument='' # the option whose argument comes next
while IFS= read -r word; do
    [ -n "$word" ] || continue
    if [ -n "$argument" ]; then
        argument=''
    elif [ "$DEVICE" = cpu ]; then
        case $word in
            -fmad* | -ftz* | -lineinfo | -gencode* | -maxrregcount* | -[Xud]* | -prec* | -arch* | -code* | -rdc* | -ccbin* | -ptx | -G | --*)
                fail "DEFS: '$word' is an option of nvcc's, and the CPU default is built by g++ or clang++" ;;
        esac
    fi
    case $word in
        -D | -I | -U | -include) argument=$word ;;
        -D[A-Z]*)
            name=${word#-D}
            name=${name%%[=(]*}
            case " $known NDEBUG " in
                *" $name "*) ;;
                *) fail "DEFS: no program of $* has a macro $name; they have: $known" ;;
            esac
            ;;
        -*) ;;
        *=*) fail "DEFS: '$word' is no option; was -D$word meant?" ;;
        *) [ -n "${previous_argument:-}" ] || fail "DEFS: '$word' is no option" ;;
    esac
    previous_argument=$argument
    printf "'%s' " "${word//\'/\'\\\'\'}"
done <<<"$words"
echo
