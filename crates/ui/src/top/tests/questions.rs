//! Tests confirmation questions and their answers.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use meanwhile::model::Timestamp;
use mw_desk::OpenRequest;
use mw_desk::action::{ApprovalReply, Force, Removal, TaskAction};
use mw_desk::query::Query;

use super::{Desk, NOW, key, open_request};
use crate::screen::{Input, TerminalRequest};
use crate::top::effect::{Effect, Lookup};
use crate::top::event::Event;

#[test]
fn a_kill_asks_first_and_shows_its_receipt() {
    let mut desk = Desk::with_tasks(80, 24);
    desk.press("jx");
    assert_eq!(desk.effects, []);
    desk.press("y");
    assert!(
        desk.effects.contains(&Effect::Do(TaskAction::Kill(vec!["bash-00000002".to_owned()], Force::Term)))
    );
    let receipt = "bash-00000002 cancelled: SIGTERM to 2 processes, 11 ms";
    desk.take(Event::Done(vec![receipt.to_owned()]));
    assert!(desk.drawn().contains(receipt));
    desk.press("x9");
    assert!(
        desk.effects.contains(&Effect::Do(TaskAction::Kill(vec!["bash-00000002".to_owned()], Force::Kill)))
    );
    desk.press("xn");
    assert_eq!(desk.effects, []);
}

#[test]
fn a_receipt_is_shown_whole_and_again_in_the_message_list() {
    let mut desk = Desk::with_tasks(80, 24);
    let lines = [
        "bash-00000002 cancelled: SIGTERM, SIGKILL to 14 processes, 5034 ms",
        "  still alive: 4711 /usr/bin/python3 -m http.server --directory /srv/data 8000",
        "  still alive: 4712 /usr/lib/postgresql/bin/postgres -D /var/lib/postgres -c config_file=/etc/p.conf",
    ];
    desk.take(Event::Done(lines.map(str::to_owned).to_vec()));
    let is_whole = |drawn: &str| {
        [
            "SIGTERM, SIGKILL to 14 processes",
            "4711 /usr/bin/python3",
            "4712 /usr/lib/postgresql",
            "/etc/p.conf",
        ]
        .iter()
        .all(|part| drawn.contains(part))
    };
    assert!(is_whole(&desk.drawn()), "{}", desk.drawn());
    desk.press("j");
    assert!(!is_whole(&desk.drawn()));
    desk.press("M");
    assert!(is_whole(&desk.drawn()), "{}", desk.drawn());
    desk.press("q");
    assert_eq!(desk.effects, []);
    // If not all lines fit, the screen says so.
    let many = (0..40).map(|at| format!("kept bash-{at}: running")).collect();
    desk.take(Event::Done(many));
    assert!(desk.drawn().contains("33 lines more: M shows all"), "{}", desk.drawn());
}

#[test]
fn open_approval_requests_are_counted_shown_and_answered() {
    let mut desk = Desk::with_tasks(80, 24);
    desk.press("A");
    assert_eq!(desk.effects, []);
    let lines =
        ["Command requires approval:", "  rm -rf build", "", "deletes files"].map(str::to_owned).to_vec();
    let asked = open_request("ask-k3f9x2ab", lines);
    desk.take(Event::Asked(vec![asked.clone()]));
    assert!(desk.drawn().contains("1 approval required: A"));
    for (key, reply) in
        [("y", ApprovalReply::Once), ("s", ApprovalReply::Session), ("n", ApprovalReply::Deny)]
    {
        desk.press("A");
        assert!(desk.drawn().contains("rm -rf build"));
        // Enter does not approve.
        desk.take(super::key(KeyCode::Enter));
        assert_eq!(desk.effects, []);
        desk.press(key);
        assert_eq!(desk.effects, [Effect::Do(TaskAction::Answer("ask-k3f9x2ab".to_owned(), reply))]);
        desk.take(Event::Asked(vec![asked.clone()]));
    }
    desk.press("A");
    desk.take(key(KeyCode::Esc));
    assert_eq!(desk.effects, []);
    desk.take(Event::Asked(Vec::new()));
    assert!(!desk.drawn().contains("approval"));
}

