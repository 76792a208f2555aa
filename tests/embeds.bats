#!/usr/bin/env bats
# The links and iframes for Compiler Explorer: each payload is taken apart and compared with its source,
# none that is committed is stale, and each program stays within that site's limits.

load helper

setup_file() {
    export BIN=$BATS_FILE_TMPDIR
    local tool
    for tool in unrison peak; do
        $CC -std=c11 -D_DEFAULT_SOURCE -O1 -Wall -Wextra -o "$BIN/$tool" "$ROOT/tests/$tool.c"
    done
}

setup() { cd "$BATS_TEST_TMPDIR" || return; }

require_tools() {
    local tool
    for tool in jq pigz; do
        command -v "$tool" >/dev/null || skip "no $tool (Debian: apt-get install $tool)"
    done
}

# The snippets' names, each with its source: "reproducibility day68_reproducibility/reproducibility.cu".
programs() {
    local lesson
    echo 'reproducibility day68_reproducibility/reproducibility.cu'
    echo 'precision_reduction precision_reduction/precision_reduction.cu'
    echo 'fpmp_pi fpmp_pi/fpmp_pi.cu'
    echo 'canonical_tree canonical_tree/canonical_tree.cu'
    for lesson in day68_reproducibility precision_reduction fpmp_pi canonical_tree; do
        [ ! -f "$ROOT/$lesson/embed.cu" ] || echo "$lesson.embed $lesson/embed.cu"
    done
}

