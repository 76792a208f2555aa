/*
 * Rewrites a .cu file into C++ for the CPU default:
 *   cu_rewrite [-H FOLDER] [-I DIR ...] FILE.cu [FILE.d TARGET] > FILE.cpp
 * FILE.d becomes a rule for make: TARGET needs the .cu files and rewritten headers that FILE.cu reads in.
 * With -H its local headers are rewritten too, into FOLDER; they are looked for where the file that includes them
 * lies (in quotes) and in each DIR. The compiler must find "FOLDER's name/..." (-iquote of where FOLDER lies).
 *
 * Some things in a .cu are no C++ and cannot be macros:
 *   kernel<<<grid, block, smem, stream>>>(args)   ->  CUDA_CPU_KERNEL(kernel).launch(grid, ...)(args)
 *   __shared__ T a[N], b;                         ->  storage that one block has for itself
 *   extern __shared__ T a[];                      ->  a pointer to the block's dynamic shared memory
 *   __device__ and __global__ functions           ->  marked, so that they alone are contracted: g++
 *       takes an attribute before the function, clang a pragma at the head of its body; and the end of a
 *       kernel is marked, where no thread may be while others wait at a barrier
 *   v[i] += v[i + 16]; for a volatile v in them   ->  each lane of the warp reads before any of them writes
 * and __CUDA_ARCH__ is defined after the last #include, so that code takes its device branch without
 * the headers before it seeing the macro. A local #include "x.cu" is read in and rewritten too. First of all
 * comes cuda_runtime.h, as nvcc has it.
 *
 * Lines keep their numbers, so a compiler's errors name the student's own line. This is no parser:
 * it knows comments, strings, brackets and the shapes above, and stops with FILE:LINE where a shape
 * is not what it knows. Status 0, or 2 with one line on stderr.
 */
#define _XOPEN_SOURCE 700
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct edit {
    size_t at, drop; /* replaces `drop` bytes at `at` */
    size_t order;    /* as asked for: edits at one place keep it */
    char *text;
};

struct source {
    char *path;
    char *text; /* the file, NUL-terminated */
    char *code; /* the same with comments, strings and directives blanked; same length, same lines. The # of a
                   directive becomes a form feed, which is white space too: see is_directive */
    size_t size;
    struct edit *edits;
    size_t edit_count, edit_room;
    struct source *included, *next; /* the .cu files it includes, in order; the one after this */
    struct inclusion *inclusions;   /* of local headers */
    size_t inclusion_count;
    /* Of a header: */
    char *real;     /* its path without links, which it is known by; null of a .cu */
    size_t number;
    bool device;    /* there is device code in it, or what looks like it */
    bool rewritten; /* so it is included by another name */
};

struct inclusion {
    size_t at, length; /* of "name" or <name> */
    struct source *header;
};

/* Template kernels seen so far: a launch may leave their arguments, or the last of them, to deduction. */
static struct template {
    char *name;
    size_t parameters;
} *templates;
static size_t template_count;

/* Macros seen so far whose text has __device__ or __global__: they qualify a function as these do. */
static struct qualifier {
    char *name;
    bool kernel;
} *qualifiers;
static size_t qualifier_count;

static void *need(void *p) {
    if (!p) {
        fputs("cu_rewrite: out of memory\n", stderr);
        exit(2);
    }
    return p;
}

static int line_of(const struct source *s, size_t at) {
    int line = 1;
    for (size_t i = 0; i < at; i++) line += s->text[i] == '\n';
    return line;
}

static _Noreturn void fail(const struct source *s, size_t at, const char *what) {
    fprintf(stderr, "%s:%d: cu_rewrite: %s\n", s->path, line_of(s, at), what);
    exit(2);
}

static char *format(const char *pattern, ...) {
    va_list args, again;
    va_start(args, pattern);
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, pattern, args);
    va_end(args);
    char *text = need(malloc((size_t)length + 1));
    vsnprintf(text, (size_t)length + 1, pattern, again);
    va_end(again);
    return text;
}

/* text becomes the edit's own. */
static void edit(struct source *s, size_t at, size_t drop, char *text) {
    if (s->edit_count == s->edit_room) {
        s->edit_room = s->edit_room ? 2 * s->edit_room : 64;
        s->edits = need(realloc(s->edits, s->edit_room * sizeof *s->edits));
    }
    s->edits[s->edit_count] = (struct edit){at, drop, s->edit_count, text};
    s->edit_count++;
}

static bool in_word(int c) { return isalnum((unsigned char)c) || c == '_'; }

/* ---- Reading: what is code, what is not ------------------------------------------------------ */

static void blank(char *code, size_t from, size_t to) {
    for (size_t i = from; i < to; i++)
        if (code[i] != '\n') code[i] = ' ';
}

/* Does a directive begin with what stands at i? A # in a comment or in a string begins none. */
static bool is_directive(const struct source *s, size_t i) { return s->text[i] == '#' && s->code[i] == '\f'; }

/* Does the quote at i separate digits, as in 1'000'000 or 0xff'ff, and unlike u'x'? */
static bool in_number(const struct source *s, size_t i) {
    size_t start = i;
    while (start > 0 && (in_word(s->text[start - 1]) || s->text[start - 1] == '\'')) start--;
    return start < i && isdigit((unsigned char)s->text[start]);
}

/* Is the string at i a raw one? PRIuPTR"..." is none: the word before it is R, or an encoding and R. */
static bool is_raw(const struct source *s, size_t i) {
    static const char *const prefixes[] = {"R", "LR", "uR", "UR", "u8R"};
    size_t start = i;
    while (start > 0 && in_word(s->text[start - 1])) start--;
    for (size_t k = 0; k < sizeof prefixes / sizeof *prefixes; k++)
        if (i - start == strlen(prefixes[k]) && memcmp(s->text + start, prefixes[k], i - start) == 0) return true;
    return false;
}

