# Right, and leaves a process behind that lives on in a session of its own.
s|^#include <new>|&\n#include <unistd.h>|
s|^    printHead(.*|    if (fork() == 0) {\n        setsid();\n        execlp("sleep", "sleep", "3599", (char*)0);\n    }\n&|
