# shellcheck shell=bash
# Sourced by fetch_cccl.sh and fetch_toolkit.sh: wheels from PyPI, unpacked into one folder that is replaced
# as a whole, so that a fetch that fails leaves what was there.

# fetch_wheels GOAL NAME FOLDER VERSION PIP-ARGUMENT...: unpacks the wheels in FOLDER.new; VERSION is in
# FOLDER.new/list. What is to stay goes to FOLDER.new/keep.
# Ends the script with 0 where FOLDER has this VERSION, with 2 where the wheels cannot be had.
fetch_wheels() {
    goal=$1 name=$2 folder=$3 new=$3.new
    local version=$4 wheel why
    shift 4
    if [ "$(cat "$folder/version" 2>/dev/null)" = "$version" ]; then
        echo "$name is in $folder already"
        exit 0
    fi
    if ! python3 -m pip --version >/dev/null 2>&1; then
        echo "make $goal needs pip (Debian: apt-get install python3-pip)" >&2
        exit 2
    fi
    rm -rf "$new"
    trap 'rm -rf "$new"' EXIT
    mkdir -p "$new/keep"
    printf '%s\n' "$version" >"$new/list"
    if ! python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary=:all: \
        --dest "$new" "$@" >"$new/log" 2>&1; then
        why=$(grep -m 1 -i error "$new/log" || tail -n 1 "$new/log")
        echo "make $goal: pip could not download $name: $why" >&2
        exit 2
    fi
    for wheel in "$new"/*.whl; do python3 -m zipfile -e "$wheel" "$new"; done
}

# The folder becomes what is in $new/keep, and remembers its VERSION.
keep_wheels() {
    mv "$new"/*.dist-info "$new/keep/" # the licences
    mv "$new/list" "$new/keep/version"
    rm -rf "$folder"
    mv "$new/keep" "$folder"
    echo "$name is in $folder"
}
