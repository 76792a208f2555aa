/* match: is this output, from whatever card, what the lesson must print?
 *
 *   match [--lesson LESSON] EXPECTED_DIR OUTPUT   the verdict, and the lines that differ
 *   match --which EXPECTED_DIR OUTPUT             the path of the expected file for this output
 *   match --nearest EXPECTED_DIR OUTPUT           or of one of another type, n or revision
 *   match --merge EXPECTED_FILE OUTPUT            the output; a line that one with free fields of
 * the expected file still fits is that one
 *
 * The head of an output runs from its line `program: lesson/name` to the first blank line and holds
 * `revision: 1`, `contraction: fused` (or separate), and where the program has them `type: ...` and
 * `n: ...`. The expected file for it is the *.txt in EXPECTED_DIR with the same program,
 * contraction, type and n. An output of another revision is not compared.
 *
 * Blanks separate columns; how many makes no difference. Carriage returns are dropped. All else
 * must be equal, but for an expected file's free fields: {count} a whole number, {bits} 0x and 8 or
 * 16 digits, {hash} 0x and 16, {number} a finite decimal number, {time} one that is not negative,
 * {text} one column or, last on its line, the rest of it. A literal may stand directly before or
 * after a field.
 *
 * OUTPUT may hold several outputs, as `make run V=1` prints them. Each begins at its `program:`
 * line and ends at the next one or at a line that begins with `== `; where there are several, or
 * such lines, at `gates passed:` too. Each gets a verdict of its own.
 *
 * Exit status: 0 equal; 1 something differs, and stdout shows it; 2 an output could not be
 * compared, and one line on stderr says which and why. Of several outputs: 1 if one of them
 * differs, else 2 if one could not be compared. */
#define _POSIX_C_SOURCE 200809L

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Far above what a lesson prints (some 100 lines). */
enum { MAX_BYTES = 1 << 20, MAX_LINES = 2000, MAX_SHOWN = 40, MAX_MESSAGE = 4000 };

enum { PROGRAM, CONTRACTION, TYPE, N, REVISION, KEYS };
static const char* const kKey[KEYS] = {"program:", "contraction:", "type:", "n:", "revision:"};

enum type { COUNT, BITS, HASH, NUMBER, TIME, TEXT, TYPES, LITERAL = TYPES, UNKNOWN };
static const char* const kType[TYPES] = {"{count}",  "{bits}", "{hash}",
                                         "{number}", "{time}", "{text}"};

struct text {
    const char* path;
    char** line;
    size_t lines;
    size_t before;          /* lines of the file before the first of these */
    const char* head[KEYS]; /* what follows the key, NULL where the head lacks it */
    const char* damage;     /* why it cannot be used, or NULL */
};

struct column {
    const char* start;
    size_t length; /* 0 after the last one */
};

static void* allocate(size_t count, size_t size);

/* A formatted string of its own. */
static char* format(const char* how, ...) {
    char* line = allocate(MAX_MESSAGE, 1);
    va_list list;

    va_start(list, how);
    vsnprintf(line, MAX_MESSAGE, how, list);
    va_end(list);
    return line;
}

/* One line on stderr; returns the exit status. Names and values come from files that others wrote:
 * a control character in them must neither break the line nor reach the terminal. */
static int complain(char* line) {
    for (char* c = line; *c != '\0'; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7f) *c = '?';
    fflush(stdout);
    fprintf(stderr, "match: %s\n", line);
    return 2;
}

/* Zeroed, and never freed: one call reads a few files and ends. */
static void* allocate(size_t count, size_t size) {
    void* p = calloc(count + 1, size);

    if (p == NULL) {
        fputs("match: out of memory\n", stderr);
        exit(2);
    }
    return p;
}

/* ---- columns and free fields ---- */

/* The next column at *at, which moves behind it. */
static struct column next_column(const char** at) {
    struct column c;

    c.start = *at + strspn(*at, " \t");
    c.length = strcspn(c.start, " \t");
    *at = c.start + c.length;
    return c;
}

static bool is_blank(const char* line) { return line[strspn(line, " \t")] == '\0'; }

/* The type of an expected column; *before and *after are the lengths of its literals. */
static enum type type_of(struct column c, size_t* before, size_t* after) {
    const char* open = memchr(c.start, '{', c.length);

    if (open == NULL) return LITERAL;
    *before = (size_t)(open - c.start);
    for (int type = 0; type < TYPES; type++) {
        size_t length = strlen(kType[type]);

        if (strncmp(open, kType[type], length) != 0) continue;
        *after = c.length - *before - length;
        return memchr(open + length, '{', *after) == NULL ? (enum type)type : UNKNOWN;
    }
    return UNKNOWN;
}

