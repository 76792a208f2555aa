/*
 * For tests/embeds.bats, written apart from the encoder in tools/embeds.sh: reads a percent-encoded state
 * of Compiler Explorer (rison) on stdin and writes it as JSON. Status 0, or 1 with what is wrong and where.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *text, *at;

static _Noreturn void fail(const char *what) {
    fprintf(stderr, "unrison: %s at character %ld\n", what, (long)(at - text));
    exit(1);
}

static int digit(int c) { return isdigit(c) ? c - '0' : isxdigit(c) ? tolower(c) - 'a' + 10 : -1; }

/* In place. A state stands in a link and in an attribute: what must be encoded there must be encoded. */
static void percent_decode(void) {
    char *to = text;
    for (at = text; *at; at++) {
        if (*at == '%') {
            const int high = digit((unsigned char)at[1]), low = high < 0 ? -1 : digit((unsigned char)at[2]);
            if (low < 0) fail("a % without two digits");
            *to++ = (char)(16 * high + low);
            at += 2;
        } else if (isalnum((unsigned char)*at) || strchr("-_.~", *at)) {
            *to++ = *at;
        } else {
            fail("a character that must be encoded");
        }
    }
    *to = '\0';
}

static void put(int c) {
    if (c == '"' || c == '\\') printf("\\%c", c);
    else if ((unsigned char)c < 32) printf("\\u%04x", c);
    else putchar(c);
}

static void string(void) { /* '...', or a word by itself */
    putchar('"');
    if (*at == '\'') {
        for (at++; *at != '\''; at++) {
            if (*at == '!' && *++at != '!' && *at != '\'') fail("an ! before neither ! nor '");
            if (!*at) fail("a string without its end");
            put(*at);
        }
        at++;
    } else {
        if (!isalpha((unsigned char)*at) && *at != '_') fail("no value");
        while (isalnum((unsigned char)*at) || (*at && strchr("_-./~", *at))) put(*at++);
    }
    putchar('"');
}

static void value(int depth) {
    if (depth > 50) fail("too deep");
    if (*at == '(') { /* (key:value,...) */
        putchar('{');
        for (at++; *at != ')';) {
            string();
            if (*at++ != ':') fail("a key without :");
            putchar(':');
            value(depth + 1);
            if (*at == ',') putchar(*at++);
            else if (*at != ')') fail("neither , nor )");
        }
        at++;
        putchar('}');
    } else if (at[0] == '!' && at[1] == '(') { /* !(value,...) */
        putchar('[');
        for (at += 2; *at != ')';) {
            value(depth + 1);
            if (*at == ',') putchar(*at++);
            else if (*at != ')') fail("neither , nor )");
        }
        at++;
        putchar(']');
    } else if (*at == '!') {
        const char c = at[1];
        if (c != 't' && c != 'f' && c != 'n') fail("an unknown !");
        fputs(c == 't' ? "true" : c == 'f' ? "false" : "null", stdout);
        at += 2;
    } else if (isdigit((unsigned char)*at) || *at == '-') {
        do putchar(*at++);
        while (isdigit((unsigned char)*at) || *at == '.');
    } else {
        string();
    }
}

int main(void) {
    size_t size = 0, room = 1 << 20;
    text = malloc(room + 1);
    if (text) size = fread(text, 1, room, stdin);
    if (!text || size == room) {
        fputs("unrison: too much\n", stderr);
        return 1;
    }
    text[size] = '\0';
    percent_decode();
    at = text;
    value(0);
    if (*at) fail("something after the state");
    putchar('\n');
    return fflush(stdout) != 0 || ferror(stdout);
}
