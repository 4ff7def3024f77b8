//! Delayed starts, restarts and repetitions, while no other command runs.

use std::fs;
use std::time::{Duration, Instant, SystemTime};

use mw_model::Timestamp;
use mw_testkit::{Home, SOON, children, contract, processes, wait_until};
use rustix::process::Signal;
use serde_json::Value;

use crate::home;

/// Returns the alarms of a home.
fn alarms(home: &Home) -> Vec<u32> {
    let is_alarm = |pid: &u32| processes::command_line(*pid).iter().any(|word| word == "--alarm");
    home.tagged().into_iter().filter(is_alarm).collect()
}

/// Waits until exactly one alarm sleeps, and returns it.
fn alarm(home: &Home) -> u32 {
    wait_until(SOON, "one alarm sleeps", || match alarms(home).as_slice() {
        [one] => Some(*one),
        _ => None,
    })
}

fn kill(pid: u32) {
    assert!(processes::kill_if(pid, Signal::KILL, |_| true));
    wait_until(SOON, "it is dead", || (!processes::alive(pid)).then_some(()));
}

/// Returns the events of a task, one word each, with its run.
fn events(home: &Home, id: &str) -> Vec<String> {
    let lines = home.mw(["watch", "--no-follow", "--from", "0", "--task", id]).exits(0).json_lines();
    lines.iter().map(|event| format!("{}:{}", event["run"], event["event"].as_str().unwrap())).collect()
}

fn notices(home: &Home, session: &str) -> Vec<Value> {
    let outcome = home.command(["notices", "--json"]).session(session).run();
    outcome.exits(0).json()["notices"].as_array().unwrap().clone()
}

#[test]
fn a_delayed_task_starts_at_its_time_and_nothing_is_left_running() {
    let home = home();
    let begun = Instant::now();
    let answer = home.mw(["start", "--json", "--delay", "1s", "touch ran"]).exits(0).json();
    assert_eq!(answer["status"], "pending", "{answer}");
    let id = answer["id"].as_str().unwrap();
    let task = home.status(id);
    assert!(task["not_before"].is_string() && task["started_at"].is_null(), "{task}");
    // The test only reads files: no command runs that could start the task.
    home.file("ran");
    assert!(begun.elapsed() >= Duration::from_secs(1));
    home.wait_until_empty(SOON);
    let task = home.status(id);
    assert_eq!((&task["status"], &task["not_before"]), (&"completed".into(), &Value::Null), "{task}");
    assert!(task["started_at"].as_str().unwrap() >= task["created_at"].as_str().unwrap());
}

#[test]
fn an_earlier_task_wakes_the_alarm_of_a_later_one() {
    let home = home();
    let later = home.start_with(&["--delay", "1h"], "touch later");
    let first = alarm(&home);
    let _ = home.start_with(&["--delay", "300ms"], "touch earlier");
    home.file("earlier");
    assert_eq!(alarm(&home), first);
    assert_eq!(home.status(&later)["status"], "pending");
    let _ = home.mw(["kill", &later]).exits(0);
    home.wait_until_empty(SOON);
    assert!(!home.has_file("later"));
}

/// Waits until a time has passed.
fn until_passed(begun: Instant, time: Duration) {
    wait_until(SOON, "the time has come", || (begun.elapsed() > time).then_some(()));
}

/// Returns the time in so many milliseconds.
fn time_in(ms: u64) -> String {
    Timestamp::from(SystemTime::now()).plus_ms(ms).to_string()
}

#[test]
fn the_next_command_replaces_a_killed_alarm_and_starts_what_is_due() {
    let home = home();
    let _ = home.start_with(&["--delay", "1h"], "true");
    let first = alarm(&home);
    let _ = home.start_with(&["--delay", "4s"], "touch soon");
    let begun = Instant::now();
    kill(first);
    until_passed(begun, Duration::from_millis(4100));
    assert!(!home.has_file("soon"), "no process was there to start it");
    let _ = home.mw(["list"]).ok();
    home.file("soon");
    assert_ne!(alarm(&home), first);
}

/// Starts a hundred tasks at one time to come; `None` if the time came before all were queued.
fn hundred_in(home: &Home, ms: u64) -> Option<()> {
    let at = time_in(ms);
    (0..100).try_for_each(|number| {
        let started = home.mw(["start", "--json", "--at", &at, &format!("echo {number} >> ran")]);
        (started.code == Some(0)).then_some(())
    })
}

