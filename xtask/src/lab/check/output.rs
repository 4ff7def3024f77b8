//! Every byte is there in order, or counted as missing.

use super::merge::merge;
use super::{Evidence, Promise, Violation};
use crate::lab::claims::{Output, Task};
use crate::lab::facts::Run;
use crate::lab::witness::{Stream, line};

/// How the marker of a gap begins and ends.
const MARKER: (&str, &str) = ("\n…(", "\"/>\n");

pub(super) fn check(evidence: &Evidence<'_>, found: &mut Vec<Violation>) {
    for task in evidence.tasks {
        let has_one_run = task.runs == 1 && evidence.facts.of(&task.key).count() == 1;
        // On a full disk a clear may remove the output and keep the task. Runs on a back-end cannot be told apart.
        let is_unknown = evidence.actions.clears.contains(&task.key) || (task.is_far() && !has_one_run);
        if is_unknown {
            continue;
        }
        let outputs = std::iter::once(&task.output).chain(&task.earlier);
        for output in outputs {
            let Some(run) = evidence.run_of(task, output.pid) else { continue };
            if let Some(text) = problem(evidence, task, output, run) {
                let name = format!("{} {} pid {}", task.id, task.key, run.pid);
                found.push(Violation { promise: Promise::Output, text: format!("{name}: {text}") });
            }
        }
    }
}

fn problem(evidence: &Evidence<'_>, task: &Task, output: &Output, run: &Run) -> Option<String> {
    let Some(log) = &output.log else { return Some("its log cannot be read".to_owned()) };
    let (least, most) = (run.written.iter().sum::<u64>(), run.announced.iter().sum::<u64>());
    let counted = format!("{} bytes, {} of them dropped", output.bytes, output.dropped);
    if output.bytes > most {
        return Some(format!("{counted}, but only {most} were announced"));
    }
    if output.bytes < least {
        let may_miss = !output.is_complete && evidence.supervisor_kills(&task.id) >= 2;
        if !may_miss {
            let word = if output.is_complete { "complete" } else { "incomplete" };
            return Some(format!("{counted}, called {word}, but {least} were written"));
        }
    }
    if output.dropped == 0 {
        return whole(output, log, run);
    }
    let (kept, markers) = without_markers(log);
    let is_limited = evidence.actions.starts.get(&task.key).is_some_and(|start| start.has_cap);
    let is_full = evidence.actions.faults.contains_key("disk full");
    // A supervisor that has no descriptors for its log drops output and counts it.
    let is_short =
        evidence.actions.faults.keys().any(|class| class.contains("descriptors") || class.contains("pids"));
    if !is_limited && !is_full && !is_short {
        return Some(format!("{counted}, but it had no size limit and the disk was never full"));
    }
    let there = kept.len() as u64;
    if there + output.dropped != output.bytes {
        return Some(format!("{counted}, but {there} are in the log, with {markers} markers"));
    }
    in_order(&kept, run)
}

/// Checks a log without a gap: it is a beginning of both streams.
fn whole(output: &Output, log: &[u8], run: &Run) -> Option<String> {
    if log.len() as u64 != output.bytes {
        return Some(format!("{} bytes and none dropped, but its log has {}", output.bytes, log.len()));
    }
    let [first, second] = Stream::BOTH.map(|stream| expected(stream, run));
    let at = merge(log, &first, &second).err()?;
    // Output that was lost with both supervisors leaves a gap, which is announced.
    if !output.is_complete {
        return in_order(log, run);
    }
    let around = String::from_utf8_lossy(&log[at.saturating_sub(60)..(at + 60).min(log.len())]).into_owned();
    Some(format!("byte {at} of its log is not what was printed there: {around:?}"))
}

fn expected(stream: Stream, run: &Run) -> Vec<u8> {
    let bytes = run.announced[stream as usize] as usize;
    let mut text = String::with_capacity(bytes + 200);
    for number in 0.. {
        if text.len() >= bytes {
            break;
        }
        text += &line(stream, &run.key, run.pid, number);
    }
    text.truncate(bytes);
    text.into_bytes()
}

/// Returns a log without the markers of its gaps, and their number.
fn without_markers(log: &[u8]) -> (Vec<u8>, usize) {
    let (mut kept, mut rest, mut markers) = (Vec::new(), log, 0);
    while let Some(at) = position(rest, MARKER.0) {
        let Some(length) = position(&rest[at..], MARKER.1) else { break };
        kept.extend_from_slice(&rest[..at]);
        rest = &rest[at + length + MARKER.1.len()..];
        markers += 1;
    }
    kept.extend_from_slice(rest);
    (kept, markers)
}

fn position(bytes: &[u8], wanted: &str) -> Option<usize> {
    bytes.windows(wanted.len()).position(|window| window == wanted.as_bytes())
}

/// Returns the key and the process of a line, if it is a whole one of any witness.
fn whole_line(text: &str) -> Option<(&str, u32)> {
    let [letter, key, pid, number, ..] = text.split(' ').collect::<Vec<_>>()[..] else { return None };
    let stream = Stream::BOTH.into_iter().find(|stream| letter == stream.letter().to_string())?;
    let pid = pid.parse().ok()?;
    (line(stream, key, pid, number.parse().ok()?) == text).then_some((key, pid))
}

/// Checks that the whole lines of a log with gaps are lines of this run, in the order of each stream.
fn in_order(log: &[u8], run: &Run) -> Option<String> {
    let mut next = [0; 2];
    for text in String::from_utf8_lossy(log).split_inclusive('\n') {
        for (stream, next) in Stream::BOTH.into_iter().zip(&mut next) {
            let start = format!("{} {} {} ", stream.letter(), run.key, run.pid);
            let number =
                text.strip_prefix(&start).and_then(|rest| rest.split(' ').next()?.parse::<u64>().ok());
            let Some(number) = number.filter(|number| line(stream, &run.key, run.pid, *number) == text)
            else {
                continue;
            };
            if number < *next {
                return Some(format!("line {number} of {stream:?} follows line {}", *next - 1));
            }
            *next = number + 1;
        }
        if let Some((key, pid)) = whole_line(text)
            && (key, pid) != (&run.key, run.pid)
        {
            return Some(format!("a line of another run: {text:?}"));
        }
    }
    None
}
