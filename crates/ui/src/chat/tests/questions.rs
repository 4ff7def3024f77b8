//! A question is answered by a key that was meant for it, and by nothing else.

use super::*;

fn with(state: &mut State, c: char, modifiers: KeyModifiers) -> Vec<Effect> {
    update(state, Event::Key(KeyEvent::new(KeyCode::Char(c), modifiers)))
}

fn long_question(lines: usize) -> ChatQuestion {
    let lines = (1..=lines).map(|line| format!("  echo line-{line}")).collect();
    ChatQuestion { lines, ..question() }
}

#[test]
fn a_question_is_answered_set_aside_or_settled_elsewhere() {
    let mut state = state(80, 20);
    ask(&mut state, question());
    assert_eq!(press(&mut state, KeyCode::Enter), [], "the key that sends does not answer");
    assert_eq!(press(&mut state, KeyCode::Char('s')), answer(Reply::Session));
    ask(&mut state, question());
    press(&mut state, KeyCode::Esc);
    write(&mut state, "yes");
    assert_eq!(state.composer.text(), "yes", "what is set aside takes no keys");
    ctrl(&mut state, 'y');
    assert_eq!(press(&mut state, KeyCode::Char('n')), answer(Reply::Deny));
    ctrl(&mut state, 'c');
    later(&mut state, 1000);
    ask(&mut state, question());
    tell(&mut state, ChatNews::Settled("ask-1".to_owned()));
    assert!(!picture(&state).contains("allow?"));
}

#[test]
fn a_question_takes_no_key_that_was_meant_for_the_text() {
    let mut state = state(80, 20);
    write(&mut state, "m");
    tell(&mut state, ChatNews::Asked(question()));
    write(&mut state, "y");
    assert_eq!(state.composer.text(), "my");
    assert!(picture(&state).contains("approval required (Ctrl-Y)"));
    ctrl(&mut state, 'y');
    assert_eq!(press(&mut state, KeyCode::Char('y')), answer(Reply::Once));
}

#[test]
fn whoever_begins_to_write_as_it_comes_up_goes_on_writing() {
    for text in ["yes, but", "so", "no", "hello y"] {
        let mut state = state(80, 20);
        tell(&mut state, ChatNews::Asked(question()));
        later(&mut state, 400);
        write(&mut state, text);
        assert_eq!(state.composer.text(), text);
        assert!(!state.questions.is_empty());
    }
    // What was written and taken back is still writing.
    let mut state = state(80, 20);
    write(&mut state, "m");
    press(&mut state, KeyCode::Backspace);
    later(&mut state, 900);
    tell(&mut state, ChatNews::Asked(question()));
    later(&mut state, 600);
    write(&mut state, "y");
    assert_eq!(state.composer.text(), "y");
}

#[test]
fn a_word_that_begins_with_another_letter_is_no_answer_later_on_either() {
    let mut state = state(80, 20);
    ask(&mut state, question());
    write(&mut state, "wait, yes");
    assert_eq!(state.composer.text(), "wait, yes");
    assert!(!state.questions.is_empty());
}

#[test]
fn an_answer_is_a_key_by_itself() {
    for modifiers in [KeyModifiers::CONTROL, KeyModifiers::ALT, KeyModifiers::CONTROL | KeyModifiers::ALT] {
        for c in ['y', 's', 'n'] {
            let mut state = state(80, 20);
            ask(&mut state, question());
            assert_eq!(with(&mut state, c, modifiers), [], "{modifiers} {c}");
            assert!(!state.questions.is_empty());
        }
    }
}

#[test]
fn a_key_for_one_question_does_not_answer_the_next() {
    let mut state = state(80, 20);
    ask(&mut state, question());
    ask(&mut state, question_of("ask-2"));
    assert_eq!(press(&mut state, KeyCode::Char('y')), answer(Reply::Once));
    for _ in 0..5 {
        assert_eq!(press(&mut state, KeyCode::Char('y')), [], "a double tap, or a key held down");
        later(&mut state, 300);
    }
    assert_eq!(state.composer.text(), "", "it was not meant for the text either");
    later(&mut state, 500);
    let second = [Effect::Order(ChatOrder::Answer("ask-2".to_owned(), Reply::Once))];
    assert_eq!(press(&mut state, KeyCode::Char('y')), second);
    // The same when the first was answered elsewhere in the moment of the key.
    ask(&mut state, question());
    ask(&mut state, question_of("ask-2"));
    tell(&mut state, ChatNews::Settled("ask-1".to_owned()));
    assert_eq!(press(&mut state, KeyCode::Char('y')), []);
}

