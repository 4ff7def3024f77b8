//! Looks out for the session: what happens to its tasks, and what is asked on its behalf.

use std::sync::mpsc::Sender;
use std::thread;
use std::time::Duration;

use meanwhile::{Runtime, Scope, Settings};
use mw_model::approval::Proposal;
use mw_model::chat::ChatQuestion;

use super::office::Message;

/// Questions are no events of tasks, so they are looked for.
const LONGEST: Duration = Duration::from_secs(2);

/// Says so whenever something happens, until nobody listens any more.
pub(super) fn start(settings: Settings, session: String, keep: Duration, messages: Sender<Message>) {
    thread::spawn(move || {
        if let Err(error) = watch(settings, &session, keep, &messages) {
            let _ = messages.send(Message::Failed(format!("news do not come any more: {error}")));
        }
    });
}

fn watch(
    settings: Settings,
    session: &str,
    keep: Duration,
    messages: &Sender<Message>,
) -> meanwhile::Result<()> {
    let runtime = Runtime::open(settings)?;
    let mut subscription = runtime.subscribe(Scope::Session(session.to_owned()))?;
    let mut before = Vec::new();
    loop {
        let open = runtime.open_approvals(keep)?.into_iter();
        let ours = open.filter(|entry| entry.proposal.session == session);
        let asked: Vec<_> = ours.map(|entry| question(&entry.proposal)).collect();
        let is_heard = if asked != before {
            before.clone_from(&asked);
            messages.send(Message::Proposed(asked)).is_ok()
        } else {
            true
        };
        let happened = !subscription.next(LONGEST)?.is_empty();
        if !is_heard || messages.send(if happened { Message::Happened } else { Message::Quiet }).is_err() {
            return Ok(());
        }
    }
}

/// Puts a proposal as the screen asks it.
pub(super) fn question(proposal: &Proposal) -> ChatQuestion {
    // What controls a terminal is seen, not obeyed and not hidden: it belongs to what is approved.
    let visible = |c: char| if c.is_control() { c.escape_default().collect() } else { c.to_string() };
    let lines = proposal.question();
    let lines: Vec<String> = lines.lines().map(|line| line.chars().map(visible).collect()).collect();
    let what = proposal.exact().lines().next().unwrap_or_default().chars().take(200).collect();
    ChatQuestion { id: proposal.id.to_string(), what, lines, for_session: true }
}