#[test]
fn a_hundred_tasks_that_are_due_at_once_all_start_once() {
    let queued = |ms| {
        let home = home().with_env("MEANWHILE_QUEUE_MAX_RUNNING", "4");
        hundred_in(&home, ms).map(|()| home)
    };
    let home = [15_000, 60_000].into_iter().find_map(queued).expect("a machine that is fast enough");
    let mut ran: Vec<u32> = home.lines_in("ran", 100).lines().map(|line| line.parse().unwrap()).collect();
    ran.sort_unstable();
    assert_eq!(ran, (0..100).collect::<Vec<_>>());
    home.wait_until_empty(SOON);
}

#[test]
fn many_commands_at_once_start_one_alarm_and_each_task_once() {
    let home = home();
    let at = time_in(1500);
    let start = |number: u32| home.command(["start", "--at", &at, &format!("echo {number} >> ran")]).spawn();
    let starts: Vec<_> = (0..8).map(start).collect();
    for start in starts {
        let _ = start.wait().exits(0);
    }
    let _ = alarm(&home);
    let mut ran: Vec<u32> = home.lines_in("ran", 8).lines().map(|line| line.parse().unwrap()).collect();
    ran.sort_unstable();
    assert_eq!(ran, (0..8).collect::<Vec<_>>());
    home.wait_until_empty(SOON);
}

#[test]
fn a_delayed_task_can_be_started_at_once() {
    let home = home();
    let id = home.start_with(&["--delay", "1h"], "touch ran");
    let listed = home.mw(["queue"]).ok();
    assert!(listed.contains("its time, in 1h") || listed.contains("its time, in 59m"), "{listed}");
    let _ = home.mw(["queue", "start", &id]).exits(0);
    home.file("ran");
    assert_eq!(home.ended(&id)["status"], "completed");
    home.wait_until_empty(SOON);
}

#[test]
fn times_that_mean_nothing_or_are_over_are_refused_and_leave_nothing() {
    let home = home();
    for options in [
        &["--at", "2020-01-01 10:00"][..],
        &["--at", "soon"],
        &["--delay", "-5s"],
        &["--delay", "5s", "--at", "18:00"],
        &["--every", "10ms"],
        &["--every", "5m", "--cron", "* * * * *"],
        &["--cron", "61 * * * *"],
        &["--cron", "0 0 30 2 *"],
        &["--cron", "* * * * *", "--delay", "5s"],
        &["--notify-each"],
        &["--restart", "never", "--retries", "2"],
        &["--restart", "sometimes"],
        &["--retries", "-1"],
    ] {
        let args = [&["start", "--json"], options, &["touch ran"]].concat();
        let refusal = home.mw(&args).refusal(2);
        assert!(!refusal["hint"].as_str().unwrap_or_default().is_empty(), "{options:?}: {refusal}");
    }
    assert!(home.list().is_empty() && !home.has_file("ran"));
    let _ = home.mw(["run", "--delay", "5s", "true"]).exits(2);
}

#[test]
fn a_failed_task_is_started_again_until_it_succeeds() {
    let home = home();
    let script = "echo run >> runs; [ $(wc -l < runs) -ge 3 ]";
    let id = home.start_with(&["--restart", "on-failure"], script);
    assert_eq!(home.lines_in("runs", 3), "run\nrun\nrun\n");
    let task = home.ended(&id);
    assert_eq!((&task["status"], &task["runs"]), (&"completed".into(), &3.into()), "{task}");
    let run = ["reserved", "started", "ended"];
    let expected: Vec<_> = (1..=3)
        .flat_map(|n| {
            let again = (n > 1).then(|| format!("{n}:requeued"));
            again.into_iter().chain(run.map(|word| format!("{n}:{word}")))
        })
        .collect();
    assert_eq!(events(&home, &id), expected);
    home.wait_until_empty(SOON);
}

