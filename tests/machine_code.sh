#!/usr/bin/env bash
# Reads the machine code of the kernels, as .toolkit's compiler (make toolkit) builds it for cards.
#   machine_code.sh table LESSON/PROGRAM ...   FMA instructions per kernel, for tests/machine_code.txt
#   machine_code.sh listing                    lesson 1's loop in both builds, for its page
# Environment: ROOT BUILD HOST_FLAGS, as `make test-env` prints them.
set -euo pipefail
export LC_ALL=C

toolkit=$ROOT/.toolkit
export PATH="$toolkit/bin:$PATH" # cuobjdump calls nvdisasm
mkdir -p "$BUILD/tmp"
dir=$(mktemp -d "$BUILD/tmp/machine_code.XXXXXX")
trap 'rm -rf "$dir"' EXIT

# disassemble PROGRAM [more architectures than sm_75]: $dir/fmad and $dir/nofmad hold a line
# `ARCHITECTURE KERNEL INSTRUCTION` each.
disassemble() {
    local build arch more=() program=$1
    shift
    for arch in "$@"; do more+=(-gencode "arch=compute_$arch,code=sm_$arch"); done
    for build in fmad nofmad; do
        DEVICE=gpu NVCC=$toolkit/bin/nvcc ARCH=sm_75 bash "$ROOT/tools/compile.sh" "$ROOT/$program.cu" "$dir/fatbin" $build \
            --fatbin "${more[@]}"
        cuobjdump -sass "$dir/fatbin" | awk '
            /^arch = / { arch = $3 }
            /Function : / { kernel = $3; print arch, kernel, "(start)" }
            /^ +\/\*[0-9a-f]+\*\/ / { sub(/^ *\/\*[0-9a-f]*\*\/ */, ""); sub(/ *;.*/, ""); print arch, kernel, $0 }' >"$dir/$build"
        [ -s "$dir/$build" ] || { echo "no kernel in $program, build $build" >&2; exit 1; }
    done
}

# A row per kernel and architecture with an FMA in either build, then the number of the other kernels.
# Architectures that agree share a row.
table() {
    local program
    for program in "$@"; do
        disassemble "$program" 80 90 120
        awk -v program="${program##*/}" '
            { key = $1 " " $2; build = FILENAME ~ /\/fmad$/ ? "fused" : "separate"; seen[key] }
            # A predicate may stand in front: @!P0 FFMA R1, ...
            { op = $3 ~ /^@/ ? $4 : $3; sub(/\..*/, "", op) }
            op ~ /^[FD]FMA/ { n[key, build, substr(op, 1, 1)]++ }
            END { for (key in seen) {
                split(key, w, " ")
                row = sprintf("%4d %4d  %4d %4d", n[key, "separate", "F"], n[key, "separate", "D"], n[key, "fused", "F"], n[key, "fused", "D"])
                print program, w[1], w[2], (row ~ /[1-9]/ ? row : "none") } }' "$dir/fmad" "$dir/nofmad" |
            c++filt | sed 's/ void / /; s/([^()]*\(([^()]*)[^()]*\)*)\( none\| *[0-9 ]*\)$/\2/' | sort -t _ -k 2n | fold_architectures
    done | sort
}
fold_architectures() { # PROGRAM sm_NN KERNEL COUNTS
    perl -ne '
        my ($program, $arch, $kernel, $counts) = /^(\S+) (\S+) (.*\S)\s+(none|(?:\d+ +){3}\d+)$/ or die "cannot read: $_";
        if ($counts eq "none") { $none{$program}{$arch}++; next }
        push @{$arches{"$program|$kernel|$counts"}}, $arch;
        END {
            for (sort keys %arches) {
                my ($program, $kernel, $counts) = split /\|/;
                my $all = join ",", @{$arches{$_}};
                $all = "all" if @{$arches{$_}} == 4;
                printf "%-20s %-44s %-17s %s\n", $program, $kernel, $all, $counts;
            }
            for my $program (sort keys %none) {
                my %numbers = map { $_ => 1 } values %{$none{$program}};
                printf "%-20s %-44s %-17s none\n", $program, join("/", sort keys %numbers) . " other kernels", "all";
            }
        }'
}

# The loop that takes one sample a turn, in storeThreadSums<false>: from its load to its last addition.
# Address arithmetic is left out.
listing() {
    local build
    disassemble day68_reproducibility/reproducibility
    for build in fmad nofmad; do
        awk '$2 ~ /storeThreadSumsILb0E/ && $3 ~ /^(LDG|FFMA|FMUL|FADD)/ {
            if ($3 ~ /^LDG/ && loads++) exit
            sub(/^[^ ]* [^ ]* /, ""); print }' "$dir/$build" >"$dir/$build.loop"
    done
    printf '%-26s %s\n' 'fused' 'separate (-fmad=false)'
    paste -d '|' "$dir/fmad.loop" "$dir/nofmad.loop" | awk -F '|' '{ printf "%-26s %s\n", $1, $2 }'
}

"$@"
