// Makes mutants of a program: copies with one operator, comparison or constant changed.
//   mutants FILE           prints one line per mutant: number, tab, line number, tab, line before, tab, after
//   mutants FILE NUMBER    prints the mutant's whole text
// Left alone: comments, text in quotes, preprocessor lines, static_asserts, what printf prints, what a gate
// says when it fails, and the helper blocks, which have tests of their own. Status: 0, or 2 with a line.
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kLongest = 4096 };

static const char* const kSwaps[][2] = {
    {" < ", " <= "},  {" <= ", " < "}, {" > ", " >= "},  {" >= ", " > "},  {" == ", " != "},
    {" != ", " == "}, {" + ", " - "},  {" - ", " + "},   {" * ", " + "},   {" / ", " * "},
    {" % ", " / "},   {" += ", " -= "}, {" -= ", " += "}, {" && ", " || "}, {" || ", " && "},
    {" & ", " | "},   {" | ", " & "},  {" ^ ", " & "},   {" << ", " >> "}, {" >> ", " << "},
};

static long g_wanted = -1;  // the mutant whose text is asked for, or -1 for the list
static long g_count = 0;
static long g_line = 0;

static const char* withoutIndent(const char* s) { return s + strspn(s, " "); }

// One mutant: `length` characters of the line at `at` become `with`.
static void mutant(const char* line, size_t at, size_t length, const char* with) {
    char changed[kLongest];
    snprintf(changed, sizeof changed, "%.*s%s%s", (int)at, line, with, line + at + length);
    const long number = g_count++;
    if (g_wanted < 0)
        printf("%ld\t%ld\t%s\t%s\n", number, g_line, withoutIndent(line), withoutIndent(changed));
    else if (number == g_wanted)
        puts(changed);
}

// A number at `at`: its integer part one larger, or a hexadecimal number's last bit flipped.
static size_t number(const char* line, size_t at) {
    char with[64];
    size_t length = strspn(line + at, "0123456789");
    if (line[at] == '0' && line[at + 1] == 'x') {
        length = 2 + strspn(line + at + 2, "0123456789abcdefABCDEF");
        snprintf(with, sizeof with, "0x%llx", strtoull(line + at, NULL, 16) ^ 1);
    } else {
        snprintf(with, sizeof with, "%llu", strtoull(line + at, NULL, 10) + 1);
    }
    mutant(line, at, length, with);
    // The rest of a floating-point number belongs to it.
    while (isalnum((unsigned char)line[at + length]) || line[at + length] == '.') ++length;
    return length;
}

// What is open from one line to the next.
static bool g_helpers = false;  // in a helper block
static bool g_print = false;    // in a statement that only prints
static bool g_gate = false;     // in a gate, and its name has been read

static void mutateLine(const char* line) {
    const char* text = withoutIndent(line);
    if (strncmp(text, "// helper", 9) == 0) g_helpers = true;
    if (strncmp(text, "// end helper", 13) == 0) g_helpers = false;
    if (g_helpers || text[0] == '#' || strncmp(text, "static_assert", 13) == 0) return;
    const bool buffer = strncmp(text, "char ", 5) == 0;  // a longer one changes nothing
    bool gate = strncmp(text, "gate(", 5) == 0 || g_gate;
    bool named = g_gate;
    if (strstr(text, "printf(") != NULL) g_print = true;
    const bool print = g_print;
    char quote = 0;
    for (size_t i = 0; line[i] != '\0'; ++i) {
        if (quote != 0) {
            if (line[i] == '\\') ++i;
            else if (line[i] == quote) quote = 0;
            continue;
        }
        if (line[i] == '/' && line[i + 1] == '/') break;
        if (line[i] == ';') g_print = named = gate = false;
        if (line[i] == '"' || line[i] == '\'') {
            quote = line[i];
            if (gate) named = true;
            continue;
        }
        if (print || named) continue;
        for (size_t s = 0; s < sizeof kSwaps / sizeof kSwaps[0]; ++s)
            if (strncmp(line + i, kSwaps[s][0], strlen(kSwaps[s][0])) == 0)
                mutant(line, i, strlen(kSwaps[s][0]), kSwaps[s][1]);
        if (line[i] == '!' && line[i + 1] != '=') mutant(line, i, 1, "");
        const bool inWord = i > 0 && (isalnum((unsigned char)line[i - 1]) || line[i - 1] == '_');
        if (isdigit((unsigned char)line[i]) && !inWord && !buffer) i += number(line, i) - 1;
    }
    g_gate = gate && named;
}

int main(int argc, char** argv) {
    FILE* in = argc >= 2 ? fopen(argv[1], "r") : NULL;
    if (in == NULL || argc > 3) {
        fprintf(stderr, argc < 2 || argc > 3 ? "usage: mutants FILE [NUMBER]\n" : "mutants: %s: cannot be read\n",
                argc < 2 ? "" : argv[1]);
        return 2;
    }
    if (argc == 3) g_wanted = atol(argv[2]);
    char line[kLongest];
    while (fgets(line, sizeof line, in) != NULL) {
        ++g_line;
        line[strcspn(line, "\n")] = '\0';
        const long before = g_count;
        mutateLine(line);
        const bool changed = g_wanted >= before && g_wanted < g_count;
        if (g_wanted >= 0 && !changed) puts(line);
    }
    fclose(in);
    if (g_wanted >= g_count) {
        fprintf(stderr, "mutants: %s has %ld mutants\n", argv[1], g_count);
        return 2;
    }
    return 0;
}
