#!/usr/bin/env bash
# One launch of the first lesson's tree against a plain host loop with the same partials; on the CPU
# default with every compiler there is, on one core and on all. (environment: see Makefile)
set -euo pipefail

out=$BUILD/tmp/bench
mkdir -p "$out"
src=$ROOT/tests/bench/day68_reproducibility.cu
exe=$out/day68_reproducibility

if [ "$DEVICE" = gpu ]; then
    "$NVCC" -std=c++17 -O3 -arch="$ARCH" -Xcompiler -ffp-contract=off -o "$exe" "$src"
    echo "nvcc, $ARCH; the loop on one core"
    "$exe"
    exit
fi

"$BUILD/tools/cu_rewrite" "$src" >"$exe.cpp"
for cxx in "$CXX" g++ clang++; do
    case " ${done_with:-} " in *" $cxx "*) continue ;; esac
    done_with="${done_with:-} $cxx"
    command -v "${cxx%% *}" >/dev/null || { echo "$cxx: not here"; continue; }
    openmp=-fopenmp note=''
    echo 'int main() {}' >"$out/try.cpp"
    # shellcheck disable=SC2086 # lists of words
    if ! $cxx -fopenmp -o "$out/try" "$out/try.cpp" 2>/dev/null; then openmp='' note='; no OpenMP: the loop on one core'; fi
    # shellcheck disable=SC2086
    $cxx $HOST_FLAGS $STACK $MFMA -DCUDA_CPU_FMAD="$([ "$FMA" = yes ] && echo 1 || echo 0)" -I"$ROOT/cpu" $openmp \
        -o "$exe" "$exe.cpp" $RUNTIME -pthread
    if command -v taskset >/dev/null; then
        echo "$cxx, one core$note"
        taskset -c "$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')" "$exe"
    fi
    echo "$cxx, all $(nproc) cores$note"
    OMP_WAIT_POLICY=passive "$exe" # or its threads would spin beside the launches
done
