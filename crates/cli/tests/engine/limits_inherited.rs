//! Limits inherited from the shell (`ulimit`): they apply to the task, and its supervisors cope with them.

use std::io::Write;
use std::os::unix::net::UnixStream;
use std::path::Path;

use mw_testkit::{Home, SOON, children, wait_until};

use crate::home;

/// Starts a script from a shell with limits, and returns the task's id.
fn start_limited(home: &Home, limits: &str, options: &str, script: &str) -> String {
    let line = format!("{limits}; exec \"$MW\" start --json {options} \"$SCRIPT\"");
    let shell = home.program("sh").env("MW", env!("CARGO_BIN_EXE_mw")).env("SCRIPT", script);
    shell.arg("-c").arg(&line).run().exits(0).json()["id"].as_str().unwrap().to_owned()
}

/// Waits until the supervisor listens, which is shortly after the socket exists.
fn connect(control: &Path) -> UnixStream {
    wait_until(SOON, "the supervisor accepts connections", || UnixStream::connect(control).ok())
}

fn journal(home: &Home, id: &str) -> String {
    std::fs::read_to_string(home.task_dir(id).join("journal.jsonl")).unwrap()
}

#[test]
fn an_inherited_file_size_limit_only_drops_output() {
    let home = home();
    let script = format!("head -c 3000000 /dev/zero; touch printed; {}; exit 3", children::gate("go"));
    // The unit is half a KiB.
    let id = start_limited(&home, "ulimit -f 4000", "--cap 0", &script);
    let pair = home.pair(&id);
    home.file("printed");
    assert_eq!(home.find_pair(&id), Some(pair), "supervisor and guardian still run");
    home.open("go");
    let task = home.ended(&id);
    assert_eq!((&task["exit_code"], &task["output_bytes"]), (&3.into(), &3_000_000.into()), "{task}");
    assert!(task["dropped_bytes"].as_u64().unwrap() >= 3_000_000 - 4000 * 512, "{task}");
    assert!(!journal(&home, &id).contains("taken_over"), "{}", journal(&home, &id));
    home.wait_until_empty(SOON);
}

#[test]
fn a_task_gets_the_signals_of_its_inherited_limits() {
    let home = home();
    let script =
        "trap 'echo too large; exit 5' XFSZ; head -c 3000000 /dev/zero > file; echo status $?; kill -XFSZ $$";
    let id = start_limited(&home, "ulimit -f 4000", "", script);
    assert_eq!(home.ended(&id)["exit_code"], 5);
    // 128 plus the number of the signal that ended `head`.
    assert!(String::from_utf8_lossy(&home.log(&id)).contains("status 153\ntoo large\n"));
}

#[test]
fn commands_do_not_get_the_short_time_slices_of_our_processes() {
    let home = home().with_env("MEANWHILE_QUEUE_MAX_RUNNING", "1");
    // Where the kernel does not show the slice, all files are empty.
    let show = |file: &str| format!("sed -n 's/^se.slice *: *//p' /proc/self/sched >{file}; echo >>{file}");
    let _ = home.program("sh").arg("-c").arg(show("own")).run().exits(0);
    let direct = home.start(&format!("{}; {}", show("direct"), children::gate("go")));
    // The next one is started by a supervisor that executes `mw settle`.
    let queued = home.start(&show("queued"));
    home.file("direct");
    home.open("go");
    for id in [direct, queued] {
        assert_eq!(home.ended(&id)["exit_code"], 0);
    }
    let slice = |file: &str| std::fs::read_to_string(home.work().join(file)).unwrap();
    assert_eq!([slice("direct"), slice("queued")], [slice("own"), slice("own")]);
}

#[test]
fn few_descriptors_do_not_prevent_a_kill_of_the_whole_tree() {
    let home = home();
    let script = format!("{}\nulimit -n > limit; exec sleep 600", children::leave_double_fork("kid"));
    let id = start_limited(&home, "ulimit -n 30", "", &script);
    let (pid, kid) = (home.pid(&id), home.pid_in("kid"));
    assert_eq!(home.lines_in("limit", 1), "30\n");
    let control = home.task_dir(&id).join("control");
    // More connections than it can accept; clients without a connection poll.
    let waiting: Vec<_> = (0..60)
        .map(|_| {
            let mut stream = connect(&control);
            // Sending fails on a connection that the supervisor has closed.
            stream.write_all(b"{\"v\":1,\"op\":\"wait\"}\n").ok();
            stream
        })
        .collect();
    let receipt = home.mw(["kill", "--json", &id]).exits(0).json();
    let killed = mw_testkit::contract::pids(&receipt["killed"]);
    assert!([pid, kid].iter().all(|pid| killed.contains(&u64::from(*pid))), "{receipt}");
    drop(waiting);
    home.wait_until_empty(SOON);
}

#[test]
fn few_descriptors_do_not_block_a_task_with_much_output() {
    let home = home();
    for limit in [22, 23, 24, 26, 28] {
        let script = format!("{} | dd obs=300k 2>/dev/null; exit 5", children::numbers(300_000));
        let id = start_limited(&home, &format!("ulimit -n {limit}"), "--cap 0", &script);
        let task = home.ended(&id);
        assert_eq!(task["exit_code"], 5, "with {limit}: {task}");
        let full = children::numbered(1, 300_000);
        assert!(home.log(&id) == full, "with {limit}: {} of {} bytes", home.log(&id).len(), full.len());
    }
}

#[test]
fn few_descriptors_do_not_hide_survivors() {
    let home = home();
    let script = format!("{}\nread go; exit 0", children::leave_double_fork("kid"));
    let id = start_limited(&home, "ulimit -n 30", "--stdin", &script);
    let kid = home.pid_in("kid");
    let control = home.task_dir(&id).join("control");
    let waiting: Vec<_> = (0..60).map(|_| connect(&control)).collect();
    let _ = home.mw(["input", &id, "go"]).ok();
    home.ended(&id);
    assert!(mw_testkit::alive(kid));
    assert!(!home.supervisors_of(&id).is_empty(), "a supervisor watches the survivor");
    drop(waiting);
    let _ = home.mw(["kill", &id]).ok();
    assert!(!mw_testkit::alive(kid));
    home.wait_until_empty(SOON);
}

/// Returns the CPUs on which a process may run.
fn allowed_cpus(pid: u32) -> String {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap().trim().to_owned()
}

#[test]
fn a_task_and_its_supervisors_may_run_on_the_cpus_of_the_starter() {
    let home = home();
    let all = rustix::thread::sched_getaffinity(None).unwrap();
    let mut one = rustix::thread::CpuSet::new();
    one.set((0..).find(|cpu| all.is_set(*cpu)).unwrap());
    // Commands inherit the CPUs of this thread.
    for cpus in [all, one] {
        rustix::thread::sched_setaffinity(None, &cpus).unwrap();
        let expected = allowed_cpus(rustix::thread::gettid().as_raw_pid() as u32);
        let id = home.start("exec sleep 600");
        let pair = home.pair(&id);
        for pid in [home.pid(&id), pair.supervisor, pair.guardian] {
            assert_eq!(allowed_cpus(pid), expected);
        }
        let _ = home.mw(["kill", &id]).ok();
    }
}
