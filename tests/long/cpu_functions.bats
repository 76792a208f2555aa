# Can each check of the programs under tests/cpu fail? In a copy of the CPU default hundreds of faults are
# planted, and in each run of a program one of them is at work:
#   nothing NAME    this function of the headers or of the API does nothing, and returns 0 where it returns
#   opposite NAME   it does its work, and returns 1 in place of 0 and 0 in place of all else; for functions of
#                   whose answers 0 is often the right one: errors (cudaSuccess is 0), and yes or no
#   fault TEXT      what no function stands for (plant_faults)
# The tests then ask two things. Is every function that does nothing missed by a program that calls it? And
# does every line with an EXPECT or a CHECKED fail in some run? This counts lines: where && joins conditions,
# one of them failed, and the others may be in vain. low_memory.cu has no EXPECT, and is left out.
load ../helper

# Those that pass; contraction.cu is built so that each of its checks fails.
PROGRAMS='threads atomics launches streams intrinsics functions beyond no_memory'

able() { [ "$DEVICE" = cpu ] && command -v g++ >/dev/null; }
setup() {
    require_cpu
    command -v g++ >/dev/null || skip "no g++"
    cd "$BATS_FILE_TMPDIR" || return
}

# A copy of cpu/ and of the programs, in which each function asks whether it is the broken one, and each check
# that fails is noted: a program itself prints but the first few.
plant_questions() {
    mkdir cpu programs
    cp "$ROOT"/cpu/*.[ch] cpu
    cp "$ROOT"/tests/cpu/*.cu programs
    cat >ask.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* Is this the fault that BROKEN names: 2, or 1. With CALLED in the environment, all that ask go into that file. */
int cuda_cpu_ask(const char *kind, const char *name) {
    const char *broken = getenv("BROKEN"), *called = getenv("CALLED");
    const size_t length = strlen(kind);
    FILE *file = called ? fopen(called, "a") : NULL;
    if (file) fprintf(file, "%s %s\n", kind, name);
    if (file) fclose(file);
    if (!broken || strncmp(broken, kind, length) != 0 || broken[length] != ' ') return 1;
    return strcmp(broken + length + 1, name) == 0 ? 2 : 1;
}
/* The line of a check that failed, once, into the file that FAILED names. */
void cuda_cpu_failed(const char *source, int line) {
    static char seen[10000];
    const char *failed = getenv("FAILED"), *name = strrchr(source, '/');
    if (!failed || __atomic_exchange_n(&seen[line], 1, __ATOMIC_RELAXED)) return;
    FILE *file = fopen(failed, "a");
    if (file) fprintf(file, "%s:%d\n", name ? name + 1 : source, line);
    if (file) fclose(file);
}
END
    cat >ask.h <<'END'
#ifdef __cplusplus
extern "C" {
#endif
int cuda_cpu_ask(const char *kind, const char *name);
void cuda_cpu_failed(const char *source, int line);
#ifdef __cplusplus
}
#endif
#define CUDA_CPU_ASK(kind, name) ({ static int answer; (answer ? answer : (answer = cuda_cpu_ask(kind, name))) == 2; })
#define CUDA_CPU_BROKEN CUDA_CPU_ASK("nothing", __PRETTY_FUNCTION__)
#define CUDA_CPU_ANSWER(...) ({ __typeof__(__VA_ARGS__) right = (__VA_ARGS__); \
    CUDA_CPU_ASK("opposite", __PRETTY_FUNCTION__) ? (__typeof__(right))!right : right; })