/* The end of the string or character literal that starts at i. */
static size_t literal_end(const struct source *s, size_t i) {
    const char *t = s->text;
    const char quote = t[i];
    if (quote == '"' && is_raw(s, i)) { /* R"tag( ... )tag" */
        const char *open = strchr(t + i, '(');
        if (!open) fail(s, i, "unterminated raw string");
        char *close = format(")%.*s\"", (int)(open - (t + i + 1)), t + i + 1);
        const char *end = strstr(open, close);
        if (!end) fail(s, i, "unterminated raw string");
        size_t at = (size_t)(end - t) + strlen(close);
        free(close);
        return at;
    }
    for (size_t j = i + 1; j < s->size && t[j] != '\n'; j++) {
        if (t[j] == '\\') {
            j++;
        } else if (t[j] == quote) {
            return j + 1;
        }
    }
    fail(s, i, quote == '"' ? "unterminated string" : "unterminated character");
}

static size_t comment_end(const struct source *s, size_t i) {
    if (s->text[i + 1] == '/') {
        size_t j = i;
        while (j < s->size && s->text[j] != '\n') j++;
        return j;
    }
    const char *end = strstr(s->text + i + 2, "*/");
    if (!end) fail(s, i, "unterminated comment");
    return (size_t)(end - s->text) + 2;
}

/* Is the directive at i a #define? Of the others' text, as in `#error it isn't`, nothing is known. */
static bool is_define(const struct source *s, size_t i) {
    size_t word = i + 1;
    while (s->text[word] == ' ' || s->text[word] == '\t') word++;
    return strncmp(s->text + word, "define", 6) == 0;
}

/* Keeps the name of the macro that the directive at [i, end) defines, if it stands for a qualifier, and
   drops one that is undefined. */
static void note_qualifier(const struct source *s, size_t i, size_t end) {
    const bool define = is_define(s, i);
    char *line = need(calloc(end - i + 1, 1)), name[128];
    size_t length = 0;
    while (i < end) { /* without comments, and of a string the first quote */
        const char c = s->text[i];
        const bool comment = c == '/' && (s->text[i + 1] == '/' || s->text[i + 1] == '*');
        const bool literal = define && (c == '"' || (c == '\'' && !in_number(s, i)));
        line[length++] = comment ? ' ' : c;
        i = comment ? comment_end(s, i) : literal ? literal_end(s, i) : i + 1;
    }
    int text = 0;
    if (sscanf(line, "# define %127[A-Za-z0-9_]%n", name, &text) == 1 && isspace((unsigned char)line[text]) &&
        !strpbrk(line + text, ";{}\"")) {
        bool kernel = false, device = false;
        for (const char *p = line + text; *p;) {
            const char *word = p;
            while (in_word(*p)) p++;
            const size_t n = (size_t)(p - word);
            kernel |= n == 10 && memcmp(word, "__global__", n) == 0;
            device |= n == 10 && memcmp(word, "__device__", n) == 0;
            for (size_t k = 0; k < qualifier_count; k++)
                if (n == strlen(qualifiers[k].name) && memcmp(word, qualifiers[k].name, n) == 0)
                    kernel |= qualifiers[k].kernel, device = true;
            if (*p) p++;
        }
        if (kernel || device) {
            qualifiers = need(realloc(qualifiers, (qualifier_count + 1) * sizeof *qualifiers));
            qualifiers[qualifier_count++] = (struct qualifier){format("%s", name), kernel};
        }
    }
    if (sscanf(line, "# undef %127[A-Za-z0-9_]", name) == 1)
        for (size_t k = 0; k < qualifier_count; k++)
            if (strcmp(qualifiers[k].name, name) == 0) qualifiers[k--] = qualifiers[--qualifier_count];
    free(line);
}

/* The end of the directive at i, with its continued lines. A launch in a macro would go unseen: refused. */
static size_t directive_end(const struct source *s, size_t i) {
    const char *t = s->text;
    const bool define = is_define(s, i);
    while (i < s->size && t[i] != '\n') {
        if (t[i] == '/' && (t[i + 1] == '*' || t[i + 1] == '/')) {
            i = comment_end(s, i);
        } else if (define && (t[i] == '"' || (t[i] == '\'' && !in_number(s, i)))) {
            i = literal_end(s, i);
        } else if (define && strncmp(t + i, "<<<", 3) == 0) {
            fail(s, i, "a launch inside a macro is not known here; write it in a function");
        } else if (t[i] == '\\' && t[i + 1] == '\r' && t[i + 2] == '\n') {
            i += 3;
        } else {
            i += t[i] == '\\' && t[i + 1] == '\n' ? 2 : 1;
        }
    }
    return i;
}

/* Fills s->code. Directives are blanked too. */
static void find_code(struct source *s) {
    bool line_start = true;
    s->code = need(malloc(s->size + 1));
    memcpy(s->code, s->text, s->size + 1);
    for (size_t i = 0; i < s->size;) {
        const char c = s->text[i];
        if (c == '/' && (s->text[i + 1] == '/' || s->text[i + 1] == '*')) {
            size_t end = comment_end(s, i);
            blank(s->code, i, end);
            i = end;
        } else if (c == '"' || (c == '\'' && !in_number(s, i))) {
            size_t end = literal_end(s, i);
            blank(s->code, i, end);
            line_start = false;
            i = end;
        } else if (c == '#' && line_start) {
            size_t end = directive_end(s, i);
            note_qualifier(s, i, end);
            blank(s->code, i, end);
            s->code[i] = '\f';
            i = end;
        } else {
            if (c == '\n') line_start = true;
            else if (!isspace((unsigned char)c)) line_start = false;
            i++;
        }
    }
}

/* ---- Walking over code ----------------------------------------------------------------------- */

