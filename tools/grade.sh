#!/usr/bin/env bash
# Grades one submission (make grade), on the CPU default.
#   grade.sh --lesson LESSON --src FILE [--exercise NAME or number] [--student NAME] [--into FOLDER]
# Each of them can also come from the environment: LESSON SRC EXERCISE STUDENT. FILE is a source (.cu), an answer
# file (.txt) for an exercise that asks for one, or an output (.txt, .log; whole logs of `make run V=1` too), which is
# only compared with expected_output/. STUDENT (default: FILE's name) decides the input that is not announced;
# FRESH=NUMBER repeats one. POINTS=FILE in place of exercises/points/LESSON.txt: lines `key number`, # to the end of
# the line is a comment; keys: compiles gates values fresh flawed output exercise, or an exercise's name.
#
# The report goes to stdout and to FOLDER/log; FOLDER is BUILD/grade/LESSON[-EXERCISE]/STUDENT by default (its name
# made harmless). FOLDER/result is for programs: lines `key value`, each key once, in this order:
#   student, lesson, exercise (- for none), file, points, max, sandbox (as confine.sh --which says), input (the
#   unannounced one, in words), then rows yes|no|- (- : was not asked or could not be): compiles, gates, values, fresh,
#   flawed, exercise_passed, output; then verdict (passed, failed, `output only, proves no work`), reason (the first;
#   empty if none). The file is there only when the grading came to its end.
# Status: 0 all points, 1 some lost, 2 could not be graded (one line on stderr).
set -euo pipefail

refuse() {
    printf 'grade: %s\n' "$1" | LC_ALL=C tr -d '\001-\010\013-\037\177' >&2
    exit 2
}
root=$(cd "$(dirname "$0")/.." && pwd)
ROOT=${ROOT:-$root}
lesson=${LESSON:-} src=${SRC:-} exercise=${EXERCISE:-} student=${STUDENT:-} into=''
while [ $# -gt 0 ]; do
    case $1 in
    --lesson | --src | --exercise | --student | --into)
        [ $# -ge 2 ] || refuse "$1 takes a value"
        printf -v "${1#--}" %s "$2"
        shift 2
        ;;
    *) refuse "no such option: '$1'" ;;
    esac
done
[ -n "${HOST_FLAGS:-}" ] || refuse "run it through make: make grade LESSON=... SRC=..."

case $lesson in
day68_reproducibility) PROGRAM=reproducibility short=day68 ;;
precision_reduction) PROGRAM=precision_reduction short=precision ;;
fpmp_pi) PROGRAM=fpmp_pi short=pi ;;
canonical_tree) PROGRAM=canonical_tree short=tree ;;
*) refuse "needs one LESSON: day68_reproducibility, precision_reduction, fpmp_pi or canonical_tree, not '$lesson'" ;;
esac
LESSON=$lesson
[ -n "$src" ] || refuse "needs SRC=file: what was handed in"
# Without a leading dash and from any folder.
case $src in /*) ;; *) src=$PWD/$src ;; esac
[ -e "$src" ] || refuse "SRC: no such file: '$src'"
if [ ! -f "$src" ] || [ ! -r "$src" ]; then refuse "SRC is no file that can be read: '$src'"; fi
[ "$(wc -c <"$src")" -le 1048576 ] || refuse "SRC is larger than 1 MiB: '$src'"
SRC=$src
[ -n "$student" ] || { student=${src##*/}; student=${student%.*}; }

# ---- The exercise, and the points ----------------------------------------------------------------

N='' CHECKS='' kind=''
if [ -n "$exercise" ]; then
    case $exercise in *[!0-9]*) N=$exercise ;; *) N=$short-$exercise ;; esac
    case $N in "$short"-[0-9] | "$short"-[0-9][0-9]) ;; *) refuse "'$exercise' is no exercise of $lesson" ;; esac
    CHECKS=$ROOT/tests/exercises/$N
    [ -f "$CHECKS/check.sh" ] || refuse "there is no exercise $N"
    exercise_key() { sed -n "s/^$1: *//p" "$ROOT/exercises/$N/exercise" | head -n 1; }
    kind=$(exercise_key kind)
    program=$(exercise_key program)
    [ -z "$program" ] || PROGRAM=${program##*/}
fi
case $src in
*.cu) handed=source ;;
*.txt | *.log) handed=output ;;
*) refuse "SRC must end in .cu (a source) or .txt (an answer or an output): '$src'" ;;
esac
case $kind in find | say) [ "$handed" = output ] || refuse "exercise $N asks for an answer file (.txt), not '$src'" ;; esac
if [ -n "$N" ] && [ "$kind" = mend ] && [ "$handed" != source ]; then refuse "exercise $N asks for a source (.cu), not '$src'"; fi

