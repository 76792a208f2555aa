// The checks of tests/canonical_tree/checks.cu on a handed-in canonical_tree.cu, those that take no time. Each runs
// in a process of its own; the first that is wrong ends this one. canonical_tree.sh lays the files beside it.
#define main checksMain
#include "lesson/tests/canonical_tree/checks.cu"
#undef main

#include "check_is_done.h"

#include <sys/wait.h>
#include <unistd.h>

// A part of hostSizes, which takes seconds.
static void hostSomeSizes() {
    makeSamples(kSweep * kLeaf);
    const auto compare = [](auto op, const char* name, size_t n) {
        is(hostBits(op, n, 0, nullptr), reference(op, REF_TREE, n), name, n);
    };
    for (size_t n = 1; n <= 1025; n += 3) eachSubject([=](auto op, const char* name) { compare(op, name, n); });
    for (size_t leaves : {2, 3, 5, 6, 7, 9, 11, 21, 255, 256, 257, 258, 259, 513, 767, 1023, 1025})
        eachSubject([=](auto op, const char* name) { compare(op, name, ragged(leaves)); });
}

int main() {
    const struct {
        const char* name;
        void (*check)();
    } checks[] = {{"hostSomeSizes", hostSomeSizes},
                  {"deviceSizes", deviceSizes},
                  {"samples", samples},
                  {"chunks", chunks},
                  {"zeros", zeros},
                  {"specials", specials},
                  {"subnormals", subnormals},
                  {"integers", integers},
                  {"threads", threads},
                  {"refusals", refusals},
                  {"indices", indices},
                  {"pieces", pieces},
                  {"initials", initials},
                  {"errors", errors},
                  {"buffers", buffers}};
    for (const auto& c : checks) {
        FILE* said = tmpfile();
        const pid_t child = fork();
        if (child == 0) {
            dup2(fileno(said), 2);
            close(1);
            c.check();
            dup2(2, 1);
            _exit(checkIsDone());
        }
        int status = 0;
        waitpid(child, &status, 0);
        // What it said first, and whether it came to its end.
        char line[500], first[500] = "";
        bool spoke = false, done = false;
        rewind(said);
        while (fgets(line, sizeof line, said) != nullptr) {
            line[strcspn(line, "\n")] = '\0';
            if (strcmp(line, WordOfThisRun().text) == 0) done = true;
            else if (!spoke) spoke = snprintf(first, sizeof first, "%s", line) > 0;
        }
        fclose(said);
        if (child > 0 && status == 0 && done) continue;
        if (status == 0) snprintf(first, sizeof first, "ended with status 0 before the check was done");
        else if (!spoke) snprintf(first, sizeof first, "ended with status %d", WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
        printf("the lesson's test '%s'|%s\n", c.name, first);
        return 1;
    }
    return checkIsDone();
}
