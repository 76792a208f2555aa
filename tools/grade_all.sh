#!/usr/bin/env bash
# Grades a folder of submissions (make grade-all), a few at a time, and writes a table.
#   grade_all.sh             environment: DIR LESSON [EXERCISE] [INTO] [STUDENT] [JOBS] [POINTS SALT FRESH]
# Each file and each folder in DIR, hidden ones aside, is one student's: its name without .cu, .txt or .log is the
# student's. What of a folder is graded, and how, is grade.sh's.
# INTO (default: DIR-grades/LESSON or DIR-grades/EXERCISE) gets grades.csv, a row a submission, and
# students/NAME/log, the report of each. A second call, after an interrupt too, grades only what is new or changed in
# DIR, what could not be graded, and STUDENT (a name in DIR, with or without its ending) where given; all of it only
# when the course itself changed. Points are counted anew in each call.
# JOBS: how many at a time (default: one a core).
# Status: 0 all were graded, 1 some could not be, 2 none was tried (one line on stderr).
set -euo pipefail

refuse() {
    printf 'grade-all: %s\n' "$1" >&2
    exit 2
}
# One line for a terminal or a table, whatever is in a name.
plain() { LC_ALL=C tr '\000-\037\177' '?'; }
student_of() { # ENTRY
    if [ -d "$DIR/$1" ]; then printf '%s' "$1"; else printf '%s' "$1" | sed -E '$s/\.([cC][uU]|[tT][xX][tT]|[lL][oO][gG])$//'; fi
}
is_asked_for() { # ENTRY
    [ -n "$ASKED_FOR" ] && { [ "$1" = "$ASKED_FOR" ] || [ "$(student_of "$1")" = "$ASKED_FOR" ]; }
}
# The lines `KEY value` of a result (grade.sh), as variables of_KEY.
read_result() { # FOLDER
    local key text
    while read -r key text; do printf -v "of_$key" %s "$text"; done <"$1/result"
}

# ---- One of them, in a process of its own: grade_all.sh --one ./ENTRY ------------------------------

# What a verdict depends on: what was handed in, and the course.
depends_on() {
    echo "$COURSE"
    (cd "$DIR" && find -L "./$1" -type f -exec cksum {} + 2>&1 | LC_ALL=C sort)
}
grade_one() {
    local entry=${1#./} into again='' status=0 said what
    into=$INTO/students/$entry
    mkdir -p "$into"
    depends_on "$entry" >"$into/of.$$"
    if [ -e "$into/rows" ] && cmp -s "$into/of" "$into/of.$$" && ! is_asked_for "$entry"; then again=--again; fi
    said=$(STUDENT=$(student_of "$entry") SRC=$DIR/$entry bash "$ROOT/tools/grade.sh" --into "$into" $again 2>&1 >/dev/null) || status=$?
    if [ -e "$into/result" ]; then
        mv "$into/of.$$" "$into/of"
        rm -f "$into/not_graded"
        read_result "$into"
        # shellcheck disable=SC2154 # set by read_result
        what="$of_points of $of_max points; $of_verdict${again:+ (as before)}"
    else
        # No verdict: tried again in the next call.
        rm -f "$into/of.$$" "$into/of" "$into/rows"
        said=$(printf '%s\n' "${said:-ended with status $status}" | sed 's/^grade: //' | grep -v '^$' | head -n 1)
        printf %s "$said" | plain >"$into/not_graded"
        what="not graded: $(cat "$into/not_graded")"
    fi
    printf '%s: %s\n' "$(printf '%s' "$entry" | plain)" "$what"
}
if [ "${1:-}" = --one ]; then
    grade_one "$2"
    exit
fi

# ---- What there is --------------------------------------------------------------------------------

[ -n "${DIR:-}" ] || refuse "needs DIR=folder: what was handed in, a file or a folder a student"
if [ ! -d "$DIR" ] || [ ! -r "$DIR" ]; then refuse "DIR is no folder that can be read: '$DIR'"; fi
DIR=$(cd "$DIR" && pwd)
JOBS=${JOBS:-$(nproc 2>/dev/null || getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1)}
case $JOBS in *[!0-9]* | 0*) refuse "JOBS must be a number from 1 on, not '$JOBS'" ;; esac
# What is wrong for all is said once.
task=$(bash "$ROOT/tools/grade.sh" --which 2>&1) || refuse "${task#grade: }"
changed=$(bash "$ROOT/tools/as_committed.sh" "$LESSON" 2>&1) || refuse "$changed"
INTO=${INTO:-$DIR-grades/$task}
ASKED_FOR=${STUDENT:-}
# Not the points: they are counted from what was found.
COURSE=$(cd "$ROOT" && {
    find cpu tools "$LESSON" expected_output -type f -exec cksum {} +
    [ "$task" = "$LESSON" ] || find tests/exercises "exercises/$task/exercise" -type f -exec cksum {} +
    echo "$CXX ${MFMA:-} ${FMA:-} ${NO_SANDBOX:-} ${SALT:-} ${FRESH:-}"
} | LC_ALL=C sort | cksum)
mkdir -p "$BUILD/tmp"
entries=$(mktemp "$BUILD/tmp/entries.XXXXXX")
trap 'rm -f "$entries"' EXIT
(cd "$DIR" && find . -mindepth 1 -maxdepth 1 ! -name '.*' ! -name __MACOSX -print0) | LC_ALL=C sort -z >"$entries"
number=0 found=''
while IFS= read -r -d '' entry; do
    number=$((number + 1))
    ! is_asked_for "${entry#./}" || found=1
