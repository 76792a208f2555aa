// Starts a hundred processes that wait.
#include <unistd.h>
int main() {
    for (int i = 0; i < 100; ++i)
        if (fork() == 0) {
            sleep(60);
            _exit(0);
        }
    sleep(60);
}
