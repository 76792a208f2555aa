#!/usr/bin/env bash
# `make embeds`: for every self-contained program its Compiler Explorer link (embeds/NAME.url), the iframe
# for a web page (embeds/NAME.html), and the links on the lesson's page, after `<!-- link: NAME -->`.
# Environment: ROOT, the repository (default: this script's). Needs jq and pigz. The same sources give the
# same bytes on every machine.
set -euo pipefail
export LC_ALL=C

# ---- All that is pinned of that site ----------------------------------------------------------------
# Its cards are T4 with a driver for CUDA 13.0. No -arch: the panes would have other names.
COMPILER=nvcc130u2
OPTIONS='-O3 -std=c++17'
SEPARATE='-fmad=false'
OPENMP='-Xcompiler -fopenmp'
SITE=https://godbolt.org
MAX_LINK=8000 # characters: the site cuts a longer request off; what stands after a # is never sent

# The programs that stand alone, beside each LESSON/embed.cu.
PROGRAMS=(day68_reproducibility/reproducibility precision_reduction/precision_reduction
    fpmp_pi/fpmp_pi canonical_tree/canonical_tree)

fail() {
    printf 'embeds: %s\n' "$*" >&2
    exit 2
}
for tool in jq pigz; do
    command -v "$tool" >/dev/null || fail "needs $tool, which is not here (Debian: apt-get install $tool)"
done

ROOT=${ROOT:-$(cd "$(dirname "$0")/.." && pwd)}
mkdir -p "$ROOT/embeds"
work=$(mktemp -d "$ROOT/embeds/.new.XXXXXX")
trap 'rm -rf "$work"' EXIT
mkdir "$work/embeds"

# ---- Payloads ---------------------------------------------------------------------------------------

# The source on stdin as JSON of the site's interface for links.
session() {
    jq -Rsac --arg compiler "$COMPILER" --arg fused "$1" --arg separate "$1 $SEPARATE" '
        def build: {id: $compiler, options: ., libs: []};
        [$fused, $separate] as $builds
        | {sessions: [{id: 1, language: "cuda", source: .,
            compilers: ($builds | map(build)),
            executors: ($builds | map({compiler: build, compilerOutputVisible: true}))}]}'
}

# The source on stdin as the state of a page: rison, percent-encoded. A column for each build: the
# compiler (host code alone), the device code, the output.
state() {
    jq -Rsr --arg compiler "$COMPILER" --arg fused "$1" --arg separate "$1 $SEPARATE" '
        def replace($a; $b): split($a) | join($b);
        def rison_text:
            if test("^[A-Za-z][A-Za-z0-9_]*$") then .
            else "\u0027" + (replace("!"; "!!") | replace("\u0027"; "!\u0027")) + "\u0027" end;
        def rison:
            if type == "object" then
                "(" + (to_entries | map((.key | rison_text) + ":" + (.value | rison)) | join(",")) + ")"
            elif type == "array" then "!(" + (map(rison) | join(",")) + ")"
            elif type == "string" then rison_text
            elif . == true then "!t" elif . == false then "!f" elif . == null then "!n"
            else tostring end;
        # jq 1.6 leaves these five as they are, 1.7 does not.
        def encode: @uri | replace("!"; "%21") | replace("\u0027"; "%27") | replace("("; "%28")
            | replace(")"; "%29") | replace("*"; "%2A");
        def pane($name; $height; $state):
            {type: "component", componentName: $name, height: $height, componentState: $state};
        def column($id; $options): {type: "column", width: 30, content: [
            pane("compiler"; 20; {id: $id, source: 1, lang: "cuda", compiler: $compiler, options: $options,
                libs: [], filters: {binary: false, commentOnly: true, demangle: true, directives: true,
                    execute: false, intel: true, labels: true, libraryCode: true, trim: false}}),
            pane("device"; 40; {id: $id, editorid: 1, device: "PTX"}),
            pane("executor"; 40; {source: 1, lang: "cuda", compiler: $compiler, options: $options, libs: [],
                compilationPanelShown: true, compilerOutShown: true})]};
        {version: 4, content: [{type: "row", content: [
            {type: "component", componentName: "codeEditor", width: 40,
                componentState: {id: 1, lang: "cuda", source: .}},
            column(1; $fused), column(2; $separate)]}]}
        | rison | encode'
}

# ---- One program ------------------------------------------------------------------------------------

# snippet NAME SOURCE: the link and the iframe of ROOT/SOURCE.
snippet() {
    local name=$1 source=$2 options=$OPTIONS link form hash
    [ -f "$ROOT/$source" ] || fail "$source is not there"
    if grep -q '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' "$ROOT/$source"; then
        fail "$source includes a file of its own, which that site does not have"
    fi
    if grep -q '^[[:space:]]*#[[:space:]]*pragma[[:space:]]*omp\|<omp\.h>' "$ROOT/$source"; then
        options+=" $OPENMP"
    fi
    hash=$(state "$options" <"$ROOT/$source")
    # -11 is pigz' own compressor: the bytes do not depend on which zlib is installed.
    link=$SITE/clientstate/$(session "$options" <"$ROOT/$source" | tr -d '\n' | pigz -z -11 -p 1 | base64 | tr -d '\n=' | tr '+/' '-_')
    form="link of ${#link} characters"
    if [ "${#link}" -ge "$MAX_LINK" ]; then
        form="${#link} characters, too long for a short link: in the hash form"
        link="$SITE/#$hash"
        form+=" ${#link}"
    fi
    printf '%s\n' "$link" >"$work/embeds/$name.url"
    cat >"$work/embeds/$name.html" <<END
<!-- $source, built with and without contraction. From \`make embeds\`, not by hand. -->
<iframe width="100%" height="900" loading="lazy" title="$source in Compiler Explorer" src="$SITE/e?hideEditorToolbars=true#$hash"></iframe>
END
    printf '%-36s %s\n' "$name" "$form"
}

# page LESSON NAME=FILE...: the links of these snippets on the lesson's page, in place of those that stand there.
page() {
    local page=$ROOT/$1/README.md pair
    shift
    [ -f "$page" ] && grep -q '<!-- link: [^ ]* -->' "$page" || return 0
    for pair in "$@"; do
        # shellcheck disable=SC2016 # Markdown
        printf '[`%s`](%s)\n' "${pair#*=}" "$(cat "$work/embeds/${pair%%=*}.url")"
    done | paste -s -d , - | sed 's/),\[/), [/g' >"$work/links"
    awk '
        NR == FNR { links = $0; next }
        match($0, /<!-- link: [^ ]* -->/) { print substr($0, 1, RSTART + RLENGTH - 1) " " links; next }
        { print }' "$work/links" "$page" >"$work/page"
    cmp -s "$work/page" "$page" || cat "$work/page" >"$page"
}

for program in "${PROGRAMS[@]}"; do
    lesson=${program%/*}
    name=${program##*/}
    snippet "$name" "$program.cu"
    pairs=("$name=$name.cu")
    if [ -f "$ROOT/$lesson/embed.cu" ]; then
        snippet "$lesson.embed" "$lesson/embed.cu"
        pairs+=("$lesson.embed=embed.cu")
    fi
    page "$lesson" "${pairs[@]}"
done

# Only now, when all went well; what is no program's any more goes.
for old in "$ROOT"/embeds/*.url "$ROOT"/embeds/*.html; do
    [ -e "$work/embeds/${old##*/}" ] || rm -f "$old"
done
cp "$work"/embeds/* "$ROOT/embeds/"
