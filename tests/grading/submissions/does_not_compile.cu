// A name is spelled in another way.
#include <cstdio>
int main() {
    const int total = 3;
    printf("%d\n", totel);
}