static size_t skip_space(const struct source *s, size_t i) {
    while (i < s->size && isspace((unsigned char)s->code[i])) i++;
    return i;
}

static size_t word_end(const struct source *s, size_t i) {
    while (i < s->size && in_word(s->code[i])) i++;
    return i;
}

static size_t word_start(const struct source *s, size_t end) {
    while (end > 0 && in_word(s->code[end - 1])) end--;
    return end;
}

static bool word_is(const struct source *s, size_t from, size_t to, const char *word) {
    return to - from == strlen(word) && memcmp(s->code + from, word, to - from) == 0;
}

/* The place after the bracket that closes the one at i: ( [ { and, where it is one, <. */
static size_t match_close(const struct source *s, size_t i) {
    char closers[256];
    size_t depth = 0;
    const size_t start = i;
    if (i >= s->size || !strchr("([{<", s->code[i])) fail(s, i, "an opening bracket was expected here");
    for (; i < s->size; i++) {
        const char c = s->code[i];
        if (c == '(' || c == '[' || c == '{' || (c == '<' && i == start)) {
            if (depth == sizeof closers) fail(s, i, "brackets nested too deep");
            closers[depth++] = c == '(' ? ')' : c == '[' ? ']' : c == '{' ? '}' : '>';
        } else if (c == '<' && closers[depth - 1] == '>') {
            closers[depth++] = '>';
        } else if (depth && c == closers[depth - 1]) {
            if (--depth == 0) return i + 1;
        }
    }
    fail(s, start, "a bracket is never closed");
}

/* The place of the bracket that the closing one just before `end` closes. Inside of ( ) [ ] { } a < or >
   is a comparison or part of an arrow. */
static size_t match_open(const struct source *s, size_t end) {
    const bool angles = s->code[end - 1] == '>';
    size_t depth = 0;
    for (size_t i = end; i-- > 0;) {
        const char c = s->code[i];
        if (angles && i + 1 < end && (c == ')' || c == ']' || c == '}')) i = match_open(s, i + 1);
        else if (angles ? c == '>' : c == ')' || c == ']' || c == '}') depth++;
        else if ((angles ? c == '<' : c == '(' || c == '[' || c == '{') && --depth == 0) return i;
    }
    fail(s, end, "a bracket is never opened");
}

static size_t space_before(const struct source *s, size_t i) {
    while (i > 0 && isspace((unsigned char)s->code[i - 1])) i--;
    return i;
}

/* ---- Functions ------------------------------------------------------------------------------- */

/* How many things stand between the brackets < and > at open, separated by commas. */
static size_t count_list(const struct source *s, size_t open) {
    const size_t end = match_close(s, open) - 1;
    size_t count = 0, i = skip_space(s, open + 1);
    while (i < end) {
        if (count == 0) count = 1;
        if (s->code[i] == ',') count++;
        i = strchr("<([{", s->code[i]) ? match_close(s, i) : i + 1;
    }
    return count;
}

/* The < of the `template <...>` that the qualifier at `at` is part of a declaration under, or 0. */
static size_t template_head(const struct source *s, size_t at) {
    size_t i = at;
    for (;;) { /* back over static, inline, __launch_bounds__(256), [[nodiscard]], to the > of the template head */
        i = space_before(s, i);
        size_t end = i;
        if (i > 0 && (s->code[i - 1] == ')' || s->code[i - 1] == ']')) i = match_open(s, i);
        while (i > 0 && in_word(s->code[i - 1])) i--;
        if (i == end) break;
    }
    if (i == 0 || s->code[i - 1] != '>') return 0;
    size_t open = match_open(s, i), end = space_before(s, open);
    return end >= 8 && memcmp(s->code + end - 8, "template", 8) == 0 ? open : 0;
}

/* From the parameters' end to the body's {, or 0 where there is no body. */
static size_t find_body(const struct source *s, size_t i) {
    while (i < s->size) {
        i = skip_space(s, i);
        const char c = s->code[i];
        if (c == '{') return i;
        if (c == ';' || c == '=' || c == ',' || c == ')') return 0;
        if (c == ':' && s->code[i + 1] != ':') { /* a constructor's initialisers: name(...) or name{...}, ... */
            do {
                i++;
                while (i < s->size && s->code[i] != '(' && s->code[i] != '{') i++;
                i = skip_space(s, match_close(s, i));
                while (s->code[i] == '.') i = skip_space(s, i + 1); /* a pack of bases */
            } while (s->code[i] == ',');
            return s->code[i] == '{' ? i : 0;
        }
        if (c == '(' || c == '[') i = match_close(s, i);
        else i++;
    }
    return 0;
}

/* The } of the body that opens at i, or 0 where a directive leaves open which it is. */
static size_t end_of_body(const struct source *s, size_t i) {
    size_t depth = 0;
    for (; i < s->size; i++) {
        if (is_directive(s, i) && strncmp(s->text + i + 1 + strspn(s->text + i + 1, " \t"), "el", 2) == 0) return 0;
        depth += s->code[i] == '{';
        if (s->code[i] == '}' && --depth == 0) return i;
    }
    return 0;
}

/* Warp-synchronous code: a device function that writes elements of something volatile counts on the lanes of a warp
   to run in lock-step. So there each such assignment computes its value in all lanes before any of them stores it. */
