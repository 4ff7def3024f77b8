//! The log of the selected task: its parts, and the search in it.

use crossterm::event::KeyCode;
use meanwhile::engine::StreamChoice;
use mw_desk::log_window::LogChunk;

use super::{Desk, key, rows, target};
use crate::screen::Input;
use crate::top::effect::{Direction, Effect, Hunt, Lookup};
use crate::top::event::Event;

#[test]
fn the_log_belongs_to_the_selected_task_and_run() {
    let mut desk = Desk::with_tasks(80, 24);
    assert_eq!(desk.state.log.target, Some(target("bash-00000001")));
    desk.take(Input::Key(crossterm::event::KeyEvent::from(KeyCode::Down)));
    assert!(desk.effects.contains(&Effect::Follow(Some(target("bash-00000002")))));
    let late = LogChunk::of_text("late", 0, 4);
    desk.take(Event::Read(target("bash-00000001"), late));
    assert!(!desk.drawn().contains("late"));
    desk.press("o");
    assert_eq!(desk.state.log.target.as_ref().map(|target| target.stream), Some(StreamChoice::Stdout));
    let mut again = rows();
    again[1].run = 2;
    desk.list(again);
    assert_eq!(desk.state.log.target.as_ref().map(|target| target.run), Some(2));
    desk.press("2");
    assert!(desk.effects.contains(&Effect::Follow(None)));
}

#[test]
fn scrolling_up_in_a_log_reads_earlier_parts() {
    let mut desk = Desk::with_tasks(80, 24);
    let text = "line\n".repeat(100);
    let chunk = LogChunk::of_text(text, 5000, 5500);
    desk.take(Event::Read(target("bash-00000001"), chunk));
    desk.take(key(KeyCode::Tab));
    let mut asked = Vec::new();
    for _ in 0..9 {
        desk.take(key(KeyCode::PageUp));
        asked.append(&mut desk.effects);
    }
    assert_eq!(asked, [Effect::Find(Lookup::LogBefore(target("bash-00000001"), 5000))]);
    let earlier = LogChunk { next: 5000, has_later: true, ..LogChunk::of_text("a\nb\n", 0, 5500) };
    desk.take(Event::ReadEarlier(target("bash-00000001"), earlier));
    assert_eq!(desk.state.log.lines.len(), 102);
    desk.press("g");
    assert_eq!(desk.effects, []);
    assert!(desk.drawn().contains("\na\nb\nline"));
}

#[test]
fn returning_to_the_end_of_a_growing_log_reads_it_again() {
    let mut desk = Desk::with_tasks(80, 24);
    let lines: String = (0..100_010).map(|at| format!("{at}\n")).collect();
    desk.print("first\n");
    desk.take(key(KeyCode::Tab));
    desk.press("F");
    desk.print(&lines);
    assert!(desk.drawn().contains("paused, G continues"), "{}", desk.drawn());
    desk.press("G");
    assert!(desk.effects.contains(&Effect::Follow(Some(target("bash-00000001")))), "{:?}", desk.effects);
}

/// Returns a part of a log of a hundred numbered lines for each kilobyte.
fn part(from: u64, text: &str, end: u64) -> LogChunk {
    let has_later = from + (text.len() as u64) < end;
    LogChunk { has_later, ..LogChunk::of_text(text, from, end) }
}

#[test]
fn g_shows_the_beginning_of_the_log_and_scrolling_down_reads_on() {
    let mut desk = Desk::with_tasks(80, 24);
    let of = || target("bash-00000001");
    desk.take(Event::Read(of(), part(9_000, &"late\n".repeat(200), 10_000)));
    desk.take(key(KeyCode::Tab));
    desk.press("g");
    assert_eq!(desk.effects, [Effect::Find(Lookup::LogStart(of()))]);
    desk.press("g");
    assert_eq!(desk.effects, [], "it is requested once");
    let begin = (0..50).map(|at| format!("first {at}\n")).collect::<String>();
    let length = begin.len() as u64;
    desk.take(Event::ReadStart(of(), part(0, &begin, 10_000)));
    assert!(desk.drawn().contains("\nfirst 0\nfirst 1\n"), "{}", desk.drawn());
    // New output does not appear in the middle of the log.
    desk.take(Event::Read(of(), part(10_000, "new\n", 10_004)));
    let mut asked = Vec::new();
    for _ in 0..9 {
        desk.take(key(KeyCode::PageDown));
        asked.append(&mut desk.effects);
    }
    assert_eq!(asked, [Effect::Find(Lookup::LogAfter(of(), length))]);
    assert!(desk.drawn().contains("first 49"), "{}", desk.drawn());
    desk.take(Event::ReadLater(of(), part(length, "second\n", 10_004)));
    desk.take(key(KeyCode::PageDown));
    assert!(desk.drawn().contains("first 49\nsecond"), "{}", desk.drawn());
    desk.press("G");
    assert!(desk.effects.contains(&Effect::Follow(Some(of()))), "the end is read again");
}

#[test]
fn a_search_covers_the_parts_of_the_log_that_are_not_loaded() {
    let mut desk = Desk::with_tasks(80, 24);
    let of = || target("bash-00000001");
    desk.take(Event::Read(of(), part(9_000, &"late\n".repeat(200), 10_000)));
    desk.take(key(KeyCode::Tab));
    desk.press("/needle");
    desk.take(key(KeyCode::Enter));
    let hunt =
        |direction| Hunt { target: of(), text: "needle".to_owned(), direction, loaded: (9_000, 10_000) };
    let backward = hunt(Direction::Backward);
    assert_eq!(desk.effects, [Effect::Search(backward.clone())]);
    desk.take(Event::Searched(backward.clone(), 40));
    assert!(desk.drawn().contains("searching \"needle\": 40 %"), "{}", desk.drawn());
    desk.take(Event::Found(backward, Some(part(500, "a\na needle\nb\n", 10_000))));
    assert!(desk.drawn().contains("a needle\nb"), "{}", desk.drawn());
    assert!(desk.drawn().contains("/needle 1/1+"), "{}", desk.drawn());
    // The next match is searched from there on.
    desk.press("n");
    let forward = Hunt { loaded: (500, 513), ..hunt(Direction::Forward) };
    assert_eq!(desk.effects[0], Effect::Search(forward.clone()));
    desk.take(Event::Found(forward, None));
    assert!(desk.drawn().contains("/needle 1/1+"), "the only match stays");
    desk.take(key(KeyCode::Esc));
    assert_eq!(desk.effects, [Effect::EndSearch]);
    // A result that arrives late changes nothing.
    desk.take(Event::Found(hunt(Direction::Backward), Some(part(0, "needle\n", 10_000))));
    assert!(desk.drawn().contains("a needle\nb"), "{}", desk.drawn());
}

#[test]
fn a_text_that_is_nowhere_in_the_log_is_reported() {
    let mut desk = Desk::with_tasks(80, 24);
    desk.print("one\n");
    desk.take(key(KeyCode::Tab));
    desk.press("/needle");
    desk.take(key(KeyCode::Enter));
    assert!(desk.drawn().ends_with("\"needle\" not found"), "{}", desk.drawn());
}
