/*
 * For tests/embeds.bats: peak OUT PROGRAM [ARGUMENT...] runs the program with its standard output in the
 * file OUT, and says on stdout: status, peak resident memory in KiB, most threads at once, bytes of output,
 * seconds of processor time with its children's.
 * Linux: threads are looked for in /proc, every millisecond.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static int threads_of(pid_t child) {
    char path[64];
    int count = 0;
    snprintf(path, sizeof path, "/proc/%ld/task", (long)child);
    DIR *tasks = opendir(path);
    if (!tasks) return 0;
    for (struct dirent *entry; (entry = readdir(tasks));) count += entry->d_name[0] != '.';
    closedir(tasks);
    return count;
}

int main(int argc, char **argv) {
    if (argc < 3) {
        fputs("usage: peak OUT PROGRAM [ARGUMENT...]\n", stderr);
        return 2;
    }
    const int out = open(argv[1], O_WRONLY | O_CREAT | O_TRUNC, 0666);
    const pid_t child = out < 0 ? -1 : fork();
    if (child < 0) {
        perror(argv[1]);
        return 2;
    }
    if (child == 0) {
        dup2(out, STDOUT_FILENO);
        execv(argv[2], argv + 2);
        perror(argv[2]);
        _exit(127);
    }
    int status, most = 0;
    struct rusage usage;
    while (wait4(child, &status, WNOHANG, &usage) == 0) {
        const int threads = threads_of(child);
        if (threads > most) most = threads;
        usleep(1000);
    }
    struct stat file;
    if (fstat(out, &file) != 0) return 2;
    printf("status %d\nKiB %ld\nthreads %d\nbytes %lld\nseconds %ld\n",
           WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), usage.ru_maxrss, most, (long long)file.st_size,
           (long)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec));
    return 0;
}
