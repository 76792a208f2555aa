/* match: is this output, from whatever card, what the lesson must print?
 *
 *   match [--values] [--lesson LESSON] EXPECTED_DIR OUTPUT
 *   match --merge EXPECTED_FILE OUTPUT
 *   match --count-free EXPECTED_FILE
 *
 * The head of an output is what stands before its first blank line, one
 * `key: value` a line:
 *
 *   program: day68_reproducibility/reproducibility
 *   revision: 1
 *   device: NVIDIA H200, compute capability 9.0, 132 multiprocessors
 *   contraction: fused                 (or separate)
 *   type: double_pair                  (where the program has one)
 *   n: 4194915                         (where results depend on one)
 *
 * Expected files are the regular files *.txt directly in EXPECTED_DIR, hidden
 * ones aside. The one for an output has the same program, contraction, type
 * and n; what one of them lacks, the other must lack too.
 *
 * How lines compare
 *   Blanks (space, tab) separate columns. How many stand between two columns,
 *   or at either end of a line, makes no difference. Carriage returns are
 *   dropped wherever they are. All else must be equal, byte for byte, blank
 *   lines included; only the last line's line feed may be absent.
 *   In an expected file the column {...} is free:
 *     between others    it stands for exactly one column;
 *     last of its line  for the rest of the line, at least one column;
 *     alone on a line   for that line, which must not be blank.
 *   {...} as a part of a column is refused: it would be free in nobody's eyes
 *   but its author's. An output that holds the column {...} is refused too,
 *   else an expected file would pass as an output of every card.
 *
 * Another revision
 *   A new revision may reword everything but the values. So where the
 *   revisions differ (or with --values) only pinned values are compared: each
 *   0x with 8 or 16 hexadecimal digits. All those of an expected line must
 *   stand, in that order, in one output line with the same first column;
 *   others may stand between them. Several lines may begin alike; equal
 *   expected lines need as many output lines.
 *
 * --lesson refuses an output of another lesson: its program must begin with
 * LESSON/. --merge prints what EXPECTED_FILE becomes when OUTPUT is accepted as
 * right: the output, in which each line that an expected line still fits is
 * replaced by that one, so that its {...} stay. --count-free prints how many
 * {...} a file has.
 *
 * Exit status
 *   0  equal: stdout says which file, and how much was compared
 *   1  different: stdout shows the lines, expected and found
 *   2  nothing could be compared: one line on stderr says what was looked for
 *      and what there is
 */
#define _POSIX_C_SOURCE 200809L

#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Far above what a lesson prints (some 100 lines). A program that ran wild is
 * refused by name, and the table that aligns lines stays below 10 MB. */
enum { MAX_BYTES = 1 << 20, MAX_LINES = 2000, MAX_LENGTH = 2000, MAX_SHOWN = 10 };

static const char kFree[] = "{...}";
enum { FREE_LENGTH = sizeof kFree - 1 };

/* The first PICKING keys pick the expected file, in this order. */
enum { PROGRAM, CONTRACTION, TYPE, N, PICKING, REVISION = PICKING, KEYS };
static const char *const kKey[KEYS] = {"program", "contraction", "type", "n", "revision"};

/* A file. line[i] has one space between columns and none at its ends, raw[i] is
 * as it was but for carriage returns; they point into bytes and raw_bytes. */
struct text {
    char *path;
    char *bytes, *raw_bytes;
    char **line, **raw;
    size_t lines;
    const char *head[KEYS]; /* values, NULL where the head lacks the key */
};

/* A column: not terminated; length 0 after the last one. */
struct column {
    const char *start;
    size_t length;
};

/* ---- what cannot be done: one line, exit status 2 ---------------------- */

/* A line put together piece by piece; what does not fit is cut off. */
struct message {
    char text[4000];
    size_t used;
};

static void append_list(struct message *m, const char *format, va_list list)
{
    size_t room = sizeof m->text - m->used;
    int wanted = vsnprintf(m->text + m->used, room, format, list);

    if (wanted > 0)
        m->used += (size_t)wanted < room ? (size_t)wanted : room - 1;
}

static void append(struct message *m, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    append_list(m, format, list);
    va_end(list);
}

