# shellcheck shell=bash
# Judges what was handed in by what it does, never by what it says of itself. Sourced by tools/exercise.sh,
# tools/grade.sh and the checks of exercises (tests/exercises/NAME/check.sh). All runs are on the CPU default.
#
# Set before: N (of the exercise, may be empty), LESSON, PROGRAM (without folder and .cu), SRC (what was handed in),
#   WORK (an empty folder), SEED (any text), CHECKS (folder of check.sh); and what the Makefile exports.
#   STOP=1: after the first failure nothing more is tried, as for a student.
#
# The functions print nothing when all is well. Each returns 1 when its check failed, which `fail` has noted.
#   fail INPUT REASON          adds a line `INPUT|REASON` to WORK/failures
#   failed                     is there a failure?
#   no_answer INPUT REASON     as fail, of what cannot be an answer at all
#   same CASE FLAGS... [-- NAME=VALUE...]       SRC and the reference, both builds with FLAGS, run with that
#                              environment: status and whole output are compared, free fields aside
#   same_gates CASE FLAGS... [-- NAME=VALUE...] status and gate lines alone
#   same_values CASE FLAGS... [-- NAME=VALUE...] all other lines
#   fresh_flags, fresh_words   the parameters of the unannounced input that SEED gives, as flags and in words
#   flaws                      the flaws of the device (watched_device.c) that this program's gates see
#   standard                   the three cases: lesson, fresh, flawed
#   harness FILE.cu CASE FLAGS... [-- ARGS...]  FILE has the line `#include SUBMISSION`; separate build, or the build
#                              HARNESS_BUILD. Right: status 0, from `return checkIsDone();` (check_is_done.h);
#                              1: its first line of stdout is INPUT|REASON
#   sanitized KIND CASE FLAGS... SRC with SANITIZE=KIND (address, thread, undefined), separate build: a report fails
#                              (HARNESS=FILE.cu: that file, with its line `#include SUBMISSION`, in place of SRC)
#   submission_output BUILD FLAGS... [-- NAME=VALUE...]  runs SRC; prints the path of its output (.err, .status beside)
#   reference_output BUILD FLAGS... [-- NAME=VALUE...]   the same for the lesson's program; kept in BUILD/reference
#   judged_builds              `fmad nofmad`, what of these there is on this CPU, or JUDGED_BUILDS
#   answer QUESTION            what SRC, an answer file, has after `QUESTION:`; answer_number QUESTION: as a plain
#                              number; answer_word QUESTION WORD...: one of these
# CASE `lesson` and `fresh` are said in words; `flawed` is `fresh` on a device with a flaw; any other is shown as it is.
# WATCH_LOG=FILE in an environment: FILE gets the log of the submission's run.