#[test]
fn the_owner_is_notified_once_after_the_last_retry() {
    let home = home();
    let start = home.command(["start", "--json", "--retries", "2", "echo run; exit 4"]).session("s").run();
    let id = start.json()["id"].as_str().unwrap().to_owned();
    wait_until(SOON, "the first run has ended", || {
        let task = home.status(&id);
        (task["last_run"]["status"] == "failed").then_some(())
    });
    assert_eq!(notices(&home, "s"), Vec::<Value>::new());
    // It exits with the code of the last run.
    let _ = home.mw(["wait", &id]).exits(4);
    let told = notices(&home, "s");
    assert_eq!((told.len(), &told[0]["exit_code"]), (1, &4.into()), "{told:?}");
    assert_eq!(home.status(&id)["runs"], 3);
    for run in 1..=3 {
        assert_eq!(home.mw(["output", &id, "--run", &run.to_string()]).ok(), "run\n");
    }
    assert_eq!(notices(&home, "s"), Vec::<Value>::new());
}

#[test]
fn a_waiting_restart_says_when_it_comes_and_shows_the_last_output() {
    let home = home();
    let id =
        home.start_with(&["--name", "web", "--restart", "always", "--retries", "7"], "echo broken; exit 1");
    // The fourth pause is long enough to look at it, also on a busy machine.
    let words = wait_until(SOON, "it waits for its fourth retry", || {
        let list = home.mw(["list"]).ok();
        list.contains("(retry 4 of 7)").then_some(list)
    });
    assert!(words.contains("restarting in "), "{words}");
    assert_eq!(home.mw(["output", &id]).ok(), "broken\n");
    let status = home.mw(["status", &id]).ok();
    assert!(status.contains("restart    after every end, after at most 7 failures in a row"), "{status}");
    assert!(status.contains("last run   run 4: exited 1 at "), "{status}");
}

#[test]
fn a_kill_ends_a_task_for_good_while_it_runs_and_while_it_waits() {
    let home = home();
    let running = home.start_with(&["--restart", "always"], children::SLEEPER);
    let _ = home.mw(["kill", &running]).exits(0);
    let waiting = home.start_with(&["--restart", "always"], "exit 1");
    home.until_status(&waiting, "pending");
    let _ = home.mw(["kill", &waiting]).exits(0);
    let repeated = home.start_with(&["--every", "1s"], "true");
    home.until_status(&repeated, "pending");
    let _ = home.mw(["kill", &repeated]).exits(0);
    home.wait_until_empty(SOON);
    for id in [&running, &waiting, &repeated] {
        assert_eq!(home.status(id)["status"], "cancelled");
    }
    assert_eq!(home.status(&waiting)["cause"], "cancelled by user between two runs");
}

#[test]
fn a_limit_of_a_run_is_a_failure_and_a_limit_of_the_whole_ends_it() {
    let home = home();
    let id = home.start_with(&["--retries", "1", "--timeout", "200ms"], children::SLEEPER);
    let task = home.ended(&id);
    assert_eq!((&task["status"], &task["runs"]), (&"timed_out".into(), &2.into()), "{task}");
    let id = home.start_with(&["--retries", "9", "--deadline", "1s"], children::SLEEPER);
    let task = home.ended(&id);
    assert_eq!((&task["status"], &task["runs"]), (&"timed_out".into(), &1.into()), "{task}");
}

#[test]
fn what_a_run_has_left_behind_is_ended_before_the_next() {
    let home = home();
    let id = home.start_with(&["--restart", "always"], &format!("{}\nexit 1", children::leave_setsid("kid")));
    let first = home.pid_in("kid");
    wait_until(SOON, "the second run has started", || {
        (home.status(&id)["runs"].as_u64()? >= 2).then_some(())
    });
    wait_until(SOON, "another process was left behind", || {
        let pid = fs::read_to_string(home.work().join("kid")).ok()?.trim().parse::<u32>().ok()?;
        (pid != first).then_some(())
    });
    assert!(!processes::alive(first));
    let _ = home.mw(["kill", &id]).exits(0);
    home.wait_until_empty(SOON);
    assert_eq!(home.status(&id)["status"], "cancelled");
}

