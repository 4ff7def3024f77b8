//! Tests how entries become a conversation.

use super::*;

fn said(text: &str) -> ChatEntry {
    ChatEntry::Said { text: text.to_owned() }
}

fn over(early: Option<&str>) -> ChatEntry {
    ChatEntry::TurnEnded { early: early.map(str::to_owned) }
}

fn shown_after(state: &mut State, entries: impl IntoIterator<Item = ChatEntry>) -> String {
    entries.into_iter().for_each(|one| entry(state, one));
    picture(state)
}

#[test]
fn a_replay_looks_like_the_live_conversation() {
    let mut live = state(60, 40);
    for one in talk() {
        entry(&mut live, one);
        picture(&live);
    }
    // After a restart the entries come from a file, all at once, and are drawn once.
    let kept: Vec<String> = talk().iter().map(|one| serde_json::to_string(one).unwrap()).collect();
    let mut again = state(60, 40);
    for line in &kept {
        let one = serde_json::from_str(line).unwrap();
        assert_eq!(update(&mut again, Input::Event(ChatUpdate::Entry(one).into())), []);
    }
    update(&mut again, Input::Event(ChatUpdate::Replayed.into()));
    again.lay_out_stale();
    assert_eq!(picture(&again), picture(&live));
    let banners = |text: &str| text.matches("⌁ bash_1 exited (101) · 4.2s ·").count();
    assert_eq!(banners(&picture(&again)), 1, "the notification is shown once");
}

#[test]
fn a_notification_during_a_sentence_is_shown_below_it() {
    let mut state = state(60, 20);
    [said("It"), notice(7, 3), said(" runs.")].into_iter().for_each(|one| entry(&mut state, one));
    let shown = picture(&state);
    assert!(shown.find("It runs.") < shown.find("⌁ bash_1"), "{shown}");
    assert!(shown.contains("It runs."), "{shown}");
    // A turn that the notification begins is placed below it.
    entry(&mut state, ChatEntry::TurnEnded { early: None });
    entry(&mut state, ChatEntry::Delivered { numbers: vec![7] });
    entry(&mut state, said("I see."));
    let shown = picture(&state);
    assert!(shown.find("⌁ bash_1") < shown.find("I see."), "{shown}");
}

#[test]
fn entries_of_the_chat_do_not_split_an_answer() {
    let text = |text: &str| text.to_owned();
    let between = [
        ChatEntry::Command { text: text("/tasks") },
        ChatEntry::Printed { text: text("No background tasks.") },
        ChatEntry::Answered { what: text("rm x"), reply: ApprovalReply::Once },
        ChatEntry::Mode { mode: text("plan") },
        ChatEntry::Note { text: text("a note") },
        notice(7, 0),
    ];
    for one in between {
        let mut state = state(60, 20);
        entry(&mut state, ChatEntry::Mode { mode: text("safe") });
        let shown = shown_after(&mut state, [said("```\nlet a"), one.clone(), said(" = 1;\n```\n**end**")]);
        assert!(shown.contains("let a = 1;") && shown.contains("\n end"), "{one:?}\n{shown}");
    }
}

#[test]
fn an_unfinished_call_counts_as_stopped_after_its_turn() {
    for end in [over(None), over(Some("stopped")), ChatEntry::Opened { agent: "mw".into(), cwd: "/".into() }]
    {
        let mut state = state(60, 20);
        let running = tool("call-1", "sleep 600", ToolState::Running, Vec::new());
        assert!(shown_after(&mut state, [running]).contains("◐ sleep 600"));
        let shown = shown_after(&mut state, [end]);
        assert!(shown.contains("■ sleep 600"), "{shown}");
    }
}

#[test]
fn call_ids_are_unique_only_within_a_turn() {
    let mut state = state(60, 20);
    let first = tool("1", "first", ToolState::Done, Vec::new());
    let second = tool("1", "second", ToolState::Failed, Vec::new());
    let shown =
        shown_after(&mut state, [first, over(None), ChatEntry::Delivered { numbers: vec![7] }, second]);
    assert!(shown.contains("✓ first") && shown.contains("✗ second"), "{shown}");
    // Updates that arrive after the turn still find their call.
    let late = ChatEntry::Tool(ToolUpdate {
        id: "1".to_owned(),
        state: Some(ToolState::Done),
        ..ToolUpdate::default()
    });
    let shown = shown_after(&mut state, [over(None), late]);
    assert!(shown.contains("✓ second"), "{shown}");
}

#[test]
fn a_changed_plan_is_shown_once_per_turn() {
    let mut state = state(60, 20);
    let plan = |how: &str| ChatEntry::Plan { steps: vec![("a step".to_owned(), how.to_owned())] };
    let shown = shown_after(&mut state, [plan("pending"), said("On it."), plan("completed")]);
    assert_eq!(shown.matches("a step").count(), 1, "{shown}");
    assert!(shown.contains("☑ a step"), "{shown}");
    let shown = shown_after(&mut state, [over(None), plan("pending")]);
    assert_eq!(shown.matches("a step").count(), 2, "{shown}");
}