DEVICE=cpu
case $BUILD in /*) ;; *) BUILD=$ROOT/$BUILD ;; esac
export DEVICE BUILD
CONFINED_BY=${CONFINED_BY:-$(bash "$ROOT/tools/confine.sh" --which)}
export CONFINED_BY
references=$BUILD/reference
compile_seconds=${COMPILE_SECONDS:-10} run_seconds=${RUN_SECONDS:-20}
# Of processor time; what waits, for a busy machine or for nothing, has more by the clock.
confined_compile=(--cpu "$compile_seconds" --time $((8 * compile_seconds)) --memory 2048 --output 64 --processes 16)
confined_run=(--cpu "$run_seconds" --time $((4 * run_seconds)) --memory 2048 --output 2 --processes 32)
# One thread for each of so many cores, whatever the machine: 64 of them would need 5 GiB of stacks.
workers=2

judged_builds() {
    if [ -n "${JUDGED_BUILDS:-}" ]; then echo "$JUDGED_BUILDS"
    elif [ "${FMA:-yes}" = yes ]; then echo fmad nofmad
    else echo nofmad; fi
}

fail() {
    # In the C locale no byte is too strange for sed; a control character must not reach a terminal.
    printf '%s|%s\n' "$1" "$2" | LC_ALL=C tr -d '\000-\010\013-\037\177' >>"$WORK/failures"
    return 1
}
failed() { [ -s "$WORK/failures" ]; }
# An empty form, or a word where a number is asked for, was no try: exercise.sh opens no hint for it.
no_answer() {
    failed || : >"$WORK/no_answer"
    fail "$@"
}
# After a failure that says all, or for a student after any, nothing more is tried.
stopped() { [ -e "$WORK/hopeless" ] || { [ -n "${STOP:-}" ] && failed; }; }

short_sum() { cksum | cut -d ' ' -f 1,2 | tr ' ' -; }

# ---- Building ------------------------------------------------------------------------------------

# What decides a reference's bits and output besides its flags.
judge_identity() {
    [ -n "${identity:-}" ] || identity=$({
        echo "$CXX $HOST_FLAGS ${MFMA:-} $workers"
        cat "$ROOT/$LESSON/$PROGRAM.cu" "$ROOT/tools/compile.sh" "$BUILD"/cpu/watched/*.o "$BUILD/tools/cu_rewrite"
    } | short_sum)
    printf '%s' "$identity"
}
openmp_flags() { if [ "$LESSON-${OPENMP:-}-${SANITIZE:-}" = canonical_tree-yes- ]; then echo -fopenmp; fi; }
# Bits are the same at each level at which products and sums are fused (g++: not at -O1); -O2 builds sooner than -O3.
judged_host_flags() { echo "${JUDGE_HOST_FLAGS:-${HOST_FLAGS/-O3/-O2}}"; }

# The submission in a folder of its own, under a name without surprises: what else lies beside it is not read.
take_submission() {
    submission=$WORK/submission/$PROGRAM.cu
    [ ! -e "$submission" ] || return 0
    mkdir -p "$WORK/submission"
    cp -- "$SRC" "$submission" && chmod u+rw "$submission"
}
# The student's own name of the file in a compiler's message, for our copy's.
own_names() {
    local name
    name=$(printf '%s' "${SRC##*/}" | sed 's/[&|\\]/\\&/g')
    LC_ALL=C sed "s|$WORK/submission/$PROGRAM\\.cu|$name|g; s|$WORK/||g; s|$ROOT/||g"
}
first_error() { own_names <"$1" | grep -v "^collect2" | grep -E -m 1 "(error|undefined reference|cu_rewrite:|:[0-9]+: )" | cut -c 1-300; }

