//! What a task does on every back-end. The table in `docs/backends.md` has a row for each.

use std::time::{Duration, Instant};

use mw_testkit::{SOON, wait_until};
use serde_json::json;

use crate::world::{Kind, World, unique};

/// Whether a back-end has a behaviour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It has.
    Yes,
    /// It refuses such a task, and says so.
    No,
}

/// Tries a behaviour; panics if the back-end claims it, but does not have it.
pub(crate) type Behaviour = fn(&World) -> Verdict;

/// Every behaviour, with its row in the table.
pub(crate) const BEHAVIOURS: [(&str, Behaviour); 26] = [
    ("a start returns an id, and the status names the back-end", start),
    ("both streams arrive, each in order", streams),
    ("bytes arrive unchanged, also without a final newline", bytes),
    ("5 MB arrive completely", much_output),
    ("output beyond the cap is dropped and counted", cap),
    ("output can be read while the task runs", follow),
    ("the exit code is kept, also above 128", exit_code),
    ("a signal is distinguished from an exit code", own_signal),
    ("a missing program is reported as not started", missing_program),
    ("variables of `--env` are passed, other local ones are not", variables),
    ("arguments arrive unchanged", arguments),
    ("a kill sends SIGTERM first, and the command's own exit code is kept", kill),
    ("a kill ends processes that ignore SIGTERM", kill_hard),
    ("a kill ends the whole process tree", kill_tree),
    ("SIGKILL without a grace period ends the whole process tree", kill_at_once),
    ("other signals are passed on", pass_signal),
    ("a time limit ends the task", time_limit),
    ("readiness by a line of the output", ready),
    ("a restart is another run with its own output", restart),
    ("standard input can stay open", input),
    ("a terminal", terminal),
    ("a memory limit ends the task and is the reported cause", memory),
    ("kill -9 of the driver or supervisor loses nothing", one_killed),
    ("kill -9 of all local processes loses nothing", all_killed),
    ("kill -9 of all local processes during a start: the command runs once", killed_at_start),
    ("one notification of the end, whichever processes were killed", told_once),
];

fn start(world: &World) -> Verdict {
    let id = world.start("true", &["exit 0"]);
    let prefix = if world.kind == Kind::Remote { "remote-" } else { "bash-" };
    assert!(id.starts_with(prefix), "{id}");
    let task = world.ended(&id);
    assert_eq!((&task["status"], &task["exit_code"]), (&json!("completed"), &json!(0)));
    let place = if world.on == "process" { json!(null) } else { json!(world.on) };
    assert_eq!(task["place"], place);
    Verdict::Yes
}

fn streams(world: &World) -> Verdict {
    let id = world.start("echo a; echo b >&2; echo c; echo d >&2", &["a", "c", "exit 0"]);
    world.ended(&id);
    assert_eq!(world.output(&id, "stdout"), b"a\nc\n");
    let stderr = world.output(&id, "stderr");
    assert_eq!(stderr, if world.kind == Kind::Mock { b"".as_slice() } else { b"b\nd\n" });
    if world.kind == Kind::Mock { Verdict::No } else { Verdict::Yes }
}

fn bytes(world: &World) -> Verdict {
    if world.kind == Kind::Mock {
        return Verdict::No;
    }
    let id = world.start(r"printf '\000\001\377 x\r\n\n no end'", &[]);
    world.ended(&id);
    assert_eq!(world.output(&id, "stdout"), b"\0\x01\xff x\r\n\n no end");
    Verdict::Yes
}

fn much_output(world: &World) -> Verdict {
    if world.kind == Kind::Mock {
        return Verdict::No;
    }
    let script = "i=0; while [ $i -lt 50000 ]; do i=$((i+1)); echo $i; done; seq 600000";
    let id = world.start(script, &[]);
    world.ended(&id);
    let lines = (1..=50_000).chain(1..=600_000).map(|line| format!("{line}\n"));
    assert!(world.home.log(&id) == lines.collect::<String>().into_bytes(), "the output differs");
    Verdict::Yes
}

fn cap(world: &World) -> Verdict {
    if world.kind == Kind::Mock {
        return Verdict::No;
    }
    let id = world.start_with(&["--cap", "4K"], "seq 20000; echo last >&2", &[]);
    let task = world.ended(&id);
    let all: usize = (1..=20_000).map(|line| line.to_string().len() + 1).sum::<usize>() + 5;
    assert_eq!(task["output_bytes"], all, "{task}");
    assert!(task["dropped_bytes"].as_u64().unwrap() > 0, "{task}");
    let kept = String::from_utf8_lossy(&world.home.log(&id)).into_owned();
    assert!(kept.starts_with("1\n2\n") && kept.contains("bytes dropped"), "{kept}");
    Verdict::Yes
}

