#!/usr/bin/env bash
# Plants the faults of tests/*/faults/*.patch one at a time and says whether each is caught.
#   tests/faults.sh [-j N] [PATCH ...]   a row per fault; status 0 if all were caught, 1 if one was not
#   FAULTS_PART=2/4 tests/faults.sh    every fourth of them, from the second on
#   tests/faults.sh --list               the list in tests/README.md
#   tests/faults.sh --uncovered          gates, static_asserts and refusals of the programs that no fault fails
# A patch starts with a sentence that says what is wrong, then has lines of these keys, then the diff:
#   expect: gate NAME           the program ends with 1, and this is the first gate that fails; a second
#                               line like this names a gate that fails later
#   expect: match TEXT          every gate passes, and match names the expected line that holds TEXT
#   expect: compile TEXT        the compiler stops with a message that holds TEXT
#   expect: status N TEXT       the program ends with N, and a line of its output holds TEXT
#   expect: sanitizer KIND TEXT built with SANITIZE=KIND (address, thread, undefined) it reports TEXT
#   expect: test FILE.bats NAME this test fails, and its report holds the text of the line `says:`
#   says: TEXT                  (for `test` alone, which must have it)
#   program: PATH               without .cu; default: the first .cu of the diff. build: fmad (default nofmad)
#   flags: -D...  args: ...  env: NAME=VALUE ...   for the compile, for the run
#   needs: cpu|gpu|large|fma|maps|bwrap|cccl|toolkit|cuda-13.0|openmp|clang ...     left out where that is not at hand
#   rebuild: PROGRAM ...        (`test`) programs to build anew, lessons' ones: day68_reproducibility/reproducibility
# Each fault is planted in a copy of the tree, so that nothing here changes.
set -euo pipefail

. "$(dirname "${BASH_SOURCE[0]}")/environment.sh"
cd "$ROOT"
PATH=$(outer_path)
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES DEFS LESSON LESSON_GIVEN OUTPUT TESTS V

# The lines of a key in a patch, and what stands before the diff without keys: what is wrong.
head_of() { sed '/^--- /,$d' "$1"; }
key() { head_of "$2" | sed -n "s/^$1: //p"; }
what_is_wrong() { head_of "$1" | grep -vE '^[a-z]+: |^diff |^index |^$' | tr '\n' ' ' | sed 's/ *$//'; }
program_of() {
    local given
    given=$(key program "$1")
    echo "${given:-$(sed -n 's|^+++ b/\(.*\)\.cu\(	.*\)\{0,1\}$|\1|p' "$1" | head -n 1)}"
}

missed() {
    echo "MISSED  $name: $1"
    told=yes
    [ ! -s "$dir/log" ] || sed 's/^/        /' "$dir/log" | tail -n 25
    exit 1
}
left_out() { echo "left out  $name: $1"; told=yes; exit 0; }
ended() {
    [ -n "$told" ] || echo "MISSED  $name: this script stopped at it"
    [ -n "${KEEP:-}" ] || rm -rf "$dir"
}

# Builds the program of the fault into $dir/program; the compiler's words are in $dir/log.
build_program() {
    local build flags=()
    build=$(key build "$patch")
    read -ra flags <<<"$(key flags "$patch") $(openmp_flag "$program")"
    sooner "${build:-nofmad}" bash "$dir/tree/tools/compile.sh" "$dir/tree/$program.cu" "$dir/program" "${build:-nofmad}" "${flags[@]}" \
        >"$dir/log" 2>&1
}
run_program() {
    local args=() settings=()
    read -ra args <<<"$(key args "$patch")"
    read -ra settings <<<"$(key env "$patch")"
    status=0
    # Out of a folder of its own: a program's message names the source as it was given to the compiler.
    env "${settings[@]}" timeout 120 "$dir/program" "${args[@]}" >"$dir/out" 2>"$dir/err" || status=$?
    cat "$dir/err" >"$dir/log"
}

