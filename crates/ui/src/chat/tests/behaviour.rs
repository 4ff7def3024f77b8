//! What follows from keys and news.

use super::*;

#[test]
fn a_replay_looks_as_it_did_live() {
    let mut live = state(60, 40);
    let mut pictures = Vec::new();
    for one in talk() {
        entry(&mut live, one.clone());
        pictures.push(picture(&live));
    }
    let mut again = state(60, 40);
    talk().into_iter().for_each(|one| entry(&mut again, one));
    assert_eq!(Some(&picture(&again)), pictures.last());
    let banners = |text: &str| text.matches("⌁ bash_1 exited (101) · 4.2s ·").count();
    assert_eq!(banners(&picture(&again)), 1, "told once, shown once");
}

#[test]
fn the_chip_counts_what_is_in_the_background() {
    let mut state = state(80, 10);
    assert!(!picture(&state).contains('⌁'));
    tell(&mut state, ChatNews::Tasks(vec![task("bash_1", "a", false)]));
    assert!(picture(&state).contains("⌁ 1 task"));
    tell(&mut state, ChatNews::Tasks(vec![task("bash_1", "a", false), task("bash_2", "b", false)]));
    assert!(picture(&state).contains("⌁ 2 tasks"));
    tell(&mut state, ChatNews::Tasks(vec![task("bash_2", "b", true)]));
    assert!(!picture(&state).contains('⌁'), "what is awaited is in the foreground");
}

#[test]
fn ctrl_b_twice_moves_only_what_is_awaited() {
    let mut state = state(80, 20);
    tell(&mut state, ChatNews::Tasks(vec![task("bash_1", "a", true)]));
    assert_eq!(ctrl(&mut state, 'b'), []);
    assert_eq!(ctrl(&mut state, 'b'), [Effect::Order(ChatOrder::MoveToBackground)]);
    tell(&mut state, ChatNews::Tasks(vec![task("bash_1", "a", false)]));
    ctrl(&mut state, 'b');
    assert_eq!(ctrl(&mut state, 'b'), [], "nothing is left to move");
}

#[test]
fn a_kill_means_the_selected_row_and_a_list_that_shrinks_keeps_one() {
    let mut state = state(80, 20);
    tell(&mut state, ChatNews::Tasks(vec![task("bash_1", "a", false), task("bash_2", "b", false)]));
    ctrl(&mut state, 'b');
    press(&mut state, KeyCode::Down);
    press(&mut state, KeyCode::Down);
    let killed = press(&mut state, KeyCode::Char('k'));
    assert_eq!(killed, [Effect::Order(ChatOrder::Kill("bash-bash_2".to_owned()))]);
    tell(&mut state, ChatNews::Tasks(vec![task("bash_1", "a", false)]));
    let killed = press(&mut state, KeyCode::Char('k'));
    assert_eq!(killed, [Effect::Order(ChatOrder::Kill("bash-bash_1".to_owned()))]);
}

#[test]
fn a_question_is_answered_set_aside_or_settled_elsewhere() {
    let mut state = state(80, 20);
    tell(&mut state, ChatNews::Asked(question()));
    assert_eq!(press(&mut state, KeyCode::Char('x')), [], "no other key answers");
    assert_eq!(press(&mut state, KeyCode::Enter), [], "nor does the key that sends");
    assert_eq!(press(&mut state, KeyCode::Char('s')), answer(Reply::Session));
    tell(&mut state, ChatNews::Asked(question()));
    press(&mut state, KeyCode::Esc);
    write(&mut state, "yes");
    assert_eq!(state.composer.text(), "yes", "what is set aside takes no keys");
    ctrl(&mut state, 'y');
    assert_eq!(press(&mut state, KeyCode::Char('n')), answer(Reply::Deny));
    tell(&mut state, ChatNews::Asked(question()));
    tell(&mut state, ChatNews::Settled("ask-1".to_owned()));
    assert!(!picture(&state).contains("may it?"));
}

#[test]
fn a_question_takes_no_key_that_was_meant_for_the_text() {
    let mut state = state(80, 20);
    write(&mut state, "m");
    tell(&mut state, ChatNews::Asked(question()));
    write(&mut state, "y");
    assert_eq!(state.composer.text(), "my");
    assert!(picture(&state).contains("asks you (Ctrl-Y answers)"));
    ctrl(&mut state, 'y');
    assert_eq!(press(&mut state, KeyCode::Char('y')), answer(Reply::Once));
}

#[test]
fn leaving_asks_only_when_tasks_run() {
    let mut state = state(80, 20);
    assert_eq!(ctrl(&mut state, 'c'), [Effect::Quit]);
    tell(&mut state, ChatNews::Tasks(vec![task("bash_1", "a", false)]));
    write(&mut state, "/quit");
    assert_eq!(press(&mut state, KeyCode::Enter), []);
    assert!(picture(&state).contains("1 task is running."));
    assert_eq!(press(&mut state, KeyCode::Char('n')), []);
    ctrl(&mut state, 'd');
    assert_eq!(press(&mut state, KeyCode::Char('y')), [Effect::Quit]);
}

#[test]
fn esc_stops_only_a_turn_that_is_under_way() {
    let mut state = state(80, 20);
    assert_eq!(press(&mut state, KeyCode::Esc), []);
    tell(&mut state, ChatNews::Agent(AgentState::Busy));
    assert_eq!(press(&mut state, KeyCode::Esc), [Effect::Order(ChatOrder::Stop)]);
}

#[test]
fn what_is_written_is_sent_whole_and_only_once() {
    let mut state = state(80, 20);
    write(&mut state, "one");
    ctrl(&mut state, 'j');
    write(&mut state, "two");
    assert_eq!(press(&mut state, KeyCode::Enter), [Effect::Order(ChatOrder::Say("one\ntwo".to_owned()))]);
    assert_eq!(press(&mut state, KeyCode::Enter), []);
}

#[test]
fn what_ends_in_the_midst_of_a_sentence_is_told_below_it() {
    let mut state = state(60, 20);
    let said = |text: &str| Entry::Said { text: text.to_owned() };
    [said("It"), notice(7, 3), said(" runs.")].into_iter().for_each(|one| entry(&mut state, one));
    let shown = picture(&state);
    assert!(shown.find("It runs.") < shown.find("⌁ bash_1"), "{shown}");
    assert!(shown.contains("It runs."), "{shown}");
    // A turn that it begins stands below it.
    entry(&mut state, Entry::TurnEnded { early: None });
    entry(&mut state, Entry::Told { numbers: vec![7] });
    entry(&mut state, said("I see."));
    let shown = picture(&state);
    assert!(shown.find("⌁ bash_1") < shown.find("I see."), "{shown}");
}
