/*
 * Feeds the rewriter of the CPU default with mutated sources, many in one process:
 *   fuzz SEED CASES FAILED.cu CORPUS...
 * Build it with -fsanitize=address,undefined. The same seed gives the same cases. A case must end with
 * status 0 and a text whose lines keep their numbers, or with status 2 and one line FILE:LINE: cu_rewrite:
 * on stderr. One that does not, that takes 20 s, or that a sanitizer ends is written to FAILED.cu.
 * Status 0, 1 (such a case) or 2.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- What the rewriter asks of the C library is answered here ---------------------------------- */

enum { CASE_ROOM = 1 << 16, PART_ROOM = 1 << 12 };

static char case_text[CASE_ROOM + 1], part_text[PART_ROOM + 1];
static size_t case_size, part_size;
static FILE *case_out, *case_err;
static jmp_buf case_ended;
static int case_status;
static void **blocks; /* all that the rewriter has allocated: it frees little itself */
static size_t block_count, block_room;

static void *keep(void *block) {
    if (block_count == block_room) blocks = realloc(blocks, (block_room = 2 * block_room + 64) * sizeof *blocks);
    blocks[block_count++] = block;
    return block;
}

static void forget(const void *block) {
    for (size_t i = block_count; block && i-- > 0;) {
        if (blocks[i] != block) continue;
        blocks[i] = blocks[--block_count];
        return;
    }
}

static void *fuzz_malloc(size_t bytes) { return keep(malloc(bytes)); }
static void *fuzz_calloc(size_t count, size_t bytes) { return keep(calloc(count, bytes)); }
static void *fuzz_realloc(void *block, size_t bytes) {
    forget(block);
    return keep(realloc(block, bytes));
}
static void fuzz_free(void *block) {
    forget(block);
    free(block);
}

static _Noreturn void fuzz_exit(int status) {
    case_status = status;
    longjmp(case_ended, 1);
}

static FILE *fuzz_fopen(const char *path, const char *mode) {
    if (strcmp(path, "fuzz.cu") == 0) return fmemopen(case_text, case_size, mode);
    if (strcmp(path, "part.cu") == 0) return fmemopen(part_text, part_size, mode);
    errno = ENOENT;
    return NULL;
}

static FILE *real_stderr(void) { return stderr; }

#define main cu_rewrite_main
#define exit fuzz_exit
#define malloc fuzz_malloc
#define calloc fuzz_calloc
#define realloc fuzz_realloc
#define free fuzz_free
#define fopen fuzz_fopen
#define printf(...) fprintf(case_out, __VA_ARGS__)
#define putchar(c) fputc(c, case_out)
#undef stdout
#define stdout case_out
#undef stderr
#define stderr case_err
#include "../../cpu/cu_rewrite.c"
#undef main
#undef exit
#undef malloc
#undef calloc
#undef realloc
#undef free
#undef fopen
#undef printf
#undef putchar

/* ---- Mutation -------------------------------------------------------------------------------- */

static uint64_t state;

static size_t below(size_t n) { /* xorshift64* */
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return n ? (size_t)((state * UINT64_C(2685821657736338717) >> 33) % n) : 0;
}

static const char *const tokens[] = {
    "__shared__ ", "extern ", "static ", "alignas ", "alignas 16 ", "alignas(16) ", "__align__(8) ", "__align__ ", "__align__ 8 ", "<<<", ">>>", "<", ">", "(", ")",
    "[", "]", "{", "}", ";", ",", ":", "::", "=", "*", "&", "~", "...", "[[", "]]", "->", "\\", "\\\n", "\\\r\n", "\r\n", "\n", "'",
    "\"", "R\"x(", ")x\"", "R\"", "u8R\"(", "/*", "*/", "//", "#", "\n#", "\n#define ", "\n#undef ", "\n#if X\n", "\n#endif\n",
    "\n#include \"part.cu\"\n", "\n  #include \"fuzz.cu\"\n", "\n#include \"none.cu\"\n", "\n#include <math.h>\n", "__global__ ",
    "__device__ ", "__host__ ", "__noinline__ ", "__launch_bounds__(256) ", "__attribute__", "template <typename T> ", "template <",
    "operator", "operator()", "operator<<", "decltype", "noexcept", "HD ", "\n#define HD __host__ __device__\n", "float ", "int a[4];",
    "k<<<1, 2>>>(3);", "k<int><<<g, b>>>(p);", "table[0]<<<1, 1>>>();", "1'000", "u'x'", "\xef\xbb\xbf", "\f", "\v", "\xff", "a",
    "T", "0", "__global__ void k(T* p) {", "__shared__ float s[4], t;", "extern __shared__ int d[];"};

