//! The reader of shell scripts, as `mw policy` uses it.

use serde_json::{Value, json};

use crate::{engine, home};

/// How many scripts one command judges.
const TOGETHER: usize = 200;

#[test]
fn shell() {
    let home = home().gated();
    let mut scripts = Vec::new();
    engine::run("shell", |input| {
        scripts.push(String::from_utf8_lossy(input).replace('\0', " "));
        if scripts.len() < TOGETHER {
            return;
        }
        let lines: Vec<String> =
            scripts.drain(..).map(|script| json!({ "command": script }).to_string()).collect();
        let file = home.work().join("scripts");
        std::fs::write(&file, lines.join("\n")).unwrap();
        let path = file.to_string_lossy().into_owned();
        let outcome = home.mw(["policy", "--json", "--file", &path]);
        assert!(matches!(outcome.code, Some(0 | 2 | 3 | 4)), "{outcome}");
        for line in outcome.text().lines() {
            let verdict: Value = serde_json::from_str(line).unwrap();
            assert!(verdict["parsed"] == true || verdict["decision"] != "allow", "allowed unread: {verdict}");
        }
    });
}
