//! No limit is exceeded: neither the number of tasks that run at once nor a time limit.

use std::collections::BTreeMap;

use super::{Evidence, Promise, Violation};
use crate::lab::facts::Run;
use crate::lab::world::{LIMIT_GRACE, MAX_RUNNING, MAX_RUNNING_TOTAL};

/// How much later a busy machine, or a supervisor that is stopped or replaced, may end a task.
const SLACK: f64 = 15.0;

pub(super) fn check(evidence: &Evidence<'_>, found: &mut Vec<Violation>) {
    // A witness that says that it is about to exit has a slot until it has exited. So this never counts too many.
    let mut moments: Vec<(usize, bool, &Run)> = Vec::new();
    for run in &evidence.facts.runs {
        let takes_slot = evidence.actions.starts.get(&run.key).is_some_and(|start| !start.is_attached);
        if takes_slot {
            moments.extend([(run.first, true, run), (run.last, false, run)]);
        }
    }
    moments.sort_by_key(|(line, begins, _)| (*line, !*begins));
    let mut running: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (line, begins, run) in moments {
        let session = evidence.actions.starts.get(&run.key).map_or("", |start| &start.session);
        let of_session = running.entry(session).or_default();
        if !begins {
            if let Some(at) = of_session.iter().position(|key| *key == run.key) {
                of_session.remove(at);
            }
            continue;
        }
        of_session.push(&run.key);
        let text = format!("line {} of the witnesses: in session {session} run {of_session:?}", line + 1);
        let too_many = of_session.len() > MAX_RUNNING;
        let total: usize = running.values().map(Vec::len).sum();
        if too_many || total > MAX_RUNNING_TOTAL {
            found.push(Violation { promise: Promise::Limit, text: format!("{text}; {total} run in total") });
            // One report for each round: what follows has the same cause.
            break;
        }
    }
    for run in &evidence.facts.runs {
        let limit = evidence.actions.starts.get(&run.key).and_then(|start| start.timeout);
        if let Some(limit) = limit
            && run.seen - run.began > (limit + LIMIT_GRACE).as_secs_f64() + SLACK
        {
            let lived = run.seen - run.began;
            let text = format!("{}: the limit was {limit:?}, and it lived {lived:.1} s", run.key);
            found.push(Violation { promise: Promise::Limit, text });
        }
    }
}