/* Names and values come from files that others wrote: a control character in
 * them must neither break the one line nor reach the terminal. */
static _Noreturn void refuse_message(struct message *m)
{
    fputs("match: ", stderr);
    for (size_t i = 0; i < m->used; i++) {
        unsigned char c = (unsigned char)m->text[i];
        fputc(c < 0x20 || c == 0x7f ? '?' : c, stderr);
    }
    fputs(m->used == sizeof m->text - 1 ? " ...\n" : "\n", stderr);
    exit(2);
}

static _Noreturn void refuse(const char *format, ...)
{
    struct message m = {.used = 0};
    va_list list;

    va_start(list, format);
    append_list(&m, format, list);
    va_end(list);
    refuse_message(&m);
}

/* Room for count (at least 1) objects of the given size; what is at old moves
 * along. Callers keep both far from overflow by the limits above. */
static void *allocate(void *old, size_t count, size_t size)
{
    void *p = realloc(old, count * size);

    if (p == NULL)
        refuse("out of memory (%zu bytes)", count * size);
    return p;
}

/* ---- lines and columns -------------------------------------------------- */

/* The column at *at, which moves on to the next one. */
static struct column next_column(const char **at)
{
    struct column c = {*at, strcspn(*at, " ")};

    *at += c.length;
    if (**at == ' ')
        ++*at;
    return c;
}

static bool is_free(struct column c)
{
    return c.length == FREE_LENGTH && memcmp(c.start, kFree, FREE_LENGTH) == 0;
}

static bool same_column(struct column a, struct column b)
{
    return a.length == b.length && memcmp(a.start, b.start, a.length) == 0;
}

/* How many columns of the line are {...}. */
static size_t free_in_line(const char *line)
{
    size_t count = 0;

    for (struct column c = next_column(&line); c.length > 0; c = next_column(&line))
        count += is_free(c);
    return count;
}

static size_t free_in_text(const struct text *t)
{
    size_t count = 0;

    for (size_t i = 0; i < t->lines; i++)
        count += free_in_line(t->line[i]);
    return count;
}

static bool line_matches(const char *expected, const char *found)
{
    for (;;) {
        struct column e = next_column(&expected);
        struct column f = next_column(&found);

        if (e.length == 0 || f.length == 0)
            return e.length == f.length;
        if (is_free(e)) {
            if (*expected == '\0')
                return true;
        } else if (!same_column(e, f)) {
            return false;
        }
    }
}

/* ---- reading ------------------------------------------------------------ */

/* Reads the file whole; *size is its length, at least 1. */
static char *read_bytes(const char *path, size_t *size)
{
    struct stat info;
    FILE *file = fopen(path, "rb");
    char *bytes;

    if (file == NULL)
        refuse("%s: cannot be read: %s", path, strerror(errno));
    if (fstat(fileno(file), &info) == 0 && S_ISDIR(info.st_mode))
        refuse("%s: is a folder, not a file", path);
    bytes = allocate(NULL, MAX_BYTES + 1, 1);
    *size = fread(bytes, 1, MAX_BYTES + 1, file);
    if (ferror(file))
        refuse("%s: cannot be read: %s", path, strerror(errno));
    fclose(file);
    if (*size == 0)
        refuse("%s: is empty", path);
    if (*size > MAX_BYTES)
        refuse("%s: is larger than %d bytes: not an output of a lesson", path, MAX_BYTES);
    return allocate(bytes, *size + 1, 1);
}

/* Terminates the line from `from` up to (not with) `end` and drops its carriage
 * returns, in place. *end is writable and may be overwritten. */
static void drop_returns(char *from, const char *end)
{
    char *to = from;

    for (const char *p = from; p < end; p++)
        if (*p != '\r')
            *to++ = *p;
    *to = '\0';
}

/* Leaves one space between columns and none at the ends of a line, in place. */
static void squeeze(char *from)
{
    char *to = from;
    bool blank = false;

    for (const char *p = from; *p != '\0'; p++) {
        if (*p == ' ' || *p == '\t') {
            blank = true;
            continue;
        }
        if (blank && to > from)
            *to++ = ' ';
        blank = false;
        *to++ = *p;
    }
    *to = '\0';
}