static void keep_in_lockstep(struct source *s, size_t from, size_t body) {
    size_t end = body, depth = 0, names[16][2] = {{0}}, count = 0;
    do {
        depth += s->code[end] == '{';
        depth -= s->code[end] == '}';
    } while (++end < s->size && depth);
    for (size_t i = from; i < end;) {
        if (!in_word(s->code[i])) {
            i++;
            continue;
        }
        const size_t word = i;
        i = word_end(s, i);
        if (!word_is(s, word, i, "volatile") || count == 16) continue;
        while (i < end && !strchr(",;)=[{", s->code[i])) {
            const size_t next = in_word(s->code[i]) ? word_end(s, i) : i + 1;
            if (in_word(s->code[i])) names[count][0] = i, names[count][1] = next;
            i = next;
        }
        count += names[count][1] > word; /* the last word is its name, or in a cast a type */
    }
    for (size_t i = body; i < end && count;) {
        const size_t word = i;
        if (!in_word(s->code[i])) {
            i++;
            continue;
        }
        i = word_end(s, i);
        bool is_volatile = false;
        for (size_t k = 0; k < count; k++)
            is_volatile |= i - word == names[k][1] - names[k][0] && memcmp(s->code + word, s->code + names[k][0], i - word) == 0;
        /* An assignment that is a whole statement. */
        const size_t before = space_before(s, word), else_word = word_start(s, before);
        size_t at = skip_space(s, i);
        if (!is_volatile || s->code[at] != '[' || !(strchr(";{})", s->code[before - 1]) || word_is(s, else_word, before, "else"))) continue;
        while (s->code[at] == '[') at = skip_space(s, match_close(s, at));
        const size_t length = at >= end ? 0
                              : s->code[at] == '=' ? 1
                              : strchr("+-*/%&|^", s->code[at]) && s->code[at + 1] == '=' ? 2
                                                                                          : 0;
        if (!length || (length == 1 && s->code[at + 1] == '=')) continue;
        size_t last = at + length;
        while (last < end && !strchr(";)}", s->code[last])) last = strchr("([{", s->code[last]) ? match_close(s, last) : last + 1;
        if (s->code[last] != ';') continue;
        edit(s, word, 0, format(length == 1 ? "CUDA_CPU_LOCKSTEP_SET(" : "CUDA_CPU_LOCKSTEP("));
        edit(s, at, length, length == 1 ? format(",") : format(", %c,", s->code[at]));
        edit(s, last, 0, format(")"));
        i = last;
    }
}

/* Marks the function that the qualifier at `at` (a __device__ or __global__) belongs to, if it is one. */
static void mark_function(struct source *s, size_t at, size_t after, bool kernel) {
    static const char *const with_arguments[] = {"__launch_bounds__", "__align__",  "alignas",
                                                 "__attribute__",     "decltype",   "noexcept",
                                                 "__maxnreg__",       "explicit",   "__cluster_dims__"};
    size_t before = space_before(s, at);
    if (before > 0 && s->code[before - 1] == ']') return; /* a lambda's qualifier */
    size_t name_from = 0, name_to = 0;
    for (size_t i = after; i < s->size;) {
        i = skip_space(s, i);
        const char c = s->code[i];
        if (in_word(c)) {
            size_t end = word_end(s, i);
            bool skip = false;
            for (size_t k = 0; k < sizeof with_arguments / sizeof *with_arguments; k++)
                skip |= word_is(s, i, end, with_arguments[k]);
            if (word_is(s, i, end, "operator")) {
                size_t open = skip_space(s, end);
                if (s->code[open] == '(') open = match_close(s, open); /* operator() */
                while (open < s->size && s->code[open] != '(') open++;
                name_from = i, name_to = open;
                i = open;
            } else {
                if (!skip) name_from = i, name_to = end;
                i = end;
                size_t open = skip_space(s, end);
                if (skip && s->code[open] == '(') i = match_close(s, open);
            }
        } else if (c == '<') {
            i = match_close(s, i);
        } else if (c == ':' || c == '*' || c == '&' || c == '~') {
            i++;
        } else if (c == '[' && s->code[i + 1] == '[') {
            i = match_close(s, i);
        } else if (c == '(' && name_to > name_from) {
            edit(s, at, 0, format("CUDA_CPU_FN "));
            const size_t head = kernel ? template_head(s, at) : 0;
            if (head) {
                templates = need(realloc(templates, (template_count + 1) * sizeof *templates));
                templates[template_count++] = (struct template){
                    format("%.*s", (int)(name_to - name_from), s->code + name_from), count_list(s, head)};
            }
            size_t body = find_body(s, match_close(s, i));
            if (body) {
                edit(s, body + 1, 0, format(" CUDA_CPU_BODY "));
                keep_in_lockstep(s, i, body);
            }
            const size_t end = body && kernel ? end_of_body(s, body) : 0;
            if (end) edit(s, end, 0, format(" CUDA_CPU_END "));
            return;
        } else {
            return; /* a variable */
        }
    }
}

/* ---- Shared memory --------------------------------------------------------------------------- */

struct shared { /* the declarations in reach, to add up what a kernel takes */
    char name[128];
    size_t depth;
};

/* Takes alignment specifiers out of a declaration's type; a typedef may carry them only as attributes. */
static char *type_text(const struct source *s, size_t from, size_t to, bool keep_alignment) {
    char *text = need(malloc(2 * (to - from) + 32));
    size_t n = 0;
    for (size_t i = from; i < to;) {
        size_t end = in_word(s->code[i]) ? word_end(s, i) : i;
        if (end > i && (word_is(s, i, end, "alignas") || word_is(s, i, end, "__align__"))) {
            size_t open = skip_space(s, end), close = match_close(s, open);
            if (close > to) fail(s, i, "a __shared__ declaration of a shape that is not known here");
            if (keep_alignment)
                n += (size_t)sprintf(text + n, "__align__%.*s", (int)(close - open), s->code + open);
            i = close;
        } else if (end > i) {
            memcpy(text + n, s->code + i, end - i);
            n += end - i;
            i = end;
        } else {
            text[n++] = s->code[i++];
        }
    }
    text[n] = '\0';
    return text;
}