#[test]
fn the_owner_hears_of_failed_repetitions_only_or_of_each_on_request() {
    let home = home();
    let start = |options: &[&str], script: &str| {
        let args = [&["start", "--json", "--every", "1s"], options, &[script]].concat();
        home.command(&args).session("s").run().json()["id"].as_str().unwrap().to_owned()
    };
    let quiet = start(&["--name", "quiet"], "true");
    let each = start(&["--name", "each", "--notify-each"], "true");
    let failing = start(&["--name", "failing"], "exit 5");
    let mut told: Vec<Value> = Vec::new();
    wait_until(SOON, "four repetitions of each were told", || {
        told.extend(notices(&home, "s"));
        let count = |id: &str| told.iter().filter(|notice| notice["task"] == id).count();
        (count(&each) >= 4 && count(&failing) >= 4).then_some(())
    });
    assert!(told.iter().all(|notice| notice["task"] != quiet.as_str()), "{told:?}");
    let mut ends: Vec<_> =
        told.iter().map(|notice| (notice["task"].to_string(), notice["run"].to_string())).collect();
    let count = ends.len();
    ends.sort();
    ends.dedup();
    assert_eq!(ends.len(), count, "each end is told once: {told:?}");
    let _ = home.mw(["kill", &quiet, &each, &failing]).exits(0);
    home.wait_until_empty(SOON);
}

#[test]
fn repetitions_do_not_overlap_and_missed_ones_are_started_once() {
    let home = home();
    let script = "[ -e busy ] && touch overlap; touch busy; date +%s >> ran; sleep 2.3; rm busy";
    let id = home.start_with(&["--every", "1s"], script);
    let times: Vec<u64> = home.lines_in("ran", 3).lines().map(|line| line.parse().unwrap()).collect();
    assert!(!home.has_file("overlap"));
    assert!(times.windows(2).all(|two| two[1] - two[0] >= 2), "{times:?}");
    let _ = home.mw(["kill", &id]).exits(0);
    // Nothing runs it for three periods; then one run makes up for all of them.
    let _ = fs::remove_file(home.work().join("ran"));
    let id = home.start_with(&["--every", "2s"], "date +%s >> ran");
    let _ = home.lines_in("ran", 1);
    home.until_status(&id, "pending");
    // The process that recorded the end would start another alarm.
    let alarm = alarm(&home);
    wait_until(SOON, "only the alarm is left", || (home.tagged() == [alarm]).then_some(()));
    kill(alarm);
    until_passed(Instant::now(), Duration::from_millis(6100));
    assert!(alarms(&home).is_empty());
    let before = fs::read_to_string(home.work().join("ran")).unwrap().lines().count();
    assert_eq!(before, 1);
    let _ = home.mw(["list"]).ok();
    let times: Vec<u64> = home.lines_in("ran", 3).lines().map(|line| line.parse().unwrap()).collect();
    assert!(times[2] - times[1] <= 2 && times[1] - times[0] >= 5, "{times:?}");
}

#[test]
fn a_cron_task_starts_with_the_next_minute() {
    let home = home();
    let id = home.start_with(&["--cron", "* * * * *"], "date +%S >> ran");
    let task = home.status(&id);
    assert!(task["not_before"].as_str().unwrap().ends_with(":00.000000Z"), "{task}");
    assert_eq!(task["repeat"]["cron"], "* * * * *", "{task}");
    let second = home.lines_in("ran", 1);
    assert!(second.trim().parse::<u32>().unwrap() < 30, "{second}");
    home.until_status(&id, "pending");
}

#[test]
fn a_rebuilt_database_knows_what_is_queued_and_why() {
    let home = home();
    let delayed = home.start_with(&["--delay", "1h"], "true");
    let retried = home.start_with(&["--retries", "50"], "exit 1");
    let repeated = home.start_with(&["--every", "1h"], "true");
    wait_until(SOON, "it waits for its third retry", || (home.status(&retried)["runs"] == 4).then_some(()));
    home.until_status(&repeated, "pending");
    let fields = ["status", "runs", "not_before", "restart", "repeat"];
    let facts = |id: &str| fields.map(|name| home.status(id)[name].clone());
    let before = [&delayed, &repeated].map(|id| facts(id));
    home.delete_database();
    assert_eq!([&delayed, &repeated].map(|id| facts(id)), before);
    let listed = home.mw(["list"]).ok();
    assert!(listed.contains("(retry 3 of 50)") || home.status(&retried)["runs"] != 4, "{listed}");
    assert!(contract::count(&home.status(&retried)["runs"]) >= 4);
}

