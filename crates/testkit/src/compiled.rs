//! Programs in C, for what a script cannot do.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::home::Home;

/// Ends its first thread and continues in another one for longer than any test.
pub const WITHOUT_FIRST_THREAD: &str = r"
#include <pthread.h>
#include <unistd.h>
#include <sys/syscall.h>
static void *stay(void *nothing) { sleep(600); _exit(3); }
int main(void) {
    pthread_t other;
    pthread_create(&other, 0, stay, 0);
    syscall(SYS_exit, 0);
}";

/// Runs its arguments as a child and is the subreaper of all descendants. It creates the file `usr1` on SIGUSR1 and the
/// file `usr2` on SIGUSR2.
pub const ADOPTIVE_PARENT: &str = r#"
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
int main(int count, char **words) {
    sigset_t mask, before;
    sigemptyset(&mask);
    sigaddset(&mask, SIGUSR1);
    sigaddset(&mask, SIGUSR2);
    sigprocmask(SIG_BLOCK, &mask, &before);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    if (fork() == 0) {
        sigprocmask(SIG_SETMASK, &before, 0);
        execvp(words[1], words + 1);
        _exit(127);
    }
    int fd = signalfd(-1, &mask, 0);
    struct signalfd_siginfo info;
    while (read(fd, &info, sizeof info) == sizeof info)
        close(creat(info.ssi_signo == SIGUSR1 ? "usr1" : "usr2", 0600));
}"#;

/// Attaches to a process like a debugger and keeps it stopped for longer than any test.
pub const DEBUGGER: &str = r"
#include <stdlib.h>
#include <unistd.h>
#include <sys/ptrace.h>
int main(int count, char **words) {
    if (ptrace(PTRACE_ATTACH, atoi(words[1]), 0, 0) != 0)
        return 1;
    sleep(600);
}";

impl Home {
    /// Compiles a program into the working directory and returns its path.
    ///
    /// # Panics
    /// When there is no C compiler or the program does not compile.
    pub fn compile(&self, name: &str, source: &str) -> PathBuf {
        let path = self.work().join(name);
        let mut compiler = Command::new("cc")
            .args(["-x", "c", "-pthread", "-w", "-o"])
            .arg(&path)
            .arg("-")
            .stdin(Stdio::piped())
            .spawn()
            .expect("there is a C compiler");
        let mut input = compiler.stdin.take().expect("it was piped");
        input.write_all(source.as_bytes()).expect("the compiler reads");
        drop(input);
        let status = compiler.wait().expect("the compiler ends");
        assert!(status.success(), "{name} cannot be compiled");
        path
    }
}