/* Fills all but the head; refuses what is not a text. */
static struct text read_text(const char *path)
{
    struct text t = {.path = NULL};
    size_t size;
    char *end;

    t.path = allocate(NULL, strlen(path) + 1, 1);
    strcpy(t.path, path);
    t.bytes = read_bytes(path, &size);
    t.raw_bytes = allocate(NULL, size + 1, 1);
    t.line = allocate(NULL, MAX_LINES, sizeof *t.line);
    t.raw = allocate(NULL, MAX_LINES, sizeof *t.raw);
    end = t.bytes + size;
    if (size >= 3 && (memcmp(t.bytes, "\xff\xfe", 2) == 0 || memcmp(t.bytes, "\xfe\xff", 2) == 0 ||
                      memcmp(t.bytes, "\xef\xbb\xbf", 3) == 0))
        refuse("%s: begins with a byte order mark (PowerShell writes one): "
               "save it as plain ASCII", path);
    for (char *p = t.bytes; p < end;) {
        char *stop = memchr(p, '\n', (size_t)(end - p));

        if (stop == NULL)
            stop = end;
        if (t.lines == MAX_LINES)
            refuse("%s: has more than %d lines: not an output of a lesson", path, MAX_LINES);
        if (stop - p > MAX_LENGTH)
            refuse("%s: line %zu is longer than %d characters", path, t.lines + 1, MAX_LENGTH);
        if (memchr(p, '\0', (size_t)(stop - p)) != NULL)
            refuse("%s: line %zu holds a NUL byte: not a text", path, t.lines + 1);
        drop_returns(p, stop);
        t.raw[t.lines] = strcpy(t.raw_bytes + (p - t.bytes), p);
        squeeze(p);
        t.line[t.lines++] = p;
        p = stop + 1;
    }
    return t;
}

static void free_text(struct text *t)
{
    free(t->path);
    free(t->bytes);
    free(t->raw_bytes);
    free(t->line);
    free(t->raw);
}

/* Picks the known keys out of the lines before the first blank one. */
static void read_head(struct text *t)
{
    for (size_t i = 0; i < t->lines && t->line[i][0] != '\0'; i++) {
        for (int k = 0; k < KEYS; k++) {
            size_t length = strlen(kKey[k]);
            const char *line = t->line[i];

            if (strncmp(line, kKey[k], length) != 0 || line[length] != ':')
                continue;
            if (t->head[k] != NULL)
                refuse("%s: line %zu: a second \"%s:\" in the head", t->path, i + 1, kKey[k]);
            line += length + 1;
            line += *line == ' ';
            if (*line == '\0' || free_in_line(line) > 0)
                refuse("%s: line %zu: \"%s:\" must name its value", t->path, i + 1, kKey[k]);
            t->head[k] = line;
        }
    }
    if (t->head[PROGRAM] == NULL)
        refuse("%s: has no head: no line \"program: ...\" before the first blank line", t->path);
    if (t->head[CONTRACTION] == NULL || t->head[REVISION] == NULL)
        refuse("%s: no line \"%s: ...\" in the head", t->path,
               kKey[t->head[REVISION] == NULL ? REVISION : CONTRACTION]);
    if (strcmp(t->head[CONTRACTION], "fused") != 0 &&
        strcmp(t->head[CONTRACTION], "separate") != 0)
        refuse("%s: contraction is \"%s\", neither fused nor separate", t->path,
               t->head[CONTRACTION]);
    if (t->head[REVISION][strspn(t->head[REVISION], "0123456789")] != '\0')
        refuse("%s: revision \"%s\" is not a number", t->path, t->head[REVISION]);
}

static struct text read_expected(const char *path)
{
    struct text t = read_text(path);

    for (size_t i = 0; i < t.lines; i++) {
        const char *at = t.line[i];

        while ((at = strstr(at, kFree)) != NULL) {
            bool begins = at == t.line[i] || at[-1] == ' ';

            at += FREE_LENGTH;
            if (!begins || (*at != ' ' && *at != '\0'))
                refuse("%s: line %zu: {...} must be a column of its own", path, i + 1);
        }
    }
    return t;
}

