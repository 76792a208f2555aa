#!/usr/bin/env bash
# One launch of the first lesson's tree against a plain host loop with the same partials; on the CPU
# default with every compiler there is, on one core and on all. (environment: see Makefile; BENCH_SMALL=1
# builds it small, for a test)
set -euo pipefail

out=$BUILD/tmp/bench
mkdir -p "$out"
src=$ROOT/tests/bench/day68_reproducibility.cu
exe=$out/day68_reproducibility
small=${BENCH_SMALL:+-DBENCH_SMALL}

if [ "$DEVICE" = gpu ]; then
    bash "$ROOT/tools/compile.sh" "$src" "$exe" fmad ${small:+"$small"}
    echo "nvcc, $ARCH; the loop on one core"
    "$exe"
    exit
fi

contraction=nofmad
[ "$FMA" != yes ] || contraction=fmad
echo 'int main() {}' >"$out/try.cpp"
for cxx in "$CXX" g++ clang++; do
    case " ${done_with:-} " in *" $cxx "*) continue ;; esac
    done_with="${done_with:-} $cxx"
    command -v "${cxx%% *}" >/dev/null || { echo "$cxx: not here"; continue; }
    openmp=-fopenmp note=''
    # shellcheck disable=SC2086 # a list of words
    if ! $cxx -fopenmp -o "$out/try" "$out/try.cpp" 2>/dev/null; then openmp='' note='; no OpenMP: the loop on one core'; fi
    CXX=$cxx bash "$ROOT/tools/compile.sh" "$src" "$exe" "$contraction" ${openmp:+"$openmp"} ${small:+"$small"}
    if command -v taskset >/dev/null; then
        echo "$cxx, one core$note"
        taskset -c "$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')" "$exe"
    fi
    echo "$cxx, all $(nproc) cores$note"
    OMP_WAIT_POLICY=passive "$exe" # or its threads would spin beside the launches
done
