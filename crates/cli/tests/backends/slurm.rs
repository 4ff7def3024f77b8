//! What only a Slurm cluster can be asked: jobs that wait, nodes that fail, controllers that are away, and jobs that others
//! end.

use std::fs;

use mw_testkit::{SOON, processes, wait_until};
use serde_json::Value;

use crate::slurm_cluster::{Cluster, LONG, NAME};
use crate::world::{World, unique};

const COUNT: &str = "i=0; while [ $i -lt 60 ]; do i=$((i+1)); echo line $i; sleep 0.05; done; exit 5";

fn counted() -> String {
    (1..=60).map(|line| format!("line {line}\n")).collect()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn log(world: &World, id: &str) -> String {
    String::from_utf8(world.home.log(id)).unwrap()
}

/// Waits until the status has this in its `place_state`.
fn until_noted(world: &World, id: &str, words: &str) {
    wait_until(LONG, &format!("the status says {words:?}"), || {
        let task = world.home.status(id);
        text(&task["place_state"]["note"]).contains(words).then_some(())
    });
}

fn node_of(world: &World, id: &str) -> String {
    wait_until(SOON, "the node is known", || {
        let node = text(&world.home.status(id)["place_state"]["node"]);
        (!node.is_empty()).then_some(node)
    })
}

#[test]
fn a_job_that_waits_says_why_and_can_be_killed() {
    let cluster = Cluster::start();
    let world = cluster.world("");
    cluster.run("scontrol", &["update", "PartitionName=main", "State=DOWN"]);
    let id = world.start("echo begun", &[]);
    until_noted(&world, &id, "queued by Slurm: PartitionDown");
    let listed = world.home.mw(["list"]).ok();
    assert!(listed.contains("queued by Slurm"), "{listed}");
    world.home.command(["kill", &id]).run().ok();
    let task = world.ended(&id);
    assert_eq!(
        (text(&task["status"]), text(&task["cause"])),
        ("cancelled".into(), text(&task["cause"])),
        "{task}"
    );
    assert!(cluster.jobs_of(&id)[0].contains("CANCELLED"), "{:?}", cluster.jobs_of(&id));
    assert_eq!(log(&world, &id), "");
    let other = world.start("exit 3", &[]);
    until_noted(&world, &other, "queued by Slurm");
    cluster.run("scontrol", &["update", "PartitionName=main", "State=UP"]);
    let task = world.home.ended_within(&other, LONG);
    assert_eq!(task["exit_code"], 3, "{task}");
    assert!(
        task["place_state"]["note"].is_null() && text(&task["place_state"]["node"]).starts_with('n'),
        "{task}"
    );
}

#[test]
fn ends_that_slurm_has_caused_are_told_apart() {
    let cluster = Cluster::start();
    let world = cluster.world("");
    let memory = world.start_with(
        &["--memory", "24M"],
        "sleep 0.5; a=0123456789abcdef; while :; do a=$a$a; done",
        &[],
    );
    let running = world.start("echo up; sleep 300", &[]);
    let trapped = world.start("trap 'echo asked; exit 9' TERM; echo up; while :; do sleep 0.1; done", &[]);
    for id in [&running, &trapped] {
        world.home.until_logged(id, "up");
        let job = cluster.jobs_of(id)[0].split(' ').next().unwrap().to_owned();
        cluster.run("scancel", &[&job]);
    }
    let task = world.home.ended_within(&running, LONG);
    assert_eq!(
        (text(&task["status"]), text(&task["signal"])),
        ("cancelled".into(), "SIGTERM".into()),
        "{task}"
    );
    assert!(text(&task["cause"]).contains("by someone else, in Slurm"), "{task}");
    let task = world.home.ended_within(&trapped, LONG);
    assert_eq!((text(&task["status"]), task["exit_code"].as_i64()), ("cancelled".into(), Some(9)), "{task}");
    assert!(log(&world, &trapped).contains("asked"), "{}", log(&world, &trapped));
    let task = world.home.ended_within(&memory, LONG);
    assert_eq!(text(&task["status"]), "failed", "{task}");
    assert!(text(&task["cause"]).contains("memory limit 24 MiB"), "{task}");
    cluster.run("scontrol", &["update", "PartitionName=main", "State=DOWN"]);
    let waiting = world.start("echo up", &[]);
    until_noted(&world, &waiting, "queued by Slurm");
    cluster.run("scancel", &[cluster.jobs_of(&waiting)[0].split(' ').next().unwrap()]);
    let task = world.home.ended_within(&waiting, LONG);
    assert_eq!(text(&task["status"]), "failed", "{task}");
    assert!(text(&task["cause"]).contains("cancelled by someone else before it started"), "{task}");
}

/// Slurm rounds time limits up to minutes.
#[test]
fn the_time_limit_of_a_job_is_told_from_that_of_the_task() {
    let cluster = Cluster::start();
    let world = cluster.world("time = \"1\"\n");
    let id = world.start("echo up; sleep 300", &[]);
    world.home.until_logged(&id, "up");
    let job = cluster.jobs_of(&id)[0].split(' ').next().unwrap().to_owned();
    let limit = cluster.run("squeue", &["--noheader", "--format=%l", "--jobs", &job]);
    assert_eq!(limit.trim(), "1:00");
    let task = world.home.ended_within(&id, LONG * 3);
    assert_eq!(text(&task["status"]), "timed_out", "{task}");
    assert!(text(&task["cause"]).contains("time limit of its job"), "{task}");
}

#[test]
fn a_restarted_controller_loses_nothing() {
    let cluster = Cluster::start();
    let world = cluster.world("");
    let id = world.start(COUNT, &[]);
    world.home.until_logged(&id, "line 5\n");
    cluster.kill("slurmctld");
    world.home.until_logged(&id, "line 40\n");
    let task = world.ended(&id);
    assert_eq!((task["exit_code"].as_i64(), log(&world, &id)), (Some(5), counted()), "{task}");
    let refused = world.start("true", &[]);
    let cause = text(&world.home.ended_within(&refused, LONG)["cause"]);
    assert!(cause.starts_with("could not start") && cause.contains("controller"), "{cause}");
    let listed = world.home.mw(["backends", "--json", NAME]);
    assert_eq!((listed.code, &listed.json()["backends"][0]["available"]), (Some(1), &Value::Bool(false)));
    cluster.revive("slurmctld");
    let again = world.start_when_ready("exit 4");
    assert_eq!(world.home.ended_within(&again, LONG)["exit_code"], 4);
}

/// The state of a job on a lost node is not the state of its command.
#[test]
fn a_command_on_a_lost_node_is_followed_as_long_as_it_runs() {
    let cluster = Cluster::start();
    let world = cluster.world("");
    let gate = cluster.directory.path().join("gate");
    let id =
        world.start(&format!("echo up; while [ ! -e {} ]; do sleep 0.1; done; exit 6", gate.display()), &[]);
    world.home.until_logged(&id, "up");
    let node = node_of(&world, &id);
    cluster.kill(&node);
    cluster.run("scontrol", &["update", &format!("NodeName={node}"), "State=DOWN", "Reason=test"]);
    until_noted(&world, &id, "Slurm says NODE_FAIL");
    assert_eq!(text(&world.home.status(&id)["status"]), "running");
    fs::write(gate, "").unwrap();
    assert_eq!(world.home.ended_within(&id, LONG)["exit_code"], 6);
}

#[test]
fn a_task_whose_node_fell_silent_is_lost_and_not_called_ended() {
    let cluster = Cluster::start();
    let world = cluster.world("");
    let word = unique();
    let id = world.start(&format!("echo up; sleep {word}"), &[]);
    world.home.until_logged(&id, "up");
    let node = node_of(&world, &id);
    cluster.kill(&node);
    kill_node_script(&cluster, &id);
    cluster.run("scontrol", &["update", &format!("NodeName={node}"), "State=DOWN", "Reason=test"]);
    let task = world.home.ended_within(&id, LONG * 2);
    assert_eq!(text(&task["status"]), "lost", "{task}");
    assert!(text(&task["cause"]).contains("NODE_FAIL"), "{task}");
    for pid in world.processes_with(&word) {
        kill(pid);
    }
}

/// Kills the script on the node, but not the command.
fn kill_node_script(cluster: &Cluster, id: &str) {
    let run = cluster.state().join(id).join("run-1").to_string_lossy().into_owned();
    for pid in processes::all() {
        let words = processes::command_line(pid);
        let is_script = words.iter().any(|word| word.ends_with("slurm_script"))
            || words.iter().any(|word| word == "perl") && words.contains(&run);
        let spool = cluster.directory.path().to_string_lossy().into_owned();
        if is_script && words.iter().any(|word| word.contains(&spool)) {
            kill(pid);
        }
    }
}

fn kill(pid: u32) {
    let pid = rustix::process::Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
}

/// The old copy runs on when its node is lost, until it sees that the new one has the lease.
#[test]
fn a_requeued_command_runs_alone_and_its_output_follows_that_of_the_first_attempt() {
    let cluster = Cluster::start();
    let world = cluster.world("requeue = true\n");
    let word = unique();
    let gate = cluster.directory.path().join("gate");
    let script = format!(
        "echo attempt $SLURM_RESTART_COUNT; [ -e {0} ] && exit 7; (sleep {word} &); sleep {word}",
        gate.display()
    );
    let id = world.start(&script, &[]);
    world.home.until_logged(&id, "attempt");
    let node = node_of(&world, &id);
    let job = cluster.jobs_of(&id)[0].split(' ').next().unwrap().to_owned();
    cluster.kill(&node);
    cluster.run("scontrol", &["update", &format!("NodeName={node}"), "State=DOWN", "Reason=test"]);
    until_noted(&world, &id, "queued by Slurm again");
    assert!(!world.processes_with(&word).is_empty(), "the old copy still runs");
    fs::write(gate, "").unwrap();
    // Slurm waits two minutes by itself.
    cluster.run("scontrol", &["update", &format!("JobId={job}"), "StartTime=now"]);
    let task = world.home.ended_within(&id, LONG * 2);
    assert_eq!(task["exit_code"], 7, "{task}");
    assert_eq!(log(&world, &id), "attempt\nattempt 1\n");
    world.until_running(&word, false);
}

#[test]
fn a_requeue_that_was_not_allowed_runs_nothing() {
    let cluster = Cluster::start();
    let world = cluster.world("");
    let id = world.start("echo once; exit 3", &[]);
    world.home.until_logged(&id, "once");
    world.ended(&id);
    // As if the first request had been answered late: another job for the same run.
    let run = cluster.state().join(&id).join("run-1");
    wait_until(SOON, "the files of the run are removed", || (!run.exists()).then_some(()));
    let id = world.start("echo up; sleep 1; exit 3", &[]);
    world.home.until_logged(&id, "up");
    let script = cluster.state().join(&id).join("run-1/job");
    let name = format!("--job-name=mw-{id}-1");
    cluster.run("sbatch", &["--output=/dev/null", &name, &script.to_string_lossy()]);
    wait_until(LONG, "the second job has ended", || {
        (cluster
            .jobs_of(&id)
            .iter()
            .filter(|job| job.contains("COMPLETED") || job.contains("FAILED"))
            .count()
            == 2)
            .then_some(())
    });
    assert_eq!(world.ended(&id)["exit_code"], 3);
    assert_eq!(log(&world, &id), "up\n");
}

#[test]
fn all_tasks_of_a_back_end_share_one_question() {
    let cluster = Cluster::start();
    let world = cluster.world("");
    let ids: Vec<_> = (0..12).map(|_| world.start("echo up; sleep 300", &[])).collect();
    for id in &ids {
        world.home.until_logged(id, "up");
    }
    let asked = || {
        let printed = cluster.run("sdiag", &[]);
        let line = printed
            .lines()
            .find(|line| line.contains("REQUEST_JOB_USER_INFO"))
            .unwrap_or_default()
            .to_owned();
        let count =
            line.split("count:").nth(1).and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok());
        count.unwrap_or(0)
    };
    let (begun, before) = (std::time::Instant::now(), asked());
    wait_until(LONG, "ten questions were asked", || (asked() >= before + 10).then_some(()));
    let per_second = 10.0 / begun.elapsed().as_secs_f64();
    assert!(per_second < 2.0, "{per_second} questions per second for {} tasks", ids.len());
    world.home.command(["kill", "--all"]).run().ok();
}

#[test]
fn a_job_that_the_cluster_refuses_is_a_failed_start_with_the_reason() {
    let cluster = Cluster::start();
    let world = cluster.world("partition = \"nowhere\"\n");
    let id = world.start("true", &[]);
    let cause = text(&world.ended(&id)["cause"]);
    assert!(cause.starts_with("could not start") && cause.contains("Invalid partition name"), "{cause}");
    let listed = world.home.mw(["backends", "--json", NAME]);
    assert!(listed.code == Some(1) && listed.text().contains("nowhere"), "{listed}");
    let refused = world.home.mw(["start", "--on", NAME, "--pids", "5", "true"]);
    assert!(refused.code == Some(2) && refused.stderr_text().contains("limit of processes"), "{refused}");
}
