//! Pairs of commands for one task or session, at the same time.

use std::thread;

use super::Stage;
use crate::lab::random::Random;

const COMMANDS: [&str; 4] = ["restart", "clear", "kill", "wait"];

/// Runs two commands for one task at once. Sometimes it ends the session instead, while a task of it is restarted.
pub(super) fn race(stage: &Stage<'_>, session: &str, random: &mut Random) {
    let known = stage.started(session);
    let recent = &known[known.len().saturating_sub(12)..];
    let Some((key, id)) = random.pick(recent).cloned() else { return };
    let (Some(first), Some(second)) = (random.pick(&COMMANDS), random.pick(&COMMANDS)) else { return };
    let ends_session = random.chance(4);
    let words = [words(stage, first, &key, &id, random), words(stage, second, &key, &id, random)];
    stage.book.actions().races += 1;
    thread::scope(|scope| {
        if ends_session {
            stage.book.actions().ended_sessions.insert(session.to_owned());
            scope.spawn(|| stage.mw(None, &["session", "end", session]));
        }
        for words in &words {
            scope.spawn(|| stage.mw(None, words));
        }
    });
}

/// Notes a request, and returns its words.
fn words(stage: &Stage<'_>, command: &str, key: &str, id: &str, random: &mut Random) -> Vec<String> {
    let mut actions = stage.book.actions();
    let options: &[&str] = match command {
        "restart" => {
            *actions.restarts.entry(key.to_owned()).or_default() += 1;
            &[]
        }
        "clear" => {
            actions.clears.insert(key.to_owned());
            if random.chance(50) { &["--kill"] } else { &[] }
        }
        "kill" => {
            actions.kills.insert(key.to_owned());
            &["--grace", "100ms"]
        }
        _ => &["--timeout", "1s"],
    };
    let words = [&[command], options, &[id]].concat();
    words.into_iter().map(str::to_owned).collect()
}