# confined_build SOURCE OUT BUILD FLAGS...: no word on stdout; the compiler's are in OUT.log.
confined_build() {
    local source=$1 out=$2 build=$3 status=0 compiler
    shift 3
    compiler=$(command -v "${CXX%% *}")
    bash "$ROOT/tools/confine.sh" "${confined_compile[@]}" --read "$ROOT/cpu" --read "$ROOT/tools" --read "$BUILD/tools" \
        --read "${RUNTIME:-$BUILD/cpu/watched}" --read "$(dirname "$compiler")" ${CHECKS:+--read "$CHECKS"} --write "$WORK" \
        --set DEVICE=cpu --set BUILD="$BUILD" --set CXX="$CXX" --set MFMA="${MFMA:-}" --set HOST_FLAGS="$(judged_host_flags)" \
        --set RUNTIME="${RUNTIME:-$BUILD/cpu/watched}" --set SANITIZE="${SANITIZE:-}" \
        -- bash "$ROOT/tools/compile.sh" "$source" "$out" "$build" "$@" >"$out.log" 2>&1 || status=$?
    echo "$status" >"$out.compiled"
}
# Files that OUT was built from and that it has no business with: neither the system's nor the course's own nor its own.
strange_files() {
    # As make wants it: a blank in a name has a backslash before it.
    sed -e 's|\\ |\x01|g' "$1.d" | tr ' ' '\n' | sed -n -e 's|\x01| |g' -e '/^\//s|:$||p' | sort -u | while IFS= read -r file; do
        case $file in
        "$WORK"/* | "$ROOT"/cpu/* | "$1") ;;
        "$ROOT"/*) [ -n "${CHECKS:-}" ] && [ "${file#"$CHECKS"/}" != "$file" ] || echo "$file" ;;
        /usr/* | /lib/* | /opt/* | /nix/store/*) ;;
        *) echo "$file" ;;
        esac
    done
}
# built OUT INPUT: was it built, of the right files? Else the failure.
built() {
    local status file
    status=$(cat "$1.compiled")
    if [ "$status" -ne 0 ]; then
        : >"$WORK/hopeless"
        case $status in
        122 | 123 | 124 | 125 | 152 | 153) fail "$2" "the compiler $(in_words "$status" compile)" ;;
        *)
            if grep -qE "CPU time limit exceeded|SIGXCPU" "$1.log"; then
                fail "$2" "the compiler $(in_words 152 compile)"
            elif grep -qE 'out of memory|virtual memory exhausted|bad_alloc|cannot allocate' "$1.log"; then
                fail "$2" "the compiler needed more than 2048 MiB"
            else
                fail "$2" "does not compile: $(first_error "$1.log" | grep . || echo "status $status")"
            fi
            ;;
        esac
        return 1
    fi
    file=$(strange_files "$1" | head -n 1)
    if [ -n "$file" ]; then
        : >"$WORK/hopeless"
        fail "$2" "includes $file: only the system's headers can be included"
    fi
}

# build_submission FLAGS...: all builds at once; sets binary, to which .BUILD is to be added.
build_submission() {
    local build
    take_submission || return 1
    binary=$WORK/bin.$(printf '%s ' "$@" | short_sum)
    for build in $(judged_builds); do
        # shellcheck disable=SC2046
        [ -e "$binary.$build.compiled" ] || confined_build "$submission" "$binary.$build" "$build" $(openmp_flags) "$@" &
    done
    wait
    for build in $(judged_builds); do built "$binary.$build" "build $build" || return 1; done
}

# build_reference FLAGS...: sets binary; those that are there already are taken.
build_reference() {
    local build
    binary=$references/$PROGRAM-$(judge_identity)-$(printf '%s ' "$@" "$(judged_host_flags)" | short_sum)
    mkdir -p "$references"
    for build in $(judged_builds); do
        [ ! -x "$binary.$build" ] || continue
        (
            # Two at once, jobs of one shell too, each write a file of their own, and move it when it is whole.
            new=$(mktemp "$binary.$build.XXXXXX")
            # shellcheck disable=SC2046
            HOST_FLAGS=$(judged_host_flags) RUNTIME=$BUILD/cpu/watched SANITIZE='' bash "$ROOT/tools/compile.sh" \
                "$ROOT/$LESSON/$PROGRAM.cu" "$new" "$build" $(openmp_flags) "$@" >"$new.log" 2>&1 &&
                mv "$new" "$binary.$build"
            rm -f "$new" "$new".*
        ) &
    done
    wait
    for build in $(judged_builds); do
        [ -x "$binary.$build" ] || { echo "judge: the lesson's own $PROGRAM does not build: $*" >&2; exit 2; }
    done
}

# ---- Running -------------------------------------------------------------------------------------

# What a status means. Which of the two clocks was first depends on how busy the machine is.
in_words() { # STATUS compile|run
    local seconds=$run_seconds limits=("${confined_run[@]}")
    [ "$2" = run ] || { seconds=$compile_seconds limits=("${confined_compile[@]}"); }
    case $1 in
    124 | 152) echo "did not end in time ($seconds s of a processor)" ;;
    *) bash "$ROOT/tools/confine.sh" --say "$1" "${limits[@]}" ;;
    esac
}

# Splits "FLAGS... -- REST..." into flags and rest.
split_arguments() {
    flags=() rest=()
    while [ $# -gt 0 ] && [ "$1" != -- ]; do flags+=("$1"); shift; done
    [ $# -eq 0 ] || shift
    rest=("$@")
}

# run_reference BUILD NAME=VALUE...: of $binary. Sets output; .status and .err beside it.
run_reference() {
    local build=$1 status=0 setting new
    shift
    output=$binary.$build
    for setting in "$@"; do
        # A log is the submission's alone.
        case $setting in WATCH_LOG=*) ;; *) output=$output.$(printf '%s' "$setting" | tr -c 'A-Za-z0-9=\n' _) ;; esac
    done
    output=$output.out
    [ ! -e "$output" ] || return 0
    new=$(mktemp "$output.XXXXXX") # another job may run it, too
    env "$@" WATCH_LOG='' CUDA_CPU_WORKERS=$workers timeout 100 "$binary.$build" >"$new.out" 2>"$new.err" || status=$?
    echo "$status" >"$new.status"
    mv "$new.err" "$output.err"
    mv "$new.status" "$output.status"
    mv "$new.out" "$output"
    rm "$new"
}

# run_submission PROGRAM OUTPUT NAME=VALUE... [-- ARGS...]
run_submission() {
    local program=$1 out=$2 status=0 more=()
    # What a harness says at its end, beside it.
    [ -z "${word_file:-}" ] || more+=(--copy "$word_file")
    shift 2
    while [ $# -gt 0 ] && [ "$1" != -- ]; do
        more+=(--set "$1")
        case $1 in WATCH_LOG=*) : >"${1#*=}"; more+=(--write "${1#*=}") ;; esac
        shift
    done
    [ $# -eq 0 ] || shift
    # A harness sets other limits.
    bash "$ROOT/tools/confine.sh" "${confined_run[@]}" --copy "$program" ${more[@]+"${more[@]}"} --set CUDA_CPU_WORKERS=$workers \
        -- "./${program##*/}" "$@" >"$out" 2>"$out.err" || status=$?
    echo "$status" >"$out.status"
}
submission_output() {
    local build=$1 flags rest binary output
    shift
    split_arguments "$@"
    stopped && return 1
    build_submission ${flags[@]+"${flags[@]}"} || return 1
    output=$binary.$build.$(printf '%s ' ${rest[@]+"${rest[@]}"} | short_sum).out
    [ -e "$output" ] || run_submission "$binary.$build" "$output" ${rest[@]+"${rest[@]}"}
    echo "$output"
}
reference_output() {
    local build=$1 flags rest binary output
    shift
    split_arguments "$@"
    build_reference ${flags[@]+"${flags[@]}"}
    run_reference "$build" ${rest[@]+"${rest[@]}"}
    echo "$output"
}