#[test]
fn the_title_asks_when_an_answer_is_taken() {
    let mut state = state(80, 20);
    tell(&mut state, ChatNews::Asked(question()));
    assert!(!picture(&state).contains("allow?"));
    assert!(state.wants_ticks(), "the moment has to come by itself");
    later(&mut state, 500);
    assert!(picture(&state).contains("allow?"));
    assert!(!state.wants_ticks());
}

#[test]
fn a_clock_that_is_set_back_does_not_keep_a_question_from_being_answered() {
    let mut state = state(80, 20);
    tell(&mut state, ChatNews::Asked(question()));
    later(&mut state, -3_600_000);
    assert_eq!(press(&mut state, KeyCode::Char('y')), answer(Reply::Once));
}

#[test]
fn what_does_not_fit_is_read_before_it_is_allowed() {
    for last in [KeyCode::End, KeyCode::PageDown, KeyCode::Down] {
        let mut state = state(60, 16);
        ask(&mut state, long_question(40));
        assert!(picture(&state).contains("lines 1 to 9 of 40"), "{}", picture(&state));
        assert_eq!(press(&mut state, KeyCode::Char('y')), [], "its end was not shown");
        assert_eq!(press(&mut state, KeyCode::Char('s')), []);
        for _ in 0..40 {
            press(&mut state, last);
        }
        assert!(picture(&state).contains("echo line-40"), "{}", picture(&state));
        press(&mut state, KeyCode::Home);
        assert!(picture(&state).contains("echo line-1 "), "{}", picture(&state));
        assert_eq!(press(&mut state, KeyCode::Char('y')), answer(Reply::Once));
    }
    let mut state = state(60, 16);
    ask(&mut state, long_question(40));
    assert_eq!(press(&mut state, KeyCode::Char('n')), answer(Reply::Deny), "a no needs no reading");
}

#[test]
fn a_narrower_screen_has_to_be_read_again() {
    let mut state = state(80, 12);
    let line = format!("  echo {}", "word ".repeat(60));
    ask(&mut state, ChatQuestion { lines: vec![line], ..question() });
    assert!(picture(&state).contains("y  yes\u{20}"), "{}", picture(&state));
    update(&mut state, Event::Resized(20, 12));
    assert_eq!(press(&mut state, KeyCode::Char('y')), []);
    press(&mut state, KeyCode::End);
    assert_eq!(press(&mut state, KeyCode::Char('y')), answer(Reply::Once));
}

#[test]
fn a_question_of_any_length_is_drawn() {
    for (width, height) in [(80, 24), (20, 6), (9, 3), (80, 2)] {
        let mut state = state(width, height);
        ask(&mut state, long_question(70_000));
        picture(&state);
        press(&mut state, KeyCode::End);
        picture(&state);
    }
}

#[test]
fn on_a_low_screen_something_of_the_question_is_seen() {
    let mut state = state(60, 7);
    ask(&mut state, question());
    for line in ["Command requires approval:", "rm -rf build", "n no"] {
        assert!(picture(&state).contains(line), "{}", picture(&state));
    }
}

#[test]
fn what_is_pasted_goes_into_the_text_whatever_is_open() {
    let mut state = state(80, 20);
    ask(&mut state, question());
    update(&mut state, Event::Paste("y".to_owned()));
    assert_eq!(state.composer.text(), "y");
    assert!(!state.questions.is_empty(), "it answers nothing");
    press(&mut state, KeyCode::Backspace);
    ctrl(&mut state, 'b');
    update(&mut state, Event::Paste("kk".to_owned()));
    assert_eq!(state.composer.text(), "kk");
}

#[test]
fn nothing_is_hidden_in_what_a_foreign_agent_asks() {
    let mut state = state(80, 20);
    let line = "  rm \u{202e}txt.x \u{200b}\x1b[2K".to_owned();
    ask(&mut state, ChatQuestion { lines: vec![line], ..question() });
    let shown = picture(&state);
    assert!(shown.contains("rm \\u{202e}txt.x \\u{200b}\\u{1b}[2K"), "{shown}");
}

#[test]
fn a_further_question_brings_up_what_was_set_aside() {
    let mut state = state(80, 20);
    ask(&mut state, question());
    press(&mut state, KeyCode::Esc);
    assert!(!picture(&state).contains("allow?"));
    ask(&mut state, question_of("ask-2"));
    assert!(picture(&state).contains("allow? (1 of 2)"), "{}", picture(&state));
}
