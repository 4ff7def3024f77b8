//! Tests the effects of keys and messages.

use super::*;

#[test]
fn a_hint_says_whether_ctrl_c_quits_or_clears() {
    let mut state = state(120, 12);
    assert!(picture(&state).contains("Ctrl-C quit"), "{}", picture(&state));
    update(&mut state, Input::Paste("first\nsecond\n".to_owned()));
    assert!(picture(&state).contains("Ctrl-C clear"), "{}", picture(&state));
    assert_eq!(ctrl(&mut state, 'c'), []);
    let drawn = picture(&state);
    assert!(drawn.contains("Ctrl-C quit") && !drawn.contains("first"), "{drawn}");
}

#[test]
fn the_cancel_dialog_says_which_tasks_end_with_the_turn() {
    let mut state = state(100, 12);
    tell(&mut state, ChatUpdate::Agent(AgentState::Busy));
    tell(&mut state, ChatUpdate::Tasks(vec![task("bash_1", "make", false)]));
    ctrl(&mut state, 'k');
    assert!(
        picture(&state).contains("the agent's turn (background tasks keep running)"),
        "{}",
        picture(&state)
    );
    tell(
        &mut state,
        ChatUpdate::Tasks(vec![task("bash_1", "make", false), task("bash_2", "sleep 20", true)]),
    );
    let drawn = picture(&state);
    assert!(drawn.contains("the agent's turn and bash_2; other tasks keep running"), "{drawn}");
}

#[test]
fn a_notification_shows_the_duration_that_the_agent_receives() {
    let mut state = state(100, 12);
    let ChatEntry::Notice { notice: mut ended } = notice(7, 0) else { unreachable!() };
    ended.duration_ms = Some(3955);
    assert!(ended.summary().contains("(4.0s)"), "{}", ended.summary());
    entry(&mut state, ChatEntry::Notice { notice: ended });
    assert!(picture(&state).contains("· 4.0s ·"), "{}", picture(&state));
}

#[test]
fn background_tasks_are_counted_on_screen() {
    let mut state = state(80, 10);
    assert!(!picture(&state).contains('⌁'));
    tell(&mut state, ChatUpdate::Tasks(vec![task("bash_1", "a", false)]));
    assert!(picture(&state).contains("⌁ 1 task"));
    tell(&mut state, ChatUpdate::Tasks(vec![task("bash_1", "a", false), task("bash_2", "b", false)]));
    assert!(picture(&state).contains("⌁ 2 tasks"));
    tell(&mut state, ChatUpdate::Tasks(vec![task("bash_2", "b", true)]));
    assert!(!picture(&state).contains('⌁'), "an awaited task is in the foreground");
}

#[test]
fn ctrl_b_twice_moves_only_awaited_tasks_to_the_background() {
    let mut state = state(80, 20);
    tell(&mut state, ChatUpdate::Tasks(vec![task("bash_1", "a", true)]));
    assert_eq!(ctrl(&mut state, 'b'), []);
    assert_eq!(ctrl(&mut state, 'b'), [Effect::Order(ChatOrder::MoveToBackground)]);
    tell(&mut state, ChatUpdate::Tasks(vec![task("bash_1", "a", false)]));
    ctrl(&mut state, 'b');
    assert_eq!(ctrl(&mut state, 'b'), [], "nothing is left to move");
}

#[test]
fn a_kill_applies_to_the_selected_task_and_not_to_its_replacement() {
    let mut state = state(80, 20);
    let kill = |id: &str| [Effect::Order(ChatOrder::Kill(format!("bash-{id}")))];
    let [one, two, three] = ["bash_1", "bash_2", "bash_3"].map(|handle| task(handle, "a", false));
    tell(&mut state, ChatUpdate::Tasks(vec![one.clone(), two.clone(), three.clone()]));
    ctrl(&mut state, 'b');
    press(&mut state, KeyCode::Down);
    tell(&mut state, ChatUpdate::Tasks(vec![two, three.clone()]));
    assert_eq!(press(&mut state, KeyCode::Char('x')), [], "a question is asked first");
    assert!(picture(&state).contains("Kill bash_2 and everything"), "the selection stays on its task");
    tell(&mut state, ChatUpdate::Tasks(vec![three.clone(), one.clone()]));
    assert_eq!(press(&mut state, KeyCode::Char('y')), kill("bash_2"), "the task of the question is killed");
    tell(&mut state, ChatUpdate::Tasks(vec![three, one]));
    assert_eq!(press(&mut state, KeyCode::Char('x')), [], "the selected task is gone");
    assert_eq!(press(&mut state, KeyCode::Char('y')), []);
    press(&mut state, KeyCode::Down);
    press(&mut state, KeyCode::Char('x'));
    assert_eq!(press(&mut state, KeyCode::Char('y')), kill("bash_3"));
}

