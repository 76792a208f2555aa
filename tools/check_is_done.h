// For a checker's own program into which a submission is included (`harness` in judge.sh, which lays this file
// beside it): only its main, at its end, says the word that judge.sh made up for this run. What ends the program
// sooner, a submission's exit or a constructor of its own, does not say it, whatever status it leaves.
#pragma once
#include <cstdio>

struct WordOfThisRun {
    char text[64] = "";
    WordOfThisRun() {
        FILE* file = fopen("word", "r");
        if (file == nullptr) return;
        if (fgets(text, sizeof text, file) == nullptr) text[0] = '\0';
        fclose(file);
    }
};

// The status of main: `return checkIsDone();`
static int checkIsDone() { return puts(WordOfThisRun().text) < 0 || fflush(stdout) != 0 ? 2 : 0; }