static bool value_fits(enum type type, const char* start, size_t length) {
    char word[64];
    char* end;
    double number;

    if (type == TEXT) return length > 0;
    if (length == 0 || length >= sizeof word) return false;
    memcpy(word, start, length);
    word[length] = '\0';
    if (type == COUNT) return strspn(word, "0123456789") == length;
    if (type == BITS || type == HASH) {
        if (length != 18 && (type == HASH || length != 10)) return false;
        return strncmp(word, "0x", 2) == 0 && strspn(word + 2, "0123456789abcdef") == length - 2;
    }
    /* strtod takes nan, inf and hexadecimal digits too. */
    if (strspn(word, "+-.0123456789eE") != length || (type == TIME && *word == '-')) return false;
    number = strtod(word, &end);
    return *end == '\0' && isfinite(number);
}

static bool column_fits(struct column e, struct column f) {
    size_t before;
    size_t after;
    enum type type = type_of(e, &before, &after);

    if (type >= TYPES) return e.length == f.length && memcmp(e.start, f.start, e.length) == 0;
    return f.length >= before + after && memcmp(e.start, f.start, before) == 0 &&
           memcmp(e.start + e.length - after, f.start + f.length - after, after) == 0 &&
           value_fits(type, f.start + before, f.length - before - after);
}

static bool line_fits(const char* expected, const char* found) {
    for (;;) {
        struct column e = next_column(&expected);
        struct column f = next_column(&found);

        if (e.length == 0 || f.length == 0) return e.length == f.length;
        if (!column_fits(e, f)) return false;
        if (is_blank(expected) && e.length >= 6 && strncmp(expected - 6, "{text}", 6) == 0)
            return true;
    }
}

/* How many columns are of a type of free field (or of none that there is: UNKNOWN). */
static size_t free_fields(const char* line, bool unknown) {
    size_t count = 0;
    size_t before;
    size_t after;

    for (struct column c = next_column(&line); c.length > 0; c = next_column(&line)) {
        enum type type = type_of(c, &before, &after);

        count += unknown ? type == UNKNOWN : type < TYPES;
    }
    return count;
}

/* ---- reading ---- */

/* The file's lines; where they cannot be had, its damage. */
static struct text read_text(const char* path) {
    struct text t = {.path = path};
    char* bytes = allocate(MAX_BYTES + 1, 1);
    FILE* file = fopen(path, "rb");
    struct stat info;
    size_t size;

    if (file == NULL) {
        t.damage = format("cannot be read: %s", strerror(errno));
        return t;
    }
    size = fread(bytes, 1, MAX_BYTES + 1, file);
    if (fstat(fileno(file), &info) == 0 && S_ISDIR(info.st_mode))
        t.damage = "is a folder";
    else if (ferror(file))
        t.damage = format("cannot be read: %s", strerror(errno));
    else if (size == 0)
        t.damage = "is empty";
    else if (size > MAX_BYTES)
        t.damage = "is larger than 1 MiB: not an output of a lesson";
    else if (strncmp(bytes, "\xff\xfe", 2) == 0 || strncmp(bytes, "\xfe\xff", 2) == 0 ||
             strncmp(bytes, "\xef\xbb\xbf", 3) == 0)
        t.damage = "begins with a byte order mark (PowerShell writes one): save it as plain ASCII";
    else if (memchr(bytes, '\0', size) != NULL)
        t.damage = "holds a NUL byte: not a text";
    fclose(file);
    if (t.damage != NULL) return t;
    t.line = allocate(size, sizeof *t.line);
    for (char* at = bytes; *at != '\0';) {
        char* from = at;
        char* to = at;

        t.line[t.lines++] = at;
        for (; *from != '\n' && *from != '\0'; from++)
            if (*from != '\r') *to++ = *from;
        at = *from == '\0' ? from : from + 1;
        *to = '\0';
    }
    return t;
}

/* What follows the key at the line's beginning, or NULL. */
static const char* value_of(const char* line, const char* key) {
    line += strspn(line, " \t");
    if (strncmp(line, key, strlen(key)) != 0) return NULL;
    line += strlen(key);
    return line + strspn(line, " \t");
}

static bool same_value(const char* a, const char* b) {
    return a == NULL || b == NULL ? a == b : line_fits(a, b);
}

