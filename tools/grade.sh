#!/usr/bin/env bash
# Grades one submission (make grade), on the CPU default.
#   grade.sh --lesson LESSON --src FILE [--exercise NAME or number] [--student NAME] [--into FOLDER] [--again]
#   grade.sh --lesson LESSON [--exercise NAME or number] --which     what would be graded: a lesson or an exercise
# Each but the last two can also come from the environment: LESSON SRC EXERCISE STUDENT.
# FILE is a source (.cu), an answer file (.txt) for an exercise that asks for one, or an output (.txt, .log; whole
# logs of `make run V=1` too), which is only compared with expected_output/. It can also be a folder that holds one:
# the file with the program's name, or the only one of its kind.
# STUDENT (default: FILE's name) decides the input that is not announced: one of 16 classes (judge.sh). FRESH=NUMBER
# takes another class, SALT=WORD gives all classes other inputs.
# POINTS=FILE in place of exercises/points/LESSON.txt: lines `key number`, # to the end of the line is a comment;
# keys: compiles gates values fresh flawed output exercise, or an exercise's name.
#
# The report goes to stdout and to FOLDER/log; FOLDER is BUILD/grade/LESSON[-EXERCISE]/STUDENT by default (its name
# made harmless). FOLDER/rows is what was found, without points: --again makes the report and the result of it.
# FOLDER/result is for programs: lines `key value`, each key once, in this order:
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
lesson=${LESSON:-} src=${SRC:-} exercise=${EXERCISE:-} student=${STUDENT:-} into='' again='' which=''
while [ $# -gt 0 ]; do
    case $1 in
    --again) again=1; shift ;;
    --which) which=1; shift ;;
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

# For grade_all.sh: what is wrong for every submission is said by now.
[ -z "$which" ] || { echo "${N:-$lesson}"; exit; }

# ---- What was handed in --------------------------------------------------------------------------

[ -n "$src" ] || refuse "needs SRC=file: what was handed in"
# Without a leading dash and from any folder.
case $src in /*) ;; *) src=$PWD/$src ;; esac
[ -e "$src" ] || refuse "SRC: no such file: '$src'"

# pick WHAT PATTERN NAME: sets SRC to the file in the folder src that was handed in, if there is one.
pick() {
    local file count=0 named=0 only='' own=''
    while IFS= read -r -d '' file; do
        count=$((count + 1)) only=$file
        [ "${file##*/}" != "$3" ] || named=$((named + 1)) own=$file
    done < <(find "$src/" \( -name '.*' -o -name __MACOSX \) -prune -o -type f -iname "$2" -print0)
    if [ $named -eq 1 ]; then SRC=$own
    elif [ $count -eq 1 ]; then SRC=$only
    elif [ $count -gt 1 ]; then refuse "SRC has $count $1 ($2), and not one that is called $3: '$src'"
    fi
}
SRC=''
if [ -d "$src" ]; then
    student=${student:-${src##*/}}
    case $kind in find | say) ;; *) pick sources '*.cu' "$PROGRAM.cu" ;; esac
    if [ -z "$SRC" ] && [ "$kind" != mend ]; then pick texts '*.txt' answer.txt; fi
    if [ -z "$SRC" ] && [ -z "$kind" ]; then pick outputs '*.log' output.log; fi
    [ -n "$SRC" ] || refuse "SRC has no file of the kind that is asked for: '$src'"
else
    SRC=$src
    [ -n "$student" ] || { student=${src##*/}; student=${student%.*}; }
fi
if [ ! -f "$SRC" ] || [ ! -r "$SRC" ]; then refuse "SRC is no file that can be read: '$SRC'"; fi
[ "$(wc -c <"$SRC")" -le 1048576 ] || refuse "SRC is larger than 1 MiB: '$SRC'"
case $SRC in
*.[cC][uU]) handed=source ;;
*.[tT][xX][tT] | *.[lL][oO][gG]) handed=output ;;
*) refuse "SRC must end in .cu (a source) or .txt (an answer or an output): '$SRC'" ;;
esac
case $kind-$handed in
find-source | say-source) refuse "exercise $N asks for an answer file (.txt), not '$SRC'" ;;
mend-output) refuse "exercise $N asks for a source (.cu), not '$SRC'" ;;
esac
if [ -n "$N" ]; then keys=$N; elif [ "$handed" = output ]; then keys=output; else keys='compiles gates values fresh flawed'; fi
for key in $keys; do
    [ -n "$(points "$(key_of "$key")")" ] || refuse "$points_file has no line for '$(key_of "$key")'"