#[test]
fn a_request_answered_elsewhere_closes_and_shows_the_answer() {
    let mut desk = Desk::with_tasks(80, 24);
    let asked = |id: &str| open_request(id, vec![format!("the matter of {id}")]);
    desk.take(Event::Asked(vec![asked("ask-one"), asked("ask-two")]));
    desk.press("A");
    desk.take(Event::Asked(vec![asked("ask-one")]));
    assert!(desk.drawn().contains("the matter of ask-one"), "{}", desk.drawn());
    desk.take(Event::Asked(vec![asked("ask-two")]));
    assert_eq!(desk.effects, [Effect::Find(Lookup::Outcome("ask-one".to_owned()))]);
    assert!(!desk.drawn().contains("the matter of"), "{}", desk.drawn());
    assert!(desk.take_changed());
    desk.take(Event::AnsweredElsewhere("ask-one was denied by mw deny".to_owned()));
    assert!(desk.drawn().contains("ask-one was denied by mw deny"), "{}", desk.drawn());
    // A question about a kill is not closed by answers from elsewhere.
    desk.press("x");
    desk.take(Event::Asked(Vec::new()));
    assert!(desk.drawn().contains("Kill "), "{}", desk.drawn());
}

/// Shows a question of forty lines with its answers.
fn long_question(desk: &mut Desk) {
    let asked = (0..40).map(|at| format!("line {at}"));
    let lines = asked.chain([String::new(), "Start in background? [y/n]".to_owned()]).collect();
    desk.take(Event::Asked(vec![open_request("ask-k3f9x2ab", lines)]));
    desk.press("A");
}

#[test]
fn approval_is_accepted_after_the_whole_request_was_visible() {
    let answered = |desk: &Desk| !desk.effects.is_empty();
    for (width, height) in [(40, 10), (80, 24), (30, 6)] {
        let mut desk = Desk::with_tasks(width, height);
        long_question(&mut desk);
        let mut seen = String::new();
        while ["line more", "lines more"].iter().any(|more| desk.drawn().contains(more)) {
            seen += &desk.drawn();
            desk.press("y");
            assert!(!answered(&desk), "approved at\n{}", desk.drawn());
            desk.press("s");
            assert!(!answered(&desk), "approved at\n{}", desk.drawn());
            desk.take(key(KeyCode::PageDown));
        }
        // Fast scrolling does not skip lines.
        for at in 0..40 {
            assert!((seen.clone() + &desk.drawn()).contains(&format!("line {at}")), "line {at}: {seen}");
        }
        assert!(desk.drawn().contains("y yes"), "{}", desk.drawn());
        desk.press("y");
        assert_eq!(
            desk.effects,
            [Effect::Do(TaskAction::Answer("ask-k3f9x2ab".to_owned(), ApprovalReply::Once))]
        );
    }
}

#[test]
fn denial_is_always_accepted_and_a_resize_requires_reading_again() {
    let mut desk = Desk::with_tasks(80, 24);
    long_question(&mut desk);
    for _ in 0..9 {
        desk.take(key(KeyCode::PageDown));
    }
    desk.take(Input::Resized(40, 12));
    desk.press("y");
    assert_eq!(desk.effects, []);
    desk.press("n");
    assert_eq!(
        desk.effects,
        [Effect::Do(TaskAction::Answer("ask-k3f9x2ab".to_owned(), ApprovalReply::Deny))]
    );
}