/* Picks the keys out of the lines before the first blank one. */
static void read_head(struct text* t) {
    for (size_t i = 0; i < t->lines && !is_blank(t->line[i]); i++) {
        for (int k = 0; k < KEYS; k++) {
            const char* value = value_of(t->line[i], kKey[k]);

            if (value == NULL) continue;
            if (t->head[k] != NULL)
                t->damage = format("line %zu: a second \"%s\"", t->before + i + 1, kKey[k]);
            else if (*value == '\0' || strchr(value, '{') != NULL)
                t->damage =
                    format("line %zu: \"%s\" must name its value", t->before + i + 1, kKey[k]);
            t->head[k] = value;
        }
    }
    if (t->damage != NULL) return;
    for (int k = 0; k < KEYS; k++)
        if (t->head[k] == NULL && k != TYPE && k != N)
            t->damage = format("no line \"%s ...\" in its head", kKey[k]);
    if (t->damage == NULL && !same_value(t->head[CONTRACTION], "fused") &&
        !same_value(t->head[CONTRACTION], "separate"))
        t->damage = "its contraction is neither fused nor separate";
    if (t->damage == NULL && t->lines > MAX_LINES)
        t->damage = format("has more than %d lines: not an output of a lesson", MAX_LINES);
}

static struct text read_expected(const char* path) {
    struct text t = read_text(path);

    if (t.damage == NULL) read_head(&t);
    for (size_t i = 0; i < t.lines && t.damage == NULL; i++)
        if (free_fields(t.line[i], true) > 0)
            t.damage =
                format("line %zu: a free field is one of {count} {bits} {hash} {number} {time} "
                       "{text}, one in a column",
                       i + 1);
    return t;
}

static struct text read_output(struct text t) {
    if (t.damage == NULL) read_head(&t);
    for (size_t i = 0; i < t.lines && t.damage == NULL; i++)
        if (free_fields(t.line[i], false) > 0)
            t.damage =
                format("line %zu holds a free field: this is an expected file, not an output",
                       t.before + i + 1);
    return t;
}

/* ---- which expected file ---- */

struct shelf {
    struct text* file;
    size_t files;
};

static int is_expected(const struct dirent* entry) {
    size_t length = strlen(entry->d_name);

    return entry->d_name[0] != '.' && length > 4 && strcmp(entry->d_name + length - 4, ".txt") == 0;
}

/* The expected files of a folder, in the order of their names. A file that names no program is none
 * of them. */
static struct shelf read_shelf(const char* folder) {
    struct shelf s = {NULL, 0};
    struct dirent** entry;
    int entries = scandir(folder, &entry, is_expected, alphasort);

    if (entries < 0)
        exit(complain(format("%s: cannot be read as a folder: %s", folder, strerror(errno))));
    s.file = allocate((size_t)entries, sizeof *s.file);
    for (int i = 0; i < entries; i++) {
        char* path = format("%s/%s", folder, entry[i]->d_name);
        struct stat info;

        if (stat(path, &info) == 0 && !S_ISREG(info.st_mode)) continue;
        s.file[s.files] = read_expected(path);
        if (s.file[s.files].head[PROGRAM] != NULL)
            s.files++;
        else
            complain(format("note: %s is left out: %s", path, s.file[s.files].damage));
    }
    return s;
}

/* "day/sum, fused, n 4194915" */
static char* describe(const struct text* t) {
    return format("%s, %s%s%s%s%s", t->head[PROGRAM], t->head[CONTRACTION],
                  t->head[TYPE] ? ", type " : "", t->head[TYPE] ? t->head[TYPE] : "",
                  t->head[N] ? ", n " : "", t->head[N] ? t->head[N] : "");
}

/* Which keys agree: 8 for the program, 4 for contraction, 2 for type, 1 for n. */
static int agreement(const struct text* a, const struct text* b) {
    int agree = 0;

    for (int k = PROGRAM; k <= N; k++) agree = 2 * agree + same_value(a->head[k], b->head[k]);
    return agree;
}

/* The expected file for the output, or NULL after a complaint; with `any`, of the same program and
 * contraction the one nearest in type and n. A damaged file of the program is never passed over. */
