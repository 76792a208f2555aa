# Every message with which a tool or the Makefile refuses is in a test.
# A message is known by its longest piece between variables, quotes and escapes.
load helper

# refusals: "FILE: PIECE", one a line. Scripts whose answers make stops with are read whole, of the others
# what goes to stderr; of C what is complained of.
refusals() {
    (cd "$ROOT" && perl -e '
        for my $file (sort glob("tools/*.sh tools/*.c Makefile")) {
            open my $in, "<", $file or die; local $/; my $text = <$in>;
            my @messages;
            if ($file =~ /\.c$/) {
                $text =~ s/"\s*\n\s*"//g;
                push @messages, $1 while $text =~ /(?:complain\(\s*format|damage\s*=(?:\s*format)?|fputs|puts|\bformat)\s*\(?\s*"((?:[^"\\]|\\.)*)"/g;
            } elsif ($file eq "Makefile") {
                push @messages, $1 while $text =~ /\$\(error (.*)\)$/mg;
                @messages = grep { $_ !~ /^\$\(/ } @messages;
            } else {
                $text =~ s/\\\n//g;
                my $answers = $text =~ /for make to\s*(# )?stop/;
                my ($heredoc, $code) = ("", "");
                for (split /\n/, $text) {
                    if ($heredoc ne "") { $heredoc = "" if $_ eq $heredoc; next }
                    $code .= "$_\n" unless /^\s*#/;
                    $heredoc = $2 if /<<(\x27?)([A-Z]+)\1$/;
                }
                for (split /\n/, $code) {
                    # A `fail` of the judge is a verdict on what was handed in.
                    next unless />&2|\brefuse |misfit=/ || /\bfail / && $file !~ /judge|grade/ || $answers && /\becho /;
                    push @messages, $1 // $2 while /"((?:[^"\\]|\\.)*)"|\x27([^\x27]*)\x27/g;
                }
            }
            for (grep !/^\^/, @messages) {
                my ($longest) = sort { length $b <=> length $a }
                    split /\$\{[^}]*\}|\$\([^)]*\)|\$\w+|%-?[.*0-9]*(?:ll|z)?[a-z]|\\.|["\x27`\$]/;
                s/^reason=|^\W+|\W+$//g for $longest //= "";
                print "$file: $longest\n" if length $longest > 7;
            }
        }')
}

# unmentioned FILE...: those of stdin that none of the files holds.
unmentioned() {
    local line
    cat "$@" >"$BATS_TEST_TMPDIR/mentions"
    while IFS= read -r line; do
        grep -qF -e "${line#*: }" "$BATS_TEST_TMPDIR/mentions" || echo "$line"
    done
}

@test "each refusal of a tool and of the Makefile is in a test" {
    refusals | sort -u >"$BATS_TEST_TMPDIR/refusals"
    local files
    mapfile -t files < <(ls "$ROOT"/tests/*.bats | grep -v '/refusals\.bats$')
    run unmentioned "${files[@]}" <"$BATS_TEST_TMPDIR/refusals"
    assert_output ''
    # It reads what it is to read: some of each kind.
    run cat "$BATS_TEST_TMPDIR/refusals"
    assert_line 'Makefile: BUILD must be one path without spaces or ~ * ? [, not'
    assert_line 'tools/bench.sh: no benchmark was run'
    assert_line 'tools/build_folder.sh: is a file, not a folder'
    assert_line 'tools/defs_flags.sh: a quote is not closed'
    assert_line 'tools/match.c: two expected files are for it'
    assert_line 'tools/match.c: is larger than 1 MiB: not an output of a lesson'
    assert_line 'tools/gpu_probe.c: the driver is too old'
}
