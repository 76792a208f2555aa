// Prints without an end.
#include <cstdio>
int main() {
    for (;;) puts("gates passed: 24");
}
