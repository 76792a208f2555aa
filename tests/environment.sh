# shellcheck shell=bash
# Sourced by helper.bash and by the tests' scripts: what the Makefile found out (`make test-env`; BUILD is a
# whole path then), and what they do alike.
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
if [ -z "${HOST_FLAGS:-}" ]; then
    if ! answer=$(make -s --no-print-directory -C "$ROOT" test-env) || [ -z "$answer" ]; then
        echo "the Makefile did not answer (make test-env)" >&2
        exit 1
    fi
    eval "export $answer"
fi
case $BUILD in /*) ;; *) export BUILD=$ROOT/$BUILD ;; esac

# The course's programs, LESSON/PROGRAM, one a line.
programs() {
    local file
    for file in "$ROOT"/*/*.cu; do
        file=${file#"$ROOT/"} file=${file%.cu}
        [ ! -e "$ROOT/expected_output/${file##*/}.txt" ] || echo "$file"
    done
}

# The card's memory in MiB, 0 on the CPU default.
card_mib() {
    [ "$DEVICE" = gpu ] || { echo 0; return; }
    nvidia-smi --query-gpu=memory.total --format=csv,noheader,nounits | head -n 1
}

have_fma() { [ "$DEVICE" = gpu ] || [ "$FMA" = yes ]; }

# The flag of the programs that use OpenMP: openmp_flag PROGRAM, a path without .cu.
openmp_flag() {
    case $OPENMP-${SANITIZE:-}-$1 in yes--*canonical_tree/*) echo -fopenmp ;; esac
}

# sooner BUILD COMMAND...: compiles less thoroughly, to the same bits. Below -O2 g++ fuses nothing.
sooner() {
    local level=-O1
    [ "$1" = nofmad ] || level=-O2
    HOST_FLAGS=${HOST_FLAGS/-O3/$level} "${@:2}"
}

# PATH for a bats that runs inside of a bats: that one's own folder has an inner script of this name.
outer_path() { printf '%s' "$PATH" | sed 's|[^:]*/libexec/bats-core:||g'; }

# copy_tree FOLDER: the tree without what was built or fetched.
copy_tree() {
    mkdir -p "$1"
    tar -C "$ROOT" -cf - --exclude='./build*' --exclude=./.git --exclude='./.cccl*' --exclude='./.toolkit*' . |
        tar -C "$1" -xf -
}
# A text as a pattern that matches it alone, for the --filter of bats.
quoted_pattern() { printf '%s\n' "$1" | sed 's/[][().*+?^${}|\\]/\\&/g'; }
# copy_build TREE: what is built here, for a copy of the tree, with its times, so that only what differs there is
# built anew. What tests build meanwhile stays out: TREE itself may lie in tmp.
copy_build() {
    mkdir "$1/build"
    # Status 1: another test removed a file of its own meanwhile.
    { tar -cf - -C "$BUILD" --exclude=./tmp --exclude=./.make --exclude='./cpu-*' . || [ $? -eq 1 ]; } | tar -xf - -C "$1/build"
    find "$1/build" -name '*.d' -exec sed -i "s|$ROOT/|$1/|g" {} +
}