static const struct text* pick(const struct shelf* s, const struct text* output, bool any) {
    const struct text* best = NULL;
    const char* pinned = "";

    for (size_t i = 0; i < s->files; i++) {
        const struct text* file = &s->file[i];
        int agree = agreement(file, output);

        if (agree >= 8 && file->damage != NULL) {
            complain(format("%s: %s", file->path, file->damage));
            return NULL;
        }
        if (agree >= 8) pinned = format("%s; %s", pinned, describe(file));
        if (agree == 15 && best != NULL && agreement(best, output) == 15) {
            complain(format("%s: two expected files are for it: %s and %s", output->path,
                            best->path, file->path));
            return NULL;
        }
        if (agree < (any ? 12 : 15)) continue;
        if (best == NULL || agree > agreement(best, output)) best = file;
    }
    if (best == NULL)
        complain(format("%s: nothing is pinned for %s; pinned of that program: %s", output->path,
                        describe(output), *pinned ? pinned + 2 : "nothing"));
    return best;
}

/* ---- the verdict ---- */

/* A line on the terminal; what is not printable ASCII as its code: it is seen and cannot act. */
static void show(const char* label, const char* line) {
    fputs(label, stdout);
    if (*line == '\0') fputs("(a blank line)", stdout);
    for (; *line != '\0'; line++) {
        unsigned char c = (unsigned char)*line;

        if (c < 0x20 || c > 0x7e)
            printf("\\x%02x", c);
        else
            putchar(c);
    }
    putchar('\n');
}

static bool fits_at(const struct text* expected, const struct text* output, size_t i, size_t j) {
    return i < expected->lines && j < output->lines &&
           line_fits(expected->line[i], output->line[j]);
}

/* Do the texts go on alike at i and j? A line that is blank or begins with a free field fits so
 * easily that the next one has to fit too. */
static bool go_on(const struct text* expected, const struct text* output, size_t i, size_t j) {
    if (!fits_at(expected, output, i, j)) return false;
    if (!is_blank(expected->line[i]) && *expected->line[i] != '{') return true;
    return fits_at(expected, output, i + 1, j + 1);
}

/* How many lines of each text stand between the lines i and j and those where they go on alike, or
 * the two ends. */
static void find_next(const struct text* expected, const struct text* output, size_t i, size_t j,
                      size_t* missing, size_t* surplus) {
    size_t e_left = expected->lines - i;
    size_t f_left = output->lines - j;

    for (size_t distance = 0; distance < e_left + f_left; distance++) {
        for (size_t e = 0; e <= distance; e++) {
            *missing = e;
            *surplus = distance - e;
            if (distance == 0 && fits_at(expected, output, i, j)) return;
            if (go_on(expected, output, i + e, j + *surplus)) return;
        }
    }
    *missing = e_left;
    *surplus = f_left;
}

/* Shows the lines that do not fit; returns how many. */
static size_t show_differences(const struct text* expected, const struct text* output, bool quiet) {
    size_t differ = 0;
    size_t i = 0;
    size_t j = 0;

    while (i < expected->lines || j < output->lines) {
        size_t missing;
        size_t surplus;

        find_next(expected, output, i, j, &missing, &surplus);
        if (!quiet && missing + surplus > 0 && differ < MAX_SHOWN)
            printf("line %zu\n", output->before + j + 1);
        for (size_t e = 0; e < missing; e++)
            if (differ++ < MAX_SHOWN && !quiet) show("  expected: ", expected->line[i + e]);
        for (size_t f = 0; f < surplus; f++)
            if (differ++ < MAX_SHOWN && !quiet) show("  found:    ", output->line[j + f]);
        i += missing + 1;
        j += surplus + 1;
    }
    if (!quiet && differ > MAX_SHOWN) printf("... and %zu lines more\n", differ - MAX_SHOWN);
    return differ;
}

enum mode { JUDGE, WHICH, NEAREST };

static int judge(const struct shelf* shelf, struct text output, enum mode mode) {
    const struct text* expected;
    size_t free = 0;

    output = read_output(output);
    if (output.damage != NULL) return complain(format("%s: %s", output.path, output.damage));
    expected = pick(shelf, &output, mode == NEAREST);
    if (expected == NULL) return 2;
    if (mode != JUDGE) {
        puts(expected->path);
        return 0;
    }
    if (!same_value(expected->head[REVISION], output.head[REVISION]))
        return complain(format("%s: is of revision %s, %s is of revision %s: nothing compared",
                               output.path, output.head[REVISION], expected->path,
                               expected->head[REVISION]));
    if (show_differences(expected, &output, true) > 0) {
        printf("%s differs from %s\n", output.path, expected->path);
        show_differences(expected, &output, false);
        return 1;
    }
    for (size_t i = 0; i < expected->lines; i++) free += free_fields(expected->line[i], false);
    printf("%s matches %s: %zu lines compared, %zu fields free\n", output.path, expected->path,
           expected->lines, free);
    return 0;
}

