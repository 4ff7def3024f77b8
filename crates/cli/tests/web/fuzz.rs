//! The API is called with generated requests, valid and invalid, which are made from its own description.

use std::time::Duration;

use mw_testkit::{clients, need_program};

use crate::home;
use crate::serve::{Served, TOKEN};

/// No request makes the server fail, and every answer is as described.
#[test]
fn every_answer_to_a_generated_request_is_as_described() {
    need_program("python3");
    let clients = clients::found();
    let home = home();
    let served = Served::new(&home);
    let _ = home.start("echo hello; exit 1");
    let _ = home.start("sleep 600");
    let words = [
        "--generation-deterministic --phases coverage,fuzzing --max-examples 20 --request-timeout 10 --no-color",
        // Streams do not end.
        r"--exclude-path-regex /(events|tasks/\{id\}/output/stream)$",
        // A schema cannot say that either a command or a program is needed, or that a text must be a duration.
        "--exclude-checks positive_data_acceptance",
    ];
    let mut call = home.program(clients.python()).arg("-m").arg("schemathesis.cli").arg("run");
    for word in words.iter().flat_map(|line| line.split(' ')) {
        call = call.arg(word);
    }
    let called = call
        .arg("--header")
        .arg(format!("Authorization: Bearer {TOKEN}"))
        .arg(format!("http://{}/api/v1/openapi.json", served.address))
        .limit(Duration::from_secs(300))
        .run();
    assert_eq!(called.code, Some(0), "{called}");
    assert_eq!(served.get("/tasks?limit=1")["tasks"].as_array().map(Vec::len), Some(1));
}