static void rewrite_shared(struct source *s, size_t at, size_t after, struct shared *known, size_t *known_count,
                           size_t depth) {
    size_t start = at;
    size_t before = space_before(s, at);
    const size_t word = word_start(s, before);
    const bool dynamic = word_is(s, word, before, "extern");
    if (dynamic || word_is(s, word, before, "static")) start = word;
    if (depth == 0) fail(s, at, "__shared__ outside of a function is not known here; declare it in the kernel");

    /* The declarators: name[dims], separated by commas, ended by a semicolon. */
    size_t name_from = 0, name_to = 0, i = after, type_to = 0;
    char *out = format("%s", ""), *type = NULL;
    bool pointer = false, several = false;
    for (;;) {
        if (i >= s->size) fail(s, at, "a __shared__ declaration is never ended");
        const char c = s->code[i];
        if (in_word(c)) {
            size_t end = word_end(s, i);
            if (word_is(s, i, end, "alignas") || word_is(s, i, end, "__align__")) {
                i = match_close(s, skip_space(s, end));
                continue;
            }
            name_from = i, name_to = end;
            i = end;
        } else if (c == '<') {
            i = match_close(s, i);
        } else if (c == '[' || c == ',' || c == ';') {
            if (name_to == name_from || name_to - name_from >= sizeof known->name)
                fail(s, at, "a __shared__ declaration without a name");
            if (!type) {
                type_to = name_from;
                type = type_text(s, after, type_to, !dynamic);
            }
            size_t dims = i;
            while (s->code[i] == '[') i = skip_space(s, match_close(s, i));
            char name[128];
            snprintf(name, sizeof name, "%.*s", (int)(name_to - name_from), s->code + name_from);
            char *more;
            if (dynamic) {
                more = format("%s%s *const %s = static_cast<%s *>(cuda_cpu_dynamic_shared());", out, type, name, type);
            } else {
                char *sum = format("sizeof(%s_cuda_cpu_t)", name);
                for (size_t k = 0; k < *known_count; k++) {
                    char *longer = format("%s + sizeof(%s_cuda_cpu_t)", sum, known[k].name);
                    free(sum);
                    sum = longer;
                }
                more = format("%stypedef %s %s_cuda_cpu_t%.*s; CUDA_CPU_SHARED(%s_cuda_cpu_t, %s); static_assert(%s <= "
                              "49152, \"static shared memory of one kernel is limited to 48 KB, as on a card\");",
                              out, type, name, (int)(i - dims), s->code + dims, name, name, sum);
                free(sum);
                if (*known_count == 256) fail(s, at, "too many __shared__ declarations in one function");
                memcpy(known[*known_count].name, name, sizeof name);
                known[(*known_count)++].depth = depth;
            }
            free(out);
            out = more;
            if (s->code[i] == '=') fail(s, at, "a __shared__ variable cannot have an initialiser");
            several |= s->code[i] == ',';
            if (several && pointer) fail(s, at, "several __shared__ variables with a pointer among them; declare it by itself");
            if (s->code[i] == ';') break;
            if (s->code[i] != ',') fail(s, at, "a __shared__ declaration of a shape that is not known here");
            i++;
            name_from = name_to = 0;
        } else if (c == '=' || c == '{' || c == '}' || c == '(') {
            fail(s, at, c == '=' ? "a __shared__ variable cannot have an initialiser"
                                 : "a __shared__ declaration of a shape that is not known here");
        } else {
            pointer |= c == '*' || c == '&';
            i++;
        }
    }
    /* Newlines inside the declaration stay, so that the lines after it keep their numbers. */
    size_t newlines = 0;
    for (size_t k = start; k <= i; k++) {
        newlines += s->text[k] == '\n';
        if (is_directive(s, k)) fail(s, k, "a directive inside a __shared__ declaration is not known here");
    }
    char *lines = need(malloc(newlines + 1));
    memset(lines, '\n', newlines);
    lines[newlines] = '\0';
    for (char *p = out; (p = strchr(p, '\n'));) *p = ' ';
    edit(s, start, i + 1 - start, format("%s%s", out, lines));
    free(lines);
    free(out);
    free(type);
}

/* ---- Launches -------------------------------------------------------------------------------- */

/* How long the <<< or >>> at i is, which some formatters write as << <; or 0. */
static size_t launch_bracket(const struct source *s, size_t i, char c) {
    if (s->code[i] != c || s->code[i + 1] != c) return 0;
    size_t third = i + 2;
    while (s->code[third] == ' ') third++;
    return s->code[third] == c ? third + 1 - i : 0;
}

static void rewrite_launch(struct source *s, size_t at) {
    const size_t open_length = launch_bracket(s, at, '<');
    /* Leftwards: the kernel's name with its qualifiers and template arguments, or an expression in (). */
    size_t i = space_before(s, at);
    const size_t kernel_end = i;
    size_t name_end = i, arguments = 0;
    bool expression = false; /* its type is known */
    if (i > 0 && s->code[i - 1] == ')') {
        i = match_open(s, i);
        expression = true;
    } else {
        if (i > 0 && s->code[i - 1] == '>') {
            i = match_open(s, i);
            arguments = count_list(s, i);
            i = name_end = space_before(s, i);
        }
        if (i > 0 && s->code[i - 1] == ']') { /* a table of kernels */
            expression = true;
            i = space_before(s, match_open(s, i));
        }
        while (i > 0 && (in_word(s->code[i - 1]) || s->code[i - 1] == ':' || s->code[i - 1] == '.')) i--;
    }
    const size_t kernel = i;
    if (kernel == kernel_end) fail(s, at, "<<< without a kernel before it");

    /* Rightwards: >>> outside of any bracket. */
    size_t close = at + open_length, close_length = 0;
    while (close < s->size && !(close_length = launch_bracket(s, close, '>'))) {
        const char c = s->code[close];
        if (c == ';') fail(s, at, "<<< without its >>>");
        close = c == '(' || c == '[' || c == '{' ? match_close(s, close) : close + 1;
    }
    if (close >= s->size) fail(s, at, "<<< without its >>>");
    if (s->code[skip_space(s, close + close_length)] != '(') fail(s, close, ">>> without the kernel's arguments");

    bool deduced = false;
    if (!expression) {
        size_t name = name_end;
        while (name > kernel && in_word(s->code[name - 1])) name--;
        for (size_t k = 0; k < template_count; k++)
            deduced |= word_is(s, name, name_end, templates[k].name) && arguments < templates[k].parameters;
    }
    edit(s, kernel, 0, format("CUDA_CPU_KERNEL%s(", deduced ? "_DEDUCED" : ""));
    edit(s, kernel_end, 0, format(")"));
    edit(s, at, open_length, format(".launch("));
    edit(s, close, close_length, format(")"));
}

