//! Tests that only a key that was meant for a question answers it.

use super::*;

fn with(state: &mut State, c: char, modifiers: KeyModifiers) -> Vec<Effect> {
    update(state, Input::Key(KeyEvent::new(KeyCode::Char(c), modifiers)))
}

fn long_question(lines: usize) -> OpenRequest {
    let lines = (1..=lines).map(|line| format!("  echo line-{line}")).collect();
    OpenRequest { lines, ..question() }
}

#[test]
fn a_question_is_answered_set_aside_or_settled_elsewhere() {
    let mut state = state(80, 20);
    ask(&mut state, question());
    assert_eq!(press(&mut state, KeyCode::Enter), [], "Enter does not answer");
    assert_eq!(press(&mut state, KeyCode::Char('s')), answer(ApprovalReply::Session));
    ask(&mut state, question());
    press(&mut state, KeyCode::Esc);
    write(&mut state, "yes");
    assert_eq!(state.composer.text(), "yes", "a question that was set aside takes no keys");
    ctrl(&mut state, 'y');
    assert_eq!(press(&mut state, KeyCode::Char('n')), answer(ApprovalReply::Deny));
    ctrl(&mut state, 'c');
    later(&mut state, 1000);
    ask(&mut state, question());
    tell(&mut state, ChatUpdate::Settled("ask-1".to_owned()));
    assert!(!picture(&state).contains("allow?"));
}

#[test]
fn a_key_meant_for_the_text_does_not_answer_a_question() {
    let mut state = state(80, 20);
    write(&mut state, "m");
    tell(&mut state, ChatUpdate::Asked(question()));
    write(&mut state, "y");
    assert_eq!(state.composer.text(), "my");
    assert!(picture(&state).contains("approval required (Ctrl-Y)"));
    ctrl(&mut state, 'y');
    assert_eq!(press(&mut state, KeyCode::Char('y')), answer(ApprovalReply::Once));
}

#[test]
fn typing_continues_when_a_question_appears() {
    for text in ["yes, but", "so", "no", "hello y"] {
        let mut state = state(80, 20);
        tell(&mut state, ChatUpdate::Asked(question()));
        later(&mut state, 400);
        write(&mut state, text);
        assert_eq!(state.composer.text(), text);
        assert!(!state.questions.is_empty());
    }
    // Text that was written and deleted again counts as typing.
    let mut state = state(80, 20);
    write(&mut state, "m");
    press(&mut state, KeyCode::Backspace);
    later(&mut state, 900);
    tell(&mut state, ChatUpdate::Asked(question()));
    later(&mut state, 600);
    write(&mut state, "y");
    assert_eq!(state.composer.text(), "y");
}

#[test]
fn letters_inside_a_typed_word_are_not_an_answer() {
    let mut state = state(80, 20);
    ask(&mut state, question());
    write(&mut state, "wait, yes");
    assert_eq!(state.composer.text(), "wait, yes");
    assert!(!state.questions.is_empty());
}

#[test]
fn an_answer_is_a_single_key_without_modifiers() {
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
    assert_eq!(press(&mut state, KeyCode::Char('y')), answer(ApprovalReply::Once));
    for _ in 0..5 {
        assert_eq!(press(&mut state, KeyCode::Char('y')), [], "a double tap, or a key held down");
        later(&mut state, 300);
    }
    assert_eq!(state.composer.text(), "", "the key is not inserted into the input");
    later(&mut state, 500);
    let second = [Effect::Order(ChatOrder::Answer("ask-2".to_owned(), ApprovalReply::Once))];
    assert_eq!(press(&mut state, KeyCode::Char('y')), second);
    // The first question is answered elsewhere at the moment of the key.
    ask(&mut state, question());
    ask(&mut state, question_of("ask-2"));
    tell(&mut state, ChatUpdate::Settled("ask-1".to_owned()));
    assert_eq!(press(&mut state, KeyCode::Char('y')), []);
}

#[test]
fn the_title_asks_only_while_answers_are_accepted() {
    let mut state = state(80, 20);
    tell(&mut state, ChatUpdate::Asked(question()));
    assert!(!picture(&state).contains("allow?"));
    assert!(state.ticks().is_some(), "ticks are needed until answers are accepted");
    later(&mut state, 500);
    assert!(picture(&state).contains("allow?"));
    assert!(state.ticks().is_none());
}

