# tools/sanitize.sh over stand-in programs and a stand-in compute-sanitizer: what runs, and what a report does.
load helper

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    mkdir -p b/gpu/fmad bin
    # Notes each call, and fails where the tool and the program are those of REPORT.
    cat >bin/compute-sanitizer <<'END'
#!/bin/sh
echo "$*" >>calls
case "$2 ${5##*/}" in "$REPORT") echo "========= Invalid write"; exit 9 ;; esac
END
    # A make that "builds" two programs; that of sanitizer and name FAIL fails.
    cat >bin/make <<'END'
#!/usr/bin/env bash
echo "$*" >>calls
for setting; do case $setting in *=*) export "${setting?}" ;; esac; done
mkdir -p "$BUILD/cpu/nofmad"
for name in one two; do
    printf '#!/bin/sh\necho "halt: $UBSAN_OPTIONS"\n[ "%s %s" != "%s" ]\n' "$SANITIZE" $name "$FAIL" >"$BUILD/cpu/nofmad/$name"
    chmod +x "$BUILD/cpu/nofmad/$name"
done
END
    chmod +x bin/*
}
sanitize() { run env PATH="$PWD/bin:$PATH" ROOT="$PWD" BUILD=b MAKE="$PWD/bin/make" REPORT= FAIL= "$@" bash "$ROOT/tools/sanitize.sh" fpmp_pi/one y/two; }
clean_rows() { grep -cE '^(one|two) +[a-z]+ +clean$' <<<"$output" || true; }

@test "sanitize: on a card four tools over each program's fused build" {
    sanitize DEVICE=gpu
    assert_success
    assert_equal "$(clean_rows)" 8
    assert_equal "${#lines[@]}" 8
    local name tool
    for name in one two; do
        for tool in memcheck racecheck initcheck synccheck; do
            assert_line --regexp "^$name +$tool +clean\$"
            grep -qxF -e "--tool $tool --error-exitcode 9 b/gpu/fmad/$name" calls || fail "$tool was not called for $name"
        done
    done
    assert_equal "$(wc -l <calls)" 8
}

@test "sanitize: a report on a card is named with its log, fails, and hides no other" {
    sanitize DEVICE=gpu REPORT='racecheck one'
    assert_failure 1
    assert_line --regexp '^one +racecheck +status 9, see b/tmp/one\.racecheck$'
    assert_equal "$(clean_rows)" 7
    run cat b/tmp/one.racecheck
    assert_output '========= Invalid write'
}

@test "sanitize: on a card without compute-sanitizer: one line, status 2" {
    rm bin/compute-sanitizer
    local tool
    for tool in bash env; do ln -s "$(command -v "$tool")" bin/; done
    run env PATH="$PWD/bin" ROOT="$PWD" BUILD=b DEVICE=gpu bash "$ROOT/tools/sanitize.sh" x/one
    assert_failure 2
    assert_output 'make sanitize needs compute-sanitizer, which the CUDA Toolkit has'
}

@test "sanitize: on the CPU default a build of its own for each sanitizer, and its programs run" {
    sanitize DEVICE=cpu
    assert_success
    assert_equal "$(clean_rows)" 6
    local tool
    for tool in address undefined thread; do
        assert_line --regexp "^two +$tool +clean\$"
        for one in 'LESSON=fpmp_pi DEFS=-DPI_LOG2_TERMS=17' 'LESSON=y DEFS='; do
            grep -F -e "-s BUILD=b/sanitize-$tool DEVICE=cpu SANITIZE=$tool $one b/sanitize-$tool/cpu/nofmad/" calls ||
                fail "no such build for $tool: $one: $(cat calls)"
        done
    done
    run cat b/sanitize-undefined/two.log
    assert_output 'halt: halt_on_error=1:print_stacktrace=1'
    for tool in address undefined thread; do
        sanitize DEVICE=cpu FAIL="$tool two"
        assert_failure 1
        assert_line --regexp "^two +$tool +status 1, see b/sanitize-$tool/two\.log\$"
        assert_equal "$(clean_rows)" 5
    done
    sanitize DEVICE=cpu DEFS=-DPI_LOG2_TERMS=18
    assert_success
    assert_equal "$(grep -c 'LESSON=fpmp_pi DEFS=-DPI_LOG2_TERMS=18 b/.*/one$' calls)" 3
}

@test "sanitize: a real report of each sanitizer is a failure" {
    # Undefined behaviour ends no program unless asked to, so the stand-in's word is not enough.
    cat >wrong.c <<'END'
#include <pthread.h>
static volatile int shared;
/* Often: of two accesses at the very same moment the sanitizer may see neither. */
static void *add(void *unused) { for (int i = 0; i < 10000; ++i) shared++; return unused; }
int main(int argc, char **argv) {
    volatile int few[2] = {0x7fffffff, 0};
    pthread_t other;
    if (argc > 2 || WRONG == 1) few[argc + 1] = 1;
    if (WRONG == 2) few[1] = few[0] + argc;
    if (WRONG == 3) { pthread_create(&other, 0, add, argv); add(argv); pthread_join(other, 0); }
    return 0;
}
END
    local wrong tools=('' address undefined thread)
    cat >bin/make <<'END'
#!/usr/bin/env bash
for setting; do case $setting in *=*) export "${setting?}" ;; esac; done
mkdir -p "$BUILD/cpu/nofmad"
for name in one two; do cp wrong.$SANITIZE "$BUILD/cpu/nofmad/$name"; done
END
    for wrong in 0 1 2 3; do
        for tool in "${tools[@]:1}"; do
            # shellcheck disable=SC2086 # CC may be given with flags
            $CC -std=c11 -g -w -fsanitize="$tool" -DWRONG=$([ "${tools[wrong]}" != "$tool" ] && echo 0 || echo "$wrong") -pthread -o "wrong.$tool" wrong.c ||
                skip "no sanitizers of $CC here"
        done
        sanitize DEVICE=cpu
        if [ $wrong -eq 0 ]; then
            assert_success
            assert_equal "$(clean_rows)" 6
        else
            assert_failure 1
            assert_line --regexp "^one +${tools[wrong]} +status [0-9]+, see b/sanitize-${tools[wrong]}/one\.log\$"
            assert_equal "$(clean_rows)" 4
        fi
    done
}