#[test]
fn the_task_list_has_the_keys_of_the_task_manager() {
    let mut state = state(80, 20);
    let [one, two] = ["bash_1", "bash_2"].map(|handle| task(handle, "a", false));
    tell(&mut state, ChatUpdate::Tasks(vec![one, two]));
    ctrl(&mut state, 'b');
    for key in "jkjx".chars() {
        assert_eq!(press(&mut state, KeyCode::Char(key)), [], "{key} kills nothing");
    }
    assert!(picture(&state).contains("Kill bash_2"), "j and k go down and up");
    assert_eq!(press(&mut state, KeyCode::Char('n')), []);
    assert!(picture(&state).contains(" tasks "), "n returns to the list");
}

#[test]
fn the_selection_does_not_move_from_an_ended_turn_to_a_task() {
    let mut state = state(80, 20);
    tell(&mut state, ChatUpdate::Tasks(vec![task("bash_1", "a", false)]));
    tell(&mut state, ChatUpdate::Agent(AgentState::Busy));
    ctrl(&mut state, 'k');
    tell(&mut state, ChatUpdate::Agent(AgentState::Idle));
    assert_eq!(press(&mut state, KeyCode::Enter), [], "the selected turn has ended");
    press(&mut state, KeyCode::Down);
    let killed = [Effect::Order(ChatOrder::Kill("bash-bash_1".to_owned()))];
    assert_eq!(press(&mut state, KeyCode::Enter), killed);
}

#[test]
fn the_key_of_another_dialog_opens_it_without_a_kill() {
    let mut state = state(80, 20);
    tell(&mut state, ChatUpdate::Tasks(vec![task("bash_1", "a", false)]));
    ctrl(&mut state, 'b');
    assert_eq!(ctrl(&mut state, 'k'), []);
    assert!(picture(&state).contains(" cancel "));
    assert_eq!(ctrl(&mut state, 'b'), []);
    assert!(picture(&state).contains(" tasks "));
}

/// Delivers the list of running tasks that was requested on leaving.
fn looked(state: &mut State, tasks: Result<Vec<ChatTask>, String>) -> Vec<Effect> {
    if let Ok(tasks) = &tasks {
        tell(state, ChatUpdate::Tasks(tasks.clone()));
    }
    update(state, Input::Event(ChatUpdate::Leaving(tasks).into()))
}

#[test]
fn leaving_asks_only_when_tasks_run() {
    let mut state = state(80, 20);
    let look = [Effect::Order(ChatOrder::Leave)];
    assert_eq!(ctrl(&mut state, 'c'), look);
    assert_eq!(looked(&mut state, Ok(Vec::new())), [Effect::Screen(TerminalRequest::Quit)]);
    tell(&mut state, ChatUpdate::Tasks(vec![task("bash_1", "a", false)]));
    press(&mut state, KeyCode::Esc);
    write(&mut state, "/quit now");
    assert_eq!(press(&mut state, KeyCode::Enter), look);
    assert!(
        picture(&state).contains("1 task is running."),
        "the question is asked at once if a task is known to run"
    );
    assert_eq!(press(&mut state, KeyCode::Char('n')), []);
    assert_eq!(looked(&mut state, Ok(Vec::new())), [], "a late reply does not quit after n");
    tell(&mut state, ChatUpdate::Tasks(vec![task("bash_1", "a", false)]));
    ctrl(&mut state, 'd');
    assert_eq!(press(&mut state, KeyCode::Char('y')), [Effect::Screen(TerminalRequest::Quit)]);
}

#[test]
fn leaving_asks_about_tasks_that_were_not_listed_before() {
    let mut state = state(80, 20);
    ctrl(&mut state, 'c');
    assert!(picture(&state).contains("Checking for running tasks"));
    assert_eq!(looked(&mut state, Ok(vec![task("bash_1", "a", true)])), []);
    assert!(picture(&state).contains("1 task is running."));
    assert_eq!(ctrl(&mut state, 'c'), [], "the same key again is no answer");
    assert_eq!(press(&mut state, KeyCode::Char('y')), [Effect::Screen(TerminalRequest::Quit)]);
}

#[test]
fn the_user_can_leave_if_the_store_fails_or_does_not_answer() {
    let mut state = state(80, 20);
    ctrl(&mut state, 'c');
    assert_eq!(ctrl(&mut state, 'c'), [Effect::Screen(TerminalRequest::Quit)]);
    assert_eq!(looked(&mut state, Err("the disk is full".to_owned())), []);
    assert!(picture(&state).contains("cannot be listed: the disk is full"));
    assert_eq!(press(&mut state, KeyCode::Enter), [Effect::Screen(TerminalRequest::Quit)]);
}

#[test]
fn esc_cancels_only_a_running_turn() {
    let mut state = state(80, 20);
    assert_eq!(press(&mut state, KeyCode::Esc), []);
    tell(&mut state, ChatUpdate::Agent(AgentState::Busy));
    assert_eq!(press(&mut state, KeyCode::Esc), [Effect::Order(ChatOrder::Stop)]);
}

