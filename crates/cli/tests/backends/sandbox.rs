//! What a task in the sandbox can do, tried from inside.

use std::fs;
use std::net::TcpListener;
use std::path::Path;

use mw_testkit::{Home, Need, SOON, alive, children, need_program, skip, wait_until};

use crate::world::{Kind, World, unique};

/// Continues if this kernel can enforce a sandbox, and otherwise skips the test.
pub(crate) fn need_sandbox() {
    let probe = Home::new(env!("CARGO_BIN_EXE_mw")).mw(["backends", "sandbox"]);
    if probe.code != Some(0) {
        skip(Need::Confinement, &probe.text());
    }
}

fn world() -> World {
    need_sandbox();
    let world = World::new("sandbox", Kind::Process, "");
    // Without a repository, so that this directory is the project.
    fs::write(world.home.work().join(".meanwhile.toml"), "").unwrap();
    world
}

/// Returns the standard output: in the log, messages of the shell may stand inside of a line.
fn said(world: &World, options: &[&str], script: &str) -> String {
    let id = world.start_with(options, script, &[]);
    world.ended(&id);
    String::from_utf8(world.output(&id, "stdout")).unwrap()
}

#[test]
fn only_the_project_and_temporary_files_can_be_changed() {
    let world = world();
    let outside = Path::new(env!("CARGO_TARGET_TMPDIR")).join(unique());
    let script = format!(
        "echo x > mine && echo project; echo x > \"$(mktemp)\" && echo temporary; \
         echo x > {0} || echo no outside; echo x > /etc/mw-sandbox || echo no system; \
         echo x > \"$MEANWHILE_HOME/x\" || echo no home",
        outside.display()
    );
    let log = said(&world, &["--env", &format!("MEANWHILE_HOME={}", world.home.state().display())], &script);
    for word in ["project", "temporary", "no outside", "no system"] {
        assert!(log.lines().any(|line| line == word), "{word}: {log}");
    }
    assert!(!outside.exists() && world.home.has_file("mine"));
}

#[test]
fn other_processes_cannot_be_seen_or_ended() {
    let world = world();
    let outside = world.home.start(children::SLEEPER);
    let pid = world.home.pid(&outside);
    let script = format!("ls -d /proc/[0-9]* | wc -l; kill -9 {pid} || echo no process; echo $$");
    let log = said(&world, &[], &script);
    let seen: u32 = log.lines().next().unwrap().trim().parse().unwrap();
    assert!(seen < 10, "only its own processes are seen: {log}");
    assert!(log.contains("no process") && alive(pid), "{log}");
}

#[test]
fn all_processes_end_with_the_first() {
    let world = world();
    let word = unique();
    let id = world.start(&format!("setsid sleep {word} & (sleep {word} &) ; echo begun; exit 5"), &[]);
    let task = world.ended(&id);
    assert_eq!((&task["exit_code"], &task["survivors"]), (&5.into(), &0.into()), "{task}");
    world.until_running(&word, false);
}

#[test]
fn all_processes_end_with_the_process_that_stands_for_them() {
    let world = world();
    let word = unique();
    let id = world.start(&format!("setsid sleep {word} & sleep {word}"), &[]);
    world.until_running(&word, true);
    world.home.try_kill_process(world.home.pid(&id));
    let task = world.ended(&id);
    assert_eq!(task["signal"], "SIGKILL", "{task}");
    world.until_running(&word, false);
}

#[test]
fn there_is_no_network_unless_it_is_granted() {
    need_program("python3");
    let world = world();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let script = format!(
        "python3 -c 'import socket; socket.create_connection((\"127.0.0.1\", {port}), 5); print(\"reached\")' 2>&1"
    );
    assert!(!said(&world, &[], &script).contains("reached"));
    let log = said(&world, &["--network", "loopback"], &script);
    assert!(log.contains("reached"), "{log}");
}

#[test]
fn the_status_says_what_holds_it() {
    let world = world();
    let id = world.start("exit 0", &[]);
    let confined = world.ended(&id)["confined"].clone();
    assert_eq!(confined["by"], serde_json::json!(["landlock", "namespaces", "seccomp", "pids"]));
    assert!(confined["grant"].as_str().unwrap().contains("no network"), "{confined}");
}

/// It never runs with less.
#[test]
fn a_kernel_that_cannot_enforce_all_of_it_refuses_the_start() {
    let world = world();
    for lacking in ["landlock", "namespaces", "seccomp", "pids"] {
        let start = world.home.command(["start", "--on", "sandbox", "touch ran"]);
        let refused = start.env("MEANWHILE_LACKS", lacking).run();
        assert_ne!(refused.code, Some(0), "{refused}");
        assert!(refused.to_string().contains(lacking), "{lacking}: {refused}");
    }
    assert!(!world.home.has_file("ran"));
}

#[test]
fn a_stopped_task_continues() {
    let world = world();
    let id = world.start("i=0; while :; do i=$((i+1)); echo $i; sleep 0.05; done", &[]);
    world.home.until_logged(&id, "2");
    world.home.mw(["pause", &id]).ok();
    let size = || world.home.log(&id).len();
    world.home.mw(["resume", &id]).ok();
    let before = size();
    wait_until(SOON, "it prints again", || (size() > before).then_some(()));
}

/// Directories above a protected file cannot be exchanged, and a link out of the project opens nothing there.
#[test]
fn protected_files_cannot_be_replaced_through_their_directories() {
    need_program("git");
    let world = world();
    world.home.program("git").arg("init").arg("-q").run().ok();
    let outside = Path::new(env!("CARGO_TARGET_TMPDIR")).join(unique());
    fs::create_dir_all(&outside).unwrap();
    fs::write(outside.join("theirs"), "x").unwrap();
    let at = |name: &str| world.home.work().join(name);
    for directory in [".git/modules/sub", ".git/info", "sub", "linked"] {
        fs::create_dir_all(at(directory)).unwrap();
    }
    for file in [".git/modules/sub/config", ".git/info/attributes", "sub/.envrc"] {
        fs::write(at(file), "good").unwrap();
    }
    std::os::unix::fs::symlink(&outside, at("linked/.git")).unwrap();
    let script = "mv .git/modules .git/m; mkdir -p .git/modules/sub; echo bad > .git/modules/sub/config; \
                  mv .git/info .git/i; mkdir .git/info; echo bad > .git/info/attributes";
    let _ = said(&world, &[], script);
    let sub = at("sub").display().to_string();
    let _ = said(&world, &["--cwd", &sub], "cd ..; mv sub s; mkdir sub; echo bad > sub/.envrc");
    let linked = at("linked").display().to_string();
    let _ = said(&world, &["--cwd", &linked], "chmod 777 .git/theirs; echo bad > .git/theirs");
    for file in [".git/modules/sub/config", ".git/info/attributes", "sub/.envrc"] {
        assert_eq!(fs::read_to_string(at(file)).unwrap(), "good", "{file}");
    }
    let theirs = fs::metadata(outside.join("theirs")).unwrap();
    assert_ne!(std::os::unix::fs::PermissionsExt::mode(&theirs.permissions()) & 0o777, 0o777);
    assert_eq!(fs::read_to_string(outside.join("theirs")).unwrap(), "x");
    fs::remove_dir_all(outside).unwrap();
}

/// On a terminal, `run` gives the command one.
#[test]
fn a_command_in_the_foreground_has_a_terminal() {
    let world = world();
    let run = world.home.command(["run", "--on", "sandbox", "test -t 0 && test -t 1"]);
    assert_eq!(run.on_terminal().wait(), Some(0));
}
