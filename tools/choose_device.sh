#!/usr/bin/env bash
# Chooses the device: prints `gpu|cpu ARCH why...`, or `error what...` for make to stop with.
# In: DEVICE and ARCH as asked for or empty, NVCC, CC, BUILD. Called while make reads the Makefile,
# so it prints one line and never fails.
set -u

fail() { echo "error $*"; exit 0; }

# Both may be given with flags, so they are lists of words from here on.
nvcc=$(command -v "${NVCC%% *}") && nvcc=$NVCC || nvcc=''
case $DEVICE in
    gpu) [ -n "$nvcc" ] || fail "DEVICE=gpu needs nvcc, and '$NVCC' is not found; without it: make DEVICE=cpu" ;;
    cpu | '') ;;
    *) fail "unknown DEVICE '$DEVICE': gpu or cpu" ;;
esac

if [ -n "$ARCH" ]; then
    [[ $ARCH =~ ^sm_[0-9]+[af]?$ ]] || fail "unknown ARCH '$ARCH': write it as sm_75, sm_90, ..."
    # The list has no suffixed names (sm_90a); nvcc itself judges the suffix.
    if [ -n "$nvcc" ] && [ "$DEVICE" != cpu ]; then
        plain=$(echo "$ARCH" | sed 's/[af]$//')
        list=$($nvcc --list-gpu-code 2>/dev/null | tr '\n' ' ')
        case " $list " in
            *" $plain "*) ;;
            *) fail "unknown ARCH '$ARCH': this nvcc builds for $list" ;;
        esac
    fi
fi

{ mkdir -p "$BUILD" && [ -w "$BUILD" ]; } 2>/dev/null || fail "the folder BUILD='$BUILD' cannot be written; another: make BUILD=dir"

# The card is asked through the driver alone; a probe that cannot be built counts as no card.
card=''
if [ -n "$nvcc" ] && [ "$DEVICE" != cpu ]; then
    probe=$BUILD/tools/gpu_probe
    if [ ! -x "$probe" ] || [ tools/gpu_probe.c -nt "$probe" ]; then
        mkdir -p "$BUILD/tools"
        if $CC -std=c11 -O2 -o "$probe.$$" tools/gpu_probe.c -ldl 2>/dev/null; then
            mv "$probe.$$" "$probe"
        fi
    fi
    answer=$("$probe" 2>/dev/null) || answer=${answer:-reason=the probe did not run}
    card=$(echo "$answer" | sed -n 's/^arch=//p')
    name=$(echo "$answer" | sed -n 's/^name=//p')
    reason=$(echo "$answer" | sed -n 's/^reason=//p')
fi

case $DEVICE in
    gpu) why="asked for" ;;
    cpu) why="asked for" ;;
    *)
        if [ -z "$nvcc" ]; then
            DEVICE=cpu why="no nvcc here"
        elif [ -z "$card" ]; then
            DEVICE=cpu why="no usable card: $reason"
        else
            DEVICE=gpu why="nvcc and a card are there: $name"
        fi
        ;;
esac
echo "$DEVICE ${ARCH:-${card:-sm_75}} $why"