#[test]
fn every_request_is_reachable_and_an_answered_one_disappears_at_once() {
    let mut desk = Desk::with_tasks(80, 24);
    let asked = |id: &str| open_request(id, vec![format!("run {id}?")]);
    desk.take(Event::Asked(vec![asked("ask-one"), asked("ask-two")]));
    desk.press("A");
    assert!(desk.drawn().contains("run ask-one?") && desk.drawn().contains("1 of 2"));
    desk.take(key(KeyCode::Right));
    assert!(desk.drawn().contains("run ask-two?"), "{}", desk.drawn());
    desk.press("y");
    assert_eq!(desk.effects, [Effect::Do(TaskAction::Answer("ask-two".to_owned(), ApprovalReply::Once))]);
    assert!(desk.drawn().contains("1 approval required"));
    desk.press("A");
    assert!(desk.drawn().contains("run ask-one?"));
}

#[test]
fn a_key_with_ctrl_or_alt_is_not_an_answer() {
    let with = |code, modifiers| Input::Key(KeyEvent::new(KeyCode::Char(code), modifiers));
    for modifiers in [KeyModifiers::CONTROL, KeyModifiers::ALT, KeyModifiers::SUPER] {
        let mut desk = Desk::with_tasks(80, 24);
        let lines = vec!["rm -rf build".to_owned()];
        desk.take(Event::Asked(vec![open_request("ask-k3f9x2ab", lines)]));
        desk.press("A");
        for letter in ['y', 's', 'n'] {
            desk.take(with(letter, modifiers));
            assert_eq!(desk.effects, [], "{modifiers} {letter}");
            assert!(desk.drawn().contains("rm -rf build"));
        }
        let mut desk = Desk::with_tasks(80, 24);
        desk.press("Gc");
        desk.take(with('y', modifiers));
        assert_eq!(desk.effects, []);
        let mut desk = Desk::with_tasks(80, 24);
        desk.press("/");
        desk.take(with('y', modifiers));
        assert_eq!(desk.state.list.query.text, "");
    }
}

#[test]
fn a_window_that_is_too_small_accepts_no_actions() {
    for keys in ["xy", "x9", "Cy", "Gr", "Gcy", "a", "e", "Ay", "ihello"] {
        let mut desk = Desk::with_tasks(80, 24);
        let lines = vec!["rm -rf build".to_owned()];
        desk.take(Event::Asked(vec![open_request("ask-k3f9x2ab", lines)]));
        desk.take(Input::Resized(20, 4));
        for c in keys.chars() {
            desk.press(&c.to_string());
            assert_eq!(desk.effects, [], "{keys} at {c}");
            desk.take(key(KeyCode::Enter));
            assert_eq!(desk.effects, [], "{keys} at {c}, Enter");
        }
        desk.take(Input::Resized(80, 24));
        assert!(!desk.drawn().contains("really") && !desk.drawn().contains("?\n"), "{keys}");
        desk.take(Input::Resized(20, 4));
        desk.press("q");
        assert_eq!(desk.effects, [Effect::Screen(TerminalRequest::Quit)]);
    }
}

#[test]
fn a_question_names_its_task_at_every_size() {
    for (width, height) in [(30, 6), (30, 7), (40, 8), (80, 24)] {
        let mut desk = Desk::with_tasks(width, height);
        desk.press("x");
        let drawn = desk.drawn();
        let is_whole =
            drawn.contains("Kill bash-00000001") && drawn.contains("n no") | drawn.contains("n  no");
        assert!(is_whole && !drawn.contains("mw approvals"), "{width}x{height}:\n{drawn}");
    }
}

#[test]
fn a_restart_asks_before_it_kills_surviving_processes() {
    let mut desk = Desk::with_tasks(80, 24);
    desk.press("jjjjjr");
    assert_eq!(desk.effects, []);
    assert!(
        desk.drawn().contains("2 of its processes are still alive. Kill them and restart bash-00000006?")
    );
    desk.press("y");
    assert!(desk.effects.contains(&Effect::Do(TaskAction::Restart(vec!["bash-00000006".to_owned()]))));
}