# ---- Comparing -----------------------------------------------------------------------------------

# A reference's output as match expects it: what may differ from run to run is a free field.
template() {
    sed -E -e 's/^(device: ).*/\1{text}/' \
        -e 's/^(sumSquares(Kahan)?Atomic +[0-9]+ +)[0-9]+ +0x[0-9a-f]{8} +[^ ]+ +0x[0-9a-f]{16}/\1{count} {bits} {number} {hash}/' \
        -e 's/^(.* [0-9]+\+[0-9]+ +)[0-9.]+ +1\.000x/\1{time} 1.000x/;t' \
        -e 's/^(.* [0-9]+\+[0-9]+ +)[0-9.]+ +[0-9.]+x/\1{time} {number}x/' \
        -e 's/ is [0-9.]+ times as (fast|slow) / is {number} times as \1 /' \
        -e 's/^(omp reduction, ([2-9]|[0-9]{2,}) asked +)[0-9]+ +0x[0-9a-f]{8}/\1{count} {bits}/' \
        -e 's/^(host, [0-9]+ asked +)[0-9]+ /\1{count} /' "$1"
}
gate_lines() { grep -a '^gate' "$1" | sed 's/  */ /g' || true; }

# The first line of the head, of those that name an output, that is not the reference's.
head_difference() {
    local key mine theirs
    for key in program revision contraction type n; do
        mine=$(grep -a -m 1 "^$key: " "$1" | cut -c 1-100 || true) theirs=$(grep -a -m 1 "^$key: " "$2" || true)
        [ "$mine" = "$theirs" ] || { echo "its head has '${mine:-no line $key:}', not '$theirs'"; return; }
    done
}

