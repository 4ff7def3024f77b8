//! Nothing runs twice, and no task is forgotten.

use std::collections::{BTreeMap, BTreeSet};

use super::{Evidence, Promise, Violation};
use crate::lab::actions::Answer;

pub(super) fn check(evidence: &Evidence<'_>, found: &mut Vec<Violation>) {
    let mut by_key: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for task in evidence.tasks {
        by_key.entry(&task.key).or_default().push(&task.id);
    }
    let mut say = |promise, text| found.push(Violation { promise, text });
    let listed: BTreeSet<&str> = evidence.tasks.iter().map(|task| task.id.as_str()).collect();
    for (key, start) in &evidence.actions.starts {
        let ran = evidence.facts.of(key).count() as u64;
        let restarts = evidence.actions.restarts.get(key).copied().unwrap_or_default();
        let ids = by_key.get(key.as_str()).cloned().unwrap_or_default();
        let is_cleared = evidence.actions.clears.contains(key);
        if ran > 1 + restarts {
            say(Promise::Once, format!("{key} {ids:?} ran {ran} times; {restarts} restarts were requested"));
        }
        if ids.len() > 1 {
            say(Promise::Once, format!("{key} was requested once, but there are {ids:?}"));
        }
        match &start.answer {
            Answer::Started(id) if !is_cleared && !listed.contains(id.as_str()) => {
                say(Promise::Forgotten, format!("{key} was started as {id}, which is not listed"));
            }
            Answer::Refused(why) if ran > 0 => {
                say(Promise::Once, format!("{key} was refused, but it ran: {}", why.trim()));
            }
            _ if ran > 0 && ids.is_empty() && !is_cleared => {
                say(
                    Promise::Forgotten,
                    format!("{key} ran, but no task is listed; the start said {:?}", start.answer),
                );
            }
            Answer::Started(_) | Answer::Refused(_) | Answer::Unknown => {}
        }
    }
    for task in evidence.tasks {
        let ran = evidence.facts.of(&task.key).count() as u64;
        if ran > task.runs {
            say(
                Promise::Once,
                format!("{} {} ran {ran} times, but has {} runs", task.id, task.key, task.runs),
            );
        }
    }
}
