# shellcheck shell=bash
# Sourced by checks that have work for two cores.

# beside NAME COMMAND...: in the background, with a folder of its own. all_in waits, and takes over the failures in the
# order of the names.
beside() {
    mkdir "$WORK/beside.$1"
    (
        WORK=$WORK/beside.$1
        shift
        "$@"
    ) &
}
all_in() {
    wait
    cat "$WORK"/beside.*/failures >>"$WORK/failures" 2>/dev/null
    [ -s "$WORK/failures" ] || rm -f "$WORK/failures"
}

# separately COMMAND...: in the separate build alone, for what takes seconds. For `beside`: it does not come back.
separately() {
    judged_builds() { echo nofmad; }
    "$@"
}

# The cases of `standard`; the lesson's own size in the separate build alone, while the others run.
standard_beside() {
    local flags flaw
    stopped && return
    beside lesson separately same lesson
    beside limits flawed_at_lesson_size
    read -ra flags <<<"$(fresh_flags)"
    same fresh "${flags[@]}"
    for flaw in $(flaws); do same_gates flawed "${flags[@]}" -- WATCH_FLAW="$flaw" || break; done
    all_in
}