# Of match's report: the first place that differs, the first line there of either side; or why it did not compare.
first_difference() {
    LC_ALL=C awk '
        sub(/^match: ([^:]*: )?/, "output: ") { print; told = 1; exit }
        /^line / && ++place > 1 { exit }
        sub(/^  expected: +/, "") && expected == "" { expected = $0 }
        sub(/^  found: +/, "") && found == "" { found = $0 }
        END {
            if (told || expected found == "") exit
            print "expected: " (expected == "" ? "no such line" : expected) "; found: " (found == "" ? "no such line" : found)
        }'
}

# compare SUBMISSION'S REFERENCE'S all|gates|values INPUT
compare() {
    local out=$1 want=$2 what=$3 input=$4 status want_status line gates
    status=$(cat "$out.status") want_status=$(cat "$want.status")
    case $status in 122 | 123 | 124 | 125 | 152 | 153) : >"$WORK/hopeless" ;; esac
    if [ "$status" -gt 2 ]; then
        line=$(head -n 1 "$out.err" | cut -c 1-200)
        fail "$input" "$(in_words "$status" run)${line:+: $line}"
        return 1
    fi
    if [ ! -s "$out" ]; then
        line=$(head -n 1 "$out.err" | cut -c 1-200)
        fail "$input" "printed nothing and ended with status $status${line:+: $line}"
        return 1
    fi
    gate_lines "$out" >"$out.gates"
    gate_lines "$want" >"$out.wanted"
    # The first gate that is not as it must be: failed, passed where it must fail, missing or not asked for.
    line=$(diff "$out.wanted" "$out.gates" | awk '
        function name(line) { sub(/^gate: /, "", line); sub(/ (passed|FAILED)$/, "", line); return line }
        /^[<>] gate: / { side = substr($0, 1, 1); text = substr($0, 3); verdict[side, name(text)] = $NF; if (!(name(text) in seen)) { seen[name(text)] = 1; order[++n] = name(text) } }
        END {
            for (i = 1; i <= n; i++) {
                w = verdict["<", order[i]]; f = verdict[">", order[i]]
                if (w == f) continue
                if (f == "") print "the gate is not there: " order[i]
                else if (w == "") print "a gate that the lesson does not have: " order[i]
                else if (f == "FAILED") print "gate failed: " order[i]
                else print "the gate passes and should fail: " order[i]
                exit
            }
        }')
    if [ -n "$line" ] && [ "$what" != values ]; then
        case $line in "gate failed: "*) line="$(grep -aF -m 1 -- "$line: " "$out.err" | cut -c 1-200 | grep . || echo "$line")" ;; esac
        fail "$input" "$line"
        return 1
    fi
    if [ "$what" != gates ]; then
        line=$(head_difference "$out" "$want")
        [ -z "$line" ] || { fail "$input" "$line"; return 1; }
        mkdir -p "$out.expected"
        if [ "$what" = values ]; then gates='^gate' ; else gates='^$ never'; fi
        template "$want" | grep -av "$gates" >"$out.expected/wanted.txt" || true
        grep -av "$gates" "$out" >"$out.judged" || true
        if ! line=$("$BUILD/tools/match" "$out.expected" "$out.judged" 2>&1); then
            line=$(printf '%s\n' "$line" | first_difference)
            fail "$input" "${line:-the output is another one}"
            return 1
        fi
    elif ! cmp -s "$out.wanted" "$out.gates"; then
        fail "$input" "the lines of the gates are others: $(diff "$out.wanted" "$out.gates" | grep -m 1 '^[<>]')"
        return 1
    fi
    # A failed gate is another row than the values.
    if [ "$status" -ne "$want_status" ] && ! { [ "$what" = values ] && [ "$status" -le 1 ]; }; then
        fail "$input" "ended with status $status, not $want_status"
        return 1
    fi
}

words_of() { # CASE FLAW
    case $1 in
    lesson) echo "the lesson's own input${2:+, on a device with a flaw ($2)}" ;;
    fresh) fresh_words ;;
    flawed) echo "$(fresh_words), on a device with a flaw ($2)" ;;
    *) echo "$1" ;;
    esac
}