#[test]
fn a_question_can_be_answered_after_the_clock_was_set_back() {
    let mut state = state(80, 20);
    tell(&mut state, ChatUpdate::Asked(question()));
    later(&mut state, -3_600_000);
    assert_eq!(press(&mut state, KeyCode::Char('y')), answer(ApprovalReply::Once));
}

#[test]
fn a_long_request_must_be_scrolled_to_its_end_before_approval() {
    for last in [KeyCode::End, KeyCode::PageDown, KeyCode::Down] {
        let mut state = state(60, 16);
        ask(&mut state, long_question(40));
        assert!(picture(&state).contains("lines 1 to 8 of 40"), "{}", picture(&state));
        assert_eq!(press(&mut state, KeyCode::Char('y')), [], "its end was not shown");
        assert_eq!(press(&mut state, KeyCode::Char('s')), []);
        for _ in 0..40 {
            press(&mut state, last);
        }
        assert!(picture(&state).contains("echo line-40"), "{}", picture(&state));
        press(&mut state, KeyCode::Home);
        assert!(picture(&state).contains("echo line-1 "), "{}", picture(&state));
        assert_eq!(press(&mut state, KeyCode::Char('y')), answer(ApprovalReply::Once));
    }
    let mut state = state(60, 16);
    ask(&mut state, long_question(40));
    assert_eq!(
        press(&mut state, KeyCode::Char('n')),
        answer(ApprovalReply::Deny),
        "a denial needs no scrolling"
    );
}

#[test]
fn a_narrower_screen_requires_reading_again() {
    let mut state = state(80, 12);
    let line = format!("  echo {}", "word ".repeat(60));
    ask(&mut state, OpenRequest { lines: vec![line], ..question() });
    assert!(picture(&state).contains("y  yes\u{20}"), "{}", picture(&state));
    update(&mut state, Input::Resized(20, 12));
    assert_eq!(press(&mut state, KeyCode::Char('y')), []);
    press(&mut state, KeyCode::End);
    assert_eq!(press(&mut state, KeyCode::Char('y')), [], "End does not skip lines that were not shown");
    for _ in 0..20 {
        press(&mut state, KeyCode::PageDown);
    }
    assert_eq!(press(&mut state, KeyCode::Char('y')), answer(ApprovalReply::Once));
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
fn a_low_screen_shows_a_part_of_the_question() {
    let mut state = state(60, 7);
    ask(&mut state, question());
    for line in ["Command requires approval:", "rm -rf build", "n no"] {
        assert!(picture(&state).contains(line), "{}", picture(&state));
    }
}

#[test]
fn pasted_text_goes_into_the_input_field_even_if_a_dialog_is_open() {
    let mut state = state(80, 20);
    ask(&mut state, question());
    update(&mut state, Input::Paste("y".to_owned()));
    assert_eq!(state.composer.text(), "y");
    assert!(!state.questions.is_empty(), "pasted text is no answer");
    press(&mut state, KeyCode::Backspace);
    ctrl(&mut state, 'b');
    update(&mut state, Input::Paste("kk".to_owned()));
    assert_eq!(state.composer.text(), "kk");
}

#[test]
fn hidden_characters_in_a_request_are_made_visible() {
    let mut state = state(80, 20);
    let line = "  rm \u{202e}txt.x \u{200b}\x1b[2K".to_owned();
    ask(&mut state, OpenRequest { lines: vec![line], ..question() });
    let shown = picture(&state);
    assert!(shown.contains("rm \\u{202e}txt.x \\u{200b}\\u{1b}[2K"), "{shown}");
}

#[test]
fn a_new_question_shows_questions_that_were_set_aside() {
    let mut state = state(80, 20);
    ask(&mut state, question());
    press(&mut state, KeyCode::Esc);
    assert!(!picture(&state).contains("allow?"));
    ask(&mut state, question_of("ask-2"));
    assert!(picture(&state).contains("allow? (1 of 2)"), "{}", picture(&state));
}

#[test]
fn a_denial_can_be_explained() {
    let mut state = state(80, 20);
    ask(&mut state, question());
    assert!(picture(&state).contains("b  no, because …"), "{}", picture(&state));
    assert_eq!(press(&mut state, KeyCode::Char('b')), answer(ApprovalReply::Deny));
    write(&mut state, "it is in use");
    let text = "No, because it is in use".to_owned();
    assert_eq!(press(&mut state, KeyCode::Enter), [Effect::Order(ChatOrder::Say(text))]);
}
