//! Jobs of a Slurm cluster: how they are submitted, wait and end, and what Slurm is asked.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::Instant;

use mw_testkit::wait_until;

use crate::slurm_cluster::{Cluster, LONG, NAME, log, text, until_noted};

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
    assert_eq!(text(&task["status"]), "cancelled", "{task}");
    assert!(text(&task["cause"]).contains("was cancelled before it started"), "{task}");
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
    assert_eq!(text(&task["status"]), "cancelled", "{task}");
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

#[test]
fn the_time_limit_of_a_job_is_told_from_that_of_the_task() {
    let cluster = Cluster::start();
    let world = cluster.world("time = \"30\"\n");
    let id = world.start("echo up; sleep 300", &[]);
    world.home.until_logged(&id, "up");
    let job = text(&world.home.status(&id)["place_state"]["job"]);
    let limit = cluster.run("squeue", &["--noheader", "--format=%l", "--jobs", &job]);
    assert_eq!(limit.trim(), "30:00");
    // Slurm's shortest time limit is a minute.
    cluster.run("scontrol", &["update", &format!("JobId={job}"), "EndTime=now+1"]);
    let task = world.home.ended_within(&id, LONG * 2);
    assert_eq!(text(&task["status"]), "timed_out", "{task}");
    assert!(text(&task["cause"]).contains("time limit of its job"), "{task}");
}

/// An `sbatch` that submits the job and then does something else.
fn broken_sbatch(cluster: &Cluster, then: &str) -> std::ffi::OsString {
    let directory = cluster.directory.path().join("bin");
    fs::create_dir(&directory).unwrap();
    let real = cluster.path_of("sbatch");
    let once = directory.join("once");
    let script = format!(
        "#!/bin/sh\n[ \"$1\" != --version ] && mkdir {} 2>/dev/null || exec {real} \"$@\"\nid=$({real} \"$@\")\n{}\n",
        once.display(),
        then.replace("SBATCH", &format!("{real} \"$@\"")),
    );
    let program = directory.join("sbatch");
    fs::write(&program, script).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let directories = std::iter::once(directory).chain(std::env::split_paths(&path));
    std::env::join_paths(directories).unwrap()
}

#[test]
fn a_driver_killed_before_the_number_of_its_job_is_recorded_finds_the_job_again() {
    let cluster = Cluster::start();
    let world = cluster.world_with_path("", &broken_sbatch(&cluster, "kill -9 $PPID"));
    let id = world.start("echo up; exit 3", &[]);
    let task = world.home.ended_within(&id, LONG);
    assert_eq!((task["exit_code"].as_i64(), log(&world, &id)), (Some(3), "up\n".into()), "{task}");
    assert_eq!(cluster.jobs_of(&id).len(), 1);
    assert!(cluster.jobs_of(&id)[0].starts_with(&text(&task["place_state"]["job"])), "{task}");
}

#[test]
fn a_job_whose_number_was_not_received_is_not_submitted_again() {
    let cluster = Cluster::start();
    let lost = "echo 'sbatch: error: Socket timed out on send/recv operation' >&2; exit 1";
    let world = cluster.world_with_path("", &broken_sbatch(&cluster, lost));
    let id = world.start("echo up; exit 3", &[]);
    let task = world.home.ended_within(&id, LONG);
    assert_eq!((task["exit_code"].as_i64(), log(&world, &id)), (Some(3), "up\n".into()), "{task}");
    assert_eq!(cluster.jobs_of(&id).len(), 1);
}

/// The controller has received the first request late.
#[test]
fn of_two_jobs_for_one_run_only_one_executes_the_command() {
    let cluster = Cluster::start();
    let world = cluster.world_with_path("", &broken_sbatch(&cluster, "sleep 1; SBATCH"));
    let id = world.start("echo up; sleep 3; exit 3", &[]);
    let task = world.home.ended_within(&id, LONG);
    assert_eq!((task["exit_code"].as_i64(), log(&world, &id)), (Some(3), "up\n".into()), "{task}");
    let (job, jobs) = (text(&task["place_state"]["job"]), cluster.jobs_of(&id));
    assert_eq!(jobs.len(), 2);
    assert!(jobs.iter().any(|it| it.starts_with(&format!("{job} "))), "{job}, {jobs:?}");
}

#[test]
fn all_tasks_of_a_back_end_share_one_question() {
    let cluster = Cluster::start();
    let world = cluster.world("[queue]\nmax_running = 12\n");
    let ids: Vec<_> = (0..12).map(|_| world.start("echo up; sleep 300", &[])).collect();
    for id in &ids {
        world.home.until_logged(id, "up");
    }
    let (begun, before) = (Instant::now(), cluster.questions());
    wait_until(LONG, "five questions were asked", || (cluster.questions() >= before + 5).then_some(()));
    let per_second = 5.0 / begun.elapsed().as_secs_f64();
    assert!(per_second < 1.0, "{per_second} questions per second for {} tasks", ids.len());
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

#[test]
fn a_cluster_that_does_not_answer_is_named_with_the_reason() {
    let cluster = Cluster::start();
    let world = cluster.world("");
    let problem = |reason: &str| {
        let listed = world.home.mw(["backends", NAME]);
        assert!(listed.code == Some(1) && listed.text().contains(reason), "{listed}");
        let doctor = world.home.mw(["doctor"]);
        assert!(doctor.text().contains(reason), "{doctor}");
    };
    let listed = world.home.mw(["backends", NAME]);
    assert!(listed.code == Some(0) && listed.text().contains("3 nodes in the cluster"), "{listed}");
    cluster.kill("munged");
    problem("Munge encode failed");
    let id = world.start("true", &[]);
    let cause = text(&world.ended(&id)["cause"]);
    assert!(cause.starts_with("could not start") && cause.contains("Munge encode failed"), "{cause}");
}