same() { compared all "$@"; }
same_gates() { compared gates "$@"; }
same_values() { compared values "$@"; }
compared() { # all|gates|values CASE FLAGS... [-- NAME=VALUE...]
    local what=$1 word=$2 flags rest binary output build theirs input flaw='' setting status=0 file
    shift 2
    stopped && return 1
    split_arguments "$@"
    if [ "$word" = lesson ] && [ ${#flags[@]} -eq 0 ]; then read -ra flags <<<"$(lesson_flags)"; fi
    for setting in ${rest[@]+"${rest[@]}"}; do case $setting in WATCH_FLAW=*) flaw=${setting#*=} ;; esac; done
    input=$(words_of "$word" "$flaw")
    build_submission ${flags[@]+"${flags[@]}"} || return 1
    theirs=$binary
    file=$(printf '%s ' ${rest[@]+"${rest[@]}"} | short_sum)
    build_reference ${flags[@]+"${flags[@]}"}
    for build in $(judged_builds); do
        {
            [ -e "$theirs.$build.$file.out" ] || run_submission "$theirs.$build" "$theirs.$build.$file.out" ${rest[@]+"${rest[@]}"}
            run_reference "$build" ${rest[@]+"${rest[@]}"}
        } &
    done
    wait
    for build in $(judged_builds); do
        run_reference "$build" ${rest[@]+"${rest[@]}"} # there by now: sets output
        compare "$theirs.$build.$file.out" "$output" "$what" "$input, build $build" || { status=1; break; }
    done
    return $status
}

# ---- The input that was not announced ------------------------------------------------------------

# One of 16 inputs a program, so that most references of a class of students are there already. SALT, any word,
# gives 16 others.
input_class() { echo $(($(printf '%s' "${SEED:-}" | cksum | cut -d ' ' -f 1) % 16)); }
# fresh_number I LOW HIGH: the I-th number of this seed's class.
fresh_number() {
    local sum
    sum=$(printf '%s|%s|%s' "$1 $(input_class)" "${SALT:-}" "$PROGRAM" | cksum | cut -d ' ' -f 1)
    echo $(($2 + sum % ($3 - $2 + 1)))
}
fresh_flags() {
    local types=(float_pair_low float_pair_mid float_pair_high double_pair)
    case $PROGRAM in
    # 16 samples per thread at least, or Kahan's gate would not be there.
    reproducibility) echo "-DELEMENTS=$(fresh_number 1 400000 700000) -DBLOCKS=$(fresh_number 2 40 90) -DRUNS=$(fresh_number 3 3 7)" ;;
    precision_reduction) echo "-DPARTIAL_BLOCK=$(fresh_number 1 258 900) -DMANY_TENTHS=$(fresh_number 2 200000 900000)" ;;
    fpmp_pi) echo "-DPI_LOG2_TERMS=$(fresh_number 1 17 21) -DPI_FP_T=${types[$(fresh_number 2 0 3)]}" ;;
    fpmp_tour) ;;
    *) echo "-DELEMENTS=$(fresh_number 1 60000 400000)" ;;
    esac
}
fresh_words() {
    local flags
    read -ra flags <<<"$(fresh_flags)"
    case $PROGRAM in
    reproducibility) echo "n = ${flags[0]#*=}, ${flags[1]#*=} blocks, ${flags[2]#*=} runs" ;;
    precision_reduction) echo "n = ${flags[0]#*=} and ${flags[1]#*=}" ;;
    fpmp_pi) echo "2^${flags[0]#*=} terms, ${flags[1]#*=}" ;;
    fpmp_tour) echo "the lesson's own input" ;;
    *) echo "n = ${flags[0]#*=}" ;;
    esac
}
# CASE `lesson` without flags has these: a hundred runs say no more than ten, and take ten times as long.
lesson_flags() { case $PROGRAM in reproducibility) echo -DRUNS=10 ;; esac; }
# Each gate that depends on what comes from the device fails under one of these at least, alone or among few.
flaws() {
    case $PROGRAM in
    reproducibility) echo bit partial close far nan ;;
    precision_reduction) echo near one nan ;;
    fpmp_pi) echo bit low nan clock ;;
    *) echo bit one nan ;;
    esac
}
# The same at the lesson's own size: it alone has gates of the digits and of a pinned hash, and the tolerance that a
# flaw passes by half. One build, for it may take seconds.
lesson_flaws() { case $PROGRAM in fpmp_pi) echo blank flat ;; precision_reduction) echo every near ;; esac; }
# The flags with them. fpmp_pi's limits for the digits of every type: nothing is computed under its two flaws.
lesson_flaw_flags() {
    case $PROGRAM in
    fpmp_pi) echo '-O0 -DPI_FP_TYPES(row)=row(float_pair_low)row(float_pair_mid)row(float_pair_high)row(double_pair)' ;;
    *) lesson_flags ;;
    esac
}
flawed_at_lesson_size() {
    local flags flaw
    read -ra flags <<<"$(lesson_flaw_flags)"
    for flaw in $(lesson_flaws); do
        JUDGED_BUILDS=nofmad same_gates lesson ${flags[@]+"${flags[@]}"} -- WATCH_FLAW="$flaw" || return 1
    done
}
standard() {
    local flags flaw
    read -ra flags <<<"$(fresh_flags)"
    same lesson || true
    same fresh ${flags[@]+"${flags[@]}"} || true
    for flaw in $(flaws); do
        same_gates flawed ${flags[@]+"${flags[@]}"} -- WATCH_FLAW="$flaw" || break
    done
    flawed_at_lesson_size || true
    ! failed
}