/* ---- The whole file -------------------------------------------------------------------------- */

static int by_place(const void *a, const void *b) {
    const struct edit *x = a, *y = b;
    if (x->at != y->at) return x->at < y->at ? -1 : 1;
    return x->order < y->order ? -1 : 1;
}

/* Puts the edits in order; one inside of what another replaces would be lost. */
static void sort_edits(struct source *s) {
    if (s->edit_count) qsort(s->edits, s->edit_count, sizeof *s->edits, by_place);
    for (size_t k = 1, replaced = 0; k < s->edit_count; k++) {
        const struct edit *before = &s->edits[k - 1];
        if (before->drop) replaced = before->at + before->drop;
        if (s->edits[k].at < replaced) fail(s, s->edits[k].at, "something to rewrite inside of something else to rewrite");
    }
}

static struct source *read_source(char *path, char *real, const char *includer, int line);

enum { NAME_ROOM = 1024 };
/* The name in the #include that the text begins with, and its opening bracket, " or <; or 0 where there is none. */
static char include_name(const char *text, char name[NAME_ROOM]) {
    char open, close;
    if (sscanf(text, "# include %c%1023[^>\"\n]%c", &open, name, &close) != 3) return 0;
    return (open == '"' && close == '"') || (open == '<' && close == '>') ? open : 0;
}

static bool is_cu(const char *name) { return strlen(name) > 3 && strcmp(name + strlen(name) - 3, ".cu") == 0; }

/* The path of a file that s names, from where s lies. */
static char *path_beside(const struct source *s, const char *name) {
    const char *slash = strrchr(s->path, '/');
    if (name[0] == '/' || !slash) return format("%s", name);
    return format("%.*s/%s", (int)(slash - s->path), s->path, name);
}

/* The path of x.cu where #include "x.cu" stands at i, or null. */
static char *included_path(const struct source *s, size_t i) {
    char name[NAME_ROOM];
    return is_directive(s, i) && include_name(s->text + i, name) == '"' && is_cu(name) ? path_beside(s, name) : NULL;
}

/* ---- Local headers --------------------------------------------------------------------------- */

static const char *headers_folder; /* where rewritten ones go; null: all headers are left as they are */
static const char **search;        /* -I */
static size_t search_count;
static struct source **headers; /* all that were met */
static size_t header_count;

/* The path of the local header that s includes by this name, or null: the system's are not looked at. */
static char *find_header(const struct source *s, const char *name, bool in_quotes) {
    for (size_t k = in_quotes ? 0 : 1; k <= search_count; k++) {
        char *path = k == 0 || name[0] == '/' ? path_beside(s, name) : format("%s/%s", search[k - 1], name);
        struct stat found;
        if (stat(path, &found) == 0 && S_ISREG(found.st_mode)) return path;
        free(path);
    }
    return NULL;
}

/* The library whose header the directive at i includes, where there is none like it on the CPU; or null. */
static const char *missing_library(const struct source *s, size_t i) {
    static const char *const libraries[][2] = {
        {"cublas", "cuBLAS"},       {"curand", "cuRAND"},     {"cufft", "cuFFT"},      {"cusparse", "cuSPARSE"},
        {"cusolver", "cuSOLVER"},   {"cudnn", "cuDNN"},       {"nccl", "NCCL"},        {"nvrtc", "NVRTC"},
        {"npp", "NPP"},             {"nvToolsExt", "NVTX"},   {"nvtx3/", "NVTX"},      {"thrust/", "Thrust"},
        {"cub/", "CUB"},            {"mma.h", "wmma"},        {"cuda_fp16.h", "half"}, {"cuda_bf16.h", "bfloat16"},
        {"cuda_fp8.h", "8-bit floating point"},               {"cooperative_groups", "cooperative groups"},
        {"cuda_pipeline", "the pipeline of asynchronous copies"}};
    char name[NAME_ROOM];
    const char open = is_directive(s, i) ? include_name(s->text + i, name) : 0;
    if (!open) return NULL;
    for (size_t k = 0; k < sizeof libraries / sizeof *libraries; k++) {
        if (strncmp(name, libraries[k][0], strlen(libraries[k][0])) != 0) continue;
        char *local = find_header(s, name, open == '"');
        free(local);
        return local ? NULL : libraries[k][1];
    }
    return NULL;
}

/* Reads the local headers that s includes: what follows may use their macros and template kernels. A directive in a
   comment counts too, as whether a line is one is not known yet; nothing comes of it. */
static void read_headers(struct source *s) {
    if (!headers_folder) return;
    for (char *line = s->text; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
        char name[NAME_ROOM];
        const char open = include_name(line + strspn(line, " \t"), name);
        if (!open || is_cu(name)) continue;
        char *path = find_header(s, name, open == '"'), *real = path ? realpath(path, NULL) : NULL;
        if (!real) continue;
        struct source *header = NULL;
        for (size_t k = 0; k < header_count; k++)
            if (strcmp(headers[k]->real, real) == 0) header = headers[k];
        const size_t at = (size_t)(strchr(line, open) - s->text);
        if (!header) header = read_source(path, real, s->path, line_of(s, at));
        s->inclusions = need(realloc(s->inclusions, (s->inclusion_count + 1) * sizeof *s->inclusions));
        s->inclusions[s->inclusion_count++] = (struct inclusion){at, strlen(name) + 2, header};
    }
}