static struct text read_output(const char *path)
{
    struct text t = read_text(path);

    for (size_t i = 0; i < t.lines; i++)
        if (free_in_line(t.line[i]) > 0)
            refuse("%s: line %zu holds {...}: this is an expected file, not an output", path,
                   i + 1);
    read_head(&t);
    return t;
}

/* ---- which expected file ------------------------------------------------ */

struct shelf {
    struct text *file;
    size_t files;
};

static int by_path(const void *a, const void *b)
{
    return strcmp(((const struct text *)a)->path, ((const struct text *)b)->path);
}

/* All expected files of the folder, sorted by name so that messages do not
 * depend on the file system. One that is broken is refused although another
 * may be the one looked for: it would hide what it pins. */
static struct shelf read_shelf(const char *folder)
{
    struct shelf s = {NULL, 0};
    DIR *dir = opendir(folder);
    const struct dirent *entry;

    if (dir == NULL)
        refuse("%s: cannot be read as a folder of expected files: %s", folder, strerror(errno));
    for (errno = 0; (entry = readdir(dir)) != NULL; errno = 0) {
        const char *name = entry->d_name;
        size_t length = strlen(name);
        size_t room = strlen(folder) + length + 2;
        struct stat info;
        char *path;

        if (name[0] == '.' || length < 5 || strcmp(name + length - 4, ".txt") != 0)
            continue;
        path = allocate(NULL, room, 1);
        snprintf(path, room, "%s/%s", folder, name);
        if (stat(path, &info) != 0)
            refuse("%s: cannot be read: %s", path, strerror(errno));
        if (S_ISREG(info.st_mode)) {
            s.file = allocate(s.file, s.files + 1, sizeof *s.file);
            s.file[s.files] = read_expected(path);
            read_head(&s.file[s.files]);
            s.files++;
        }
        free(path);
    }
    if (errno != 0)
        refuse("%s: cannot be read to its end: %s", folder, strerror(errno));
    closedir(dir);
    if (s.files == 0)
        refuse("%s: no expected file (*.txt) in this folder", folder);
    qsort(s.file, s.files, sizeof *s.file, by_path);
    return s;
}