# What tools/embeds.sh looks at, copied: a tree of its own at $1.
tree() {
    local lesson
    for lesson in day68_reproducibility precision_reduction fpmp_pi canonical_tree; do
        mkdir -p "$1/$lesson"
        cp "$ROOT/$lesson"/*.cu "$ROOT/$lesson"/README.md "$1/$lesson/"
    done
    cp -R "$ROOT/embeds" "$1/embeds"
}
# embeds TREE [PATH]
embeds() { env PATH="${2:-$PATH}" ROOT="$1" bash "$ROOT/tools/embeds.sh"; }

# From a link or an iframe to the JSON in payload.json: unpack_link FILE.url, unpack_iframe FILE.html.
unpack_link() {
    local link
    link=$(cat "$1")
    case $link in
    https://godbolt.org/clientstate/*)
        [ "${#link}" -lt 8000 ] || fail "$1: ${#link} characters, and the site cuts off at 8,000"
        link=${link#*/clientstate/}
        [ -z "${link//[A-Za-z0-9_-]/}" ] || fail "$1: not base64"
        while [ $((${#link} % 4)) -ne 0 ]; do link+='='; done
        tr '_-' '/+' <<<"$link" | base64 -d | pigz -dcz >payload.json
        ;;
    https://godbolt.org/\#*) printf '%s' "${link#*#}" | "$BIN/unrison" >payload.json ;;
    *) fail "$1 is no link of that site" ;;
    esac
}
unpack_iframe() {
    local source='<iframe [^<>]* src="https://godbolt\.org/e?hideEditorToolbars=true#\([^"<>]*\)"></iframe>'
    [ "$(grep -c "^$source\$" "$1")" -eq 1 ] || fail "$1: not one iframe"
    sed -n "s|^$source\$|\1|p" "$1" | tr -d '\n' | "$BIN/unrison" >payload.json
}

# The JSON of either kind as lines: "compiler ID OPTIONS", "device ID PANE", "executor ID OPTIONS"; the source in payload.cu.
read_payload() {
    # shellcheck disable=SC2016 # jq's own
    jq -r 'if .sessions then .sessions
        | if length == 1 and .[0].id == 1 and .[0].language == "cuda" then .[0] else error("no session of CUDA") end
        | (.compilers[] | "compiler \(.id) \(.options) \(.libs)"),
          (.executors[] | "executor \(.compiler.id) \(.compiler.options) \(.compiler.libs) \(.compilerOutputVisible)")
      else if .version != 4 then error("no version 4") else . end
        | [.. | objects | select(.componentName? == "compiler") | .componentState] as $compilers
        | ($compilers[] | "compiler \(.compiler) \(.options) \(.libs)"),
          ([.. | objects | select(.componentName? == "executor") | .componentState]
            | .[] | select(.source == 1 and .lang == "cuda")
            | "executor \(.compiler) \(.options) \(.libs) \(.compilerOutShown)"),
          ([.. | objects | select(.componentName? == "device") | .componentState]
            | .[] | select(.editorid == 1) | "device \(.device) of \(.id as $id | $compilers[] | select(.id == $id) | .options)")
      end' payload.json
    jq -j 'if .sessions then .sessions[0].source
        else [.. | objects | select(.componentName? == "codeEditor") | .componentState | select(.id == 1 and .lang == "cuda")][0].source
        end' payload.json >payload.cu
}

# check_payload SOURCE KIND: what payload.json holds for this source, as link or iframe.
check_payload() {
    local options='-O3 -std=c++17'
    ! grep -q '#pragma omp' "$ROOT/$1" || options+=' -Xcompiler -fopenmp'
    {
        echo "compiler nvcc130u2 $options []"
        echo "compiler nvcc130u2 $options -fmad=false []"
        echo "executor nvcc130u2 $options [] true"
        echo "executor nvcc130u2 $options -fmad=false [] true"
    } >want
    if ! jq -e .sessions payload.json >/dev/null; then
        echo "device PTX of $options" >>want
        echo "device PTX of $options -fmad=false" >>want
    fi
    read_payload >found
    diff want found && cmp payload.cu "$ROOT/$1"
}

@test "each payload holds its source byte for byte, both builds and their executors" {
    require_tools
    local name source
    while read -r name source; do
        unpack_link "$ROOT/embeds/$name.url"
        check_payload "$source"
        unpack_iframe "$ROOT/embeds/$name.html"
        jq -e .version payload.json >/dev/null
        check_payload "$source"
    done < <(programs)
}

@test "no committed snippet and no page's link is stale, and there is none without its program" {
    require_tools
    tree now
    run embeds now
    assert_success
    assert_line --regexp '^reproducibility +(link of [0-9]+ characters|[0-9]+ characters, too long for a short link: in the hash form [0-9]+)$'
    run diff -r "$ROOT/embeds" now/embeds
    assert_success
    local lesson
    for lesson in day68_reproducibility precision_reduction fpmp_pi canonical_tree; do
        run diff "$ROOT/$lesson/README.md" "now/$lesson/README.md"
        assert_success
    done
}

@test "a stale snippet is seen: a source that changed, a snippet that was edited, one that is too many" {
    require_tools
    tree old
    echo '// one line more' >>old/canonical_tree/canonical_tree.cu
    run embeds old
    run diff -rq "$ROOT/embeds" old/embeds
    assert_failure 1
    assert_line --partial canonical_tree.url
    assert_line --partial canonical_tree.html
    unpack_link old/embeds/canonical_tree.url
    run check_payload canonical_tree/canonical_tree.cu
    assert_failure
    sed 's/%28/%29/' "$ROOT/embeds/canonical_tree.html" >edited.html
    run unpack_iframe edited.html
    assert_failure
    sed 's/nvcc130u2/nvcc129u1/' "$ROOT/embeds/canonical_tree.html" >edited.html
    unpack_iframe edited.html
    run check_payload canonical_tree/canonical_tree.cu
    assert_failure
    tree more
    echo >more/embeds/gone.url
    embeds more
    [ ! -e more/embeds/gone.url ]
}

@test "every lesson's page has a marker, and behind it the snippets' links" {
    require_tools
    local name source lesson
    while read -r name source; do
        lesson=${source%/*}
        run grep -c '<!-- link: [^ ]* -->' "$ROOT/$lesson/README.md"
        assert_output 1
        grep '<!-- link: [^ ]* -->' "$ROOT/$lesson/README.md" >line
        run grep -cF "[\`${source##*/}\`]($(cat "$ROOT/embeds/$name.url"))" line
        assert_output 1
    done < <(programs)
}

@test "a second run replaces the links, and leaves a page without a marker alone" {
    require_tools
    tree again
    # shellcheck disable=SC2016 # Markdown
    printf '# T\nOpen: <!-- link: fpmp_pi --> [`old`](https://old.example)\nmore\n' >again/fpmp_pi/README.md
    printf '# T\nOpen: nothing\n' >again/canonical_tree/README.md
    embeds again
    run grep -c '' again/fpmp_pi/README.md
    assert_output 3
    run grep -c 'old\.example' again/fpmp_pi/README.md
    assert_output 0
    # shellcheck disable=SC2016
    run grep -c '^Open: <!-- link: fpmp_pi --> \[`fpmp_pi.cu`\](https://godbolt.org/[^ ()]*)\(, \[`embed.cu`\](https://godbolt.org/[^ ()]*)\)\{0,1\}$' again/fpmp_pi/README.md
    assert_output 1
    run cat again/canonical_tree/README.md
    assert_output $'# T\nOpen: nothing'
    cp -R again/fpmp_pi before
    embeds again
    run diff -r before again/fpmp_pi
    assert_success
}

@test "what a source may hold arrives as it is" {
    require_tools
    tree odd
    # shellcheck disable=SC2016 # a source, and jq's own
    printf '// \xc3\xa4 %%25 !\x27() * "\\\\n" \t & <b> $x `y`\n\nint main() {}' >odd/fpmp_pi/fpmp_pi.cu
    embeds odd
    unpack_link odd/embeds/fpmp_pi.url
    read_payload >found
    run cmp payload.cu odd/fpmp_pi/fpmp_pi.cu
    assert_success
    unpack_iframe odd/embeds/fpmp_pi.html
    read_payload >found
    run cmp payload.cu odd/fpmp_pi/fpmp_pi.cu
    assert_success
    # shellcheck disable=SC2016 # jq's own
    run jq -n --slurpfile state payload.json '$state[0].version'
    assert_output 4
}

@test "a program with a local include is refused, and so is a machine without jq or pigz; nothing is written" {
    tree bad
    mkdir commands
    local tool
    for tool in bash cat grep mkdir mktemp rm dirname; do ln -s "$(command -v "$tool")" commands/; done
    run embeds bad "$PWD/commands"
    assert_failure 2
    assert_output 'embeds: needs jq, which is not here (Debian: apt-get install jq)'
    printf '#!/bin/sh\n' >commands/jq
    chmod +x commands/jq
    run embeds bad "$PWD/commands"
    assert_failure 2
    assert_output 'embeds: needs pigz, which is not here (Debian: apt-get install pigz)'
    require_tools
    echo '#include "canonical_tree.cu"' >>bad/canonical_tree/canonical_tree.cu
    run embeds bad
    assert_failure 2
    assert_line 'embeds: canonical_tree/canonical_tree.cu includes a file of its own, which that site does not have'
    rm bad/canonical_tree/canonical_tree.cu
    run embeds bad
    assert_failure 2
    assert_line 'embeds: canonical_tree/canonical_tree.cu is not there'
    run diff -r "$ROOT/embeds" bad/embeds
    assert_success
}

# ---- That site's limits: 20 s to compile, 200 MiB of host memory, 14 threads and processes, 32 KiB of output --------

# Device memory counts as host memory here, so this is stricter than that site. One worker, and more cores than
# there are: what is counted are the threads that the program itself asks for.
@test "each program stays within 200 MiB, 14 threads and 32 KiB of output, asked to use 64 threads" {
    require_cpu
    [ -d "/proc/$$/task" ] || skip "no /proc here"
    local name source program
    while read -r name source; do
        case $name in
        *.embed)
            program=$BIN/$name
            compile "$ROOT/$source" "$program" nofmad
            ;;
        *) program=$(program "$name" nofmad) ;;
        esac
        CUDA_CPU_WORKERS=1 OMP_NUM_THREADS=64 run "$BIN/peak" out "$program"
        assert_line 'status 0'
        [ "$(sed -n 's/^KiB //p' <<<"$output")" -le $((200 * 1024)) ] || fail "$name: $output"
        [ "$(sed -n 's/^threads //p' <<<"$output")" -le 8 ] || fail "$name: $output"
        [ "$(sed -n 's/^bytes //p' <<<"$output")" -le $((32 * 1024)) ] || fail "$name: $output"
    done < <(programs)
}

@test "the measuring sees memory, threads and output" {
    [ -d "/proc/$$/task" ] || skip "no /proc here"
    cat >large.c <<'EOF'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static void *wait(void *unused) { usleep(300000); return unused; }
int main(void) {
    pthread_t threads[15];
    memset(malloc(210u << 20), 1, 210u << 20);
    for (int i = 0; i < 15; i++) pthread_create(&threads[i], NULL, wait, NULL);
    for (int i = 0; i < 15; i++) pthread_join(threads[i], NULL);
    for (int i = 0; i < 33 * 1024; i++) putchar('x');
    return 3;
}
EOF
    $CC -O0 -fno-builtin -pthread -o large large.c 2>log
    run "$BIN/peak" out ./large
    assert_line 'status 3'
    assert_line 'threads 16'
    assert_line "bytes $((33 * 1024))"
    [ "$(sed -n 's/^KiB //p' <<<"$output")" -gt $((210 * 1024)) ]
}

@test "each program is compiled within 20 s by nvcc as that site does; without a card it says that it was skipped" {
    require_nvcc
    local name source options
    while read -r name source; do
        options='-O3 -std=c++17'
        ! grep -q '#pragma omp' "$ROOT/$source" || options+=' -Xcompiler -fopenmp'
        # shellcheck disable=SC2086 # a list of words
        run "$BIN/peak" log "$(command -v "$NVCC")" $options -o "$BIN/card" "$ROOT/$source"
        assert_line 'status 0'
        [ "$(sed -n 's/^seconds //p' <<<"$output")" -lt 20 ] || fail "$name: $output"
        # As where there is no card; a driver may be there or not.
        CUDA_VISIBLE_DEVICES=-1 run --separate-stderr "$BIN/card"
        assert_failure 77
        # shellcheck disable=SC2154
        assert_equal "${#stderr_lines[@]}" 1
        # shellcheck disable=SC2154 # of run --separate-stderr
        [[ ${stderr_lines[0]} == 'skipped: no usable CUDA device'* ]]
        # shellcheck disable=SC2154
        [[ $stderr != *make* ]]
    done < <(programs)
}

@test "a refused launch, or memory that is not there, ends an embed with 2 and one line, not with bits or a skip" {
    cd "$BATS_TEST_TMPDIR"
    for lesson in day68_reproducibility precision_reduction fpmp_pi canonical_tree; do
        mutate "$ROOT/$lesson/embed.cu" launch.cu 's/<<<(\w+), \w+>>>/<<<$1, 2048>>>/'
        mutate "$ROOT/$lesson/embed.cu" memory.cu 's/cudaMalloc\(&(\w+), /cudaMalloc(&$1, ((size_t)1 << 60) + /'
        for fault in launch memory; do
            compile $fault.cu $fault nofmad -O0
            run --separate-stderr ./$fault
            assert_equal "$lesson $fault $status" "$lesson $fault 2"
            assert_output ''
            # shellcheck disable=SC2154 # of run --separate-stderr
            assert_equal "${#stderr_lines[@]}" 1
        done
    done
}
