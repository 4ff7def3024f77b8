//! Tests pictures of the screen at several sizes.

use insta::assert_snapshot;
use ratatui::backend::Backend;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::*;
use crate::screen::Link;

fn after_talk(width: u16, height: u16) -> State {
    let mut state = state(width, height);
    talk().into_iter().for_each(|one| entry(&mut state, one));
    state
}

#[test]
fn a_conversation_is_drawn() {
    assert_snapshot!("talk_80x24", picture(&after_talk(80, 24)));
    assert_snapshot!("talk_40x12", picture(&after_talk(40, 12)));
}

#[test]
fn an_unfolded_conversation_is_drawn() {
    let mut state = after_talk(70, 30);
    ctrl(&mut state, 'o');
    assert_snapshot!("unfolded_70x30", picture(&state));
}

#[test]
fn the_dialogs_are_drawn() {
    let mut state = after_talk(80, 20);
    let tasks = vec![task("bash_1", "cargo test --workspace", false), task("bash_2", "sleep 600", true)];
    tell(&mut state, ChatUpdate::Tasks(tasks));
    tell(&mut state, ChatUpdate::Agent(AgentState::Busy));
    ctrl(&mut state, 'b');
    assert_snapshot!("tasks_80x20", picture(&state));
    press(&mut state, KeyCode::Esc);
    ctrl(&mut state, 'k');
    assert_snapshot!("cancel_80x20", picture(&state));
    press(&mut state, KeyCode::Esc);
    ctrl(&mut state, 'c');
    assert_snapshot!("leave_80x20", picture(&state));
    press(&mut state, KeyCode::Char('n'));
    ask(&mut state, question());
    assert_snapshot!("question_80x20", picture(&state));
}

#[test]
fn a_question_longer_than_the_screen_is_drawn() {
    let mut state = after_talk(80, 20);
    let lines = (1..=40).map(|line| format!("  echo step-{line}")).collect();
    ask(&mut state, OpenRequest { lines, ..question() });
    press(&mut state, KeyCode::Down);
    assert_snapshot!("long_question_80x20", picture(&state));
}

#[test]
fn a_table_and_a_diff_with_two_changes_are_drawn() {
    let mut state = state(60, 30);
    let text = "| test | took |\n|---|--:|\n| `rounds_to_cents` | 4 ms |\n| adds \u{26a0}\u{fe0f} | 12 ms |";
    entry(&mut state, ChatEntry::Said { text: text.to_owned() });
    let old: Vec<_> = (1..=20).map(|line| format!("line {line}")).collect();
    let new = old.join("\n").replace("line 3\n", "line three\n").replace("line 18\n", "");
    let diff = ToolContent::Diff { path: "src/money.rs".to_owned(), old: old.join("\n"), new };
    entry(&mut state, tool("call-2", "edit src/money.rs", ToolState::Done, vec![diff]));
    ctrl(&mut state, 'o');
    assert_snapshot!("table_and_diff_60x30", picture(&state));
}

#[test]
fn an_input_of_several_lines_is_drawn() {
    let mut state = after_talk(40, 12);
    update(&mut state, Input::Paste("one\ntwo 日本語\nthree".to_owned()));
    assert_snapshot!("composer_40x12", picture(&state));
}

#[test]
fn the_screen_can_be_drawn_at_any_size() {
    for width in 0..30 {
        for height in 0..10 {
            let mut empty = state(width, height);
            picture(&empty);
            tell(&mut empty, ChatUpdate::Failed("it failed".to_owned()));
            picture(&empty);
            let mut state = after_talk(width, height);
            tell(&mut state, ChatUpdate::Tasks(vec![task("bash_1", "a command", false)]));
            picture(&state);
            ctrl(&mut state, 'b');
            picture(&state);
            press(&mut state, KeyCode::Esc);
            ctrl(&mut state, 'k');
            picture(&state);
            press(&mut state, KeyCode::Esc);
            ctrl(&mut state, 'c');
            picture(&state);
            press(&mut state, KeyCode::Esc);
            ask(&mut state, question());
            picture(&state);
        }
    }
}

/// Draws like the terminal: the changed cells, and the links over them.
fn draw_with_links(terminal: &mut Terminal<TestBackend>, state: &State) -> Vec<Link> {
    let mut links = Vec::new();
    terminal.draw(|frame| links = view(state, frame)).unwrap();
    for link in &links {
        let area =
            Rect::new(link.x, link.y, unicode_width::UnicodeWidthStr::width(link.text.as_str()) as u16, 1);
        let mut written = Buffer::empty(area);
        written.set_string(link.x, link.y, &link.text, link.style);
        let cells = area.positions().map(|at| (at.x, at.y, &written[at]));
        terminal.backend_mut().draw(cells).unwrap();
    }
    links
}

#[test]
fn closing_the_task_list_restores_the_screen() {
    for width in [10, 24, 40, 41, 60] {
        let mut state = after_talk(width, 10);
        let long = |name: &str| ChatTask {
            log: format!("/home/somebody/.local/state/tasks/bash-{name}/output.log"),
            ..task(name, "sleep 40; echo a", false)
        };
        tell(&mut state, ChatUpdate::Tasks(["bash_1", "bash_2", "bash_3", "bash_22"].map(long).to_vec()));
        let mut terminal = Terminal::new(TestBackend::new(width, 10)).unwrap();
        draw_with_links(&mut terminal, &state);
        let before = terminal.backend().buffer().clone();
        ctrl(&mut state, 'b');
        let mut has_linked = false;
        for _ in 0..5 {
            has_linked |= !draw_with_links(&mut terminal, &state).is_empty();
            press(&mut state, KeyCode::Down);
        }
        assert!(has_linked || width < 24, "a log is a link at {width}");
        press(&mut state, KeyCode::Esc);
        draw_with_links(&mut terminal, &state);
        terminal.backend().assert_buffer(&before);
    }
}

#[test]
fn a_link_is_written_only_over_its_visible_text() {
    // At one of these heights, the last visible line is a path, and the number of hidden lines covers its end.
    let mut is_covered = false;
    for height in 10..13 {
        let mut state = state(78, height);
        for number in 0..20 {
            entry(&mut state, notice(number, 0));
        }
        press(&mut state, KeyCode::PageUp);
        let mut terminal = Terminal::new(TestBackend::new(78, height)).unwrap();
        let links = draw_with_links(&mut terminal, &state);
        let picture = picture(&state);
        let below = picture.lines().find(|line| line.contains("below")).unwrap();
        is_covered |= below.contains("/state/tasks");
        let whole = picture.lines().filter(|line| line.contains("output.log") && !line.contains("below"));
        assert_eq!(links.len(), whole.count(), "{picture}");
    }
    assert!(is_covered);
}
