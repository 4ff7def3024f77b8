//! What is done to tasks and with questions, each on a thread of its own.

use meanwhile::model::TaskState;
use meanwhile::model::approval::{Answer, Remember};
use meanwhile::{Error, KillRequest, Result, Runtime, Scope};

use super::effect::{Deed, Force, Removal, Reply};
use super::event::{Event, Proposed};
use super::program::Options;
use super::tally::Tally;
use super::worker::{filter, told};
use mw_desk::rows::receipt_lines;
use mw_desk::text::count;

const SIGTERM: i32 = 15;
const SIGKILL: i32 = 9;

/// Does something to tasks, and says what came of it.
pub(super) fn act(options: &Options, deed: Deed) -> Event {
    try_act(options, deed).map_or_else(|error| Event::Failed(told(&error)), Event::Done)
}

fn try_act(options: &Options, deed: Deed) -> Result<Vec<String>> {
    let runtime = Runtime::open(options.settings.clone())?;
    let scope = options.scope();
    match deed {
        Deed::Kill(ids, force) => {
            let (signal, grace_ms) = match force {
                Force::Term => (SIGTERM, None),
                Force::Kill => (SIGKILL, Some(0)),
            };
            let request = KillRequest { by: options.requester.clone(), signal, grace_ms };
            kill(&runtime, &scope, &ids, &request)
        }
        Deed::Restart(ids) => restart(&runtime, &scope, &ids),
        Deed::Input(id, text) => {
            let sent = runtime.input(&id, &scope, format!("{text}\n").as_bytes(), false)?;
            Ok(vec![format!("{id} was given {}", count(sent as usize, "byte", "bytes"))])
        }
        Deed::Answer(id, reply) => answer_proposal(&runtime, options, &id, reply),
        Deed::Clear(removal) => {
            let mut tally = Tally::default();
            let ids = match removal {
                Removal::These(ids) => {
                    let known = ids.iter().map(|id| (id, runtime.resolve(id, &scope)));
                    known.filter_map(|(id, found)| tally.result(id, found)).collect()
                }
                Removal::Ended(query) => {
                    let ended = runtime.finished(&filter(&query, &scope), None)?;
                    ended.into_iter().map(|task| task.id).collect::<Vec<_>>()
                }
            };
            let report = runtime.clear(&ids, None)?;
            report.cleared.iter().for_each(|_| tally.add("removed"));
            report
                .kept
                .iter()
                .for_each(|kept| tally.note("kept", format!("kept {}: {}", kept.id, kept.reason)));
            Ok(tally.lines())
        }
    }
}

/// Ends tasks: one with its whole receipt, several with what came of each.
fn kill(runtime: &Runtime, scope: &Scope, ids: &[String], request: &KillRequest) -> Result<Vec<String>> {
    if let [id] = ids {
        let name = runtime.task(id, scope).ok().and_then(|task| task.name);
        let receipt = runtime.kill(id, scope, request)?;
        return Ok(receipt_lines(&receipt, name.as_deref()));
    }
    let mut tally = Tally::default();
    let known = ids.iter().map(|id| (id, runtime.task(id, scope)));
    let known: Vec<_> = known.filter_map(|(id, found)| tally.result(id, found)).collect();
    // What others have ended is not our doing.
    let (over, known): (Vec<_>, Vec<_>) =
        known.into_iter().partition(|task| task.status.is_terminal() && task.survivors == 0);
    let known: Vec<_> = known.into_iter().map(|task| task.id).collect();
    let kills = runtime.kill_all(&known, request);
    for failure in kills.failures {
        let _ = tally.result::<()>(failure.id.as_str(), Err(failure.error));
    }
    for receipt in &kills.receipts {
        match receipt.survivors.len() {
            0 => tally.add(receipt.status.word()),
            _ => tally.note("still alive in part", receipt_lines(receipt, None).join("\n")),
        }
    }
    over.iter().for_each(|_| tally.add("over before"));
    Ok(tally.lines())
}

/// Runs tasks once more.
fn restart(runtime: &Runtime, scope: &Scope, ids: &[String]) -> Result<Vec<String>> {
    let mut tally = Tally::default();
    for id in ids {
        let again = match runtime.restart(id, scope) {
            Err(error) if ids.len() == 1 => return Err(error),
            again => again.map(|task| task.state),
        };
        match tally.result(id, again) {
            None => {}
            Some(TaskState::Pending { run, .. }) => {
                tally.note("waiting for a slot", format!("{id} waits for a slot, run {run}"));
            }
            Some(TaskState::Ended { started_at: None, cause, .. }) => {
                tally.note("not started", format!("{id} did not start: {}", cause.to_words()));
            }
            Some(
                TaskState::Starting { run, .. }
                | TaskState::Running { run, .. }
                | TaskState::Cancelling { run, .. }
                | TaskState::Ended { run, .. },
            ) => tally.note("running again", format!("{id} runs again, run {run}")),
        }
    }
    Ok(tally.lines())
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
