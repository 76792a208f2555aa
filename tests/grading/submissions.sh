# shellcheck shell=bash
# submission NAME FOLDER: writes the submission tests/grading/submissions/NAME.cu or NAME.sed (an edit of the lesson's
# program) into FOLDER, and prints its path. `prints_the_expected` is made of expected_output/.
submission() {
    local from=$ROOT/tests/grading/submissions/$1 lesson=$ROOT/precision_reduction/precision_reduction.cu out=$2/$1.cu
    mkdir -p "$2"
    if [ "$1" = prints_the_expected ]; then
        {
            echo '#include <cstdio>'
            echo 'int main() { fputs(CUDA_CPU_FMAD ?'
            for file in precision_reduction precision_reduction_nofmad; do
                echo "R\"("
                sed 's/{text}/CPU default, 2 cores/' "$ROOT/expected_output/$file.txt"
                [ "$file" = precision_reduction_nofmad ] || echo ')" + 1 :'
            done
            echo ')" + 1, stdout); }'
        } >"$out"
    elif [ -e "$from.sed" ]; then
        sed -f "$from.sed" "$lesson" >"$out"
        ! cmp -s "$out" "$lesson" || { echo "$1.sed changes nothing" >&2; return 1; }
    else
        cp "$from.cu" "$out"
    fi
    echo "$out"
}

# grade_bad NAME FOLDER: grades that submission; a line as in verdicts.txt, without the name.
#   rows (compiles gates values fresh flawed: y n -) | points | reason
grade_bad() {
    local file shorter="s|$2/||g; s|${2#"$ROOT/"}/||g" # reports leave the tree's own path out
    # Another student's work, whole and right, that lies where all can read it.
    cp "$ROOT/precision_reduction/precision_reduction.cu" "$2/theirs.cu"
    file=$(submission "$1" "$2/submissions") || return
    sed -i "s|OTHER|$2/theirs.cu|" "$file"
    LESSON=precision_reduction SRC=$file STUDENT=$1 COMPILE_SECONDS=2 RUN_SECONDS=2 \
        bash "$ROOT/tools/grade.sh" --into "$2/graded $1" >"$2/report" 2>&1 || true
    [ -e "$2/graded $1/result" ] || { cat "$2/report"; return; }
    sed -nE "s/^(compiles|gates|values|fresh|flawed) (.).*/\2/p" "$2/graded $1/result" | tr -d '\n'
    printf ' | %s | %s\n' "$(sed -n 's/^points //p' "$2/graded $1/result")" "$(sed -n 's/^reason //p' "$2/graded $1/result" | sed "$shorter")"
}
bad_submissions() {
    echo prints_the_expected
    find "$ROOT/tests/grading/submissions" -name '*.cu' -o -name '*.sed' | sed 's|.*/||; s|\.[a-z]*$||' | sort
}