#[test]
fn doctor_says_whether_a_process_sleeps_until_the_next_task_is_due() {
    let home = home();
    let check = || {
        let report = home.mw(["doctor", "--json"]).exits(0).json();
        let checks = report["checks"].as_array().unwrap().clone();
        checks.into_iter().find(|check| check["name"] == "alarm")
    };
    let done = home.start("true");
    let _ = home.ended(&done);
    assert_eq!(check(), None, "nothing is due later");
    let _ = home.start_with(&["--delay", "2h"], "true");
    let alarm = alarm(&home);
    let found = check().unwrap();
    assert_eq!(found["verdict"], "ok", "{found}");
    kill(alarm);
    let found = check().unwrap();
    assert_eq!(found["verdict"], "warning", "{found}");
    assert!(found["next"].as_str().unwrap().contains("mw list"), "{found}");
    assert!(alarms(&home).is_empty(), "doctor changes nothing");
}

#[test]
fn a_run_is_not_started_next_to_processes_of_the_last_one() {
    let home = home();
    let script = format!("{}\necho run >> runs; exit 1", children::leave_setsid("kid"));
    let id = home.start_with(&["--every", "1h"], &script);
    home.until_status(&id, "pending");
    let refusal = home.mw(["queue", "start", "--json", &id]).exits(6).json();
    assert!(refusal["error"]["message"].as_str().unwrap().contains("its last run"), "{refusal}");
    assert!(processes::kill_if(home.pid_in("kid"), Signal::KILL, |_| true));
    wait_until(SOON, "it can be started", || {
        (home.mw(["queue", "start", "--json", &id]).code == Some(0)).then_some(())
    });
    let _ = home.lines_in("runs", 2);
    let _ = home.mw(["kill", &id]).exits(0);
    home.wait_until_empty(SOON);
}

#[test]
fn output_is_followed_from_run_to_run_until_the_task_ends() {
    let home = home();
    let script = format!("echo run >> runs; echo number $(wc -l < runs); {}; exit 1", children::gate("go"));
    let id = home.start_with(&["--retries", "2"], &script);
    let following = home.command(["output", "--follow", &id]).spawn();
    wait_until(SOON, "it follows the first run", || (following.printed() == "number 1\n").then_some(()));
    home.open("go");
    assert_eq!(following.wait().exits(0).text(), "number 1\nnumber 2\nnumber 3\n");
    let one = home.mw(["output", "--follow", "--run", "2", &id]).ok();
    assert_eq!(one, "number 2\n");
    let repeated = home.start_with(&["--every", "1s"], "echo again");
    let tail = home.command(["tail", &repeated]).spawn();
    wait_until(SOON, "it shows three runs", || (tail.printed().lines().count() >= 3).then_some(()));
    let _ = home.mw(["kill", &repeated]).exits(0);
    let tail = tail.wait().exits(0);
    assert!(tail.text().starts_with("again\nagain\nagain\n"), "{tail}");
}

#[test]
fn an_approval_shows_and_binds_that_a_command_runs_again() {
    let home = crate::approval::project();
    let every = ["start", "--json", "--every", "1s", "--retries", "2", "rm -rf precious ~/x"];
    let call = crate::approval::agent(&home, every).spawn();
    let id = crate::approval::asked(&home);
    let effects = crate::approval::open(&home)[0]["effects"].to_string();
    assert!(effects.contains("runs again every 1.0s"), "{effects}");
    assert!(effects.contains("runs again after a failure, after at most 2 failures in a row"), "{effects}");
    let _ = home.mw(["approve", &id]).exits(0);
    let task = call.wait().exits(0).json()["id"].as_str().unwrap().to_owned();
    wait_until(SOON, "it ran twice", || (home.status(&task)["runs"].as_u64()? > 2).then_some(()));
    assert!(crate::approval::open(&home).is_empty(), "a repetition needs no other approval");
    let _ = home.mw(["kill", &task]).exits(0);
}

#[test]
fn the_alarm_does_not_keep_a_descriptor_of_the_command_open() {
    let home = home();
    let script = "\"$0\" start --delay 1h true 3>&1 >/dev/null | cat";
    let shell = home.program("sh").arg("-c").arg(script).arg(env!("CARGO_BIN_EXE_mw"));
    // It ends when nobody can write into the pipe any more.
    let _ = shell.limit(SOON).run().exits(0);
    let _ = alarm(&home);
}
