//! Agents that crash, ignore cancel or answer late: no input is lost, and the chat stays responsive.

use std::fs;
use std::time::Duration;

use mw_testkit::model_endpoint::ModelEndpoint;
use mw_testkit::wait_until;
use serde_json::json;

use super::foreign::with_agent;
use super::*;

/// Returns all prompts of the scripted agent so far.
pub(super) fn prompts(home: &Home) -> Vec<String> {
    let files = fs::read_dir(home.user()).unwrap().flatten().map(|entry| entry.path());
    let mut sessions = files.filter(|path| {
        let name = path.file_name().unwrap().to_string_lossy();
        name.starts_with('s') && name.ends_with(".json")
    });
    let Some(path) = sessions.next() else { return Vec::new() };
    assert_eq!(sessions.next(), None, "one conversation");
    let read: Option<Vec<String>> = serde_json::from_slice(&fs::read(path).unwrap()).ok();
    read.unwrap_or_default()
}

/// A delay that people hardly notice, with a margin for a busy machine.
const A_MOMENT: Duration = Duration::from_secs(4);

fn is_notice(text: &str) -> bool {
    text.starts_with("<task-notification>") && text.contains("<task-id>bash-")
}

/// Starts a task in the session of a chat that has ended by the next wake-up.
fn start_task(terminal: &mut Terminal) {
    let call = json!({"command": "exit 3", "run_in_background": true});
    say(terminal, &format!("mcp shell {call}"));
}

#[test]
fn input_that_crashes_the_agent_is_sent_again_once() {
    let home = with_agent(home(&ModelEndpoint::new()));
    let mut terminal = chat_with(&home, &["chat", "--agent", "good"]);
    say(&mut terminal, "die-once mark\nsay still here");
    until_shown(&terminal, "· not running");
    until_shown(&terminal, "queued: die-once mark");
    say(&mut terminal, "say and this");
    until_shown(&terminal, "and this\n");
    until_shown(&terminal, "\n still here");
    until(&terminal, "no input is queued", |screen| {
        screen.text.contains("· ready") && !screen.text.contains("queued:")
    });
    say(&mut terminal, "die 4");
    until_shown(&terminal, "queued: die 4");
    say(&mut terminal, "say good");
    until_shown(&terminal, "It exited twice");
    say(&mut terminal, "say morning");
    until_shown(&terminal, "\n morning");
    leave(terminal);
}

#[test]
fn notifications_of_a_failed_turn_are_in_the_next_turn() {
    let home = with_agent(home(&ModelEndpoint::new()));
    for way in ["die 1", "error out of tokens"] {
        fs::write(home.user().join("on-notice"), way).unwrap();
        let mut terminal = chat_with(&home, &["chat", "--agent", "good"]);
        start_task(&mut terminal);
        until_shown(&terminal, if way == "die 1" { "· not running" } else { "out of tokens" });
        say(&mut terminal, "say thanks");
        until_shown(&terminal, "\n thanks");
        let sent = prompts(&home);
        let [.., lost, again] = &sent[..] else { panic!("{sent:?}") };
        assert!(is_notice(lost) && is_notice(again) && again.ends_with("say thanks"), "{way}: {sent:?}");
        say(&mut terminal, "say more");
        until_shown(&terminal, "\n more");
        assert_eq!(prompts(&home).last().unwrap(), "say more", "the notification is delivered once");
        leave(terminal);
        fs::read_dir(home.user()).unwrap().flatten().map(|entry| entry.path()).for_each(|path| {
            if path.extension().is_some_and(|extension| extension == "json") {
                fs::remove_file(path).unwrap();
            }
        });
    }
}