/* Is there device code in this text? Where there is none, it may be of any shape. */
static bool has_device_code(const char *text) {
    static const char *const signs[] = {"__global__", "__device__", "__shared__", "<<<", "__CUDA_ARCH__", ".cu\""};
    for (size_t k = 0; k < sizeof signs / sizeof *signs; k++)
        if (strstr(text, signs[k])) return true;
    return false;
}

/* Gives rewritten headers their new names. In a rewritten header, which lies elsewhere, all need one. */
static void name_headers(struct source *s) {
    for (size_t k = 0; k < s->inclusion_count; k++) s->rewritten |= s->inclusions[k].header->rewritten;
    for (size_t k = 0; k < s->inclusion_count && s->rewritten; k++) {
        const struct inclusion *i = &s->inclusions[k];
        const char *folder = strrchr(headers_folder, '/') ? strrchr(headers_folder, '/') + 1 : headers_folder;
        if (i->header->rewritten)
            edit(s, i->at, i->length, format("\"%s/%zu.h\"", folder, i->header->number));
        else if (s->real)
            edit(s, i->at, i->length, format("\"%s\"", i->header->real));
    }
}

static void rewrite_code(struct source *s) {
    struct shared *known = need(malloc(256 * sizeof *known));
    size_t known_count = 0, depth = 0;
    struct source **last = &s->included;
    char *path;
    for (size_t i = 0; i < s->size;) {
        const char c = s->code[i];
        if (c == '{') depth++;
        if (c == '}') {
            if (depth) depth--;
            while (known_count && known[known_count - 1].depth > depth) known_count--;
        }
        if (launch_bracket(s, i, '<')) {
            rewrite_launch(s, i);
            i += 3;
        } else if ((path = included_path(s, i))) {
            /* Read here, since launches below may be of its template kernels. */
            *last = read_source(path, NULL, s->path, line_of(s, i));
            last = &(*last)->next;
            i++;
        } else if (in_word(c)) {
            size_t end = word_end(s, i);
            if (word_is(s, i, end, "__global__")) mark_function(s, i, end, true);
            if (word_is(s, i, end, "__device__")) mark_function(s, i, end, false);
            for (size_t k = 0; k < qualifier_count; k++)
                if (word_is(s, i, end, qualifiers[k].name)) {
                    mark_function(s, i, end, qualifiers[k].kernel);
                    break;
                }
            if (word_is(s, i, end, "__shared__")) rewrite_shared(s, i, end, known, &known_count, depth);
            /* No macro, as the libraries' headers write __attribute__((__noinline__)). */
            const size_t before = space_before(s, i);
            if (word_is(s, i, end, "__noinline__") && !(before && strchr("(,", s->code[before - 1])))
                edit(s, i, end - i, format("__attribute__((noinline))"));
            if (word_is(s, i, end, "operator")) /* operator<<<T> is no launch */
                while (end < s->size && strchr("<>=- \t", s->code[end])) end++;
            i = end;
        } else {
            i++;
        }
    }
    free(known);
}

/* Writes the source with its edits, reading in local .cu files, and __CUDA_ARCH__ after the includes. */
static void write_out(FILE *out, struct source *s) {
    /* Directives: where the last #include outside of, or the #endif after the last one inside an #if, ends. The
       #ifndef of an include guard, with its #define, is no such #if. */
    size_t arch_at = 0, if_depth = 0, directives = 0, guard = 0;
    bool pending = false, first_is_ifndef = false;
    for (size_t i = 0; i < s->size;) {
        size_t end = i;
        while (end < s->size && s->text[end] != '\n') end++;
        size_t p = i;
        while (p < end && isspace((unsigned char)s->text[p])) p++;
        if (p < end && is_directive(s, p)) {
            p++;
            while (p < end && isspace((unsigned char)s->text[p])) p++;
            if (++directives == 1) first_is_ifndef = strncmp(s->text + p, "ifndef", 6) == 0;
            if (directives == 2 && first_is_ifndef && strncmp(s->text + p, "define", 6) == 0) guard = 1;
            if (strncmp(s->text + p, "if", 2) == 0) if_depth++;
            if (strncmp(s->text + p, "endif", 5) == 0 && if_depth) if_depth--;
            if (strncmp(s->text + p, "include", 7) == 0) pending = true;
            if (pending && if_depth <= guard) {
                arch_at = end < s->size ? end + 1 : end;
                pending = false;
            }
        }
        i = end + 1;
    }

    fprintf(out, "#line 1 \"%s\"\n", s->path);
    size_t next = 0;
    if_depth = 0;
    struct source *included = s->included;
    for (size_t i = 0; i <= s->size; i++) {
        if (i == arch_at && (s->device || !s->real)) {
            if (i > 0 && s->text[i - 1] != '\n') putc('\n', out);
            fputs("#ifndef __CUDA_ARCH__\n#define __CUDA_ARCH__ 750\n", out);
            if (s->real) fprintf(out, "#define CUDA_CPU_ARCH_OF_%zu\n", s->number);
            fprintf(out, "#endif\n#line %d \"%s\"\n", line_of(s, i), s->path);
        }
        if (i == s->size) break;
        /* #include "x.cu": its own text stands here, rewritten. */
        char *path = included_path(s, i);
        if (path) {
            free(path);
            write_out(out, included);
            included = included->next;
            while (i < s->size && s->text[i] != '\n') i++;
            /* A last line without its end has nothing behind it. */
            fprintf(out, "\n#line %d \"%s\"\n", line_of(s, i) + (i < s->size), s->path);
            if (i + 1 == arch_at || i == s->size) i--;
            continue;
        }
        if (is_directive(s, i)) {
            const char *word = s->text + i + 1 + strspn(s->text + i + 1, " \t"), *library = missing_library(s, i);
            if_depth += strncmp(word, "if", 2) == 0;
            if_depth -= strncmp(word, "endif", 5) == 0 && if_depth;
            if (library) {
                fprintf(out, "#error %s: there is none in the CPU default (cpu/README.md says what is)\n", library);
                if (if_depth == guard) return; /* what follows would only be missing it */
                while (i < s->size && s->text[i] != '\n') i++;
                continue;
            }
        }
        while (next < s->edit_count && s->edits[next].at == i) {
            fputs(s->edits[next].text, out);
            if (s->edits[next].drop) i += s->edits[next].drop - 1;
            if (s->edits[next++].drop) goto dropped;
        }
        putc(s->text[i], out);
    dropped:;
    }
    /* What is included after a header is to see no __CUDA_ARCH__ yet. */
    if (s->real && s->device)
        fprintf(out, "\n#ifdef CUDA_CPU_ARCH_OF_%zu\n#undef __CUDA_ARCH__\n#undef CUDA_CPU_ARCH_OF_%zu\n#endif\n", s->number, s->number);
}

