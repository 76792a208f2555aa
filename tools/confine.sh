#!/usr/bin/env bash
# Runs a command that nobody has read: within limits and, where bubblewrap works, shut off from the machine.
#   confine.sh [options] -- COMMAND...     its status is the command's, or one of those below
#   confine.sh --which                     `bubblewrap`, or `no sandbox: limits only` (and what cannot be limited)
#   confine.sh --say STATUS [options]      what a status means, in words
# Options (a limit of 0: none)
#   --time S        seconds (30)                  --memory MIB   addresses of each process, and memory that all
#   --output MIB    of each file, and so of each                 of them hold together (2048)
#                   stream that goes to one (4)   --processes N  at one time (64)
#   --files N       in the folders of its own     --open N       open files of a process (256)
#                   (1000; 64 MiB in any case)    --cpu S        processor time of each process (none)
#   --read PATH     can be read, --write FOLDER can be written; all else of the machine but /usr, /lib,
#                   /bin and the like cannot even be seen. Without a sandbox these two say nothing.
#   --copy FILE     is copied into the folder that the command starts in, and that is gone after it
#   --set NAME=VALUE  in the environment, which else has PATH, HOME, LC_ALL and TMPDIR alone
# stdin is empty. HOME, TMPDIR and the folder that the command starts in are its own, and go away with it. There is no
# network in the sandbox, and children that are left running end with it. Without it (Linux) they are known by a mark in
# their environment, by the folder that they are in or by their program, and killed; one that has changed all three is
# not found. What is watched from outside (time, processes, memory of all, files) is looked at about five times a second.
# Environment: NO_SANDBOX=1 does without bubblewrap; CONFINED_BY, the answer of --which, saves asking again.
# Status: 122 too many files; 123 too much memory for all together; 124 not at an end in time; 125 too many processes;
#   152 beyond --cpu; 153 a file beyond --output; 128 + N: signal N; 2 for a call that is no use.
set -uo pipefail

refuse() {
    echo "confine.sh: $1" >&2
    exit 2
}

# The machine without what is a user's own: all that is shown of it in the sandbox.
system=(--ro-bind /usr /usr)
for path in /lib /lib32 /lib64 /libx32 /bin /sbin /etc/alternatives /etc/ld.so.cache /etc/ld.so.conf /etc/ld.so.conf.d /opt /nix/store; do
    system+=(--ro-bind-try "$path" "$path")
done
sandbox() { # [more of bwrap's options] -- COMMAND...
    # /dev is a tmpfs that has no limit.
    bwrap --unshare-all --die-with-parent --new-session --cap-drop ALL "${system[@]}" --proc /proc --dev /dev \
        --size 4194304 --tmpfs /dev/shm --remount-ro /dev --size 67108864 --tmpfs /tmp --dir /tmp/home --chdir /tmp/home "$@"
}
which_way() {
    # A container may forbid it, an old version may lack an option: it is tried.
    if [ -z "${NO_SANDBOX:-}" ] && command -v bwrap >/dev/null && sandbox --remount-ro / -- /bin/sh -c true 2>/dev/null; then
        echo bubblewrap
        return
    fi
    local none=''
    (ulimit -v 4194304) 2>/dev/null || none=' memory'
    [ -r /proc/self/environ ] || none+=' processes'
    echo "no sandbox: limits only${none:+, and none on$none}"
}

time=30 cpu=0 memory=2048 output=4 processes=64 open=256 files=1000
copies=() settings=() binds=()
asked='' status=0
number() {
    case $2 in '' | *[!0-9]* | ?????????*) refuse "$1 takes a whole number, not '$2'" ;; esac
}
while [ $# -gt 0 ]; do
    case $1 in
        --which) which_way; exit ;;
        --say) [ $# -ge 2 ] || refuse "--say takes a status"; number --say "$2"; asked=say status=$2; shift 2; continue ;;
        --time | --cpu | --memory | --output | --processes | --open | --files)
            number "$1" "${2:-}"
            printf -v "${1#--}" %s "$2"
            ;;
        --read | --write)
            [ -e "${2:-}" ] || refuse "$1: no such file or folder: '${2:-}'"
            # In the order of the options: what lies in a folder can be given otherwise after it.
            if [ "$1" = --read ]; then binds+=(--ro-bind "$2" "$2"); else binds+=(--bind "$2" "$2"); fi
            ;;
        --copy) [ -f "${2:-}" ] || refuse "--copy: no such file: '${2:-}'"; copies+=("$2") ;;
        --set) case ${2:-} in [A-Za-z_]*=*) settings+=("$2") ;; *) refuse "--set takes NAME=VALUE, not '${2:-}'" ;; esac ;;
        --) shift; break ;;
        *) refuse "no such option: '$1'" ;;
    esac
    shift 2