struct text {
    char *bytes;
    size_t size;
};

static void replace(size_t at, size_t drop, const char *with, size_t length) {
    if (case_size - drop + length > CASE_ROOM) return;
    memmove(case_text + at + length, case_text + at + drop, case_size - at - drop);
    memmove(case_text + at, with, length);
    case_size = case_size - drop + length;
}

static void mutate(const struct text *other) {
    static char copy[CASE_ROOM];
    const size_t at = below(case_size + 1), rest = case_size - at;
    size_t length = below(8) ? below(12) : below(400);
    if (length > rest) length = rest;
    switch (below(8)) {
    case 0: replace(at, length, "", 0); break;
    case 1: /* the same once more, elsewhere */
        memcpy(copy, case_text + at, length);
        replace(below(case_size + 1), 0, copy, length);
        break;
    case 2: { /* from another source */
        const size_t from = below(other->size + 1), bytes = below(200);
        replace(at, 0, other->bytes + from, bytes < other->size - from ? bytes : other->size - from);
        break;
    }
    case 3:
        if (rest) case_text[at] = (char)(below(40) ? 32 + below(95) : below(256));
        break;
    case 4:
        if (!below(8)) case_size = at; /* cut off */
        break;
    default: {
        const char *token = tokens[below(sizeof tokens / sizeof *tokens)];
        replace(at, below(3) ? 0 : length, token, strlen(token));
    }
    }
}

/* ---- Judgement ------------------------------------------------------------------------------- */

static const char *failed_path;
static unsigned long case_number;

static void save(const char *path, const char *text, size_t size) {
    FILE *file = fopen(path, "wb");
    if (!file) return;
    fwrite(text, 1, size, file);
    fclose(file);
}
static void save_case(void) {
    char part_path[4096];
    snprintf(part_path, sizeof part_path, "%s.part", failed_path);
    save(failed_path, case_text, case_size);
    save(part_path, part_text, part_size);
    fprintf(real_stderr(), "fuzz: case %lu is in %s, its part.cu in %s.part\n", case_number, failed_path, failed_path);
}

static void on_signal(int number) {
    save_case();
    fprintf(real_stderr(), "fuzz: %s\n", number == SIGALRM ? "it does not end" : strsignal(number));
    _exit(1);
}

/* The sanitizers ask for these. After their report they are to raise a signal, so that the case is saved. */
const char *__asan_default_options(void) { return "abort_on_error=1"; }
const char *__ubsan_default_options(void) { return "abort_on_error=1"; }

static size_t lines_of(const char *text, size_t size) {
    size_t lines = 1;
    for (size_t i = 0; i < size; i++) lines += text[i] == '\n';
    return lines;
}

/* What is wrong with how the case ended, or null. */
static const char *wrong(int status, const char *out, size_t out_size, const char *err, size_t err_size) {
    if (status == 2) {
        if (err_size == 0 || lines_of(err, err_size) != 2 || err[err_size - 1] != '\n') return "stderr is not one line";
        size_t line = 0;
        int colon = 0;
        const bool part = strncmp(err, "part.cu:", 8) == 0;
        if (!part && strncmp(err, "fuzz.cu:", 8) != 0) return "stderr does not begin with the file";
        if (sscanf(err + 8, "%zu: cu_rewrite: %n", &line, &colon) != 1 || colon == 0) return "stderr names no line";
        if (line < 1 || line > (part ? lines_of(part_text, part_size) : lines_of(case_text, case_size))) return "no such line";
        return NULL;
    }
    if (status != 0) return "another status than 0 and 2";
    if (err_size) return "status 0 with something on stderr";
    size_t line = 1;
    for (const char *p = out, *end = out + out_size; p < end;) {
        const char *newline = memchr(p, '\n', (size_t)(end - p));
        if (!newline) break;
        size_t number;
        line = sscanf(p, "#line %zu \"", &number) == 1 ? number : line + 1;
        p = newline + 1;
    }
    const bool mark = strncmp(case_text, "\xef\xbb\xbf", 3) == 0;
    return line == lines_of(case_text + 3 * mark, case_size - 3 * mark) ? NULL : "a line lost its number";
}