#[test]
fn a_message_is_sent_whole_and_only_once() {
    let mut state = state(80, 20);
    write(&mut state, "one");
    ctrl(&mut state, 'j');
    write(&mut state, "two");
    assert_eq!(press(&mut state, KeyCode::Enter), [Effect::Order(ChatOrder::Say("one\ntwo".to_owned()))]);
    assert_eq!(press(&mut state, KeyCode::Enter), []);
}

#[test]
fn the_log_of_the_selected_task_opens_in_the_editor() {
    let mut state = state(80, 20);
    tell(&mut state, ChatUpdate::Tasks(vec![task("bash_1", "a", false), task("bash_2", "b", false)]));
    ctrl(&mut state, 'b');
    press(&mut state, KeyCode::Down);
    let opened = [Effect::Open("/state/tasks/bash_2/output.log".to_owned())];
    assert_eq!(press(&mut state, KeyCode::Char('e')), opened);
    assert_eq!(ctrl(&mut state, 'e'), []);
}

#[test]
fn a_message_is_in_the_history_once() {
    let mut state = state(80, 20);
    for text in ["one", "two"] {
        write(&mut state, text);
        press(&mut state, KeyCode::Enter);
    }
    for text in ["one", "two"] {
        entry(&mut state, ChatEntry::User { text: text.to_owned() });
    }
    let seen: Vec<_> = (0..3)
        .map(|_| {
            press(&mut state, KeyCode::Up);
            state.composer.text().to_owned()
        })
        .collect();
    assert_eq!(seen, ["two", "one", "one"]);
}

#[test]
fn the_menu_completes_commands_of_the_chat_and_of_the_agent() {
    let mut state = state(80, 20);
    let review = AgentCommand { name: "review".to_owned(), description: "look at the changes".to_owned() };
    tell(&mut state, ChatUpdate::Commands(vec![review]));
    write(&mut state, "/re");
    let shown = picture(&state);
    assert!(shown.contains("▸ /restart ID"), "{shown}");
    assert!(shown.contains("/review") && shown.contains("look at the changes (mw)"), "{shown}");
    assert!(!shown.contains("/tasks"), "{shown}");
    press(&mut state, KeyCode::Down);
    press(&mut state, KeyCode::Down);
    assert_eq!(press(&mut state, KeyCode::Enter), [], "Enter completes first");
    assert_eq!(state.composer.text(), "/review");
    assert_eq!(press(&mut state, KeyCode::Enter), [Effect::Order(ChatOrder::Say("/review".to_owned()))]);
    write(&mut state, "/st");
    press(&mut state, KeyCode::Tab);
    assert_eq!(state.composer.text(), "/status ");
    assert!(!picture(&state).contains("▸ /status"), "arguments need no menu");
    ctrl(&mut state, 'c');
    write(&mut state, "/");
    press(&mut state, KeyCode::Esc);
    assert!(!picture(&state).contains("/background"), "Esc closes the menu");
}

#[test]
fn work_shows_a_turning_sign_the_elapsed_time_and_the_last_line_of_a_call() {
    let mut state = state(100, 20);
    assert_eq!(state.ticks(), None, "an idle chat sleeps");
    tell(&mut state, ChatUpdate::Agent(AgentState::Busy));
    assert!(state.ticks().is_some());
    let tail = Some("   Compiling serde v1.0".to_owned());
    let tail = tail.map(|line| line.trim().to_owned());
    tell(&mut state, ChatUpdate::Tasks(vec![ChatTask { tail, ..task("bash_1", "cargo build", true) }]));
    let before = picture(&state);
    assert!(before.contains("cargo build  │ Compiling serde v1.0"), "{before}");
    later(&mut state, 2200);
    let after = picture(&state);
    assert!(after.contains("working… 2s"), "{after}");
    let sign = |shown: &str| shown.lines().next().unwrap().chars().find(|c| "◐◓◑◒".contains(*c));
    assert_ne!(sign(&before), sign(&after));
    tell(&mut state, ChatUpdate::Agent(AgentState::Idle));
    assert!(!picture(&state).contains("working"));
}

#[test]
fn the_header_names_model_context_directory_and_tasks() {
    let mut state = state(120, 20);
    state.model = Some("anthropic/opus".to_owned());
    entry(&mut state, ChatEntry::Opened { agent: "mw".to_owned(), cwd: "/home/me/shop".to_owned() });
    tell(&mut state, ChatUpdate::Context(12_345, 200_000));
    tell(&mut state, ChatUpdate::Tasks(vec![task("bash_1", "cargo build", false)]));
    let shown = picture(&state);
    let header = shown.lines().next().unwrap();
    assert!(header.contains("⌁ 1 task · anthropic/opus · 12.3k/200k tokens · shop"), "{header}");
}