done <"$entries"
[ "$number" -gt 0 ] || refuse "DIR is empty: '$DIR'"
[ -z "$ASKED_FOR" ] || [ -n "$found" ] || refuse "STUDENT: nothing in '$DIR' is called '$ASKED_FOR'"
mkdir -p "$INTO/students" 2>/dev/null || refuse "'$INTO' cannot be made; INTO=folder names another"
INTO=$(cd "$INTO" && pwd)
case $INTO/ in "$DIR"/*) refuse "INTO lies in DIR, where it would be one more student: '$INTO'" ;; esac
export DIR INTO ASKED_FOR COURSE

# ---- Graded, and in a table ------------------------------------------------------------------------

echo "submissions in $DIR: $number, $JOBS at a time"
start=$SECONDS
xargs -0 -n 1 -P "$JOBS" bash "$ROOT/tools/grade_all.sh" --one <"$entries" | {
    done=0
    while IFS= read -r line; do done=$((done + 1)); echo "[$done of $number] $line"; done
}

# A field as RFC 4180 has it. A spreadsheet would compute what begins like a formula.
csv() {
    local field=$1
    case $field in [=+@-]?*) field="'$field" ;; esac
    case $field in *[,\"]*) field=\"${field//\"/\"\"}\" ;; esac
    printf '%s' "$field"
}
columns='points max verdict compiles gates values fresh flawed exercise_passed output reason input sandbox'
not_graded=0 unshielded=''
{
    echo "student,handed_in,${columns// /,},log"
    while IFS= read -r -d '' entry; do
        entry=${entry#./}
        into=$INTO/students/$entry
        for column in $columns; do printf -v "of_$column" %s ''; done
        if [ -e "$into/result" ]; then
            read_result "$into"
            # shellcheck disable=SC2154 # set by read_result
            case $of_sandbox in 'no sandbox'*) unshielded=$((unshielded + 1)) ;; esac
        else
            not_graded=$((not_graded + 1))
            # shellcheck disable=SC2034 # read below by their names
            of_verdict='not graded' of_reason=$(cat "$into/not_graded")
        fi
        line=$(csv "$(student_of "$entry" | plain)"),$(csv "$(printf '%s' "$entry" | plain)")
        for column in $columns; do column=of_$column; line+=,$(csv "${!column}"); done
        echo "$line,$(csv "$(printf 'students/%s/log' "$entry" | plain)")"
    done <"$entries"
} >"$INTO/.grades.csv"
mv "$INTO/.grades.csv" "$INTO/grades.csv"
echo "$((number - not_graded)) graded, $not_graded not, in $((SECONDS - start)) s${unshielded:+, $unshielded with no sandbox}: $INTO/grades.csv"
[ "$not_graded" -eq 0 ]