fn follow(world: &World) -> Verdict {
    let script = "echo before; while [ ! -e $GATE ]; do sleep 0.1; done; exit 0";
    let gate = format!("/tmp/mw-gate-{}", unique());
    let id = world.start_with(&["--env", &format!("GATE={gate}")], script, &["before"]);
    world.home.until_logged(&id, "before");
    assert_eq!(world.home.status(&id)["status"], "running");
    world.home.command(["kill", &id]).run().ok();
    Verdict::Yes
}

fn exit_code(world: &World) -> Verdict {
    for code in [3, 137] {
        let id = world.start(&format!("exit {code}"), &[&format!("exit {code}")]);
        let task = world.ended(&id);
        assert_eq!((&task["status"], &task["exit_code"]), (&json!("failed"), &json!(code)), "{task}");
    }
    Verdict::Yes
}

fn own_signal(world: &World) -> Verdict {
    if world.kind == Kind::Mock {
        return Verdict::No;
    }
    let id = world.start("kill -9 $$", &[]);
    let task = world.ended(&id);
    assert_eq!(task["status"], "failed", "{task}");
    if task["signal"] == "SIGKILL" {
        return Verdict::Yes;
    }
    // It is not told apart, but not hidden either.
    assert_eq!(task["exit_code"], 137, "{task}");
    Verdict::No
}

fn missing_program(world: &World) -> Verdict {
    if world.kind == Kind::Mock {
        return Verdict::No;
    }
    let outcome = world.home.mw(["start", "--json", "--on", &world.on, "--", "/no/such/program"]);
    if world.kind == Kind::Process {
        assert_ne!(outcome.code, Some(0), "{outcome}");
        return Verdict::Yes;
    }
    let id = outcome.json()["id"].as_str().unwrap().to_owned();
    let task = world.ended(&id);
    assert_eq!(task["status"], "failed", "{task}");
    assert!(task["cause"].as_str().unwrap().starts_with("could not start"), "{task}");
    Verdict::Yes
}

fn variables(world: &World) -> Verdict {
    if world.kind == Kind::Mock {
        return Verdict::No;
    }
    let script = "echo \"$CHOSEN|$MW_TEST_TAG|$MEANWHILE_TASK_ID\"";
    let id = world.start_with(&["--env", "CHOSEN=it's \"$x\"\nnext"], script, &[]);
    world.ended(&id);
    let said = String::from_utf8(world.output(&id, "stdout")).unwrap();
    let (chosen, rest) = said.split_once('|').unwrap();
    assert_eq!(chosen, "it's \"$x\"\nnext");
    // A process of this machine has the whole environment.
    if world.kind == Kind::Process {
        assert!(rest.ends_with(&format!("|{id}\n")) && rest.len() > id.len() + 2, "{said}");
        return Verdict::No;
    }
    assert_eq!(rest, format!("|{id}\n"));
    Verdict::Yes
}

fn arguments(world: &World) -> Verdict {
    if world.kind == Kind::Mock {
        return Verdict::No;
    }
    let words = ["printf", "[%s]", "it's", "", "$HOME `x` \\", "two\nlines"];
    let outcome = world.home.mw(["start", "--json", "--on", &world.on, "--"].iter().chain(&words));
    let id = outcome.json()["id"].as_str().unwrap().to_owned();
    world.ended(&id);
    assert_eq!(world.output(&id, "stdout"), b"[it's][][$HOME `x` \\][two\nlines]");
    Verdict::Yes
}

fn kill(world: &World) -> Verdict {
    if world.kind == Kind::Mock {
        return Verdict::No;
    }
    let id = world.start("trap 'echo asked; exit 9' TERM; echo up; while :; do sleep 0.1; done", &[]);
    world.home.until_logged(&id, "up");
    let receipt = world.home.command(["kill", "--json", &id]).run().json();
    let receipt = if receipt["receipts"].is_array() { receipt["receipts"][0].clone() } else { receipt };
    let task = world.ended(&id);
    assert_eq!((&task["status"], &task["exit_code"]), (&json!("cancelled"), &json!(9)), "{task} {receipt}");
    assert!(String::from_utf8_lossy(&world.home.log(&id)).contains("asked\n"));
    Verdict::Yes
}

