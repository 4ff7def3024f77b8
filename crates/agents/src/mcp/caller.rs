//! The client that waits for a call: progress reports, approval requests and cancellation.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use meanwhile::Task;
use meanwhile::engine::AskOutcome;
use mw_model::TaskId;
use mw_model::approval::Proposal;
use rmcp::model::ProgressNotificationParam;
use tokio::runtime::Handle;

use super::elicitation;
use super::recipient::Awaited;
use super::server::{Context, Server};
use crate::delivery::deliveries::Recipient;
use crate::lock::Lock;
use crate::question::await_answer;
use mw_tools::call::{Caller, WaitDecision};

/// How often progress is reported to a client that requests it. Some clients give up after 60 s of silence.
const REPORT_EVERY: Duration = Duration::from_secs(5);

/// Maximum time for the answer of a person.
const ASK_AT_MOST: Duration = Duration::from_secs(600);

/// A client that waits for a call to end.
pub(super) struct WaitingClient {
    context: Context,
    handle: Handle,
    begun: Instant,
    last_report: Mutex<Instant>,
    server: Server,
    recipient: Recipient,
    /// The ends that the reply will report.
    awaited: Awaited,
}

impl WaitingClient {
    pub(super) fn of(context: &Context, server: &Server, recipient: Recipient, awaited: Awaited) -> Self {
        let (context, server, now) = (context.clone(), server.clone(), Instant::now());
        let (handle, last_report) = (Handle::current(), Mutex::new(now));
        Self { context, handle, begun: now, last_report, server, recipient, awaited }
    }

    fn tell(&self, tasks: &[Task]) {
        let Some(token) = self.context.meta.get_progress_token() else { return };
        let mut last_report = self.last_report.locked();
        if last_report.elapsed() < REPORT_EVERY {
            return;
        }
        *last_report = Instant::now();
        let live: Vec<_> = tasks.iter().filter(|task| !task.status.is_terminal()).map(words).collect();
        let progress = ProgressNotificationParam::new(token, self.begun.elapsed().as_secs_f64())
            .with_message(format!("{} of {} tasks running: {}", live.len(), tasks.len(), live.join("; ")));
        let peer = self.context.peer.clone();
        self.handle.spawn(async move {
            // An error of the client does not matter here.
            let _ = peer.notify_progress(progress).await;
        });
    }

    /// Asks during the call, for clients of older protocol revisions.
    fn ask_now(&self, proposal: &Proposal, answered: &mut dyn FnMut() -> bool) -> AskOutcome {
        let Some(question) = elicitation::question(proposal) else { return AskOutcome::Elsewhere };
        let asked_at = Instant::now();
        let asked = self.context.peer.create_elicitation_with_timeout(question, Some(ASK_AT_MOST));
        let answer = await_answer(asked, [&self.context.ct, &self.server.inner.closing], answered);
        match self.handle.block_on(answer) {
            Some(Ok(answer)) => elicitation::heard(&answer, asked_at.elapsed()),
            Some(Err(_)) | None => AskOutcome::Elsewhere,
        }
    }
}

fn words(task: &Task) -> String {
    match &task.progress {
        Some(progress) => format!("{} {}", task.id, progress.to_words()),
        None => task.id.to_string(),
    }
}

impl Caller for WaitingClient {
    fn ask(&self, proposal: &Proposal, answered: &mut dyn FnMut() -> bool) -> AskOutcome {
        match elicitation::ElicitationMode::of(&self.context) {
            elicitation::ElicitationMode::InTheCall => self.ask_now(proposal, answered),
            elicitation::ElicitationMode::InTheReply => AskOutcome::Later,
            elicitation::ElicitationMode::NotAtAll => AskOutcome::Elsewhere,
        }
    }

    fn while_waiting(&self, tasks: &[Task]) -> WaitDecision {
        if self.server.inner.closing.is_cancelled() {
            return WaitDecision::Detach;
        }
        if self.context.ct.is_cancelled() {
            return WaitDecision::Cancel;
        }
        self.tell(tasks);
        WaitDecision::Continue
    }

    fn awaits(&self, tasks: &[TaskId]) {
        self.awaited.add(self.server.inner.deliveries.reserve(&self.recipient, tasks));
    }
}