expect_gate() {
    [ "$status" -eq 1 ] || missed "status $status, not 1"
    sed -n 's/^gate failed: //p' "$dir/err" >"$dir/failed"
    if [ "$1" = "$first_gate" ]; then
        head -n 1 "$dir/failed" | grep -qF -- "$1: " || missed "the first gate that fails is not '$1'"
    fi
    grep -qF -- "$1: " "$dir/failed" || missed "gate '$1' does not fail"
}
expect_match() {
    [ "$status" -eq 0 ] || missed "status $status: the gates do not pass"
    ! "$BUILD/tools/match" "$dir/tree/expected_output" "$dir/out" >"$dir/log" 2>&1 || missed "match sees no difference"
    grep '^  expected: ' "$dir/log" | grep -qF -- "$1" || missed "match does not name the line '$1'"
}
expect_test() { # FILE NAME
    local says
    says=$(key says "$patch")
    [ -n "$says" ] || missed "the patch has no line says:"
    [ -e "$dir/tree/build" ] || {
        copy_build "$dir/tree"
        local built programs=() not_asked=()
        key expect "$patch" | grep -q AArch64 || not_asked=(aarch64=) # its runtime takes a second for each fault
        for built in $(key rebuild "$patch"); do
            programs+=("build/$DEVICE/fmad/${built##*/}" "build/$DEVICE/nofmad/${built##*/}")
        done
        env -i PATH="$PATH" HOME="$HOME" ${ARCH:+ARCH="$ARCH"} \
            make -s -C "$dir/tree" DEVICE="$DEVICE" CXX="$CXX" CC="$CC" "${not_asked[@]}" test-tools \
            ${programs[@]+"${programs[@]}"} \
            >"$dir/log" 2>&1 || missed "the tree does not build"
    }
    status=0
    env -i PATH="$PATH" HOME="$HOME" ALL=1 BATS_LIB_PATH="${BATS_LIB_PATH:-}" TMPDIR="$dir" DEVICE="$DEVICE" \
        ${ARCH:+ARCH="$ARCH"} bats --filter "^$(quoted_pattern "$2")\$" "$dir/tree/tests/$1" \
        >"$dir/log" 2>&1 || status=$?
    [ "$status" -ne 0 ] || missed "the test passes: $1: $2"
    grep -qF -- "$says" "$dir/log" || missed "the report of the test does not hold '$says'"
}
expect_sanitizer() { # KIND TEXT
    export SANITIZE=$1 RUNTIME=$BUILD/cpu-$1/cpu/runtime
    build_program || missed "does not build"
    run_program
    cat "$dir/out" >>"$dir/log"
    [ "$status" -ne 0 ] || missed "status 0"
    grep -qF -- "$2" "$dir/err" || missed "no report of '$2'"
}

one() (
    patch=$1 name=${1#"$ROOT/"} dir=$work/${1##*/}.$$ told=''
    name=${name#tests/}
    mkdir -p "$dir"
    trap ended EXIT
    [ -n "$(what_is_wrong "$patch")" ] || missed "does not say what is wrong"
    [ -n "$(key expect "$patch")" ] || missed "has no line expect:"
    for need in $(key needs "$patch"); do
        case $need in
        cpu) [ "$DEVICE" = cpu ] || left_out "for DEVICE=cpu" ;;
        gpu) [ "$DEVICE" = gpu ] || left_out "for DEVICE=gpu" ;;
        fma) have_fma || left_out "this CPU has no FMA" ;;
        large) [ "$(card_mib)" -gt 18000 ] || left_out "for a card with 18,000 MiB" ;; # 17 GiB of samples
        maps) [ "$(cat /proc/sys/vm/max_map_count)" -lt 70000 ] || left_out "for a kernel with its usual limit of mappings" ;;
        bwrap) [ "$(bash tools/confine.sh --which)" = bubblewrap ] || left_out "no bubblewrap that works here" ;;
        openmp) [ "$OPENMP" = yes ] || left_out "no OpenMP" ;;
        toolkit) [ -e .toolkit/version ] || left_out "no toolkit (make toolkit)" ;;
        cuda-*)
            [ -e ".toolkits/${need#cuda-}/version" ] ||
                left_out "no CUDA ${need#cuda-} from PyPI (tests/toolchains.sh)"
            ;;
        nvcc) command -v "$NVCC" >/dev/null || left_out "no nvcc" ;;
        cccl) [ -e .cccl/version ] || left_out "no CCCL (make cccl)" ;;
        *) command -v "$need" >/dev/null || left_out "no $need" ;;
        esac
    done
    copy_tree "$dir/tree"
    for folder in .toolkit .toolkits; do # some 350 MB each, and no fault is in them
        [ ! -e $folder ] || ln -s "$ROOT/$folder" "$dir/tree/$folder"
    done
    (cd "$dir/tree" && patch -p1 -F0 -s -N --no-backup-if-mismatch -r - <"$patch") >"$dir/log" 2>&1 ||
        missed "the patch does not apply"
    program=$(program_of "$patch")
    first_gate=$(key expect "$patch" | sed -n 's/^gate //p' | head -n 1)
    if key expect "$patch" | grep -qE '^(gate|match|status) '; then
        build_program || missed "does not build"
        run_program
    fi
    while read -r kind text; do
        case $kind in
        gate) expect_gate "$text" ;;
        match) expect_match "$text" ;;
        status)
            [ "$status" -eq "${text%% *}" ] || missed "status $status"
            grep -qF -- "${text#* }" "$dir/out" "$dir/err" || missed "no line with '${text#* }'"
            ;;
        compile)
            ! build_program || missed "it builds"
            grep -qF -- "$text" "$dir/log" || missed "the compiler does not say '$text'"
            ;;
        test) expect_test "${text%% *}" "${text#* }" ;;
        sanitizer) expect_sanitizer "${text%% *}" "${text#* }" ;;
        *) missed "no such kind of expect: '$kind'" ;;
        esac
    done < <(key expect "$patch")
    told=yes
    echo "caught  $name: $(key expect "$patch" | head -n 1)"
)

