//! Logs: read in chunks, and followed as they grow.

use std::time::Duration;

use meanwhile::Error;
use meanwhile::engine::StreamChoice;
use mw_desk::log_window::{FollowStep, LogChunk, LogFollower, LogPart, LogTarget, STRETCH};
use mw_testkit::children::{gate, numbered, numbers};
use mw_testkit::{SOON, wait_until};

use crate::place::Place;

fn log_of(id: &str) -> LogTarget {
    LogTarget { id: id.to_owned(), run: 1, stream: StreamChoice::Both }
}

/// Reads until there is new output or the end.
fn next(log: &mut LogFollower) -> FollowStep {
    wait_until(SOON, "new output or the end", || match log.read().unwrap() {
        FollowStep::Nothing => {
            log.wait(Duration::from_secs(2)).unwrap();
            None
        }
        read => Some(read),
    })
}

fn chunk(read: FollowStep) -> LogChunk {
    match read {
        FollowStep::Chunk(chunk) => chunk,
        other => panic!("not a chunk: {other:?}"),
    }
}

#[test]
fn a_log_is_followed_until_its_task_ends() {
    let place = Place::new();
    let task = place.home.start(&format!("echo one; {}; echo two; {}", gate("first"), gate("second")));
    place.home.until_logged(&task, "one");
    let mut log = place.desk.follow_log(log_of(&task)).unwrap();
    let first = chunk(next(&mut log));
    assert_eq!((first.text().as_str(), first.offset, first.has_earlier), ("one\n", 0, false));
    assert_eq!(log.read().unwrap(), FollowStep::Nothing);

    place.home.open("first");
    let second = chunk(next(&mut log));
    assert_eq!((second.text().as_str(), second.offset, second.skipped), ("two\n", 4, 0));

    place.home.open("second");
    assert_eq!(next(&mut log), FollowStep::End);
    assert_eq!(log.read().unwrap(), FollowStep::End);
}

#[test]
fn a_log_without_output_is_read_as_one_empty_chunk() {
    let place = Place::new();
    let task = place.ended("true");
    let mut log = place.desk.follow_log(log_of(&task)).unwrap();
    assert_eq!(chunk(log.read().unwrap()).text(), "");
    assert_eq!(log.read().unwrap(), FollowStep::End);
    assert!(matches!(place.desk.follow_log(log_of("bash-nothere1")), Err(Error::NotFound(_))));
}

#[test]
fn a_long_log_is_read_backward_and_forward_without_a_gap() {
    const LAST: u64 = 150_000;
    let place = Place::new();
    let task = place.ended(&numbers(LAST));
    let whole = String::from_utf8(numbered(1, LAST)).unwrap();
    assert!(whole.len() as u64 > STRETCH, "the log fits into one chunk");

    let end = place.desk.read_log(&log_of(&task), LogPart::End).unwrap();
    assert_eq!(end.end, whole.len() as u64);
    assert!(end.has_earlier && whole.ends_with(&end.text()));
    let mut backward = end.clone();
    let mut text = end.text();
    while backward.has_earlier {
        backward = place.desk.read_log(&log_of(&task), LogPart::Before(backward.offset)).unwrap();
        text.insert_str(0, &backward.text());
    }
    assert!(text == whole, "read backward, the text differs");

    let mut forward = String::new();
    while forward.len() < whole.len() {
        let read = place.desk.read_log(&log_of(&task), LogPart::From(forward.len() as u64)).unwrap();
        assert!(!read.text().is_empty() && read.text().len() as u64 <= STRETCH);
        forward.push_str(&read.text());
    }
    assert!(forward == whole, "read forward, the text differs");
}

#[test]
fn a_log_is_read_in_whole_characters_from_any_offset() {
    let place = Place::new();
    let task = place.ended("i=0; while [ $i -lt 100 ]; do i=$((i+1)); printf 'ü€😀'; done");
    let whole = "ü€😀".repeat(100);
    let apart = LogTarget { stream: StreamChoice::Apart, ..log_of(&task) };
    for (log, most) in
        [4, 5, 7, 64].into_iter().flat_map(|most| [(log_of(&task), most), (apart.clone(), most)])
    {
        let read = |part| place.desk.read_some_log(&log, part, most).unwrap();
        let (mut forward, mut next) = (String::new(), 0);
        while (next as usize) < whole.len() {
            let chunk = read(LogPart::From(next));
            assert!(chunk.next > next, "{most}: nothing is read from {next}");
            forward.push_str(&chunk.text());
            next = chunk.next;
        }
        assert!(forward == whole, "{most}: {forward}");
        let mut first = read(LogPart::End);
        let mut text = first.text();
        while first.has_earlier {
            let before = read(LogPart::Before(first.offset));
            assert_eq!(before.next, first.offset, "{most}: there is a gap before {}", first.offset);
            text.insert_str(0, &before.text());
            first = before;
        }
        assert!(text == whole, "{most}: {text}");
    }
    for offset in 0..9 {
        let read = place.desk.read_log(&log_of(&task), LogPart::From(offset)).unwrap();
        assert_eq!(read.text(), whole[read.offset as usize..], "{offset}");
    }
}

#[test]
fn a_character_that_is_printed_in_two_parts_is_shown_once_it_is_complete() {
    let place = Place::new();
    let script = format!("printf 'a\\342'; {}; printf '\\202\\254\\303'", gate("gate"));
    let task = place.home.start(&script);
    place.home.until_logged(&task, "a");
    let target = LogTarget { stream: StreamChoice::Apart, ..log_of(&task) };
    let mut log = place.desk.follow_log(target).unwrap();
    let first = chunk(next(&mut log));
    assert_eq!((first.text().as_str(), first.next), ("a", 1));
    assert_eq!(log.read().unwrap(), FollowStep::Nothing);
    place.home.open("gate");
    let mut text = String::new();
    while let FollowStep::Chunk(chunk) = next(&mut log) {
        text.push_str(&chunk.text());
    }
    assert_eq!(text, "€\u{fffd}", "what is incomplete at the end is shown");
}

#[test]
fn a_follower_that_is_far_behind_reports_the_skipped_bytes() {
    const LAST: u64 = 600_000;
    let place = Place::new();
    let task = place.home.start(&format!("echo begun; {}; {}", gate("gate"), numbers(LAST)));
    place.home.until_logged(&task, "begun");
    let mut log = place.desk.follow_log(log_of(&task)).unwrap();
    assert_eq!(chunk(next(&mut log)).text(), "begun\n");
    place.home.open("gate");
    place.home.ended(&task);

    let before = chunk(next(&mut log));
    let after = chunk(next(&mut log));
    assert!(after.skipped > 0, "nothing was skipped of {} bytes", after.end);
    assert_eq!(before.offset + before.text().len() as u64 + after.skipped, after.offset);
    assert!(after.text().ends_with(&format!("{LAST}\n")));
    assert_eq!(next(&mut log), FollowStep::End);
}
