//! Adds the notifications of a session to its conversation.

use mw_model::{NoticeKind, Status};

use super::agent::Agent;
use super::conversation::Block;
use super::session::AcpSession;
use crate::delivery::deliveries::{Drained, Notification};
use crate::delivery::receipts::Receipt;
use mw_tools::call::{Over, StartedTask};

/// Notifications that were not delivered yet.
#[derive(Default)]
pub(super) struct Notices {
    pub(super) blocks: Vec<Block>,
    /// The end of the task that the reply has just started, if it has already ended.
    pub(super) over: Option<(Over, Status)>,
}

/// Takes the notifications of the session, except those that the conversation or the reply already contains.
pub(super) async fn take(
    agent: &Agent,
    session: &AcpSession,
    known: impl Fn(i64) -> bool,
    receipt: &mut Option<Receipt>,
    started: Option<&StartedTask>,
) -> Notices {
    let Drained { held, notices, left, .. } =
        agent.deliveries.drain(&session.call_settings.session.as_str().into(), &[]).await;
    if held.is_none() {
        return Notices::default();
    }
    let reported = receipt.as_ref().map(|receipt| receipt.reported_ends.clone()).unwrap_or_default();
    let is_reported = |one: &Notification| one.notice.is_ending() && reported.contains(&one.notice.task);
    let new = notices.into_iter().filter(|one| !is_reported(one)).filter(|one| !known(one.notice.number));
    let mut over = None;
    let new = new.inspect(|one| {
        if let (Some(end), NoticeKind::Ended { cause }) =
            (started.and_then(|started| started.over(&one.notice)), &one.notice.kind)
        {
            over = Some((end, cause.status()));
        }
    });
    let block = |one: Notification| Block {
        number: one.notice.number,
        // The model should read about the start of a task before its end.
        after: started.is_some_and(|started| started.is_of(&one.notice)),
        text: one.block,
    };
    let mut blocks: Vec<_> = new.map(block).collect();
    if left > 0 {
        let text = format!("[{left} more notifications follow with the next reply]");
        blocks.push(Block { number: 0, text, after: false });
    }
    match receipt {
        Some(receipt) => receipt.notices = held,
        None => {
            let mut new = Receipt::new(session.home.clone(), agent.calls.begin().await);
            new.notices = held;
            *receipt = Some(new);
        }
    }
    Notices { blocks, over }
}