done
if [ "$asked" = say ]; then
    case $status in
        0) echo "ended with status 0" ;;
        122) echo "put more than $files files or 64 MiB into its folders" ;;
        123) echo "needed more than $memory MiB of memory" ;;
        124) echo "did not end within $time s" ;;
        152) echo "used more than $cpu s of processor time" ;;
        125) echo "had more than $processes processes at one time" ;;
        153) echo "wrote more than $output MiB" ;;
        *)
            if [ "$status" -gt 128 ] && signal=$(kill -l $((status - 128)) 2>/dev/null); then
                echo "crashed: signal SIG${signal#SIG}"
            else
                echo "ended with status $status"
            fi
            ;;
    esac
    exit
fi
[ $# -gt 0 ] || refuse "no command to run"

way=${CONFINED_BY:-$(which_way)}
[ -z "${NO_SANDBOX:-}" ] || case $way in bubblewrap) way='no sandbox' ;; esac
own=$(mktemp -d "${TMPDIR:-/tmp}/confined.XXXXXX") || exit 2
mark=CONFINED_RUN=$$.${own##*.}
leader='' watcher=''

# All that belong to it. In the sandbox: what carries the mark, bwrap itself too, and what is in the same pid namespace.
inside=''
members() {
    {
        grep -lzsxF -e "$mark" /proc/[0-9]*/environ
        if [ -n "$inside" ]; then
            find /proc/[0-9]*/ns/pid -maxdepth 0 -lname "pid:\\[$inside\\]"
        elif [ "$way" != bubblewrap ]; then
            find /proc/[0-9]*/cwd /proc/[0-9]*/exe -maxdepth 0 -lname "*/${own##*/}/*"
        fi
    } 2>/dev/null | cut -d / -f 3 | sort -u
}
# Of a member: the number of its pid namespace, where that is another one than ours.
namespace() { readlink "/proc/$1/ns/pid" | grep -vxF "$(readlink /proc/self/ns/pid)" | tr -dc 0-9; }
# Do these processes hold more memory than all may? What several of them share counts once: asked only where the sum
# is above the limit, since it takes longer.
hold_too_much() {
    local pid pages sum=0
    for pid in "$@"; do read -r _ pages _ <"/proc/$pid/statm" && sum=$((sum + pages)); done 2>/dev/null
    [ $((sum * page / 1048576)) -gt "$memory" ] || return
    for pid in "$@"; do cat "/proc/$pid/smaps_rollup"; done 2>/dev/null |
        awk -v limit="$memory" '/^Pss:/ { sum += $2 } END { exit !(sum / 1024 > limit) }'
}
# Are there too many files, or too much in them? In the sandbox the second has a limit of its own, and the first is
# asked of its file systems, through the process PID.
fill_too_much() { # PID
    if [ "$way" = bubblewrap ]; then
        stat -f -c '%c %d' "/proc/$1/root/tmp" "/proc/$1/root/dev/shm" 2>/dev/null |
            awk -v limit="$files" '{ used += $1 - $2 } END { exit !(used > limit) }'
    else
        [ "$(find "$own/home" "$own/tmp" -print0 | tr -dc '\000' | head -c $((files + 3)) | wc -c)" -gt $((files + 2)) ] ||
            [ "$(du -sk "$own" | cut -f 1)" -gt 65536 ]
    fi
}
kill_all() {
    local tries pids
    [ -z "$leader" ] || kill -KILL -- "-$leader" 2>/dev/null
    for tries in 1 2 3 4 5 6 7 8 9 10; do # one that is killed may have made another in the meantime
        pids=$(members)
        [ -n "$pids" ] || break
        # shellcheck disable=SC2086
        kill -KILL $pids 2>/dev/null
        [ "$tries" -eq 1 ] || sleep 0.05
    done
}
# shellcheck disable=SC2317 # called by the trap
ended() {
    [ -z "$watcher" ] || kill "$watcher" 2>/dev/null
    kill_all
    # A folder that was made unreadable is still ours to remove.
    rm -rf "$own" 2>/dev/null || { chmod -R u+rwx "$own" 2>/dev/null; rm -rf "$own"; }
}
trap ended EXIT
trap 'exit 130' INT TERM HUP

# Watched from outside: root, which is bound by no RLIMIT_NPROC, is bound by this, and a limit of the system is for
# each process alone.
watch() {
    local pids page why inner='' turns=0
    page=$(getconf PAGESIZE)
    while sleep 0.2; do
        why=''
        read -ra pids -d '' <<<"$(members)" || true
        # One of those inside, as long as it lives.
        if [ "$way" = bubblewrap ] && [ ! -e "/proc/${inner:-none}" ]; then
            for inner in ${pids[@]+"${pids[@]}"}; do inside=$(namespace "$inner"); [ -z "$inside" ] || break; done
        fi
        if [ "$time" -gt 0 ] && [ "$SECONDS" -ge "$time" ]; then why=124
        # bwrap itself and its first process carry the mark, too.
        elif [ "$processes" -gt 0 ] && [ ${#pids[@]} -gt $((processes + 2)) ]; then why=125
        elif [ "$memory" -gt 0 ] && hold_too_much ${pids[@]+"${pids[@]}"}; then why=123
        # Files stay, and looking takes longer.
        elif [ "$files" -gt 0 ] && [ $((++turns % 3)) -eq 0 ] && fill_too_much "$inner"; then why=122
        fi
        [ -z "$why" ] || break
    done
    echo "$why" >"$own/why"
    kill_all
}

mkdir "$own/home" || exit 2
environment=(PATH="$PATH" LC_ALL=C "$mark" ${settings[@]+"${settings[@]}"})
if [ "$way" = bubblewrap ]; then
    for file in ${copies[@]+"${copies[@]}"}; do binds+=(--ro-bind "$file" "/tmp/home/${file##*/}"); done
    command=(sandbox ${binds[@]+"${binds[@]}"} --remount-ro / -- env -i HOME=/tmp/home TMPDIR=/tmp "${environment[@]}" "$@")
else
    for file in ${copies[@]+"${copies[@]}"}; do cp "$file" "$own/home/" || exit 2; done
    mkdir "$own/tmp"
    command=(env -i HOME="$own/home" TMPDIR="$own/tmp" "${environment[@]}" "$@")
fi
SECONDS=0
# Its own process group (set -m), so that it can be killed whole.
set -m
(
    set +m
    cd "$own/home" || exit 2
    ulimit -c 0
    [ "$memory" -eq 0 ] || ulimit -v $((memory * 1024)) 2>/dev/null
    [ "$output" -eq 0 ] || ulimit -f $((output * 1024)) 2>/dev/null
    [ "$open" -eq 0 ] || ulimit -n "$open" 2>/dev/null
    # The soft limit first: SIGXCPU says why, SIGKILL does not.
    [ "$cpu" -eq 0 ] || { ulimit -S -t "$cpu" && ulimit -H -t $((cpu + 1)); } 2>/dev/null
    export "${mark?}"
    if [ "${command[0]}" = sandbox ]; then sandbox "${command[@]:1}"; else exec "${command[@]}"; fi
) </dev/null &
leader=$!
exec 2>/dev/null # else the shell tells how the command died
watch </dev/null >/dev/null 2>&1 &
watcher=$!
set +m
wait "$leader"
status=$?
kill "$watcher"
wait "$watcher"
watcher=''
[ ! -s "$own/why" ] || status=$(cat "$own/why")
exit "$status"