static void write_headers(void) {
    for (size_t k = 0; k < header_count; k++) {
        if (!headers[k]->rewritten) continue;
        char *path = format("%s/%zu.h", headers_folder, headers[k]->number);
        FILE *out = fopen(path, "w");
        if (out) write_out(out, headers[k]);
        if (!out || ferror(out) | fclose(out)) {
            fprintf(stderr, "cu_rewrite: %s: %s\n", path, strerror(errno));
            exit(2);
        }
        free(path);
    }
}

static unsigned nested; /* how deep the file that is read is included */

/* Reads a file and those it includes, and finds what to change; includer and line say where it was asked for. */
static struct source *read_source(char *path, char *real, const char *includer, int line) {
    struct source *s = need(calloc(1, sizeof *s));
    s->path = path;
    if ((s->real = real)) {
        headers = need(realloc(headers, (header_count + 1) * sizeof *headers));
        headers[s->number = header_count++] = s;
    }
    FILE *file = fopen(path, "rb");
    if (!file || nested == 16) {
        if (includer) fprintf(stderr, "%s:%d: ", includer, line);
        fprintf(stderr, "cu_rewrite: %s: %s\n", path, file ? "includes itself, or 16 files deep" : strerror(errno));
        exit(2);
    }
    size_t room = 1 << 16;
    s->text = need(malloc(room + 1));
    for (size_t got; (got = fread(s->text + s->size, 1, room - s->size, file)) > 0;) {
        s->size += got;
        if (s->size == room) s->text = need(realloc(s->text, (room *= 2) + 1));
    }
    if (ferror(file)) {
        fprintf(stderr, "cu_rewrite: %s: %s\n", path, strerror(errno));
        exit(2);
    }
    fclose(file);
    s->text[s->size] = '\0';
    if (strncmp(s->text, "\xef\xbb\xbf", 3) == 0) memmove(s->text, s->text + 3, (s->size -= 3) + 1); /* Windows' editors */
    if (memchr(s->text, '\0', s->size)) fail(s, 0, "not a text file");
    nested++;
    s->device = has_device_code(s->text);
    /* One that includes itself, by whatever way, is met again before this is known. */
    s->rewritten = s->real && s->device;
    read_headers(s);
    if (s->device || !s->real) {
        find_code(s);
        rewrite_code(s);
    } else {
        s->code = s->text;
    }
    name_headers(s);
    sort_edits(s);
    nested--;
    return s;
}

/* With an empty rule for each file, so that make does not stop where one has gone. */
static void write_dependency(FILE *out, const char *from, const char *target) {
    char *path = need(malloc(2 * strlen(from) + 1)), *end = path;
    for (const char *p = from; *p; *end++ = *p++)
        if (*p == ' ') *end++ = '\\';
    *end = '\0';
    fprintf(out, "%s: %s\n%s:\n", target, path, path);
    free(path);
}

static void write_dependencies(FILE *out, const struct source *s, const char *target) {
    for (const struct source *i = s->included; i; i = i->next) {
        write_dependency(out, i->path, target);
        write_dependencies(out, i, target);
    }
}

/* Nothing is freed before the end: the program does one file and is gone. */
int main(int argc, char **argv) {
    search = need(malloc((size_t)argc * sizeof *search));
    char **argument = argv + 1;
    for (; argv + argc - argument >= 2 && (*argument)[0] == '-'; argument += 2) {
        if (strcmp(argument[0], "-H") == 0) headers_folder = argument[1];
        else if (strcmp(argument[0], "-I") == 0) search[search_count++] = argument[1];
        else break;
    }
    const size_t left = (size_t)(argv + argc - argument);
    if ((left != 1 && left != 3) || argument[0][0] == '-') {
        fputs("usage: cu_rewrite [-H FOLDER] [-I DIR ...] FILE.cu [FILE.d TARGET] > FILE.cpp\n", stderr);
        return 2;
    }
    struct source *s = read_source(argument[0], NULL, NULL, 0);
    fputs("#include <cuda_runtime.h>\n", stdout);
    write_out(stdout, s);
    write_headers();
    if (left == 3) {
        FILE *out = fopen(argument[1], "w");
        if (!out) {
            fprintf(stderr, "cu_rewrite: %s: %s\n", argument[1], strerror(errno));
            return 2;
        }
        write_dependencies(out, s, argument[2]);
        for (size_t k = 0; k < header_count; k++)
            if (headers[k]->rewritten) write_dependency(out, headers[k]->path, argument[2]);
        if (fclose(out) != 0) {
            fprintf(stderr, "cu_rewrite: %s could not be written\n", argument[1]);
            return 2;
        }
    }
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fputs("cu_rewrite: the output could not be written\n", stderr);
        return 2;
    }
    return 0;
}
