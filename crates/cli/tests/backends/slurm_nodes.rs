//! Nodes and controllers of a Slurm cluster that fail, and commands that must not run twice.

use std::fs;

use mw_testkit::{SOON, processes, wait_until};
use rustix::process::Signal;
use serde_json::Value;

use crate::slurm_cluster::{Cluster, LONG, NAME, log, text, until_noted};
use crate::world::{World, unique};

const COUNT: &str = "i=0; while [ $i -lt 60 ]; do i=$((i+1)); echo line $i; sleep 0.05; done; exit 5";

fn counted() -> String {
    (1..=60).map(|line| format!("line {line}\n")).collect()
}

fn node_of(world: &World, id: &str) -> String {
    wait_until(SOON, "the node is known", || {
        let node = text(&world.home.status(id)["place_state"]["node"]);
        (!node.is_empty()).then_some(node)
    })
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

/// A node that hangs is not known to have ended the command. When it wakes up, a later run has the lease.
#[test]
fn a_command_on_a_silent_node_is_lost_and_ended_when_a_later_run_has_begun() {
    let cluster = Cluster::start();
    let world = cluster.world("");
    let word = unique();
    let id = world.start(&format!("echo up; exec sleep {word}"), &[]);
    world.home.until_logged(&id, "up");
    let node = node_of(&world, &id);
    cluster.kill(&node);
    let hanging = node_script(&cluster, &id);
    signal(&hanging, Signal::STOP);
    cluster.run("scontrol", &["update", &format!("NodeName={node}"), "State=DOWN", "Reason=test"]);
    let task = world.home.ended_within(&id, LONG * 2);
    assert_eq!(text(&task["status"]), "lost", "{task}");
    assert!(text(&task["cause"]).contains("NODE_FAIL"), "{task}");
    let old = world.processes_with(&word);
    assert_eq!(old.len(), 1, "the command still runs");
    world.home.command(["restart", &id]).run().ok();
    wait_until(LONG, "the second run has begun", || (world.processes_with(&word).len() == 2).then_some(()));
    signal(&hanging, Signal::CONT);
    wait_until(LONG, "the first run has ended", || (!processes::alive(old[0])).then_some(()));
    assert_eq!(world.processes_with(&word).len(), 1);
    assert_eq!(text(&world.home.status(&id)["status"]), "running");
    world.home.command(["kill", &id]).run().ok();
    world.until_running(&word, false);
}

#[test]
fn a_kill_that_the_node_does_not_carry_out_is_left_to_slurm() {
    let cluster = Cluster::start();
    let world = cluster.world("");
    let word = unique();
    let id = world.start(&format!("echo up; exec sleep {word}"), &[]);
    world.home.until_logged(&id, "up");
    signal(&node_script(&cluster, &id), Signal::STOP);
    let receipt = world.home.command(["kill", &id, "--grace", "1s"]).limit(LONG).run();
    assert!(receipt.code.is_some(), "{receipt}");
    let task = world.home.ended_within(&id, LONG * 2);
    assert_eq!(text(&task["status"]), "cancelled", "{task}");
    world.until_running(&word, false);
}

/// The processes of the script on the node.
fn node_script(cluster: &Cluster, id: &str) -> Vec<u32> {
    let run = cluster.state().join(id).join("run-1").to_string_lossy().into_owned();
    let spool = cluster.directory.path().to_string_lossy().into_owned();
    let mut found = processes::all();
    found.retain(|pid| {
        let words = processes::command_line(*pid);
        let is_shell = words.iter().any(|word| word.contains(&spool) && word.ends_with("slurm_script"));
        is_shell || words.iter().any(|word| word == "perl") && words.iter().any(|word| word.starts_with(&run))
    });
    assert!(!found.is_empty());
    found
}

fn signal(pids: &[u32], signal: Signal) {
    for pid in pids {
        processes::kill_if(*pid, signal, |_| true);
    }
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
