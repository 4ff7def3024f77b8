//! Every behaviour on every back-end. The results are the table in `docs/backends.md`.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use serde_json::json;

use crate::behaviours::{BEHAVIOURS, Verdict};
use crate::engine_api::post;
use crate::engines::{ContainerEngine, IMAGE, Sshd};
use crate::sandbox::need_sandbox;
use crate::slurm_cluster::Cluster;
use crate::world::{Kind, World};

const PAGE: &str = include_str!("../../../../docs/backends.md");
/// How many behaviours are tried at a time.
const THREADS: usize = 4;

/// Tries all behaviours, and compares the results with a column of the table.
fn conforms(world: &World, column: &str) {
    let results = Mutex::new(vec![None; BEHAVIOURS.len()]);
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                while let Some((_, behaviour)) = BEHAVIOURS.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let at =
                        BEHAVIOURS.iter().position(|(_, other)| std::ptr::fn_addr_eq(*other, *behaviour));
                    let result = catch_unwind(AssertUnwindSafe(|| behaviour(world)));
                    results.lock().unwrap()[at.unwrap()] = Some(result.ok());
                }
            });
        }
    });
    let mut wrong = Vec::new();
    for ((name, _), result) in BEHAVIOURS.iter().zip(results.into_inner().unwrap()) {
        let found = match result.flatten() {
            Some(Verdict::Yes) => "yes",
            Some(Verdict::No) => "no",
            None => "FAILED",
        };
        println!("{column} | {name} | {found}");
        let documented = documented(name, column);
        if documented.as_deref() != Some(found) {
            wrong.push(format!("{name}: {found}, docs/backends.md says {documented:?}"));
        }
    }
    assert!(wrong.is_empty(), "{column}:\n{}", wrong.join("\n"));
}

/// Returns what the table says.
fn documented(behaviour: &str, column: &str) -> Option<String> {
    let mut rows = PAGE
        .lines()
        .filter(|line| line.starts_with('|'))
        .map(|line| line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect::<Vec<_>>());
    let head = rows.find(|row| row[0] == "Behaviour")?;
    let at = head.iter().position(|cell| cell == column)?;
    rows.find(|row| row[0] == behaviour)?.get(at).cloned()
}

#[test]
fn process_has_the_behaviours_of_the_table() {
    conforms(&World::new("process", Kind::Process, ""), "`process`");
}

#[test]
fn sandbox_has_the_behaviours_of_the_table() {
    need_sandbox();
    conforms(&World::new("sandbox", Kind::Process, ""), "`sandbox`");
}

#[test]
fn mock_has_the_behaviours_of_the_table() {
    conforms(&World::new("mock", Kind::Mock, ""), "`mock`");
}

#[test]
fn ssh_has_the_behaviours_of_the_table() {
    let sshd = Sshd::start();
    conforms(&World::new("far", Kind::Remote, &sshd.backend("far")), "ssh");
}

#[test]
fn docker_has_the_behaviours_of_the_table() {
    let engine = ContainerEngine::docker();
    conforms(&World::new("box", Kind::Remote, &engine.backend("box")), "Docker");
}

#[test]
fn podman_has_the_behaviours_of_the_table() {
    let engine = ContainerEngine::podman();
    conforms(&World::new("pod", Kind::Remote, &engine.backend("pod")), "Podman");
}

#[test]
fn an_existing_container_has_the_behaviours_of_the_table() {
    let engine = ContainerEngine::docker();
    start_container(&engine, "workshop");
    let settings = format!("{}directory = \"/tmp\"\n", engine.backend_in("shop", "workshop"));
    conforms(&World::new("shop", Kind::Remote, &settings), "existing container");
}

#[test]
fn slurm_has_the_behaviours_of_the_table() {
    let cluster = Cluster::start();
    conforms(&cluster.world(""), "Slurm");
}

/// Starts a container that only waits.
pub(crate) fn start_container(engine: &ContainerEngine, name: &str) {
    let host = json!({"Init": true, "NetworkMode": "none"});
    let container = json!({"Image": IMAGE, "Cmd": ["/bin/sleep", "100000"], "HostConfig": host});
    post(&engine.socket, &format!("/containers/create?name={name}"), &container);
    post(&engine.socket, &format!("/containers/{name}/start"), &json!({}));
}
