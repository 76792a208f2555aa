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