points_file=${POINTS:-$ROOT/exercises/points/$lesson.txt}
[ -r "$points_file" ] || refuse "no file of points: '$points_file'"
points() { # KEY
    awk -v key="$1" '{ sub(/#.*/, "") } $1 == key { print $2 }' "$points_file"
}
bad=$(awk -v short="$short" '{ sub(/#.*/, ""); sub(/\r$/, "") }
    NF == 0 { next }
    NF != 2 || $2 !~ /^[0-9]+$/ || length($2) > 6 { print NR ": a line is a key and a whole number"; exit }
    $1 !~ /^(compiles|gates|values|fresh|flawed|output|exercise)$/ && $1 !~ "^" short "-[0-9]+$" { print NR ": no such key: " $1; exit }
    seen[$1]++ { print NR ": a second line for " $1; exit }' "$points_file")
[ -z "$bad" ] || refuse "$points_file:$bad"
# The key of a row: an exercise has one of its own, or that of all exercises.
key_of() { if [ -z "$N" ]; then echo "$1"; elif [ -n "$(points "$N")" ]; then echo "$N"; else echo exercise; fi; }
if [ -n "$N" ]; then rows=$N; elif [ "$handed" = output ]; then rows=output; else rows='compiles gates values fresh flawed'; fi
for row in $rows; do
    [ -n "$(points "$(key_of "$row")")" ] || refuse "$points_file has no line for '$(key_of "$row")'"
done

# ---- The folder ----------------------------------------------------------------------------------

case $BUILD in /*) ;; *) BUILD=$ROOT/$BUILD ;; esac
if [ -z "$into" ]; then
    # Readable where it can be, and apart from all others: no two names give one folder.
    harmless=$(printf '%s' "$student" | LC_ALL=C tr -c 'A-Za-z0-9' _ | cut -c 1-40)
    into=$BUILD/grade/$lesson${N:+-$N}/$harmless-$(printf '%s' "$student" | cksum | cut -d ' ' -f 1)
fi
case $into in /*) ;; *) into=$PWD/$into ;; esac
rm -rf "$into/work" "$into/result" "$into/log"
mkdir -p "$into/work"
WORK=$into/work
# shellcheck disable=SC2034 # for judge.sh
SEED=${FRESH:-$student $lesson} STOP=''
# shellcheck disable=SC1091
. "$ROOT/tools/judge.sh"
for word in "$into" "$ROOT"; do
    case $word in *[[:space:]]*) refuse "make writes no list of files with blanks: '$word' cannot be used; BUILD=folder names another" ;; esac
done
exec 3>&1 4>&2 >"$into/log" 2>&1
# Whatever ends this early is no verdict.
trap 'if [ ! -e "$into/result" ]; then cat "$into/log" >&4; exit 2; fi' EXIT

one_line() { printf '%s' "$1" | LC_ALL=C tr '\000-\037\177' '?'; }
passed_compiles=- passed_gates=- passed_values=- passed_fresh=- passed_flawed=- passed_exercise=- passed_output=-
total=0 max=0
# The failures that were added since the last call: into reasons.
seen=0
new_failures() {
    reasons=''
    failed || return 0
    reasons=$(tail -n +$((seen + 1)) "$WORK/failures")
    seen=$(wc -l <"$WORK/failures")
}
# row KEY yes|no|- WORDS [REASONS]: with the new failures where no reasons are given
row() {
    local got=0 of
    of=$(points "$(key_of "$1")")
    [ "$2" != yes ] || got=$of
    total=$((total + got)) max=$((max + of))
    printf '%-10s %-4s %4d of %-4d %s\n' "$1" "$2" "$got" "$of" "$3"
    if [ $# -gt 3 ]; then reasons=$4; else new_failures; fi
    [ -z "$reasons" ] || printf '%s\n' "$reasons" | while IFS='|' read -r on reason; do
        printf '           on %s:\n             %s\n' "$on" "$reason"
    done
}

printf 'student: %s\nlesson: %s%s\nfile: %s\nsandbox: %s\n' "$(one_line "$student")" "$lesson" "${N:+, exercise $N}" "$(one_line "$SRC")" "$CONFINED_BY"
input=-
if [ "$handed" = source ] || [ -n "$N" ]; then
    input=$(fresh_words)
    echo "input that was not announced: $input"
fi
echo

# What moves between the builds: the number of lines, of this program and of the lesson's.
moved() { # FMAD'S NOFMAD'S
    template "$1" >"$WORK/moved"
    LC_ALL=C awk -f "$ROOT/tools/moved.awk" "$WORK/moved" "$2" | tail -n 1
}
between_builds() {
    local flags=() mine theirs
    read -ra flags <<<"$(lesson_flags)"
    [ "$(judged_builds)" = 'fmad nofmad' ] && [ ! -e "$WORK/hopeless" ] || return 0
    mine=$(moved "$(submission_output fmad ${flags[@]+"${flags[@]}"})" "$(submission_output nofmad ${flags[@]+"${flags[@]}"})")
    theirs=$(moved "$(reference_output fmad ${flags[@]+"${flags[@]}"})" "$(reference_output nofmad ${flags[@]+"${flags[@]}"})")
    if [ "$mine" = "$theirs" ]; then echo "between the builds: $mine, as in the lesson's program"
    else echo "between the builds: $mine; in the lesson's program: $theirs"; fi
}
flawed_checks() {
    local flags=() flaw
    read -ra flags <<<"$(fresh_flags)"
    for flaw in $(flaws); do same_gates flawed ${flags[@]+"${flags[@]}"} -- WATCH_FLAW="$flaw" || return 1; done
    for flaw in $(lesson_flaws); do JUDGED_BUILDS=nofmad same_gates lesson -- WATCH_FLAW="$flaw" || return 1; done
}
grade_source() {
    local flags=() fresh=() work=''
    read -ra flags <<<"$(lesson_flags)"
    read -ra fresh <<<"$(fresh_flags)"
    passed_compiles=no
    if build_submission ${flags[@]+"${flags[@]}"}; then passed_compiles=yes; fi
    row compiles $passed_compiles "both builds"
    if [ $passed_compiles = no ]; then
        for key in gates values fresh flawed; do row $key - "could not be asked"; done
        return
    fi
    passed_gates=no passed_values=no passed_fresh=no passed_flawed=no
    same_gates lesson || gates_failed=yes
    new_failures; gates_reasons=$reasons
    same_values lesson || values_failed=yes
    new_failures; values_reasons=$reasons
    if same fresh ${fresh[@]+"${fresh[@]}"}; then passed_fresh=yes; fi
    new_failures; fresh_reasons=$reasons
    if flawed_checks; then passed_flawed=yes; fi
    new_failures; flawed_reasons=$reasons
    [ -n "${gates_failed:-}" ] || passed_gates=yes
    [ -n "${values_failed:-}" ] || passed_values=yes
    # What is right for the known input alone, and does not mind a flaw of the device, is no computation.
    if [ $passed_fresh = no ] && [ $passed_flawed = no ] && [ $passed_gates$passed_values != nono ]; then
        work=', but right for the known input alone: not counted'
        passed_gates=no passed_values=no
    fi
    row gates $passed_gates "at the lesson's size$work" "$gates_reasons"
    row values $passed_values "at the lesson's size, against the lesson's program$work" "$values_reasons"
    row fresh $passed_fresh "the whole output for the input that was not announced" "$fresh_reasons"
    row flawed $passed_flawed "on a device with a flaw the gates fail that must" "$flawed_reasons"
    between_builds
}
grade_output() {
    local verdict status=0 contraction
    verdict=$("$BUILD/tools/match" --lesson "$lesson" "$ROOT/expected_output" "$SRC" 2>&1) || status=$?
    passed_output=yes
    if [ $status -ne 0 ]; then
        passed_output=no
        fail "the output" "$(printf '%s\n' "$verdict" | grep -E '^(match: | *(expected|found): )' | head -n 2 | sed 's/^ *//' | tr '\n' ';' | sed 's/;$//; s/;/; /' | cut -c 1-300 | grep . || printf '%s' "$verdict" | head -n 1)" || true
    else
        for contraction in fused separate; do
            tr -d '\r' <"$SRC" | awk -v program="$lesson/$PROGRAM" -v want="$contraction" '
                $1 == "program:" { is = $2 == program } is && $1 == "contraction:" && $2 == want { found = 1 } END { exit !found }' ||
                { passed_output=no; fail "the output" "has no output of $PROGRAM with $contraction device code" || true; }
        done
    fi
    row output $passed_output "an output only, which proves no work"
}
grade_exercise() {
    # shellcheck source=/dev/null
    . "$CHECKS/check.sh" || true
    passed_exercise=yes
    ! failed || passed_exercise=no
    row "$N" $passed_exercise "the exercise's own checks"
}

