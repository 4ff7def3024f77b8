//! Resumed chats show their history, and the agent remembers.

use mw_testkit::model_endpoint::{Answer, ModelEndpoint};
use serde_json::json;

use super::*;

/// Returns the conversation: the text between the first line and the composer.
fn conversation_of(screen: &Screen) -> Vec<String> {
    let lines = screen.text.lines().skip(1).take_while(|line| !line.starts_with("────────────────────"));
    let lines: Vec<_> = lines.map(|line| line.trim_end().to_owned()).collect();
    lines.into_iter().skip_while(String::is_empty).collect()
}

#[test]
fn a_resumed_chat_shows_its_history_and_the_agent_remembers() {
    let endpoint = ModelEndpoint::new();
    endpoint.will(
        Answer::text("**Start**").call("shell", json!({"command": "exit 3", "run_in_background": true})),
    );
    endpoint.will(Answer::text("It runs: `a < b && c`."));
    endpoint.will(Answer::text("It ended with 3."));
    let home = home(&endpoint);
    let mut terminal = chat(&home);
    say(&mut terminal, "run <it> & tell");
    until_shown(&terminal, "It ended with 3.");
    until_shown(&terminal, "· ready");
    let live = conversation_of(&terminal.screen());
    assert_eq!(live.iter().filter(|line| line.contains(" failed (3)")).count(), 1, "{live:#?}");
    leave(terminal);

    endpoint.will(Answer::text("You asked to run it."));
    let mut terminal = chat_with(&home, &["chat", "--resume"]);
    let again = conversation_of(&until_shown(&terminal, "── resumed ──"));
    let end = again.iter().position(|line| line.contains("── resumed ──")).unwrap();
    let before: Vec<_> = again[..end].iter().filter(|line| !line.is_empty()).collect();
    let live: Vec<_> = live.iter().filter(|line| !line.is_empty()).collect();
    assert_eq!(before, live, "the replay shows the same conversation");
    say(&mut terminal, "what did I ask?");
    until_shown(&terminal, "You asked to run it.");
    let request = endpoint.request(3);
    assert!(request.says("run <it> & tell"), "the agent remembers");
    assert_eq!(request.last_text(), "what did I ask?", "nothing is delivered twice");
    leave(terminal);
}

/// A number means one task of the conversation, also after several resumes.
#[test]
fn a_resumed_zidane_chat_continues_its_task_numbers() {
    let endpoint = ModelEndpoint::new();
    let home = home(&endpoint).with_env("MEANWHILE_CHAT_AUTO_WAKE", "false");
    let mut terminal = chat_with(&home, &["chat", "--dialect", "zidane", "--mode", "dangerous"]);
    say(&mut terminal, "/background true");
    until_shown(&terminal, "Started background task bash_1.");
    endpoint.will(Answer::empty().call("shell", json!({"command": "true", "run_in_background": true})));
    endpoint.will(Answer::text("It runs."));
    say(&mut terminal, "go");
    until_shown(&terminal, "It runs.");
    let said = endpoint.request(1).last_text();
    assert!(said.contains("Started bash_2 (pid "), "{said}");
    until_shown(&terminal, "⌁ bash_2 exited (0)");
    leave(terminal);

    // A resumed chat keeps its dialect.
    let mut terminal = chat_with(&home, &["chat", "--resume", "--mode", "dangerous"]);
    terminal.resize(140, 50);
    say(&mut terminal, "/background sleep 600");
    until_shown(&terminal, "Started background task bash_3. Use /status bash_3");
    say(&mut terminal, "/status bash_3");
    let screen = until_shown(&terminal, "Status: running");
    assert!(!screen.text.contains("fits 2 tasks"), "{}", screen.text);
    say(&mut terminal, "/cancel bash_3");
    until_shown(&terminal, "Task bash_3 cancelled.");
    say(&mut terminal, "/cancel bash_1");
    until_shown(&terminal, "Task bash_1 is not running (status: exited).");
    leave(terminal);

    // Another dialect can be chosen by name, and is kept from then on.
    let chosen = ["chat", "--resume", "--dialect", "opta", "--mode", "dangerous"];
    for (words, bogus) in [(&chosen[..], "bogus"), (&["chat", "--resume"], "wrong")] {
        let mut terminal = chat_with(&home, words);
        say(&mut terminal, &format!("/tasks {bogus}"));
        until_shown(&terminal, &format!("{bogus:?}; choose one of running, completed, failed"));
        leave(terminal);
    }
}

#[test]
fn a_resumed_chat_notifies_the_agent_of_ends_that_it_missed() {
    let endpoint = ModelEndpoint::new();
    endpoint.will(Answer::empty().call("shell", json!({"command": "sleep 600", "run_in_background": true})));
    endpoint.will(Answer::text("It runs."));
    let home = home(&endpoint);
    let mut terminal = chat(&home);
    say(&mut terminal, "go");
    until_shown(&terminal, "It runs.");
    until_shown(&terminal, "⌁ 1 task");
    terminal.press(CTRL_C);
    until_shown(&terminal, "1 task is running.");
    terminal.press("y");
    assert_eq!(terminal.ended(), Some(0));

    endpoint.will(Answer::text("It was ended."));
    let terminal = chat_with(&home, &["chat", "--resume"]);
    until_shown(&terminal, "It was ended.");
    assert!(endpoint.request(2).last_text().contains("<status>cancelled</status>"));
    leave(terminal);
}

#[test]
fn a_killed_chat_can_be_resumed_and_marks_the_interruption() {
    let endpoint = ModelEndpoint::new();
    endpoint.will(Answer::text("Half of an ans").hold());
    let home = home(&endpoint);
    let mut terminal = chat(&home);
    say(&mut terminal, "go");
    until_shown(&terminal, "Half of an ans");
    let refused = home.command(["chat", "--resume"]).on_terminal();
    until_shown(&refused, "is open in another process");
    terminal.signal(rustix::process::Signal::KILL);
    terminal.ended();
    let terminal = chat_with(&home, &["chat", "--resume"]);
    let screen = until_shown(&terminal, "■ stopped: the chat ended during this call");
    assert!(screen.text.contains("Half of an ans"), "{}", screen.text);
    leave(terminal);
}

#[test]
fn a_chat_that_cannot_be_opened_gives_the_reason() {
    let endpoint = ModelEndpoint::new();
    let home = home(&endpoint);
    for (words, said) in
        [(&["chat", "--resume"][..], "no chats yet"), (&["chat", "--resume", "../x"], "no chat \"../x\"")]
    {
        let mut terminal = home.command(words.iter().copied()).on_terminal();
        assert_eq!(terminal.ended(), Some(2));
        until_shown(&terminal, said);
    }
    let mut terminal = home.command(["chat", "--agent", "nobody"]).on_terminal();
    assert_eq!(terminal.ended(), Some(2));
    until_shown(&terminal, "no agent \"nobody\"");
}