#[test]
fn a_notification_sent_by_a_killed_chat_is_delivered_again_after_a_resume() {
    let home = with_agent(home(&ModelEndpoint::new()));
    fs::write(home.user().join("on-notice"), "hang").unwrap();
    let mut terminal = chat_with(&home, &["chat", "--agent", "good"]);
    start_task(&mut terminal);
    wait_until(SOON, "the agent is notified", || {
        prompts(&home).last().filter(|text| is_notice(text)).cloned()
    });
    say(&mut terminal, "say unsent");
    until_shown(&terminal, "queued: say unsent");
    terminal.signal(rustix::process::Signal::KILL);
    terminal.ended();
    let terminal = chat_with(&home, &["chat", "--resume"]);
    until_shown(&terminal, "■ stopped: the chat ended during this call");
    until_shown(&terminal, "not sent, because the chat ended: say unsent");
    wait_until(SOON, "the notification is delivered again", || {
        let sent = prompts(&home);
        (sent.iter().filter(|text| is_notice(text)).count() == 2).then_some(())
    });
    until_shown(&terminal, "· ready");
    leave(terminal);
    let terminal = chat_with(&home, &["chat", "--resume"]);
    until_shown(&terminal, "· ready");
    assert_eq!(prompts(&home).iter().filter(|text| is_notice(text)).count(), 2, "not a third time");
    leave(terminal);
}

#[test]
fn a_pending_mode_change_does_not_block_an_approval() {
    let home = with_agent(home(&ModelEndpoint::new()));
    let mut terminal = chat_with(&home, &["chat", "--agent", "orderly"]);
    say(&mut terminal, "ask rm -rf target");
    until_shown(&terminal, "allow?");
    terminal.press(ESC);
    until_gone(&terminal, "allow?");
    say(&mut terminal, "/mode plan");
    say(&mut terminal, "/approve");
    until_shown(&terminal, "permission: yes");
    until_shown(&terminal, "· plan ·");
    until_shown(&terminal, "· ready");
    leave(terminal);
}

#[test]
fn a_mode_chosen_before_the_agent_starts_is_set_at_its_start() {
    let home = with_agent(home(&ModelEndpoint::new()));
    let mut terminal = chat_with(&home, &["chat", "--agent", "good"]);
    say(&mut terminal, "die-once mark");
    until_shown(&terminal, "· not running");
    say(&mut terminal, "/mode plan");
    until_shown(&terminal, "Mode plan is set when the agent starts.");
    say(&mut terminal, "mode");
    until_shown(&terminal, "\n plan");
    until_shown(&terminal, "· ready");
    leave(terminal);
    let mut terminal = chat_with(&home, &["chat", "--resume"]);
    until_shown(&terminal, "· plan ·");
    say(&mut terminal, "/background touch x");
    until_shown(&terminal, "not allowed in mode plan");
    leave(terminal);
}

#[test]
fn the_agents_tools_use_the_mode_of_the_chat() {
    let home = with_agent(home(&ModelEndpoint::new()).gated());
    let mut terminal = chat_with(&home, &["chat", "--agent", "modeless", "--mode", "plan"]);
    until_shown(&terminal, "the agent has no mode plan");
    let call = json!({"command": "touch made"});
    say(&mut terminal, &format!("mcp shell {call}\nsay \nsay that was the first"));
    until_shown(&terminal, "that was the first");
    assert!(!home.has_file("made"));
    let call = json!({"command": "rm -rf nothing; touch made"});
    say(&mut terminal, "/mode dangerous");
    until_shown(&terminal, "· dangerous ·");
    say(&mut terminal, &format!("mcp shell {call}"));
    wait_until(SOON, "the looser mode reached the server", || home.has_file("made").then_some(()));
    until_shown(&terminal, "· ready");
    say(&mut terminal, "/mode plan");
    until_shown(&terminal, "· plan ·");
    let call = json!({"command": "touch again"});
    say(&mut terminal, &format!("mcp shell {call}\nsay \nsay that was the last"));
    until_shown(&terminal, "that was the last");
    assert!(!home.has_file("again"));
    leave(terminal);
}