patches() { find "$ROOT/tests" -path '*/faults/*.patch' | LC_ALL=C sort; }

list() {
    local folder
    for folder in "$ROOT"/tests/*/faults; do
        printf '\n### %s\n\n| fault | what is wrong | caught by |\n| --- | --- | --- |\n' "${folder#"$ROOT/tests/"}"
        (cd "$folder" && LC_ALL=C awk '
            function row() { if (name != "") print "| " name " | " wrong " | " expects " |" }
            FNR == 1 { row(); name = FILENAME; sub(/\.patch$/, "", name); wrong = expects = ""; head = 1 }
            /^--- / { head = 0 }
            head { gsub(/\|/, "\\|") }
            head && /^expect: / { expects = expects (expects == "" ? "" : "; ") substr($0, 9) }
            head && !/^([a-z]+: |diff |index |$)/ { wrong = wrong (wrong == "" ? "" : " ") $0 }
            END { row() }' ./*.patch | sed 's|^. \./|\| |')
    done
}

# Gates by name: those that a program prints when all is well, and those with a name in the source.
gates_of() { # PROGRAM
    local name=${1##*/}
    {
        sed -n 's/^gate: \(.*[^ ]\) *passed$/\1/p' expected_output/"$name"{,_nofmad}.txt
        perl -0777 -ne 'print "$1\n" while /\bgate\((?:[^;"]|\x27.\x27)*?,\s*"([^"]*)",\s*"/g' "$1.cu"
    } | LC_ALL=C sort -u
}
uncovered() {
    local program
    # As program_of and key say it, of all patches in one process: some hundreds of each take seconds.
    patches | tr '\n' '\0' | xargs -0 perl -ne '
        if (/^program: (.*)/ && !$diff) { $program = $1 }
        elsif (/^expect: (gate|compile) (.*)/ && !$diff && !$expects++) {
            ($kind, $what) = ($1 eq "gate" ? "gate" : "assert", $2);
        }
        elsif (/^expect: / && !$diff) { ++$expects }
        elsif (/^--- /) { $diff = 1 }
        elsif (/^\+\+\+ b\/(.*)\.cu(\t.*)?$/) { $program ||= $1 }
        if (eof) { print "$program: $kind: $what\n" if $kind; ($program, $kind, $expects, $diff) = () }' |
        LC_ALL=C sort -u >"$work/covered"
    for program in $(programs); do
        gates_of "$program" | sed "s|^|$program: gate: |"
        perl -0777 -ne 's/"\s*\n\s*"//g; print "$1\n" while /static_assert\([^;]*?"([^"]*)"\);/g' "$program.cu" |
            sed "s|^|$program: assert: |"
    done | LC_ALL=C sort -u | LC_ALL=C comm -23 - "$work/covered"
    refusals
}
# A refusal is a message before a program stops, known by its longest piece without a %. The helpers'
# are the same in every lesson, so each needs one fault: a patch whose `expect:` or `says:` holds it.
refusals() {
    local program piece patch
    cat tests/*/faults/*.patch | grep -E '^(expect|says): ' >"$work/expects" || true
    for program in $(programs); do
        perl -0777 -ne 's/"\s*\n\s*"//g; while (/fprintf\(stderr,\s*"([^"]*)"/g) {
            my ($longest) = sort { length $b <=> length $a } split /%[-+ #0-9.*]*(?:ll|z)?[a-zA-Z]|\\n/, $1;
            print "$longest\n" if length $longest > 3 }' "$program.cu"
    done | LC_ALL=C sort -u | while read -r piece; do
        grep -qF -e "$piece" "$work/expects" || echo "programs: refusal: $piece"
    done
    for program in $(programs); do
        refusing_statements "$program.cu" >"$work/unchanged"
        [ -s "$work/unchanged" ] || continue
        { grep -lF -- "--- a/$program.cu" tests/*/faults/*.patch || true; } | while read -r patch; do
            patch -s -F0 -r - -o "$work/planted" "$program.cu" "$patch" >/dev/null &&
                refusing_statements "$work/planted" | LC_ALL=C comm -23 "$work/unchanged" -
        done | LC_ALL=C sort -u | LC_ALL=C comm -23 "$work/unchanged" - | sed "s|^|$program: refusal: |"
    done
}
# A function can also refuse by what it returns, or by what it writes into a result's `refusal`. Such a
# statement, with its if, is known by its function and its text; its fault is a patch that changes it.
refusing_statements() { # FILE: "FUNCTION: STATEMENT", one a line
    perl -0777 -ne 's/"\s*\n\s*"//g; my $function = "";
        while (/^(?!static_assert)\w[^\n"]*?\b(\w+)\(
            |((?:\bif\s\([^;{}"]*\)\s*)?snprintf\([^;{}"]*refusal,[^;{}"]*"[^"]*"[^;{}"]*
             |\bif\s\([^;{}"]*\)\s*return\s"[^"]*"
             |(?:\bif\s\([^;{}"]*\)\s*)?return\s[^;{}"]*cudaGetErrorString\([^;{}"]*);/mgx) {
            if (defined $1) { $function = $1; next }
            print "$function: ", $2 =~ s|\s+| |gr, "\n";
        }' "$1" | LC_ALL=C sort -u
}

case ${1:-} in
--list) list; exit ;;
--one) work=$2; one "$3"; exit ;;
esac
mkdir -p "$BUILD/tmp"
work=$(mktemp -d "$BUILD/tmp/faults.XXXXXX")
trap 'rm -rf "$work"' EXIT
jobs=${JOBS:-$(nproc 2>/dev/null || echo 1)}
case ${1:-} in
--uncovered) uncovered; exit ;;
-j) jobs=$2; shift 2 ;;
esac
[ $# -gt 0 ] || mapfile -t all < <(patches)
[ $# -eq 0 ] || all=("$@")
if [ -n "${FAULTS_PART:-}" ]; then
    read -r part parts <<<"${FAULTS_PART/\// }"
    [[ $FAULTS_PART =~ ^[0-9]+/[0-9]+$ ]] && [ "$part" -ge 1 ] && [ "$part" -le "$parts" ] ||
        { echo "FAULTS_PART must be like 2/4, not '$FAULTS_PART'" >&2; exit 2; }
    mapfile -t all < <(printf '%s\n' "${all[@]}" | sed -n "$part~${parts}p")
fi
[ "${#all[@]}" -gt 0 ] || { echo "no faults" >&2; exit 2; }
for patch in "${all[@]}"; do
    [ -r "$patch" ] || { echo "no such fault: $patch" >&2; exit 2; }
done
# Sanitizers' runtimes, once, before faults that are judged side by side need them.
for kind in $(sed -n 's/^expect: sanitizer \([a-z]*\) .*/\1/p' "${all[@]}" | sort -u); do
    [ "$DEVICE" = gpu ] || make -s --no-print-directory BUILD="$BUILD/cpu-$kind" SANITIZE="$kind" test-tools
done
# Likewise the toolkits of the rows of tests/toolchains.sh that faults are for.
if grep -q '^needs: .*cuda-' "${all[@]}"; then
    PROGRAMS=' ' bash tests/toolchains.sh 'nvcc 13.0 sm_75' 'clang-19 CUDA 12.9 sm_90' >/dev/null || true
fi
status=0
printf '%s\0' "${all[@]}" | xargs -0 -n 1 -P "$jobs" bash "$0" --one "$work" | tee "$work/rows" || status=1
caught=$(grep -c '^caught  ' "$work/rows" || true)
left=$(grep -c '^left out  ' "$work/rows" || true)
echo "faults: ${#all[@]}, caught: $caught, left out: $left"
[ "$status" -eq 0 ] && [ "$caught" -gt 0 ] && [ $((caught + left)) -eq "${#all[@]}" ]