fn kill_hard(world: &World) -> Verdict {
    let id = world.start("trap '' TERM; echo up; while :; do sleep 0.1; done", &["up"]);
    world.home.until_logged(&id, "up");
    world.home.command(["kill", "--grace", "300ms", &id]).run().ok();
    let task = world.ended(&id);
    assert_eq!(task["status"], "cancelled", "{task}");
    Verdict::Yes
}

fn kill_tree(world: &World) -> Verdict {
    take_tree(world, &["kill", "--grace", "300ms"])
}

fn kill_at_once(world: &World) -> Verdict {
    take_tree(world, &["kill", "--signal", "KILL"])
}

fn take_tree(world: &World, kill: &[&str]) -> Verdict {
    if world.kind == Kind::Mock {
        return Verdict::No;
    }
    let word = unique();
    let id = world.start(&format!("setsid sleep {word} & (sleep {word} &) ; sleep {word}"), &[]);
    wait_until(SOON, "all three processes run", || (world.processes_with(&word).len() >= 3).then_some(()));
    let outcome = world.home.mw(kill.iter().chain(&[id.as_str()]));
    assert_eq!(outcome.code, Some(0), "{outcome}");
    assert_eq!(world.ended(&id)["status"], "cancelled");
    world.until_running(&word, false);
    Verdict::Yes
}

fn pass_signal(world: &World) -> Verdict {
    if world.kind == Kind::Mock {
        return Verdict::No;
    }
    let id = world.start("trap 'echo again' USR1; echo up; while :; do sleep 0.1; done", &[]);
    world.home.until_logged(&id, "up");
    world.home.command(["kill", "--signal", "USR1", &id]).run().ok();
    world.home.until_logged(&id, "again");
    assert_eq!(world.home.status(&id)["status"], "running");
    world.home.command(["kill", "--signal", "KILL", &id]).run().ok();
    Verdict::Yes
}

fn time_limit(world: &World) -> Verdict {
    let word = unique();
    let id = world.start_with(&["--timeout", "1s"], &format!("sleep {word}"), &[]);
    let task = world.ended(&id);
    assert_eq!(task["status"], "timed_out", "{task}");
    world.until_running(&word, false);
    Verdict::Yes
}

fn ready(world: &World) -> Verdict {
    let id = world.start_with(
        &["--ready-when", "listen.*now"],
        "echo listening now; sleep 30",
        &["listening now"],
    );
    let waited = world.home.command(["wait", &id, "--until", "ready", "--timeout", "60s"]).run();
    assert_eq!(waited.code, Some(0), "{waited}");
    world.home.command(["kill", "--signal", "KILL", &id]).run().ok();
    Verdict::Yes
}

fn restart(world: &World) -> Verdict {
    let id = world.start("echo run; exit 4", &["run", "exit 4"]);
    world.ended(&id);
    world.home.until_settled(&id);
    world.home.command(["restart", &id]).run().ok();
    if world.kind == Kind::Mock {
        for line in ["run", "exit 4"] {
            world.home.command(["input", &id, line]).run().ok();
        }
    }
    let task = world.ended(&id);
    assert_eq!((&task["runs"], &task["exit_code"]), (&json!(2), &json!(4)), "{task}");
    assert_eq!(world.output(&id, "stdout"), b"run\n");
    Verdict::Yes
}

fn input(world: &World) -> Verdict {
    let outcome = world.home.mw(["start", "--json", "--on", &world.on, "--stdin", "read a; echo got $a"]);
    if refused(&outcome, "standard input") {
        return Verdict::No;
    }
    let id = outcome.json()["id"].as_str().unwrap().to_owned();
    world.home.command(["input", &id, "x"]).run().ok();
    world.home.until_logged(&id, "x");
    world.home.mw(["input", "--eof", &id]).code.unwrap();
    Verdict::Yes
}

fn terminal(world: &World) -> Verdict {
    let outcome = world.home.mw(["start", "--json", "--on", &world.on, "--pty", "tty"]);
    if refused(&outcome, "terminal") {
        return Verdict::No;
    }
    let id = outcome.json()["id"].as_str().unwrap().to_owned();
    assert_eq!(world.ended(&id)["exit_code"], 0);
    Verdict::Yes
}

