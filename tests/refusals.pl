# The messages with which tools and Makefile refuse, each known by its longest piece between variables,
# quotes and escapes. Scripts whose answers make stops with are read whole, of the others what goes to
# stderr; of C what is complained of.
#   perl tests/refusals.pl              "FILE: PIECE", one a line; in the tree's folder
#   perl tests/refusals.pl FILE PIECE   FILE with other letters in that piece, on stdout
use strict;
use warnings;

my ($planted_file, $planted_piece) = @ARGV;
my ($file, %seen);

# Notes a message; gives it back as it is to stand in the planted file.
sub message {
    my ($message) = @_;
    return $message if $message =~ /^\^/;    # a pattern
    my ($longest) = sort { length $b <=> length $a }
        split /\$\{[^}]*\}|\$\([^)]*\)|\$\w+|%-?[.*0-9]*(?:ll|z)?[a-z]|\\.|["\x27`\$]/, $message;
    $longest //= "";
    $longest =~ s/^reason=|^\W+|\W+$//g;
    return $message if length $longest <= 7;
    $seen{"$file: $longest"} = 1;
    return $message if !defined $planted_piece || $longest ne $planted_piece;
    my $at = index $message, $longest;
    (my $other = $longest) =~ tr/A-Za-z/N-ZA-Mn-za-m/;
    substr $message, $at, length $longest, $other;
    return $message;
}

for (defined $planted_file ? $planted_file : sort glob("tools/*.sh tools/*.c Makefile")) {
    $file = $_;
    open my $in, "<", $file or die "$file: $!\n";
    my $text = do { local $/; <$in> };
    if ($file =~ /\.c$/) {
        $text =~ s/"\s*\n\s*"//g;
        $text =~ s/((?:complain\(\s*format|damage\s*=(?:\s*format)?|fputs|puts|\bformat)\s*\(?\s*")((?:[^"\\]|\\.)*)"/$1 . message($2) . '"'/ge;
    } elsif ($file eq "Makefile") {
        $text =~ s/(\$\(error )(?!\$\()(.*)\)$/$1 . message($2) . ")"/gme;
    } else {
        $text =~ s/\\\n//g;
        my $answers = $text =~ /for make to\s*(# )?stop/;
        my ($heredoc, @lines) = ("");
        for (split /\n/, $text) {
            push @lines, $_;
            if ($heredoc ne "") { $heredoc = "" if $_ eq $heredoc; next }
            next if /^\s*#/;
            $heredoc = $2 if /<<(\x27?)([A-Z]+)\1$/;
            # A `fail` of the judge is a verdict on what was handed in.
            next unless />&2|\brefuse |misfit=/ || /\bfail / && $file !~ /judge|grade/ || $answers && /\becho /;
            # What stands before `refuse` and `fail` is the condition.
            my ($before, $rest) = /^(.*?\b(?:refuse|fail) )(.*)$/ ? ($1, $2) : ("", $_);
            $rest =~ s/"((?:[^"\\]|\\.)*)"|\x27((?:[^\x27]|\x27\\\x27\x27)*)\x27/defined $1 ? '"' . message($1) . '"' : "\x27" . message($2) . "\x27"/ge;
            $lines[-1] = $before . $rest;
        }
        $text = join "", map "$_\n", @lines;
    }
    print $text if defined $planted_file;
}
print map "$_\n", sort keys %seen unless defined $planted_file;