if [ -n "$N" ]; then grade_exercise; elif [ "$handed" = output ]; then grade_output; else grade_source; fi
verdict=passed
[ "$total" -eq "$max" ] || verdict=failed
[ "$handed" != output ] || [ -n "$N" ] || verdict='output only, proves no work'
printf '\n%d of %d points; %s\n' "$total" "$max" "$verdict"
[ "$CONFINED_BY" = bubblewrap ] || echo "There was no sandbox ($CONFINED_BY): what was handed in ran with the grader's own rights."
reason=$(head -n 1 "$WORK/failures" 2>/dev/null | sed 's/|/: /' || true)
{
    printf '%s %s\n' student "$(one_line "$student")" lesson "$lesson" exercise "${N:--}" file "$(one_line "$SRC")" points "$total" max "$max" \
        sandbox "$CONFINED_BY" input "$input" compiles $passed_compiles gates $passed_gates values $passed_values fresh $passed_fresh \
        flawed $passed_flawed exercise_passed $passed_exercise output $passed_output verdict "$verdict" reason "$(one_line "$reason")"
} >"$into/result.$$"
mv "$into/result.$$" "$into/result"
cat "$into/log" >&3
# Programs and outputs are large, and can be made again.
[ -n "${KEEP:-}" ] || rm -rf "$into/work"
[ "$total" -eq "$max" ]