done

# ---- The folder ----------------------------------------------------------------------------------

case $BUILD in /*) ;; *) BUILD=$ROOT/$BUILD ;; esac
if [ -z "$into" ]; then
    # Readable where it can be, and apart from all others: no two names give one folder.
    harmless=$(printf '%s' "$student" | LC_ALL=C tr -c 'A-Za-z0-9' _ | cut -c 1-40)
    into=$BUILD/grade/$lesson${N:+-$N}/$harmless-$(printf '%s' "$student" | cksum | cut -d ' ' -f 1)
fi
case $into in /*) ;; *) into=$PWD/$into ;; esac
rm -f "$into/result" "$into/log"
mkdir -p "$into" "$BUILD/tmp" 2>/dev/null || refuse "$into cannot be made"
WORK=$(mktemp -d "$BUILD/tmp/grade.XXXXXX")
# shellcheck disable=SC2034 # for judge.sh
SEED=${FRESH:-$student $lesson} STOP=''
# shellcheck disable=SC1091
. "$ROOT/tools/judge.sh"
exec 3>&1 4>&2 >"$WORK/words" 2>&1
# Whatever ends this early is no verdict. Programs and outputs are large, and can be made again.
ended() {
    [ -e "$into/result" ] || cat "$WORK/words" >&4
    [ -n "${KEEP:-}" ] || rm -rf "$WORK"
    [ -e "$into/result" ] || exit 2
}
trap ended EXIT

# ---- What is found: lines into rows ---------------------------------------------------------------
#   row|KEY|yes, no or -|WORDS     and after it, for each reason why its points are lost,
#   on|INPUT|REASON
#   note|WORDS                     for the end of the report

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
    if [ $# -gt 3 ]; then reasons=$4; else new_failures; fi
    echo "row|$1|$2|$3"
    [ -z "$reasons" ] || printf '%s\n' "$reasons" | sed 's/^/on|/'
}

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
    if [ "$mine" = "$theirs" ]; then echo "note|between the builds: $mine, as in the lesson's program"
    else echo "note|between the builds: $mine; in the lesson's program: $theirs"; fi
}
# gate_calls FILE: its calls of gate(), each with its line's number and without blanks.
gate_calls() {
    LC_ALL=C awk '
        !call && /(^|[^A-Za-z0-9_])gate *\(/ && !/void gate/ { call = 1; line = NR; text = "" }
        call { text = text $0 }
        call && /;/ { gsub(/[ \t\r]/, "", text); print line, text; call = 0 }' "$1"
}
# A gate of what does not come from the device fails under no flaw, so `gate(true, ...)` in its place costs no points.
# It is another text: somebody should look at it.
other_gates() {
    gate_calls "$ROOT/$LESSON/$PROGRAM.cu" | cut -d ' ' -f 2- >"$WORK/gates"
    # shellcheck disable=SC2154 # set by judge.sh
    gate_calls "$submission" | awk '
        FNR == NR { known[$0]; next }
        { line = $1; sub(/^[0-9]+ /, "") } !($0 in known) { lines = lines (lines == "" ? "" : ", ") line; if (++n == 20) exit }
        END { if (lines != "") print "note|calls of gate() that the lesson does not have, to be looked at by hand: line " lines }' "$WORK/gates" -
}
flawed_checks() {
    local flags=() flaw
    read -ra flags <<<"$(fresh_flags)"
    for flaw in $(flaws); do same_gates flawed ${flags[@]+"${flags[@]}"} -- WATCH_FLAW="$flaw" || return 1; done
    flawed_at_lesson_size
}
grade_source() {
    local flags=() fresh=() work='' key compiles=no gates=yes values=yes in_fresh=no flawed=no
    read -ra flags <<<"$(lesson_flags)"
    read -ra fresh <<<"$(fresh_flags)"
    if build_submission ${flags[@]+"${flags[@]}"}; then compiles=yes; fi
    row compiles $compiles "both builds"
    if [ $compiles = no ]; then
        for key in gates values fresh flawed; do row $key - "could not be asked"; done
        return
    fi
    same_gates lesson || gates=no
    new_failures; gates_reasons=$reasons
    same_values lesson || values=no
    new_failures; values_reasons=$reasons
    if same fresh ${fresh[@]+"${fresh[@]}"}; then in_fresh=yes; fi
    new_failures; fresh_reasons=$reasons
    if flawed_checks; then flawed=yes; fi
    new_failures; flawed_reasons=$reasons
    # What is right for the known input alone, and does not mind a flaw of the device, is no computation.
    if [ $in_fresh = no ] && [ $flawed = no ] && [ $gates$values != nono ]; then
        work=', but right for the known input alone: not counted'
        gates=no values=no
    fi
    row gates $gates "at the lesson's size$work" "$gates_reasons"
    row values $values "at the lesson's size, against the lesson's program$work" "$values_reasons"
    row fresh $in_fresh "the whole output for the input that was not announced" "$fresh_reasons"
    row flawed $flawed "on a device with a flaw the gates fail that must" "$flawed_reasons"
    between_builds
    other_gates
}
grade_output() {
    local verdict status=0 contraction right=yes
    verdict=$("$BUILD/tools/match" --lesson "$lesson" "$ROOT/expected_output" "$SRC" 2>&1) || status=$?
    if [ $status -ne 0 ]; then
        right=no
        fail "the output" "$(printf '%s\n' "$verdict" | first_difference | cut -c 1-300 | grep . || printf '%s' "$verdict" | head -n 1)" || true
    else
        for contraction in fused separate; do
            tr -d '\r' <"$SRC" | awk -v program="$lesson/$PROGRAM" -v want="$contraction" '
                $1 == "program:" { is = $2 == program } is && $1 == "contraction:" && $2 == want { found = 1 } END { exit !found }' ||
                { right=no; fail "the output" "has no output of $PROGRAM with $contraction device code" || true; }
        done
    fi
    row output $right "an output only, which proves no work"
}
grade_exercise() {
    local right=yes
    # shellcheck source=/dev/null
    . "$CHECKS/check.sh" || true
    ! failed || right=no
    row "$N" $right "the exercise's own checks"
}

input=-
if [ "$handed" = source ] || [ -n "$N" ]; then input=$(fresh_words); fi
if [ -z "$again" ]; then
    rm -f "$into/rows"
    {
        if [ -n "$N" ]; then grade_exercise; elif [ "$handed" = output ]; then grade_output; else grade_source; fi
        echo "sandbox|$CONFINED_BY"
    } >"$into/rows.$$"
    mv "$into/rows.$$" "$into/rows"
fi

# ---- The report ----------------------------------------------------------------------------------

one_line() { printf '%s' "$1" | LC_ALL=C tr '\000-\037\177' '?'; }
found() { sed -n "s/^row|$1|\([a-z-]*\)|.*/\1/p" "$into/rows" | grep . || echo -; }
sandbox=$(sed -n 's/^sandbox|//p' "$into/rows")
reason=$(sed -n 's/^on|//p' "$into/rows" | head -n 1 | sed 's/|/: /')
total=0 max=0
{
    printf 'student: %s\nlesson: %s%s\nfile: %s\nsandbox: %s\n' "$(one_line "$student")" "$lesson" "${N:+, exercise $N}" "$(one_line "$SRC")" "$sandbox"
    [ "$input" = - ] || echo "input that was not announced: $input"
    echo
    while IFS='|' read -r what first second third; do
        case $what in
        row)
            of=$(points "$(key_of "$first")") got=0
            [ "$second" != yes ] || got=$of
            total=$((total + got)) max=$((max + of))
            printf '%-10s %-4s %4d of %-4d %s\n' "$first" "$second" "$got" "$of" "$third"
            ;;
        on) printf '           on %s:\n             %s\n' "$first" "$second${third:+|$third}" ;;
        note) echo "$first" ;;
        esac
    done <"$into/rows"
    verdict=passed
    [ "$total" -eq "$max" ] || verdict=failed
    [ "$handed" != output ] || [ -n "$N" ] || verdict='output only, proves no work'
    printf '\n%d of %d points; %s\n' "$total" "$max" "$verdict"
    [ "$sandbox" = bubblewrap ] || echo "There was no sandbox ($sandbox): what was handed in ran with the grader's own rights."
} >"$into/log.$$"
printf '%s %s\n' student "$(one_line "$student")" lesson "$lesson" exercise "${N:--}" file "$(one_line "$SRC")" points "$total" max "$max" \
    sandbox "$sandbox" input "$input" compiles "$(found compiles)" gates "$(found gates)" values "$(found values)" fresh "$(found fresh)" \
    flawed "$(found flawed)" exercise_passed "$(found "${N:-none}")" output "$(found output)" verdict "$verdict" \
    reason "$(one_line "$reason")" >"$into/result.$$"
mv "$into/log.$$" "$into/log"
mv "$into/result.$$" "$into/result"
cat "$into/log" >&3
[ "$total" -eq "$max" ]
