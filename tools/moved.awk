# What moved between two outputs of one program: awk -f moved.awk PINNED FOUND
# Rows are paired by their table's header, label and number of columns, other lines `name: value` by
# their name. Columns are compared one by one; both raw lines are shown, and the columns of a row that moved
# by their names. Free fields of the pinned file and the heads of both are left out. Ends with `N lines moved, M without a counterpart`.
# With -v list=1 (one file): its free fields, one per line: type, row, column, separated by tabs.

# The label of a row: all before its first gap of two blanks; nothing where there is none.
function label(line) { return match(line, /[^ ]  +[^ ]/) ? substr(line, 1, RSTART) : "" }

# What the header has above the columns from..to of a row: the whole words there, up to the row's
# columns on both sides, but not across two blanks.
function above(header, line, from, to,    low, high, a, b, name) {
    for (low = from; low > 1 && substr(line, low - 1, 1) == " ";) low--
    for (high = to; high < length(line) && substr(line, high + 1, 1) == " ";) high++
    if (high == length(line)) high = length(header)
    for (a = from; a <= to && substr(header, a, 1) == " ";) a++
    if (a > to || a > length(header)) return ""
    for (b = a; b < high && b < length(header) && substr(header, b + 1, 2) != "  ";) b++
    while (a > low && substr(header, a - 2, 2) != "  ") a--
    name = substr(header, a, b - a + 1)
    if (substr(header, b, 2) ~ /[^ ][^ ]/) sub(/ [^ ]*$/, "", name)
    if (a > 1 && substr(header, a - 1, 2) ~ /[^ ][^ ]/) sub(/^[^ ]* /, "", name)
    gsub(/^ +| +$/, "", name)
    return name
}

# The name of the column from..to of a line; nothing where it has none.
function name_of(line, header, from, to) {
    if (header != "" && label(line) != "") return above(header, line, from, to)
    return line ~ /:/ ? substr(line, 1, index(line, ":") - 1) : ""
}

# Splits a line into word[1..n] and where each begins, at[1..n].
function columns(line, word, at,    n, from, rest) {
    from = 1
    for (n = 0; match(rest = substr(line, from), /[^ ]+/); from += RSTART + RLENGTH - 1) {
        n++
        word[n] = substr(rest, RSTART, RLENGTH)
        at[n] = from + RSTART - 1
    }
    return n
}

# Under what a line is paired; nothing for one that is not.
function key_of(line, header, n,    shape) {
    shape = header
    gsub(/[0-9]+/, "#", shape)
    if (label(line) != "") return shape SUBSEP label(line) SUBSEP n
    return line ~ /^[^:]+: / ? substr(line, 1, index(line, ":")) : ""
}

FNR == 1 { file++; body = 0; header = ""; split("", seen) }
{ gsub(/\r/, ""); gsub(/[^ -~]/, "?") }
/^ *$/ { body = 1; header = ""; next }
{
    # The first line with a gap heads its table; a line `gate: ...` or one like it heads none.
    heads = header == "" && label($0) != "" && $1 !~ /:$/
    n = columns($0, word, at)
    if (list) {
        for (i = 1; i <= n; i++)
            if (match(word[i], /{[a-z]*}/)) {
                type = substr(word[i], RSTART, RLENGTH)
                row = label($0) != "" ? label($0) : $1
                printf "%s\t%s\t%s\n", type, row, name_of($0, header, at[i], at[i] + length(word[i]) - 1)
            }
    } else if (body && !heads && (key = key_of($0, header, n)) != "") {
        key = key SUBSEP (++seen[key])
        if (file == 1) {
            pinned[key] = $0
            order[++lines] = key
        } else if (!(key in pinned)) {
            alone++
            print "  only found:  " $0
        } else {
            columns(pinned[key], want, unused)
            shown = 0
            for (i = 1; i <= n; i++) {
                if (want[i] == word[i] || want[i] ~ /{/) continue
                if (!shown++) {
                    moved++
                    print "  pinned: " pinned[key]
                    print "  found:  " $0
                }
                if (label($0) == "") continue # the two lines say it all
                name = name_of($0, header, at[i], at[i] + length(word[i]) - 1)
                if (name != "") print "    " name ": " want[i] " -> " word[i]
            }
            delete pinned[key]
        }
    }
    if (heads) header = $0
}
END {
    if (list) exit
    for (i = 1; i <= lines; i++)
        if (order[i] in pinned) {
            alone++
            print "  only pinned: " pinned[order[i]]
        }
    printf "%d line%s moved, %d without a counterpart\n", moved, moved == 1 ? "" : "s", alone
}
