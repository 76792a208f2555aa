#!/usr/bin/env bash
# Writes one message at a time with which a tool or the Makefile refuses (refusals.pl) in other letters, in a
# copy of the tree, and asks whether a test that holds the message notices. So the test must make the tool
# refuse, and must look at what it says; that its file holds the message would not show either.
#   tests/refusals.sh [PART ...]    PART: of "FILE: MESSAGE"; default: all
# Prints those that no test misses; status 1 then. Those are left out whose test is skipped here. V=1: for each, which test misses it.
set -euo pipefail
export LC_ALL=C

. "$(dirname "${BASH_SOURCE[0]}")/environment.sh"
cd "$ROOT"
PATH=$(outer_path)
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES DEFS LESSON LESSON_GIVEN OUTPUT TESTS

# The tests that hold a text, as FILE, tab, NAME; where it stands outside of all tests, those of that file.
# First those in files that name the tool, and shorter ones before longer ones.
tests_with() { # TOOL TEXT
    perl -e '
        my ($tool, $text, %length) = (shift, shift);
        for my $file (grep !m{/refusals}, @ARGV) {
            my ($name, %body, $all);
            open my $in, "<", $file or die;
            while (<$in>) {
                $all .= $_;
                $name = $1 if /^\@test "(.*)" \{/;
                $body{$name} .= $_ if defined $name;
                undef $name if /^\}/ || /^\@test .* \}$/;
            }
            next if index($all, $text) < 0;
            my @in = grep index($body{$_}, $text) >= 0, keys %body;
            my $other = $all =~ /\Q$tool/ ? 0 : 1e6;
            $length{"$file\t$_"} = $other + length $body{$_} for @in ? @in : keys %body;
        }
        print map "$_\n", sort { $length{$a} <=> $length{$b} || $a cmp $b } keys %length' "$1" "$2" tests/*.bats
}
in_copy() { env -i PATH="$PATH" HOME="$HOME" ALL=1 BATS_LIB_PATH="${BATS_LIB_PATH:-}" TMPDIR="$copy/tmp" "$@"; }
# The status of one test in the copy; its report is in $copy/log.
test_in_copy() { # FILE NAME
    in_copy timeout 300 bash -c "export $answer; exec bats \"\$@\"" bats --filter "^$(quoted_pattern "$2")\$" \
        "$copy/tree/$1" >"$copy/log" 2>&1
}

# Is a message missed? It is if a test fails that reports the other letters, or one that passes without them.
one() { # FILE MESSAGE
    local file=$1 message=$2 other test name missed=no skipped reason=''
    other=$(tr A-Za-z N-ZA-Mn-za-m <<<"$message")
    perl tests/refusals.pl "$file" "$message" >"$copy/planted"
    grep -qF -e "$other" "$copy/planted" || { echo "nothing planted: $file: $message"; return; }
    while IFS=$'\t' read -r test name; do
        cat "$copy/planted" >"$copy/tree/$file"
        if test_in_copy "$test" "$name" </dev/null; then
            # Older versions of Bats put the reason in brackets.
            skipped=$(sed -nE 's/^ok 1 .* # skip ?//p' "$copy/log" | sed -E 's/^\((.*)\)$/\1/')
            [ -z "$skipped" ] || reason=$skipped
            continue
        fi
        cat "$file" >"$copy/tree/$file"
        if grep -qF -e "$other" "$copy/log" || test_in_copy "$test" "$name" </dev/null; then
            missed="$test: $name"
            break
        fi
    done < <(tests_with "${file##*/}" "$message")
    cat "$file" >"$copy/tree/$file"
    if [ "$missed" = no ] && [ -n "$reason" ]; then
        echo "left out: $file, ${message//:/}: $reason"
    else
        echo "missed by $missed: $file: $message"
    fi
}

# Each of several workers has a copy of its own, and takes every so many'th message.
worker() { # NUMBER OF
    local file message
    copy=$work/$1
    mkdir "$copy" "$copy/tmp"
    copy_tree "$copy/tree"
    [ ! -e .toolkit ] || ln -s "$ROOT/.toolkit" "$copy/tree/.toolkit"
    [ ! -e .cccl ] || ln -s "$ROOT/.cccl" "$copy/tree/.cccl"
    copy_build "$copy/tree"
    answer=$(in_copy make -s --no-print-directory -C "$copy/tree" DEVICE="$DEVICE" CXX="$CXX" CC="$CC" test-env)
    answer=${answer/BUILD=\'build\'/BUILD=\'$copy/tree/build\'}
    awk "NR % $2 == $1 % $2" "$work/chosen" | while IFS= read -r line; do one "${line%%: *}" "${line#*: }"; done
}

if [ "${1:-}" = --worker ]; then work=$2; worker "$3" "$4"; exit; fi
mkdir -p "$BUILD/tmp"
work=$(mktemp -d "$BUILD/tmp/refusals.XXXXXX")
trap 'rm -rf "$work"' EXIT
perl tests/refusals.pl >"$work/all"
for part in "${@:-: }"; do grep -F -e "$part" "$work/all" || true; done | sort -u >"$work/chosen"
[ -s "$work/chosen" ] || { echo "no such message" >&2; exit 2; }
jobs=${JOBS:-$(nproc 2>/dev/null || echo 1)}
seq "$jobs" | xargs -I {} -P "$jobs" bash "$0" --worker "$work" {} "$jobs" >"$work/verdicts"
[ -z "${V:-}" ] || cat "$work/verdicts"
missed=$(grep -c '^missed by tests/' "$work/verdicts" || true)
left=$(grep -c '^left out: ' "$work/verdicts" || true)
total=$(wc -l <"$work/chosen")
echo "messages: $(wc -l <"$work/all"), tried: $total, missed: $missed, left out: $left"
grep -v '^missed by tests/' "$work/verdicts" | sed 's/^missed by no:/no test misses:/' | sort || true
[ "$missed" -gt 0 ] && [ $((missed + left)) -eq "$total" ]
