# GLOSSARY.md: its text blocks are what a C program prints, and its links and headings are there.

load helper

@test "glossary: every example is what a program computes, and prose repeats no other number" {
    cd "$BATS_TEST_TMPDIR" || return
    cat >examples.c <<'END'
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static uint32_t bits(float x)
{
    uint32_t u;

    memcpy(&u, &x, sizeof u);
    return u;
}

static const uint64_t offset = 14695981039346656037u, prime = 1099511628211u;

static uint64_t fnv1a(float x)
{
    uint64_t hash = offset;

    for (int i = 0; i < 4; i++)
        hash = (hash ^ (bits(x) >> 8 * i & 0xff)) * prime;
    return hash;
}

int main(void)
{
    /* volatile: computed when the program runs, and each operation rounded to float. */
    volatile float number[] = {0.75f, 1, 1000, 16777216};
    volatile float big = 16777216, one = 1, half = 0.5f, x = 4097, r;
    volatile float sum = big, plain = big, c = 0, y, next, a = 1, b = big, s, bb, u, e;
    volatile double nan_value = NAN;

    puts("number      ulp");
    for (int i = 0; i < 4; i++)
        printf("%-11.9g %.17g\n", number[i], nextafterf(number[i], INFINITY) - number[i]);
    r = big + one;
    printf("(%.9g + 1) + 1 = ", big);
    r = r + one;
    printf("%.9g\n", r);
    r = one + one;
    r = big + r;
    printf("%.9g + (1 + 1) = %.9g\n", big, r);
    r = x * x;
    printf("x * x                          = %.9g\n", r);
    printf("x * x - %.9g, separate     = %.9g\n", r, r - 16785408.0f);
    printf("x * x - %.9g, fused        = %.9g\n", r, fmaf(x, x, -r));
    for (int threads = 4; threads >= 3; threads--) {
        printf("%d threads, thread 1:", threads);
        for (int i = 1; i < 10; i += threads)
            printf(" %d", i);
        puts("");
    }
    r = big + one;
    printf("partials %.9g, 1    total %.9g\n", big, r);
    r = big + half;
    printf("partials %.9g, 0.5  total %.9g\n", big, r);
    for (int i = 0; i < 4; i++) {
        plain = plain + one;
        y = one - c;
        next = sum + y;
        c = next - sum;
        c = c - y;
        sum = next;
        printf("y = %g  next = %.9g  c = %g\n", y, next, c);
    }
    printf("plain sum %.9g, with compensation %.9g\n", plain, sum);
    s = a + b;
    bb = s - a;
    u = s - bb;
    u = a - u;
    e = b - bb;
    e = u + e;
    printf("s  = a + b               = %.9g\nbb = s - a               = %.9g\n", s, bb);
    printf("e  = (a - (s - bb)) + (b - bb) = %.9g\n", e);
    printf("NaN <= 1e-5: %d\nNaN > 1e-5:  %d\n", nan_value <= 1e-5, nan_value > 1e-5);
    printf("offset %" PRIu64 " = 0x%016" PRIx64 "\n", offset, offset);
    printf("prime  %" PRIu64 " = 0x%016" PRIx64 "\n", prime, prime);
    printf("hash of 1.0f (bits 0x%08" PRIx32 ")               = 0x%016" PRIx64 "\n", bits(1), fnv1a(1));
    r = nextafterf(1, 2);
    printf("hash of the next float (bits 0x%08" PRIx32 ")     = 0x%016" PRIx64 "\n", bits(r), fnv1a(r));
    /* What the prose says of the examples. */
    fprintf(stderr, "%ld %.0f %d\n", 4097L * 4097, 16777216.0 + 1, 4097);
    return 0;
}
END
    # shellcheck disable=SC2086 # CC may be given with flags
    ${CC:-cc} -std=c11 -O1 -Wall -Wextra -ffp-contract=off -o examples examples.c -lm
    ./examples >printed 2>prose
    sed -n '/^```text$/,/^```$/{/^```/!p;}' "$ROOT/GLOSSARY.md" >blocks
    diff printed blocks
    # Whole numbers of four digits and more outside the blocks.
    sed '/^```/,/^```$/d' "$ROOT/GLOSSARY.md" | grep -oE '\b[0-9]{4,}\b' | sort -u >repeated
    [ -s repeated ]
    run grep -vxFf <(cat printed prose | tr -cs 0-9 '\n' | grep . | sort -u) repeated
    assert_output ''
}

@test "glossary: the terms that pages link to are headings, and its links lead somewhere" {
    local anchor anchors target
    anchors=$(sed -n 's/^## //p' "$ROOT/GLOSSARY.md" | tr 'A-Z ' 'a-z-' | tr -d "'")
    for anchor in ulp rounding contraction-and-fma grid-stride-loop partial kahans-compensation two-sum reference \
        tolerance fnv-1a $(grep -oh 'GLOSSARY.md#[a-z0-9-]*' "$ROOT"/*.md "$ROOT"/*/README.md | sed 's/.*#//'); do
        grep -qx -- "$anchor" <<<"$anchors" || fail "no heading for #$anchor"
    done
    for target in $(grep -o '](\([^)#]*\)' "$ROOT/GLOSSARY.md" | cut -c 3-); do
        [ -e "$ROOT/$target" ] || fail "no $target"
    done
}
