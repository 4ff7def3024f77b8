//! Token costs of following a build: by waiting, and by polling every ten seconds.
//!
//! The build and all limits run a hundred times faster than real ones; the messages are unchanged.
//! `cargo nextest run -p mw-cli --test mcp -E 'test(tokens)' --no-capture` prints the figures of `docs/benchmarks.md`.

use std::time::Duration;

use mw_testkit::host::{Host, text};
use mw_testkit::{Home, SOON, wait_until};
use serde_json::{Value, json};

use crate::home;

/// Ten minutes of a build that prints a line every two seconds.
const BUILD: &str = "for unit in $(seq 1 300); do \
    echo \"[$unit/300] Compiling crate-number-$unit v0.$unit.0 (/home/me/shop/crates/crate-number-$unit)\"; \
    sleep 0.018; done; echo 'Finished `release` profile [optimized] target(s) in 10m 00s'";
/// Ten seconds.
const POLL: Duration = Duration::from_millis(100);

/// The cost of a conversation so far.
#[derive(Default)]
struct Cost {
    calls: usize,
    /// Tokens that calls and replies have added to the conversation.
    added: usize,
    /// Tokens that the model has read: each call includes the whole conversation before it.
    read: usize,
}

struct Talk {
    host: Host,
    encoding: tiktoken_rs::CoreBPE,
    cost: Cost,
}

impl Talk {
    fn begin(home: &Home) -> Self {
        let encoding = tiktoken_rs::o200k_base().unwrap();
        Self { host: Host::new(home), encoding, cost: Cost::default() }
    }

    fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        self.cost.read += self.cost.added;
        let result = self.host.call(tool, arguments);
        let call = json!({"name": tool, "arguments": arguments}).to_string();
        let said = [call, text(&result)];
        self.cost.calls += 1;
        self.cost.added += said.iter().map(|text| self.encoding.encode_ordinary(text).len()).sum::<usize>();
        result
    }

    fn start(&mut self) -> String {
        let arguments = json!({"command": BUILD, "run_in_background": true});
        let started = self.call("shell", &arguments);
        started["structuredContent"]["task_id"].as_str().unwrap().to_owned()
    }
}

fn by_waiting() -> Cost {
    let home = home().with_env("MEANWHILE_TOOLS_LONGEST_CALL", "2400ms");
    let mut talk = Talk::begin(&home);
    let task = talk.start();
    loop {
        let waited = talk.call("task_wait", &json!({"task_ids": [task]}));
        if waited["structuredContent"]["timed_out"] == false {
            break;
        }
    }
    let last = talk.call("task_output", &json!({"task_id": task, "lines": 5}));
    assert!(text(&last).contains("Finished"), "{last}");
    talk.cost
}

fn by_polling() -> Cost {
    let home = home();
    let mut talk = Talk::begin(&home);
    let task = talk.start();
    let begun = std::time::Instant::now();
    loop {
        let looked = talk.call("task_output", &json!({"task_id": task}));
        if looked["structuredContent"]["status"] != "running" && looked["structuredContent"]["more"] == false
        {
            break;
        }
        assert!(begun.elapsed() < SOON * 3, "the build does not end");
        // No message arrives; this is the pause between two polls.
        assert!(!talk.host.has_answer(-1, POLL));
    }
    talk.cost
}

#[test]
fn waiting_for_a_build_costs_fewer_tokens_than_polling() {
    // A delayed client polls less often, which would be another measurement.
    wait_until(SOON, "few tokens by waiting, many by polling", || {
        let (waiting, polling) = (by_waiting(), by_polling());
        for (name, cost) in [("task_wait", &waiting), ("task_output every 10 s", &polling)] {
            println!("| {name} | {} | {} | {} |", cost.calls, cost.added, cost.read);
        }
        (waiting.added * 5 < polling.added && waiting.read * 20 < polling.read).then_some(())
    });
}
