#!/usr/bin/env bash
# Checks an exercise as a student would, in a copy of the tree: no student's copy here is touched.
#   tests/exercises/try.sh NAME start    the start of the exercise, as it is handed out
#   tests/exercises/try.sh NAME FILE     FILE: a .cu or .txt that is handed in, or a .patch against the lesson's program
#                                        or against one of tests/exercises/NAME/right
#   tests/exercises/try.sh NAME lesson   the lesson's program itself
# Output and status: those of tools/exercise.sh.
set -euo pipefail

. "$(dirname "${BASH_SOURCE[0]}")/../environment.sh"
name=$1 file=$2
mkdir -p "$BUILD/tmp"
tree=$(mktemp -d "$BUILD/tmp/try.XXXXXX")
trap 'rm -rf "$tree"' EXIT
case $file in start | lesson | /*) ;; *) file=$PWD/$file ;; esac
copy_tree "$tree"
cd "$tree"
program=$(sed -n 's/^program: //p' "exercises/$name/exercise")
case $(sed -n 's/^kind: //p' "exercises/$name/exercise") in
mend) copy=exercises/$name/${program##*/}.cu ;;
*) copy=exercises/$name/answer.txt ;;
esac
rm -rf "$copy" "exercises/$name/.hints" "exercises/$name/.passed"
try() { ROOT=$tree bash "$tree/tools/exercise.sh" "$name"; }
case $file in
start) try >/dev/null ;;
lesson) cp "$program.cu" "$copy" ;;
*.patch)
    # The changed file: a right answer of the exercise, or the lesson's program.
    base=$(sed -n 's|^+++ b/\(tests/exercises/[^	]*\).*|\1|p' "$file")
    base=${base:-$program.cu}
    mkdir -p "right/${base%/*}"
    cp "${base%/*}"/* "right/${base%/*}"
    (cd right && patch -p1 -F0 -s -N) <"$file"
    cp "right/$base" "$copy"
    ;;
*) cp "$file" "$copy" ;;
esac
status=0
try || status=$?
exit $status