fn memory(world: &World) -> Verdict {
    let script = "sleep 0.5; a=0123456789abcdef; while :; do a=$a$a; done";
    let outcome = world.home.mw(["start", "--json", "--on", &world.on, "--memory", "24M", script]);
    if refused(&outcome, "resource limits") {
        return Verdict::No;
    }
    let id = outcome.json()["id"].as_str().unwrap().to_owned();
    let task = world.ended(&id);
    assert!(task["cause"].as_str().unwrap().contains("memory limit 24 MiB"), "{task}");
    Verdict::Yes
}

/// Returns whether a start was refused before anything was changed, because the back-end lacks something.
fn refused(outcome: &mw_testkit::Outcome, what: &str) -> bool {
    if outcome.code == Some(0) {
        return false;
    }
    let error = outcome.json()["error"]["message"].as_str().unwrap_or_default().to_owned();
    assert!(outcome.code == Some(2) && error.contains(what), "{outcome}");
    true
}

/// Prints a hundred lines on two streams in about two seconds.
const COUNT: &str =
    "i=0; while [ $i -lt 100 ]; do i=$((i+1)); echo out $i; echo err $i >&2; sleep 0.02; done; exit 5";

fn check_count(world: &World, id: &str) {
    let task = world.ended(id);
    assert_eq!((&task["status"], &task["exit_code"]), (&json!("failed"), &json!(5)), "{task}");
    assert_eq!(task["output_complete"], true, "{task}");
    for (stream, word) in [("stdout", "out"), ("stderr", "err")] {
        let expected: String = (1..=100).map(|line| format!("{word} {line}\n")).collect();
        let found = String::from_utf8(world.output(id, stream)).unwrap();
        assert!(found == expected, "{stream} has {} of {} bytes:\n{found}", found.len(), expected.len());
    }
}

fn one_killed(world: &World) -> Verdict {
    if world.kind == Kind::Mock {
        return Verdict::No;
    }
    let id = world.start(COUNT, &[]);
    world.home.until_logged(&id, "out 10");
    if world.kind == Kind::Remote {
        let driver = wait_until(SOON, "a driver", || world.drivers_of(&id).first().copied());
        world.home.try_kill_process(driver);
        world.home.until_logged(&id, "out 40");
    }
    world.home.try_kill_process(world.home.pair(&id).supervisor);
    check_count(world, &id);
    Verdict::Yes
}

fn all_killed(world: &World) -> Verdict {
    if world.kind == Kind::Mock {
        return Verdict::No;
    }
    let id = world.start(COUNT, &[]);
    world.home.until_logged(&id, "out 10");
    if world.kind == Kind::Process {
        world.home.kill_supervisors(&id);
    } else {
        world.kill_all_of(&id);
    }
    check_count(world, &id);
    Verdict::Yes
}

fn killed_at_start(world: &World) -> Verdict {
    if world.kind != Kind::Remote {
        // A process of this machine may be lost then; `tests/crash` tests every step.
        return Verdict::No;
    }
    for delay_ms in [0, 30, 80, 200, 500] {
        // It can be executed once only.
        let script = "mkdir \"/tmp/mw-once-$MEANWHILE_TASK_ID\" || exit 77; echo once; sleep 0.3; exit 6";
        let id = world.start(script, &[]);
        let begun = Instant::now();
        let is_due = || (begun.elapsed() >= Duration::from_millis(delay_ms)).then_some(());
        wait_until(SOON, "the moment of the kill", is_due);
        world.kill_all_of(&id);
        let task = world.ended(&id);
        assert_eq!(task["exit_code"], 6, "after {delay_ms} ms: {task}");
        assert_eq!(world.output(&id, "stdout"), b"once\n", "after {delay_ms} ms");
    }
    Verdict::Yes
}

fn told_once(world: &World) -> Verdict {
    if world.kind == Kind::Mock {
        return Verdict::No;
    }
    let session = format!("told-{}", world.on);
    let command = ["start", "--json", "--on", &world.on, "sleep 0.4; exit 8"];
    let started = world.home.command(command).session(&session).run().json();
    let id = started["id"].as_str().unwrap().to_owned();
    if world.kind == Kind::Remote {
        world.kill_all_of(&id);
    }
    world.ended(&id);
    let told = || world.home.command(["notices", "--json"]).session(&session).run().ok();
    let first = told();
    assert!(first.contains(&id), "{first}");
    assert!(first.contains('8'), "{first}");
    let second = told();
    assert!(!second.contains(&id), "told twice: {second}");
    Verdict::Yes
}