static bool same_value(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

static bool same_keys(const struct text *a, const struct text *b, int keys)
{
    for (int k = 0; k < keys; k++)
        if (!same_value(a->head[k], b->head[k]))
            return false;
    return true;
}

/* Says which value of key was looked for, which are pinned among the files
 * that agree in the keys before it, and ends. */
static _Noreturn void refuse_key(const struct shelf *s, const struct text *output, int key)
{
    struct message m = {.used = 0};
    const char *separator = "";

    append(&m, "%s: nothing is pinned for ", output->path);
    if (output->head[key] == NULL)
        append(&m, "no %s", kKey[key]);
    else
        append(&m, "%s %s", kKey[key], output->head[key]);
    for (int k = 0; k < key; k++)
        if (output->head[k] != NULL)
            append(&m, "%s%s %s", k == 0 ? " of " : ", ", kKey[k], output->head[k]);
    append(&m, "; pinned %s: ", kKey[key]);
    for (size_t i = 0; i < s->files; i++) {
        bool listed = !same_keys(&s->file[i], output, key);

        for (size_t j = 0; j < i && !listed; j++)
            listed = same_keys(&s->file[j], &s->file[i], key + 1);
        if (listed)
            continue;
        append(&m, "%s%s", separator, s->file[i].head[key] ? s->file[i].head[key] : "none");
        separator = ", ";
    }
    refuse_message(&m);
}

static const struct text *pick(const struct shelf *s, const struct text *output)
{
    const struct text *picked = NULL;

    for (int key = 0; key < PICKING; key++) {
        size_t left = 0;

        for (size_t i = 0; i < s->files; i++)
            left += same_keys(&s->file[i], output, key + 1);
        if (left == 0)
            refuse_key(s, output, key);
    }
    for (size_t i = 0; i < s->files; i++) {
        if (!same_keys(&s->file[i], output, PICKING))
            continue;
        if (picked != NULL)
            refuse("%s: two expected files are for this output: %s and %s", output->path,
                   picked->path, s->file[i].path);
        picked = &s->file[i];
    }
    return picked;
}

/* ---- showing what differs ----------------------------------------------- */

static const char *plural(size_t count)
{
    return count == 1 ? "" : "s";
}

/* A line of a file on the terminal: whatever is not printable ASCII is shown
 * as its code, so that it is seen and cannot act. */
static void show(const char *label, const char *line)
{
    fputs(label, stdout);
    if (*line == '\0')
        fputs("(a blank line)", stdout);
    for (; *line != '\0'; line++) {
        unsigned char c = (unsigned char)*line;
        if (c < 0x20 || c > 0x7e)
            printf("\\x%02x", c);
        else
            putchar(c);
    }
    putchar('\n');
}

static void show_rest(size_t differences)
{
    if (differences > MAX_SHOWN)
        printf("... and %zu more\n", differences - MAX_SHOWN);
}

/* ---- the whole output --------------------------------------------------- */

/* What stood between two lines that match: the first lines of both sides are
 * held against each other, what one side has more is missing or surplus. */
struct gap {
    size_t e, e_end, f, f_end;
};

struct tally {
    size_t differ, missing, surplus;
};

static void show_gap(const struct text *expected, const struct text *output, struct gap g,
                     struct tally *tally)
{
    while (g.e < g.e_end || g.f < g.f_end) {
        bool e = g.e < g.e_end;
        bool f = g.f < g.f_end;
        size_t *kind = e && f ? &tally->differ : e ? &tally->missing : &tally->surplus;

        ++*kind;
        if (tally->differ + tally->missing + tally->surplus <= MAX_SHOWN) {
            if (!f)
                printf("missing after line %zu (line %zu of the expected file)\n", g.f, g.e + 1);
            else if (!e)
                printf("line %zu is surplus\n", g.f + 1);
            else if (g.e == g.f)
                printf("line %zu differs\n", g.f + 1);
            else
                printf("line %zu differs (line %zu of the expected file)\n", g.f + 1, g.e + 1);
            if (e)
                show("  expected: ", expected->line[g.e]);
            else
                puts("  expected: (no such line)");
            if (f)
                show("  found:    ", output->line[g.f]);
            else
                puts("  found:    (no such line)");
        }
        g.e += e;
        g.f += f;
    }
}

/* Lines are aligned by a longest common subsequence, so that one line more or
 * less does not make all that follow it differ. The table at [i * width + j],
 * width = output lines + 1, says how many lines can match from the expected
 * line i and the output line j on. The caller frees it. */
static uint16_t *align(const struct text *expected, const struct text *output)
{
    size_t width = output->lines + 1;
    size_t size = (expected->lines + 1) * width;
    uint16_t *common = allocate(NULL, size, sizeof *common);

    memset(common, 0, size * sizeof *common);
    for (size_t i = expected->lines; i-- > 0;) {
        for (size_t j = output->lines; j-- > 0;) {
            uint16_t *here = common + i * width + j;

            if (line_matches(expected->line[i], output->line[j]))
                *here = (uint16_t)(here[width + 1] + 1);
            else
                *here = here[width] > here[1] ? here[width] : here[1];
        }
    }
    return common;
}

static void show_differences(const struct text *expected, const struct text *output)
{
    size_t width = output->lines + 1;
    uint16_t *common = align(expected, output);
    struct tally tally = {0, 0, 0};
    struct gap g = {0, 0, 0, 0};

    printf("%s differs from %s\n", output->path, expected->path);
    while (g.e_end < expected->lines && g.f_end < output->lines) {
        const uint16_t *here = common + g.e_end * width + g.f_end;

        if (line_matches(expected->line[g.e_end], output->line[g.f_end])) {
            show_gap(expected, output, g, &tally);
            g.e = ++g.e_end;
            g.f = ++g.f_end;
        } else if (here[width] >= here[1]) {
            g.e_end++;
        } else {
            g.f_end++;
        }
    }
    g.e_end = expected->lines;
    g.f_end = output->lines;
    show_gap(expected, output, g, &tally);
    show_rest(tally.differ + tally.missing + tally.surplus);
    printf("%zu line%s differ%s, %zu missing, %zu surplus\n", tally.differ, plural(tally.differ),
           tally.differ == 1 ? "s" : "", tally.missing, tally.surplus);
    free(common);
}

static void show_merged(const struct text *expected, const struct text *output)
{
    size_t width = output->lines + 1;
    uint16_t *common = align(expected, output);
    size_t i = 0;
    size_t j = 0;

    while (j < output->lines) {
        const uint16_t *here = common + i * width + j;

        if (i < expected->lines && line_matches(expected->line[i], output->line[j])) {
            puts(expected->raw[i++]);
            j++;
        } else if (i < expected->lines && here[width] >= here[1]) {
            i++;
        } else {
            puts(output->raw[j++]);
        }
    }
    free(common);
}

static bool compare_lines(const struct text *expected, const struct text *output)
{
    bool equal = expected->lines == output->lines;

    for (size_t i = 0; equal && i < expected->lines; i++)
        equal = line_matches(expected->line[i], output->line[i]);
    if (equal) {
        size_t fields = free_in_text(expected);

        printf("%s matches %s: %zu line%s compared, %zu field%s free\n", output->path,
               expected->path, expected->lines, plural(expected->lines), fields,
               plural(fields));
    } else {
        show_differences(expected, output);
    }
    return equal;
}

/* ---- the pinned values alone -------------------------------------------- */

static bool in_word(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* The first value of the line at or behind from; length 0 when there is none.
 * A comma or a bracket beside it is not part of it; a digit too many is. */
static struct column next_value(const char *line, const char *from)
{
    for (const char *s = from; (s = strstr(s, "0x")) != NULL; s++) {
        size_t digits = strspn(s + 2, "0123456789abcdefABCDEF");

        if ((digits == 8 || digits == 16) && !in_word(s[2 + digits]) &&
            (s == line || !in_word(s[-1])))
            return (struct column){s, 2 + digits};
    }
    return (struct column){NULL, 0};
}

static size_t values_in_line(const char *line)
{
    size_t count = 0;

    for (struct column v = next_value(line, line); v.length > 0;
         v = next_value(line, v.start + v.length))
        count++;
    return count;
}

static bool same_label(const char *expected, const char *found)
{
    struct column e = next_column(&expected);

    return is_free(e) || same_column(e, next_column(&found));
}

/* Do all values of the expected line stand, in that order, in the found one? */
static bool holds_values(const char *expected, const char *found)
{
    const char *at = found;

    for (struct column e = next_value(expected, expected); e.length > 0;
         e = next_value(expected, e.start + e.length)) {
        struct column f;

        do {
            f = next_value(found, at);
            if (f.length == 0)
                return false;
            at = f.start + f.length;
        } while (!same_column(e, f));
    }
    return true;
}

/* Do the lines pin the same: same label, same values, no more and no fewer? */
static bool pins_the_same(const char *a, const char *b)
{
    return same_label(a, b) && same_label(b, a) && holds_values(a, b) && holds_values(b, a);
}

static bool line_pinned(const struct text *expected, size_t line, const struct text *output)
{
    size_t needed = 0;
    size_t there = 0;

    for (size_t i = 0; i <= line; i++)
        needed += pins_the_same(expected->line[i], expected->line[line]);
    for (size_t j = 0; j < output->lines; j++)
        there += same_label(expected->line[line], output->line[j]) &&
                 holds_values(expected->line[line], output->line[j]);
    return there >= needed;
}

static void show_unpinned(const char *expected, size_t number, const struct text *output)
{
    size_t alike = 0;

    printf("line %zu of the expected file: its values are not all there\n", number);
    show("  expected: ", expected);
    for (size_t j = 0; j < output->lines; j++)
        if (same_label(expected, output->line[j]) && alike++ < 3)
            show("  found:    ", output->line[j]);
    if (alike == 0)
        puts("  found:    (no line begins so)");
    else if (alike > 3)
        printf("            (%zu more lines begin so)\n", alike - 3);
}

/* Only a run whose every gate passed prints the line. */
static bool all_gates_passed(const struct text *t)
{
    for (size_t i = 0; i < t->lines; i++)
        if (strncmp(t->line[i], "gates passed:", 13) == 0)
            return true;
    return false;
}

static bool compare_values(const struct text *expected, const struct text *output)
{
    size_t values = 0;
    size_t differences = 0;

    for (size_t i = 0; i < expected->lines; i++)
        values += values_in_line(expected->line[i]);
    if (values == 0)
        refuse("%s: pins no value (0x with 8 or 16 digits): nothing to compare with %s, "
               "of revision %s", expected->path, output->path, output->head[REVISION]);
    if (same_value(expected->head[REVISION], output->head[REVISION]))
        printf("--values: ");
    else
        printf("revision %s is not the current %s: ", output->head[REVISION],
               expected->head[REVISION]);
    printf("only the pinned values were compared: %zu value%s\n", values, plural(values));
    for (size_t i = 0; i < expected->lines; i++) {
        if (values_in_line(expected->line[i]) == 0 || line_pinned(expected, i, output))
            continue;
        if (++differences <= MAX_SHOWN)
            show_unpinned(expected->line[i], i + 1, output);
    }
    if (all_gates_passed(expected) && !all_gates_passed(output)) {
        puts("the output has no line `gates passed: N`: a gate failed");
        differences++;
    }
    show_rest(differences);
    if (differences == 0)
        printf("%s holds every pinned value of %s\n", output->path, expected->path);
    else
        printf("%s differs from %s: %zu line%s not pinned\n", output->path, expected->path,
               differences, plural(differences));
    return differences == 0;
}

/* ---- main --------------------------------------------------------------- */

static int finish(int status)
{
    if (fflush(stdout) != 0 || ferror(stdout))
        refuse("the result cannot be written: %s", strerror(errno));
    return status;
}

static int count_free(const char *path)
{
    struct text t = read_expected(path);

    printf("%zu\n", free_in_text(&t));
    free_text(&t);
    return finish(0);
}

static int merge(const char *expected_path, const char *output_path)
{
    struct text expected = read_expected(expected_path);
    struct text output = read_output(output_path);

    read_head(&expected);
    if (!same_keys(&expected, &output, CONTRACTION + 1))
        refuse("%s: is for another program or contraction than %s", expected_path, output_path);
    show_merged(&expected, &output);
    free_text(&expected);
    free_text(&output);
    return finish(0);
}

/* lesson is NULL where any will do. */
static int match(const char *folder, const char *path, const char *lesson, bool values)
{
    struct text output = read_output(path);
    struct shelf shelf = read_shelf(folder);
    size_t length = lesson == NULL ? 0 : strlen(lesson);
    const struct text *expected;
    bool equal;

    if (lesson != NULL && (strncmp(output.head[PROGRAM], lesson, length) != 0 ||
                           output.head[PROGRAM][length] != '/'))
        refuse("%s: is an output of %s, which is not of lesson %s", path, output.head[PROGRAM],
               lesson);
    expected = pick(&shelf, &output);
    values = values || !same_value(expected->head[REVISION], output.head[REVISION]);
    equal = values ? compare_values(expected, &output) : compare_lines(expected, &output);
    for (size_t i = 0; i < shelf.files; i++)
        free_text(&shelf.file[i]);
    free(shelf.file);
    free_text(&output);
    return finish(equal ? 0 : 1);
}

int main(int argc, char **argv)
{
    const char *lesson = NULL;
    bool values = false;
    int at = 1;

    if (argc == 3 && strcmp(argv[1], "--count-free") == 0)
        return count_free(argv[2]);
    if (argc == 4 && strcmp(argv[1], "--merge") == 0)
        return merge(argv[2], argv[3]);
    for (; at < argc && argv[at][0] == '-'; at++) {
        if (strcmp(argv[at], "--values") == 0)
            values = true;
        else if (strcmp(argv[at], "--lesson") == 0 && at + 1 < argc)
            lesson = argv[++at];
        else
            break;
    }
    if (argc - at != 2 || argv[at][0] == '-')
        refuse("usage: match [--values] [--lesson LESSON] EXPECTED_DIR OUTPUT | "
               "match --merge EXPECTED_FILE OUTPUT | match --count-free EXPECTED_FILE");
    return match(argv[at], argv[at + 1], lesson, values);
}
