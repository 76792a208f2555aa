# Every function of the CPU default's headers and of its API, made to do nothing, is missed by one of the
# programs that call it: so no EXPECT under tests/cpu is there in vain, and none of the functions is without one.
load ../helper

setup() {
    require_cpu
    command -v g++ >/dev/null || skip "no g++"
    cd "$BATS_TEST_TMPDIR" || return
}

# A copy of cpu/ in which each function asks first whether it is the one that does nothing.
plant_questions() {
    mkdir cpu
    cp "$ROOT"/cpu/*.[ch] cpu
    cat >ask.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* 2: NAME does nothing. With CALLED in the environment, the names go into that file. */
int cuda_cpu_ask(const char *name) {
    const char *broken = getenv("BROKEN"), *called = getenv("CALLED");
    FILE *file = called ? fopen(called, "a") : NULL;
    if (file) fprintf(file, "%s\n", name);
    if (file) fclose(file);
    return broken && strcmp(broken, name) == 0 ? 2 : 1;
}
END
    cat >ask.h <<'END'
#ifdef __cplusplus
extern "C"
#endif
int cuda_cpu_ask(const char *name);
#define CUDA_CPU_BROKEN ({ static int answer; (answer ? answer : (answer = cuda_cpu_ask(__PRETTY_FUNCTION__))) == 2; })
END
    perl -pi -e 's/^(\s*(?:static )?(?:CUDA_CPU_INLINE|inline|cudaError_t)\b[^;{]*\) \{)/
        my $head = $1; my $void = $head =~ m{\bvoid \w+\(}; "$head if (CUDA_CPU_BROKEN) return" . ($void ? ";" : " {};")/e' cpu/cuda_runtime.h
    perl -pi -e 's/^((?:cudaError_t|const char \*|void )\s*cuda\w+\(.*\) \{)/
        "$1 if (CUDA_CPU_BROKEN) return" . ($1 =~ m{^void} ? ";" : $1 =~ m{^const} ? " \"\";" : " 0;")/e' cpu/api.c
    [ "$(grep -c CUDA_CPU_BROKEN cpu/cuda_runtime.h)" -gt 90 ]
    [ "$(grep -c CUDA_CPU_BROKEN cpu/api.c)" -gt 40 ]
}

@test "every function that does nothing is missed by a program that calls it" {
    local name
    plant_questions
    for name in ask.c cpu/engine.c cpu/api.c; do $CC -std=gnu11 -O1 -w -include ask.h -Icpu -c -o "$(basename "$name" .c).o" "$name"; done
    for name in threads atomics launches streams intrinsics functions; do
        "$BUILD/tools/cu_rewrite" "$ROOT/tests/cpu/$name.cu" >"$name.cpp"
        echo "$name"
    done | xargs -P 2 -I {} g++ -std=gnu++17 -O1 -w -ffp-contract=off ${MFMA:+"$MFMA"} -DCUDA_CPU_FMAD=0 -DFUSED=0 -DSTRIDE=10001 \
        -include ask.h -Icpu -iquote "$ROOT/tests/cpu" -o {} {}.cpp ask.o engine.o api.o -pthread
    for name in threads atomics launches streams intrinsics functions; do
        CALLED=$name.called "./$name"
        sort -u "$name.called" | sed "s/^/$name /"
    done >called
    cut -d' ' -f2- called | sort -u >functions
    [ "$(wc -l <functions)" -gt 150 ]
    # Fences order what no program can be sure to see out of order: they are looked for in the machine code.
    # shellcheck disable=SC2016 # the inner shell's own
    run bash -c 'grep -vE "^void __threadfence" functions | xargs -d "\n" -P 2 -I {} bash -c '\''
        for program in $(awk -v name="$1" "{ program = \$1; sub(/^[^ ]* /, \"\") } \$0 == name { print program }" called); do
            BROKEN=$1 timeout 10 "./$program" >/dev/null 2>&1 || exit 0
        done
        echo "$1"'\'' - {} 2>/dev/null'
    assert_output ''
}