#[test]
fn a_second_esc_kills_an_agent_that_ignores_cancel() {
    let home = with_agent(home(&ModelEndpoint::new())).with_env("MEANWHILE_SUBAGENT_CANCEL_MS", "200");
    let mut terminal = chat_with(&home, &["chat", "--agent", "deaf"]);
    say(&mut terminal, "say begun\nhang");
    until_shown(&terminal, "\n begun");
    terminal.press(ESC);
    until_shown(&terminal, "press Esc again to kill it");
    terminal.press(ESC);
    until_shown(&terminal, "did not end its turn and was killed");
    until_shown(&terminal, "· not running");
    say(&mut terminal, "say again there");
    until_shown(&terminal, "\n again there");
    leave(terminal);
}

#[test]
fn keys_work_while_the_agent_sends_endless_updates() {
    let home = with_agent(home(&ModelEndpoint::new()));
    for kind in ["lines", "line", "calls", "thoughts"] {
        let mut terminal = chat_with(&home, &["chat", "--agent", "good"]);
        let flooded = home.user().join("flooded");
        let _ = fs::remove_file(&flooded);
        say(&mut terminal, &format!("flood {kind}"));
        wait_until(SOON, "the agent has sent 3000 updates", || {
            let number: usize = fs::read_to_string(&flooded).ok()?.parse().ok()?;
            (number >= 3000).then_some(())
        });
        // The reaction to a key must not wait for updates that are not drawn yet.
        let begun = Instant::now();
        terminal.press("words");
        until_shown(&terminal, "❯ words");
        assert!(begun.elapsed() < A_MOMENT, "{kind}: a key took {:?}", begun.elapsed());
        terminal.press(CTRL_C);
        let begun = Instant::now();
        terminal.press(ESC);
        until_shown(&terminal, "■ stopped: cancelled");
        assert!(begun.elapsed() < A_MOMENT, "{kind}: Esc took {:?}", begun.elapsed());
        until_shown(&terminal, "· ready");
        say(&mut terminal, "say enough");
        until_shown(&terminal, "\n enough");
        until_shown(&terminal, "· ready");
        leave(terminal);
    }
}

#[test]
fn permission_requests_beyond_100_are_refused_and_the_turn_can_be_stopped() {
    let home = with_agent(home(&ModelEndpoint::new()));
    let mut terminal = chat_with(&home, &["chat", "--agent", "good"]);
    say(&mut terminal, "ask-many 20000");
    until_shown(&terminal, "more than 100 requests of the agent at once");
    until_shown(&terminal, "1 of 100");
    terminal.press(ESC);
    until_gone(&terminal, "1 of 100");
    terminal.press(ESC);
    until_shown(&terminal, "■ stopped: cancelled");
    until_shown(&terminal, "· ready");
    assert_eq!(terminal.screen().text.matches("more than 100 requests").count(), 1);
    leave(terminal);
}

#[test]
fn resume_skips_chats_without_messages() {
    let home = with_agent(home(&ModelEndpoint::new()));
    let mut terminal = chat_with(&home, &["chat", "--agent", "good"]);
    say(&mut terminal, "say remember me");
    until_shown(&terminal, "\n remember me");
    leave(terminal);
    let mut refused = home.command(["chat", "--agent", "nobody"]).on_terminal();
    assert_eq!(refused.ended(), Some(2));
    leave(chat_with(&home, &["chat", "--agent", "good"]));
    let chats = fs::read_dir(home.state().join("chats")).unwrap().count();
    assert_eq!(chats, 2, "a refused chat leaves no directory");
    let terminal = chat_with(&home, &["chat", "--resume"]);
    until_shown(&terminal, "\n remember me");
    leave(terminal);
}

#[test]
fn a_chat_whose_directory_was_removed_continues_in_the_current_one() {
    let home = with_agent(home(&ModelEndpoint::new()));
    let place = home.user().join("place");
    fs::create_dir(&place).unwrap();
    let mut terminal = home.command(["chat", "--agent", "good"]).cwd(&place).on_terminal();
    until_shown(&terminal, "· ready");
    say(&mut terminal, "say hello");
    until_shown(&terminal, "\n hello");
    leave(terminal);
    fs::remove_dir(&place).unwrap();
    let terminal = chat_with(&home, &["chat", "--resume"]);
    until_shown(&terminal, "no longer exists");
    leave(terminal);
}