# ---- Harnesses, sanitizers, answers --------------------------------------------------------------

# harness_source FILE OUT: FILE with the submission in it. The rewriter follows an #include of a name, not of a macro.
# The line numbers are FILE's.
harness_source() {
    cp "$ROOT/tools/check_is_done.h" "$WORK/"
    sed "s|^ *# *include  *SUBMISSION *\$|#include \"$submission\"|" "$1" >"$2"
}
# new_word RUN: a fresh word for a run of a harness, in the file word_file.
new_word() {
    word_file=$WORK/word.$1/word
    mkdir -p "$WORK/word.$1"
    od -An -N 16 -tx4 /dev/urandom | tr -d ' \n' >"$word_file"
}
# harness_ended OUT INPUT: what the run of a harness says. With status 0 its main must have said the word: a submission
# that ends the program, or a constructor of its own, does not know it.
harness_ended() {
    local status line
    status=$(cat "$1.status")
    line=$(head -n 1 "$1" | cut -c 1-400)
    case $status in
    0) grep -aqxF -- "$(cat "$word_file")" "$1" || fail "$2" "ended with status 0 before the check was done" ;;
    1)
        case $line in
        *'|'*) fail "${line%%|*}" "${line#*|}" ;;
        *) fail "$2" "ended with status 1${line:+: $line}" ;;
        esac
        ;;
    *) fail "$2" "$(in_words "$status" run): $(head -n 1 "$1.err" | cut -c 1-200)" ;;
    esac
}

harness() {
    local file=$1 word=$2 flags rest out word_file build=${HARNESS_BUILD:-nofmad}
    shift 2
    stopped && return 1
    split_arguments "$@"
    take_submission || return 1
    out=$WORK/harness.$(basename "$file" .cu).$build.$(printf '%s ' ${flags[@]+"${flags[@]}"} | short_sum)
    if [ ! -e "$out.compiled" ]; then
        harness_source "$file" "$out.cu"
        # shellcheck disable=SC2046
        confined_build "$out.cu" "$out" "$build" $(openmp_flags) -iquote "$(dirname "$file")" "-DSUBMISSION=\"$submission\"" ${flags[@]+"${flags[@]}"}
    fi
    built "$out" "build $build with the checker's main" || return 1
    new_word "${out##*/}"
    run_submission "$out" "$out.out" -- ${rest[@]+"${rest[@]}"}
    harness_ended "$out.out" "$(words_of "$word" '')"
}