#[test]
fn huge_results_are_counted_completely_and_shown_partly() {
    let mut state = state(60, 400);
    let text = |text: String| vec![ToolContent::Text { text }];
    entry(&mut state, tool("1", "many lines", ToolState::Done, text("x\n".repeat(100_000))));
    entry(&mut state, tool("2", "one line", ToolState::Done, text("x".repeat(3 << 20))));
    assert!(picture(&state).contains("many lines  (100000 lines)"));
    ctrl(&mut state, 'o');
    assert!(state.total_lines() < 2000, "{}", state.total_lines());
    let all: Vec<String> = state.items.iter().flat_map(|item| &item.lines).map(ToString::to_string).collect();
    assert!(all.contains(&"  … 99800 more lines".to_owned()));
    assert!(all.contains(&"  … 2.9 MiB more of this line".to_owned()), "{:?}", all.last());
}

#[test]
fn an_answer_in_many_pieces_looks_like_the_whole_answer() {
    let (mut pieces, mut whole) = (state(50, 40), state(50, 40));
    let text = "# Title\n\nwords\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```\ncode\n```\nend";
    for c in text.chars() {
        entry(&mut pieces, said(&c.to_string()));
    }
    entry(&mut whole, said(text));
    assert_eq!(picture(&pieces), picture(&whole));
    for size in [(30, 40), (60, 40)] {
        update(&mut pieces, Input::Resized(size.0, size.1));
        update(&mut whole, Input::Resized(size.0, size.1));
        entry(&mut pieces, said("."));
        entry(&mut whole, said("."));
        assert_eq!(picture(&pieces), picture(&whole));
    }
}

#[test]
fn a_notification_has_the_colour_of_its_outcome_and_links_to_the_log() {
    let now = Timestamp::from_micros(NOW);
    let mut state = State::new((90, 20), ThemeChoice::Dark, "chat-0a1b2c3d", "mw", now);
    [notice(7, 0), notice(8, 3)].into_iter().for_each(|one| entry(&mut state, one));
    let mut terminal = Terminal::new(TestBackend::new(90, 20)).unwrap();
    let mut links = Vec::new();
    terminal.draw(|frame| links = view(&state, frame)).unwrap();
    let paths: Vec<_> = links.iter().map(|link| link.path.as_str()).collect();
    assert_eq!(paths, ["/state/tasks/bash-k3f9x2ab/output.log"; 2]);
    let [well, badly] = [links[0].y, links[1].y].map(|y| terminal.backend().buffer()[(1, y)].style());
    assert_ne!(well.fg, badly.fg);
    assert_eq!(badly.fg, state.theme.status(Status::Cancelled).fg);
}

#[test]
fn many_resizes_and_messages_cause_one_draw() {
    let mut state = state(60, 20);
    talk().into_iter().for_each(|one| entry(&mut state, one));
    let before = state.total_lines();
    for width in (20..60).rev() {
        update(&mut state, Input::Resized(width, 20));
        update(&mut state, Input::Event(ChatUpdate::Entry(said("word ")).into()));
    }
    assert_eq!(state.total_lines(), before, "nothing is laid out before it is drawn");
    state.lay_out_stale();
    assert!(state.total_lines() > before);
}

#[test]
fn the_cost_of_a_call_does_not_grow_with_the_turn() {
    let mut state = state(80, 20);
    let begun = std::time::Instant::now();
    for number in 0..50_000 {
        let id = format!("call-{number}");
        update(
            &mut state,
            Input::Event(ChatUpdate::Entry(tool(&id, "look", ToolState::Running, Vec::new())).into()),
        );
        let news = ToolUpdate { id, state: Some(ToolState::Done), ..ToolUpdate::default() };
        update(&mut state, Input::Event(ChatUpdate::Entry(ChatEntry::Tool(news)).into()));
        if number % 100 == 0 {
            let steps = vec![(format!("step {number}"), "pending".to_owned())];
            update(&mut state, Input::Event(ChatUpdate::Entry(ChatEntry::Plan { steps }).into()));
        }
    }
    // With a search through the turn for each call, this takes minutes.
    assert!(begun.elapsed() < std::time::Duration::from_secs(20), "{:?}", begun.elapsed());
    assert_eq!(state.items.len(), 50_001, "one item per call and one plan");
    state.lay_out_stale();
    assert!(picture(&state).contains("✓ look"));
}

#[test]
fn the_marks_of_calls_say_how_they_ended() {
    let mut state = state(80, 24);
    let text = |text: &str| vec![ToolContent::Text { text: text.to_owned() }];
    let diff = ToolContent::Diff {
        path: "a.rs".to_owned(),
        old: "let a = 1;\n".to_owned(),
        new: "let a = 2;\n".to_owned(),
    };
    entry(&mut state, tool("1", "exit 7", ToolState::Failed, text("out\n[exited 7]")));
    entry(&mut state, tool("2", "in the background as bash_1: cargo test", ToolState::Done, text("started")));
    entry(&mut state, tool("3", "Edit a.rs", ToolState::Done, vec![diff]));
    let shown = picture(&state);
    assert!(shown.contains("✗ exit 7  [exited 7]"), "{shown}");
    assert!(shown.contains("⌁ in the background as bash_1: cargo test"), "{shown}");
    assert!(shown.contains("- let a = 1;") && shown.contains("+ let a = 2;"), "a diff is open: {shown}");
}