/* Judges each output in a file; lesson is NULL where any will do. */
static int judge_all(const struct shelf* shelf, const char* path, enum mode mode,
                     const char* lesson) {
    struct text all = read_text(path);
    const char* waiting = NULL; /* a line `== NAME, build fmad` whose output has not come yet */
    const char* other = NULL;   /* a program of another lesson */
    size_t heads = 0;
    size_t judged = 0;
    bool several;
    int times[3] = {0, 0, 0}; /* how often each status came */

    if (all.damage != NULL) return complain(format("%s: %s", path, all.damage));
    for (size_t i = 0; i < all.lines; i++)
        heads +=
            value_of(all.line[i], kKey[PROGRAM]) != NULL || strncmp(all.line[i], "== ", 3) == 0;
    several = heads > 1;
    for (size_t i = 0; i < all.lines;) {
        struct text part = {.path = path, .line = all.line + i, .before = i};
        const char* line = all.line[i++];
        const char* program = value_of(line, kKey[PROGRAM]);
        bool ended = false;

        if (strncmp(line, "== ", 3) == 0) {
            if (waiting != NULL)
                times[complain(format("%s: no output after `%s`", path, waiting))]++;
            waiting = strchr(line, ':') == NULL ? line : NULL;
        }
        if (program == NULL) continue;
        waiting = NULL;
        while (i < all.lines && !ended && value_of(all.line[i], kKey[PROGRAM]) == NULL &&
               strncmp(all.line[i], "== ", 3) != 0) {
            ended = several && value_of(all.line[i], "gates passed:") != NULL;
            i++;
        }
        part.lines = i - part.before;
        if (lesson != NULL &&
            (strncmp(program, lesson, strlen(lesson)) != 0 || program[strlen(lesson)] != '/')) {
            other = program;
            continue;
        }
        if (several) part.path = format("%s, line %zu, %s", path, part.before + 1, program);
        times[judge(shelf, part, mode)]++;
        judged++;
    }
    if (waiting != NULL) times[complain(format("%s: no output after `%s`", path, waiting))]++;
    if (judged == 0 && other != NULL)
        return complain(
            format("%s: is an output of %s, which is not of lesson %s", path, other, lesson));
    if (judged == 0)
        return complain(format(
            "%s: holds no output: no line \"program: ...\" (`make run V=1` prints them)", path));
    return times[1] > 0 ? 1 : times[2] > 0 ? 2 : 0;
}

static int merge(const char* expected_path, const char* output_path) {
    struct text expected = read_expected(expected_path);
    struct text output = read_output(read_text(output_path));
    size_t i = 0;
    size_t j = 0;

    if (expected.damage != NULL) return complain(format("%s: %s", expected_path, expected.damage));
    if (output.damage != NULL) return complain(format("%s: %s", output_path, output.damage));
    if (agreement(&expected, &output) < 12)
        return complain(format("%s: is for another program or contraction than %s", expected_path,
                               output_path));
    while (j < output.lines) {
        size_t missing;
        size_t surplus;

        find_next(&expected, &output, i, j, &missing, &surplus);
        for (i += missing; surplus > 0; surplus--) puts(output.line[j++]);
        if (i == expected.lines || j == output.lines) continue;
        puts(free_fields(expected.line[i], false) > 0 ? expected.line[i] : output.line[j]);
        i++;
        j++;
    }
    return 0;
}

static int usage(void) {
    return complain(
        format("usage: match [--lesson LESSON | --which | --nearest] EXPECTED_DIR OUTPUT | "
               "match --merge EXPECTED_FILE OUTPUT"));
}

static int command(int words, char** word) {
    enum mode mode = JUDGE;
    const char* lesson = NULL;
    struct shelf shelf;

    if (words == 3 && strcmp(word[0], "--merge") == 0) return merge(word[1], word[2]);
    if (words == 4 && strcmp(word[0], "--lesson") == 0)
        lesson = word[1];
    else if (words == 3 && strcmp(word[0], "--nearest") == 0)
        mode = NEAREST;
    else if (words == 3 && strcmp(word[0], "--which") == 0)
        mode = WHICH;
    else if (words != 2)
        return usage();
    word += words - 2;
    if (word[0][0] == '-') return usage();
    shelf = read_shelf(word[0]);
    return judge_all(&shelf, word[1], mode, lesson);
}

int main(int argc, char** argv) {
    int status = command(argc - 1, argv + 1);

    if (fflush(stdout) == 0 && !ferror(stdout)) return status;
    return complain(format("the result cannot be written: %s", strerror(errno)));
}