sanitized() {
    local kind=$1 word=$2 out runtime line status source word_file=''
    shift 2
    stopped && return 1
    take_submission || return 1
    runtime=$BUILD/cpu-$kind/cpu/runtime
    # Built once, and anew when the CPU default changed. The stamp is the last: another call may be building.
    if [ ! -e "$BUILD/cpu-$kind/built" ] || [ -n "$(find "$ROOT/cpu" -name '*.[ch]' -newer "$BUILD/cpu-$kind/built")" ]; then
        env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL "${MAKE:-make}" -s --no-print-directory -C "$ROOT" DEVICE=cpu BUILD="$BUILD/cpu-$kind" \
            SANITIZE="$kind" test-tools >"$WORK/runtime.log" 2>&1 || {
            cat "$WORK"/runtime.log >&2
            echo "judge: the CPU default does not build with SANITIZE=$kind" >&2
            exit 2
        }
        : >"$BUILD/cpu-$kind/built"
    fi
    out=$WORK/$kind.$(printf '%s ' "$@" "${HARNESS:-}" | short_sum)
    source=$submission
    if [ -n "${HARNESS:-}" ]; then
        source=$out.cu
        harness_source "$HARNESS" "$source"
        new_word "${out##*/}"
    fi
    SANITIZE=$kind RUNTIME=$runtime confined_build "$source" "$out" nofmad "$@"
    built "$out" "build nofmad with SANITIZE=$kind" || return 1
    # A sanitizer's shadow takes terabytes of addresses: memory has no limit here.
    confined_run+=(--memory 0)
    run_submission "$out" "$out.out" ASAN_OPTIONS=detect_leaks=0
    unset 'confined_run[${#confined_run[@]}-1]' 'confined_run[${#confined_run[@]}-1]'
    status=$(cat "$out.out.status")
    # ThreadSanitizer says in its last line what it found, and where in the student's file.
    line=$(grep -a -m 1 '^SUMMARY: ThreadSanitizer' "$out.out.err" | sed 's/^SUMMARY: ThreadSanitizer: //' | own_names | cut -c 1-300)
    [ -n "$line" ] || line=$(grep -aE -m 1 'ERROR: AddressSanitizer|WARNING: ThreadSanitizer|runtime error:|SUMMARY:' "$out.out.err" | sed 's/^==[0-9]*==//; s/ on address .*//' | own_names | cut -c 1-300)
    if [ -n "$line" ]; then
        fail "$(words_of "$word" ''), SANITIZE=$kind" "$line"
    elif [ -n "$word_file" ]; then
        harness_ended "$out.out" "$(words_of "$word" ''), SANITIZE=$kind"
    elif [ "$status" -gt 1 ]; then
        fail "$(words_of "$word" ''), SANITIZE=$kind" "$(in_words "$status" run): $(head -n 1 "$out.out.err" | cut -c 1-200)"
    fi
}

# The first line that begins with `QUESTION:`; blanks and a carriage return around it are nothing.
answer_line() {
    LC_ALL=C tr -d '\r\000' <"$SRC" | awk -v q="$1:" 'index($0, q) == 1 { print substr($0, length(q) + 1); exit }' |
        sed 's/^[[:space:]]*//; s/[[:space:]]*$//' | cut -c 1-100
}
answer() {
    local text
    text=$(answer_line "$1")
    [ -n "$text" ] || { no_answer "$1" "not answered"; return 1; }
    printf '%s\n' "$text"
}
answer_number() {
    local text
    text=$(answer "$1") || return 1
    text=$(printf '%s' "$text" | tr -d ", '_")
    if ! printf '%s\n' "$text" | grep -qE '^[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?$'; then
        no_answer "$1" "'$(answer_line "$1")' is no number"
        return 1
    fi
    printf '%s\n' "$text"
}
answer_word() {
    local question=$1 text word
    shift
    text=$(answer "$question") || return 1
    text=$(printf '%s' "$text" | tr '[:upper:]' '[:lower:]')
    for word in "$@"; do
        [ "$text" != "$word" ] || { printf '%s\n' "$word"; return 0; }
    done
    no_answer "$question" "'$(answer_line "$question")' is none of: $*"
}
