/*
 * The bare limit: the least that running a shell command in the background can cost.
 *
 * No store, no supervisor, no record of the ending. `cargo xtask peers` builds this as a static executable and gives
 * every other figure as a multiple of what it reaches in the same run.
 *
 *   bare start LOG SCRIPT           run SCRIPT with `sh -c` in a session of its own, output to LOG; print its pid
 *   bare wait PID                   return when PID has ended
 *   bare kill PID                   SIGKILL the process group of PID; return when PID is dead
 *   bare pool COUNT AT_ONCE DIR SCRIPT   run SCRIPT COUNT times, a log in DIR for each
 *   bare gen BYTES                  print that many bytes in lines of 80
 *   bare stamp FILE                 write the wall clock in nanoseconds to FILE, and end
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LINE = 80, CHUNK = 64 * 1024 };

static int fail(const char *what) {
    fprintf(stderr, "bare: %s: %s\n", what, strerror(errno));
    return 1;
}

/* In the child: becomes the shell, or ends with 126. */
static void become(const char *log, const char *script) {
    int out = open(log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    int in = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (setsid() < 0 || out < 0 || in < 0) _exit(126);
    if (dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(out, 2) < 0) _exit(126);
    execl("/bin/sh", "/bin/sh", "-c", script, NULL);
    _exit(126);
}

static int start(const char *log, const char *script) {
    pid_t child = fork();
    if (child == 0) become(log, script);
    if (child < 0) return fail("fork");
    return printf("%d\n", (int)child) < 0;
}

/* Sleeps until the process behind the descriptor has ended, whoever its parent is. */
static int until_dead(int pidfd) {
    struct pollfd watched = {.fd = pidfd, .events = POLLIN};
    while (poll(&watched, 1, -1) < 0)
        if (errno != EINTR) return fail("poll");
    return 0;
}

static int open_pid(pid_t pid) { return (int)syscall(SYS_pidfd_open, pid, 0); }

static int wait_for(pid_t pid) {
    int pidfd = open_pid(pid);
    if (pidfd < 0) return errno == ESRCH ? 0 : fail("pidfd_open");
    return until_dead(pidfd);
}

static int kill_group(pid_t pid) {
    /* Opened before the signal, so that the number cannot mean another process afterwards. */
    int pidfd = open_pid(pid);
    if (pidfd < 0) return errno == ESRCH ? 0 : fail("pidfd_open");
    if (kill(-pid, SIGKILL) < 0 && errno != ESRCH) return fail("kill");
    return until_dead(pidfd);
}

static int pool(long count, long at_once, const char *dir, const char *script) {
    char log[PATH_MAX];
    long begun = 0, ended = 0;
    while (ended < count) {
        if (begun < count && begun - ended < at_once) {
            snprintf(log, sizeof log, "%s/%ld.log", dir, begun);
            pid_t child = fork();
            if (child == 0) become(log, script);
            if (child < 0) return fail("fork");
            begun++;
        } else if (wait(NULL) > 0) {
            ended++;
        } else if (errno != EINTR) {
            return fail("wait");
        }
    }
    return 0;
}

static int generate(long long bytes) {
    /* A multiple of the line length, so that lines go on across writes. */
    static char block[CHUNK / LINE * LINE];
    for (size_t at = 0; at < sizeof block; at++) {
        size_t column = at % LINE;
        block[at] = column == LINE - 1 ? '\n' : (char)(' ' + (column + at / LINE) % 94 + 1);
    }
    while (bytes > 0) {
        size_t part = bytes < (long long)sizeof block ? (size_t)bytes : sizeof block;
        for (size_t done = 0; done < part;) {
            ssize_t written = write(1, block + done, part - done);
            if (written < 0 && errno != EINTR) return fail("write");
            if (written > 0) done += (size_t)written;
        }
        bytes -= (long long)part;
    }
    return 0;
}

static int stamp(const char *path) {
    char text[32];
    struct timespec now;
    /* All that can be done before the clock is read is done before: the time is that of the last act. */
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (file < 0) return fail(path);
    clock_gettime(CLOCK_REALTIME, &now);
    int length = snprintf(text, sizeof text, "%lld\n", now.tv_sec * 1000000000LL + now.tv_nsec);
    if (write(file, text, (size_t)length) != length) return fail(path);
    _exit(0);
}

int main(int count, char **words) {
    const char *verb = count > 1 ? words[1] : "";
    if (count == 4 && !strcmp(verb, "start")) return start(words[2], words[3]);
    if (count == 3 && !strcmp(verb, "wait")) return wait_for(atoi(words[2]));
    if (count == 3 && !strcmp(verb, "kill")) return kill_group(atoi(words[2]));
    if (count == 6 && !strcmp(verb, "pool")) return pool(atol(words[2]), atol(words[3]), words[4], words[5]);
    if (count == 3 && !strcmp(verb, "gen")) return generate(atoll(words[2]));
    if (count == 3 && !strcmp(verb, "stamp")) return stamp(words[2]);
    fputs("usage: bare start LOG SCRIPT | wait PID | kill PID | pool COUNT AT_ONCE DIR SCRIPT | gen BYTES | stamp FILE\n",
          stderr);
    return 2;
}
