#!/usr/bin/env bash
# A program that is no lesson, from one or several files: compiles each, and links them.
#   compile_own.sh OUT fmad|nofmad FILE... -- [flags]     (environment: tools/compile.sh)
# With -c among the flags OUT is the object file of the one FILE. Objects among the files are linked as they are.
# On the CPU default it sees a device of compute capability 9.0 (cuda_cpu_as_a_card).
# Status: the first compile's that fails.
set -euo pipefail

out=$1 build=$2
shift 2
files=()
while [ "$1" != -- ]; do files+=("$1"); shift; done
shift
[ "$DEVICE" = gpu ] || set -- -DCUDA_CPU_AS_A_CARD "$@"
compile() { bash "$(dirname "${BASH_SOURCE[0]}")/compile.sh" "$1" "$2" "$build" "${@:3}"; }

mkdir -p "$BUILD/tmp"
made=$(mktemp -d "$BUILD/tmp/own.XXXXXX")
trap 'rm -rf "$made"' EXIT
objects=()
for file in "${files[@]}"; do
    object=$made/${#objects[@]}.o
    case $file in *.o) object=$file ;; *) compile "$file" "$object" "$@" -c ;; esac
    objects+=("$object")
done
case " $* " in
*' -c '*) mv -f "${objects[0]}" "$out" ;;
*) compile "${objects[0]}" "$out" "${objects[@]:1}" "$@" ;;
esac
