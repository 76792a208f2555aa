// Never ends, and uses no processor time.
#include <unistd.h>
int main() {
    for (;;) pause();
}