static const char *run_case(void) {
    char *out = NULL, *err = NULL;
    size_t out_size = 0, err_size = 0;
    case_out = open_memstream(&out, &out_size);
    case_err = open_memstream(&err, &err_size);
    templates = NULL;
    template_count = 0;
    qualifiers = NULL;
    qualifier_count = 0;
    nested = 0;
    char *arguments[] = {"cu_rewrite", "fuzz.cu", NULL};
    alarm(20);
    if (!setjmp(case_ended)) case_status = cu_rewrite_main(2, arguments);
    alarm(0);
    fclose(case_out);
    fclose(case_err);
    const char *what = wrong(case_status, out, out_size, err, err_size);
    if (what) fprintf(real_stderr(), "%s", err);
    free(out);
    free(err);
    while (block_count) free(blocks[--block_count]);
    return what;
}

int main(int argc, char **argv) {
    if (argc < 5) {
        fprintf(real_stderr(), "usage: fuzz SEED CASES FAILED.cu CORPUS...\n");
        return 2;
    }
    const size_t corpus_count = (size_t)argc - 4;
    struct text *corpus = calloc(corpus_count, sizeof *corpus);
    for (size_t i = 0; i < corpus_count; i++) {
        FILE *file = fopen(argv[4 + i], "rb");
        if (!file || !(corpus[i].bytes = calloc(1, CASE_ROOM))) {
            perror(argv[4 + i]);
            return 2;
        }
        corpus[i].size = fread(corpus[i].bytes, 1, CASE_ROOM / 2, file);
        fclose(file);
    }
    failed_path = argv[3];
    signal(SIGALRM, on_signal);
    signal(SIGABRT, on_signal);
    signal(SIGILL, on_signal);
    signal(SIGTRAP, on_signal);
    state = strtoull(argv[1], NULL, 10) * 2 + 1;
    const unsigned long cases = strtoul(argv[2], NULL, 10);
    unsigned long taken = 0;
    for (case_number = 0; case_number < cases; case_number++) {
        /* The corpus as it stands, then windows of it, now and then all of a source. Of three sources the
           smallest is taken: there the rare shapes are dense. */
        const struct text *other = &corpus[below(corpus_count)], *t = other;
        for (int draw = 0; draw < 2; draw++) {
            const struct text *drawn = &corpus[below(corpus_count)];
            if (drawn->size < t->size) t = drawn;
        }
        if (case_number < corpus_count) t = &corpus[case_number];
        size_t from = 0;
        case_size = t->size;
        if (case_number >= corpus_count && below(50)) {
            from = below(t->size);
            case_size = below(below(4) ? 200 : 2000);
            if (case_size > t->size - from) case_size = t->size - from;
        }
        memcpy(case_text, t->bytes + from, case_size);
        part_size = below(other->size < 300 ? other->size + 1 : 300);
        memcpy(part_text, other->bytes, part_size);
        if (case_number >= corpus_count)
            for (size_t k = below(6) + 1; k-- > 0;) mutate(other);
        if (case_size == 0) case_text[case_size++] = '\n'; /* not every fmemopen takes an empty one */
        if (part_size == 0) part_text[part_size++] = '\n';
        case_text[case_size] = '\0';
        const char *what = run_case();
        taken += case_status == 0;
        if (what) {
            save_case();
            fprintf(real_stderr(), "fuzz: %s\n", what);
            return 1;
        }
    }
    for (size_t i = 0; i < corpus_count; i++) free(corpus[i].bytes);
    free(corpus);
    free(blocks);
    printf("%lu cases, %lu of them rewritten\n", cases, taken);
    return 0;
}
