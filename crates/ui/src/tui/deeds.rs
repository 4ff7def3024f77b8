//! What is done to tasks and with questions, each on a thread of its own.

use meanwhile::model::TaskState;
use meanwhile::model::approval::{Answer, Remember};
use meanwhile::{Error, KillRequest, Result, Runtime};

use super::event::{Effect, Event, Force, Proposed, Removal, Reply};
use super::program::Options;
use super::worker::{filter, told};
use crate::receipt::receipt_lines;
use crate::text::count;

const SIGTERM: i32 = 15;
const SIGKILL: i32 = 9;

/// Does something to tasks, and says what came of it.
pub(super) fn act(options: &Options, effect: Effect) -> Event {
    try_act(options, effect).map_or_else(|error| Event::Failed(told(&error)), Event::Done)
}

fn try_act(options: &Options, effect: Effect) -> Result<Vec<String>> {
    let runtime = Runtime::open(options.settings.clone())?;
    let scope = options.scope();
    match effect {
        Effect::Kill(id, force) => {
            let (signal, grace_ms) = match force {
                Force::Term => (SIGTERM, None),
                Force::Kill => (SIGKILL, Some(0)),
            };
            let request = KillRequest { by: options.requester.clone(), signal, grace_ms };
            runtime.kill(&id, &scope, &request).map(|receipt| receipt_lines(&receipt))
        }
        Effect::Restart(id) => {
            let task = runtime.restart(&id, &scope)?;
            Ok(vec![match task.state {
                TaskState::Ended { started_at: None, cause, .. } => {
                    format!("{id} did not start: {}", cause.to_words())
                }
                TaskState::Pending { run, .. } => format!("{id} waits for a slot, run {run}"),
                TaskState::Starting { run, .. }
                | TaskState::Running { run, .. }
                | TaskState::Cancelling { run, .. }
                | TaskState::Ended { run, .. } => format!("{id} runs again, run {run}"),
            }])
        }
        Effect::Input(id, text) => {
            let sent = runtime.input(&id, &scope, format!("{text}\n").as_bytes(), false)?;
            Ok(vec![format!("{id} was given {}", count(sent as usize, "byte", "bytes"))])
        }
        Effect::Answer(id, reply) => answer_proposal(&runtime, options, &id, reply),
        Effect::Clear(removal) => {
            let ids = match removal {
                Removal::One(id) => vec![runtime.resolve(&id, &scope)?],
                Removal::Ended(query) => {
                    let ended = runtime.finished(&filter(&query, &scope), None)?;
                    ended.into_iter().map(|task| task.id).collect()
                }
            };
            let report = runtime.clear(&ids, None)?;
            let removed = format!("removed {}", count(report.cleared.len(), "task", "tasks"));
            let kept = report.kept.iter().map(|kept| format!("kept {}: {}", kept.id, kept.reason));
            Ok(std::iter::once(removed).chain(kept).collect())
        }
        Effect::List(..)
        | Effect::Know(_)
        | Effect::LookUpRuns(_)
        | Effect::LookUpSessions
        | Effect::Follow(_)
        | Effect::ReadBefore(..)
        | Effect::Run(_)
        | Effect::Mouse(_)
        | Effect::Redraw
        | Effect::Suspend
        | Effect::Quit => Ok(Vec::new()),
    }
}

/// Returns what waits for a person's answer.
pub(super) fn proposed(runtime: &Runtime, options: &Options) -> Result<Vec<Proposed>> {
    let open = runtime.open_approvals(options.keep)?.into_iter();
    let ours = open.filter(|entry| options.session.as_ref().is_none_or(|own| *own == entry.proposal.session));
    let lines = |text: String| text.lines().map(str::to_owned).collect();
    Ok(ours
        .map(|entry| Proposed { id: entry.proposal.id.to_string(), lines: lines(entry.proposal.question()) })
        .collect())
}

fn answer_proposal(runtime: &Runtime, options: &Options, id: &str, reply: Reply) -> Result<Vec<String>> {
    let id = runtime.find_approval(id)?.proposal.id;
    if let Some(task) = &options.inside {
        runtime.note_forbidden_answer(&id, &format!("task {task}"))?;
        return Err(Error::Denied {
            message: format!("{id} cannot be answered from inside task {task}"),
            hint: "a person answers in a terminal of their own; this try was recorded".to_owned(),
        });
    }
    let (answer, word) = match reply {
        Reply::Once => (Answer::Approve(Remember::Once), "approved"),
        Reply::Session => (Answer::Approve(Remember::Session), "approved for its session"),
        Reply::Deny => (Answer::Deny(String::new()), "denied"),
    };
    runtime.answer(&id, answer, "mw top")?;
    Ok(vec![format!("{word} {id}")])
}