#[test]
fn an_impossible_action_is_reported_without_a_question() {
    let mut desk = Desk::with_tasks(80, 24);
    desk.press("c");
    assert!(desk.drawn().contains("bash-00000001 is live and cannot be removed; press x to kill it"));
    desk.press("jjjx");
    assert!(desk.drawn().contains("bash-00000004 has ended; no processes left to kill"));
    desk.press("y");
    assert!(!desk.effects.iter().any(|effect| matches!(effect, Effect::Do(_))));
}

#[test]
fn a_removal_requires_y() {
    let mut desk = Desk::with_tasks(80, 24);
    desk.press("jjjc");
    desk.take(key(KeyCode::Enter));
    assert_eq!(desk.effects, []);
    desk.press("y");
    assert!(
        desk.effects
            .contains(&Effect::Do(TaskAction::Clear(Removal::These(vec!["bash-00000004".to_owned()]))))
    );
    desk.press("Cy");
    assert!(desk.effects.contains(&Effect::Do(TaskAction::Clear(Removal::Ended(Query::default())))));
}

#[test]
fn an_ended_task_restarts_at_once_and_a_live_one_after_confirmation() {
    let mut desk = Desk::with_tasks(80, 24);
    desk.press("r");
    assert_eq!(desk.effects, []);
    desk.press("y");
    assert!(desk.effects.contains(&Effect::Do(TaskAction::Restart(vec!["bash-00000001".to_owned()]))));
    desk.press("jjjr");
    assert!(desk.effects.contains(&Effect::Do(TaskAction::Restart(vec!["bash-00000004".to_owned()]))));
}

#[test]
fn open_requests_are_answered_one_after_the_other() {
    let mut desk = Desk::with_tasks(80, 24);
    let at = |millis: i64| Timestamp::from_micros(NOW.as_micros() + millis * 1000);
    let asked = |number: usize| open_request(&format!("ask-{number}"), vec![format!("matter {number}")]);
    desk.state.clock = at(0);
    desk.take(Event::Asked((1..=4).map(asked).collect()));
    desk.press("A");
    for number in 1..=4 {
        assert!(desk.drawn().contains(&format!("matter {number}")), "{}", desk.drawn());
        if number > 1 {
            // A key that was pressed for the previous request is no answer to this one.
            desk.press("y");
            assert_eq!(desk.effects, [], "too early for {number}");
            desk.state.clock = at(number as i64 * 1000);
        }
        desk.press("y");
        let answer = TaskAction::Answer(format!("ask-{number}"), ApprovalReply::Once);
        assert_eq!(desk.effects, [Effect::Do(answer)]);
    }
    assert!(!desk.drawn().contains("approve?"), "{}", desk.drawn());
}

#[test]
fn an_early_yes_is_refused_in_the_dialog_and_end_scrolls_to_its_end() {
    let mut desk = Desk::with_tasks(80, 24);
    long_question(&mut desk);
    desk.press("y");
    assert!(desk.drawn().contains("read to the end first"), "{}", desk.drawn());
    for _ in 0..3 {
        desk.take(key(KeyCode::End));
    }
    assert!(desk.drawn().contains("line 39"), "{}", desk.drawn());
    assert!(!desk.drawn().contains("read to the end"), "{}", desk.drawn());
    desk.press("y");
    assert_eq!(desk.effects.len(), 1);
}

#[test]
fn a_line_announces_approval_requests() {
    let mut desk = Desk::with_tasks(80, 24);
    let request = OpenRequest { what: "rm -rf build".to_owned(), ..open_request("ask-1", Vec::new()) };
    desk.take(Event::Asked(vec![request]));
    let line = desk.drawn().lines().nth(1).unwrap().to_owned();
    assert!(line.contains("1 approval required: A") && line.contains("rm -rf build"), "{line}");
    desk.take(Event::Asked(Vec::new()));
    assert!(desk.drawn().lines().nth(1).unwrap().contains("TASK"));
}
