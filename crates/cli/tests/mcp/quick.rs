//! A task that ends before the reply to its start is written: the reply comes first, and does not promise a
//! notification that was delivered already.

use mw_testkit::host::Host;
use mw_testkit::{SOON, need_program, wait_until};
use serde_json::{Value, json};

use crate::home;

/// Returns the texts of a reply, in their order.
fn texts(reply: &Value) -> Vec<String> {
    let content = reply["content"].as_array().unwrap();
    content.iter().map(|block| block["text"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn the_reply_to_a_start_precedes_the_end_notification() {
    need_program("bash");
    let home = home().with_env("MEANWHILE_MODE", "auto");
    for (dialect, tool, field, says, state) in [
        ("canonical", "shell", "task_id", "Started ", Some("status")),
        ("zidane", "shell", "task_id", "Started ", None),
        ("mycode", "Bash", "task_id", "│ Status: Completed ", Some("status")),
        ("opta", "bg_start", "id", "Process started: ", Some("state")),
        ("co-cli", "start_background_task", "task_id", "Started background task ", Some("status")),
    ] {
        let mut host = Host::of(home.command(["mcp", "--dialect", dialect]).session(dialect));
        // Whether it has ended by then is a race, so this is repeated until it has.
        let (texts, data) =
            wait_until(SOON, &format!("{dialect}: the reply to a start contains its end"), || {
                let given = json!({"command": "true", "description": "x", "run_in_background": true});
                let reply = host.call(tool, &given);
                let id = reply["structuredContent"][field].as_str().unwrap().to_owned();
                let texts = texts(&reply);
                let at = texts.iter().position(|text| !text.starts_with("<task-notification>")).unwrap();
                let of_own = |text: &String| text.contains(&id);
                assert!(
                    !texts[..at].iter().any(of_own),
                    "{dialect}: the end notification comes first: {reply}"
                );
                let has_ended = texts[at + 1..].iter().any(of_own);
                has_ended.then(|| (texts[at..].to_vec(), reply["structuredContent"].clone()))
            });
        assert!(texts[0].contains(says), "{dialect}: {texts:?}");
        assert!(texts[0].contains("It has already ended"), "{dialect}: {texts:?}");
        if let Some(state) = state {
            assert_eq!(data[state], "completed", "{dialect}: {data}");
        }
        if dialect == "co-cli" {
            assert_eq!(data["display"], texts[0], "{data}");
        }
        for promise in ["follows", "is running", "You get a notification", "Running", "continue working"] {
            assert!(!texts[0].contains(promise), "{dialect}: {texts:?}");
        }
    }
}
