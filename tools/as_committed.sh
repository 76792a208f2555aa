#!/usr/bin/env bash
# Says where a lesson's program is not the one that was committed: checks compare with it, so one who put a copy in
# its place would be compared with that copy.
#   as_committed.sh LESSON...     (environment: ROOT)
# Where there is no git, or no checkout of it, nothing can be said, and nothing is.
# Status: 0 it is, or nobody knows; 2 it is not (one line on stderr).
set -uo pipefail

cd "$ROOT" || exit 2
for lesson in "$@"; do
    # In a checkout alone: what a repository further up does not know of is no change either.
    changed=$(GIT_OPTIONAL_LOCKS=0 git diff --name-only --relative HEAD -- "$lesson/*.cu" 2>/dev/null | head -n 1) || continue
    [ -n "$changed" ] || continue
    echo "$changed is not as it was committed, and the check compares with it: keep your changes elsewhere, then: git checkout HEAD -- $changed" >&2
    exit 2
done
