// Starts a program in the way that the first argument says, and passes on what it returns.
#define _GNU_SOURCE
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

int main(int argc, char **argv) {
    const char *how = argv[1], *program = argv[2];
    char *arguments[] = {argv[2], "argument", NULL};
    pid_t child = -1;
    if (argc != 3) return 2;
    if (!strcmp(how, "posix_spawn")) posix_spawn(&child, program, NULL, NULL, arguments, environ);
    else if (!strcmp(how, "posix_spawnp")) posix_spawnp(&child, program, NULL, NULL, arguments, environ);
    else if ((child = vfork()) == 0) {
        char *none[] = {NULL};
        if (!strcmp(how, "execve")) execve(program, arguments, environ);
        if (!strcmp(how, "execv")) execv(program, arguments);
        if (!strcmp(how, "execvp")) execvp(program, arguments);
        if (!strcmp(how, "execvpe")) execvpe(program, arguments, environ);
        if (!strcmp(how, "without")) execve(program, arguments, none);
        _exit(127);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) < 0) return 3;
    return WEXITSTATUS(status);
}