#define CUDA_CPU_FAULT(text) CUDA_CPU_ASK("fault", text)
END
    # shellcheck disable=SC2016 # perl's own
    local opposite='$inside = 1 if /^(?:static inline |inline )?(?:cudaError_t|int) \w+\(/;
        s/\breturn ([^;]+);/return CUDA_CPU_ANSWER($1);/ if $inside;
        $inside = 0 if /^\}|^\w.*\}$/;'
    perl -pi -e "$opposite"'
        s/^(\s*(?:static )?(?:CUDA_CPU_INLINE|inline|cudaError_t)\b[^;{]*\) \{)/
            my $head = $1;
            my $void = $head =~ m{\bvoid \w+\(};
            "$head if (CUDA_CPU_BROKEN) return" . ($void ? ";" : " {};")/e' cpu/cuda_runtime.h cpu/beyond.h
    perl -pi -e "$opposite"'
        s/^((?:cudaError_t|const char \*|void )\s*cuda\w+\(.*\) \{)/
        "$1 if (CUDA_CPU_BROKEN) return" . ($1 =~ m{^void} ? ";" : $1 =~ m{^const} ? " \"\";" : " 0;")/e' cpu/api.c
    [ "$(grep -c CUDA_CPU_BROKEN cpu/cuda_runtime.h)" -gt 90 ]
    [ "$(grep -c CUDA_CPU_BROKEN cpu/beyond.h)" -gt 90 ]
    [ "$(grep -c CUDA_CPU_BROKEN cpu/api.c)" -gt 40 ]
    [ "$(grep -c CUDA_CPU_ANSWER cpu/cuda_runtime.h)" -gt 20 ]
    [ "$(grep -c CUDA_CPU_ANSWER cpu/api.c)" -gt 100 ]
    plant programs/check.cu 's/if \(ok\) return;\n/$&    cuda_cpu_failed(file, line);\n/'
    plant programs/check.cu 's/if \(got == want && .*\) return;\n/$&    cuda_cpu_failed(file, line);\n/'
}

# plant FILE 'perl code': an edit of the copy; one that changes nothing fails.
plant() { mutate "$1" planted "$2" && mv planted "$1"; }

# What the functions' answers cannot show. Each edit is s{found}{put in its place}.
plant_faults() {
    plant cpu/engine.c 's{    blockIdx = \(uint3\).*\n}
        {$&    if (CUDA_CPU_FAULT("blockIdx.y and .z are exchanged"))
        blockIdx = (uint3){blockIdx.x, blockIdx.z, blockIdx.y};\n}'
    plant cpu/engine.h 's{        t->index\.z = linear .*\n}
        {$&        if (CUDA_CPU_FAULT("threadIdx.y and .z are exchanged"))
            t->index = (uint3){t->index.x, t->index.z, t->index.y};\n}'
    plant cpu/cuda_runtime.h 's{constexpr (dim3\(uint3 v\) .*) \{\}}
        {$1 { if (CUDA_CPU_FAULT("a dim3 of a uint3 is empty")) x = y = z = 0; }}'
    # What is aligned to 64 bytes may be by chance; 16 bytes after such a place is none.
    plant cpu/cuda_runtime.h 's{_bytes\[sizeof\(type\)\]( .*\\\n)(.*<type\*>\()(\w+##_cuda_cpu_bytes)\)}
        {_bytes[sizeof(type) + 16]$1$2$3 + (CUDA_CPU_FAULT("shared memory is not aligned") ? 16 : 0))}'
    plant cpu/api.c 's{posix_memalign\(p, 256, bytes\)}{posix_memalign(p, 256, bytes + 64)};
        s{    a->hidden = .*\n}{$&    if (CUDA_CPU_FAULT("memory is not aligned")) *p = (char *)*p + 64;\n}'
    plant cpu/api.c 's{(shared_limit\(launch->kernel\)\) \{\n.*\n        )return;}
        {$1if (!CUDA_CPU_FAULT("a refused launch runs")) return;}'
    # Wherever the API finds no memory: no_memory.cu asks for this answer of every one of its allocations.
    plant cpu/api.c 's{cudaErrorMemoryAllocation}
        {(CUDA_CPU_FAULT("no memory is success") ? cudaSuccess :
          CUDA_CPU_FAULT("no memory is another error") ? cudaErrorInvalidValue : $&)}g'
    plant cpu/cu_rewrite.c 's{(literal_end\(s, i\);\n            )(blank\(s->code, i, end\);\n            line_start)}
        {$1if (!CUDA_CPU_FAULT("strings are rewritten")) $2}'
    # intrinsics.cu asks for one of two counts, by how it is built: here it may be told the wrong one.
    echo '#define FUSED CUDA_CPU_FAULT("the program takes this build for the fused one")' >>ask.h
}

# build NAME SOURCE flags: a program of a rewritten source.
build() {
    g++ -std=gnu++17 -w "${@:3}" -DCUDA_CPU_FMAD=0 -DSTRIDE=10001 -include ask.h -Icpu -iquote programs \
        -o "$1" "$2" ask.o engine.o api.o -pthread
}
build_all() {
    local name
    for name in ask cpu/engine cpu/api; do
        $CC -std=gnu11 -O1 -w -include ask.h -Icpu -c -o "${name##*/}.o" "$name.c"
    done
    $CC -std=gnu11 -O1 -w -include ask.h -o cu_rewrite cpu/cu_rewrite.c ask.o
    for name in $PROGRAMS contraction; do ./cu_rewrite "programs/$name.cu" >"$name.cpp"; done
    BROKEN='fault strings are rewritten' ./cu_rewrite programs/launches.cu >misread.cpp
    {
        # The names that are wrapped stand in no_memory.cu alone: in another they would be undefined.
        for name in $PROGRAMS misread; do
            echo "$name $name.cpp -O1 -ffp-contract=off$([ "$name" != no_memory ] || echo " $WRAPPED")"
        done
        # All of this one is contracted, so each of its checks must fail.
        echo "contraction contraction.cpp -O2 -ffp-contract=fast $MFMA"
    } >builds
    export -f build
    xargs -P 2 -I {} bash -c 'build {}' <builds
}

# Runs of PROGRAM KIND NAME, one a line on stdin; "ok" for those that end with status 0, "missed" otherwise, before it.
run_broken() {
    # shellcheck disable=SC2016 # the inner shell's own
    xargs -d '\n' -P 2 -n 16 bash -c '
        for run; do
            result=missed
            if BROKEN=${run#* } timeout 10 "./${run%% *}" >/dev/null 2>&1; then result=ok; fi
            echo "$result $run"
        done' - 2>/dev/null
}

setup_file() {
    able || return 0
    cd "$BATS_FILE_TMPDIR" || return
    local name
    plant_questions
    plant_faults
    build_all
    export FAILED=$PWD/failed
    for name in $PROGRAMS; do
        CALLED=$name.called "./$name"
        sort -u "$name.called" | sed "s/^/$name /"
    done >runs
    [ ! -e failed ] # nothing is broken yet
    # Fences order what no program can be sure to see out of order: they are looked for in the machine code.
    grep -v ' nothing void __threadfence' runs | run_broken >results
    # These two fail whatever is broken: they are run for the lines alone.
    run ./misread
    CALLED=contraction.called run ./contraction
    grep '^opposite' contraction.called | sort -u | sed 's/^/contraction /' | run_broken >/dev/null
}

# The lines of the programs that hold a check, and what they say: FILE:LINE TEXT.
checks() {
    local name
    for name in $PROGRAMS contraction; do
        awk -v name="$name.cu" '
            /^[ \t]*#define/ { macro = 1 }
            !macro && /(EXPECT[A-Z_]*|CHECKED)\(/ { sub(/^[ \t]*/, ""); print name ":" FNR " " $0 }
            !/\\$/ { macro = 0 }' "programs/$name.cu"
    done
}

@test "every function that does nothing is missed by a program that calls it" {
    [ "$(grep -c ' nothing ' results)" -gt 250 ]
    sed -n 's/^missed [^ ]* nothing //p' results | sort -u >missed
    run bash -c "sed -n 's/^ok [^ ]* nothing //p' results | sort -u | comm -23 - missed"
    assert_output ''
}

@test "every EXPECT and CHECKED of a program fails under some fault" {
    checks >all
    [ "$(wc -l <all)" -gt 450 ]
    sort -u failed >lines
    # A line that is no check's would mean that the two count lines in different ways.
    run awk 'NR == FNR { check[$1]; next } !($1 in check)' all lines
    assert_output ''
    have_fma || sed -i '/^contraction.cu:.* EXPECT/d' all # nothing can be fused
    run awk 'NR == FNR { failed[$1]; next } !($1 in failed)' lines all
    assert_output ''
}
