//! Tests how lines are added, dropped, searched and scrolled.

use super::*;

fn chunk(text: &str, offset: u64) -> LogChunk {
    LogChunk::of_text(text, offset, offset + text.len() as u64)
}

fn texts(log: &Log) -> Vec<&str> {
    log.lines.iter().map(|line| line.text.as_str()).collect()
}

#[test]
fn lines_read_in_parts_are_joined() {
    let mut log = Log::new();
    log.append(&chunk("one\ntw", 0));
    assert_eq!(texts(&log), ["one", "tw"]);
    log.append(&chunk("o\n", 6));
    log.append(&chunk("10%\r", 8));
    log.append(&chunk("20%", 12));
    assert_eq!(texts(&log), ["one", "two", "20%"]);
}

#[test]
fn loading_earlier_lines_does_not_scroll() {
    let mut log = Log::new();
    log.append(&chunk("c\nd\n", 4));
    (log.follows, log.top.line) = (false, 1);
    log.prepend(&chunk("a\nb\n", 0));
    assert_eq!((texts(&log), log.top.line), (vec!["a", "b", "c", "d"], 3));
    assert!(!log.has_earlier);
}

#[test]
fn a_search_wraps_around_at_the_ends() {
    let mut log = Log::new();
    log.append(&chunk("Error one\nfine\nerror two\nfine\n", 0));
    log.search_for("error", 10, 80);
    let at = |log: &Log| log.search.as_ref().map(|search| search.lines[search.current]);
    assert_eq!(at(&log), Some(2));
    log.next_match(1, 10, 80);
    assert_eq!(at(&log), Some(0));
    log.next_match(-1, 10, 80);
    assert_eq!(at(&log), Some(2));
    log.search_for("Error", 10, 80);
    assert_eq!(log.search.as_ref().map(|search| search.lines.len()), Some(1));
}

#[test]
fn an_endless_line_is_split_without_loss() {
    let mut log = Log::new();
    for _ in 0..5 {
        log.append(&chunk(&"é".repeat(3000), 0));
    }
    assert_eq!(log.lines.iter().map(|line| line.text.chars().count()).sum::<usize>(), 15_000);
}

#[test]
fn dropped_lines_are_reported_when_the_limit_is_exceeded() {
    let mut log = Log::new();
    let long = "x".repeat(7000) + "\n";
    for _ in 0..3 {
        log.append(&chunk(&long.repeat(1000), 0));
    }
    assert!(log.has_earlier && !log.is_cut, "lines are dropped up to where they can be read again");
    assert_eq!(log.lines.len(), 2000);
    let mut log = Log::new();
    log.append(&chunk(&"x\n".repeat(MAX_LINES + 5), 0));
    assert_eq!(log.lines.len(), MAX_LINES);
    assert!(log.is_cut && !log.has_earlier, "one part is too long");
}

#[test]
fn scrolling_to_the_end_follows_again() {
    let mut log = Log::new();
    log.append(&chunk(&"x\n".repeat(100), 0));
    log.scroll(-10, 20, 80);
    assert_eq!((log.top.line, log.follows), (70, false));
    log.scroll(10, 20, 80);
    assert_eq!((log.top.line, log.follows), (80, true));
}

#[test]
fn every_part_of_a_wrapped_line_taller_than_the_pane_is_reachable() {
    let mut log = Log::new();
    log.wraps = true;
    log.append(&chunk(&format!("{}END\n", "x".repeat(997)), 0));
    // 100 rows of ten columns, in a pane of eight rows.
    assert_eq!(log.first(8, 10), LogPosition { line: 0, row: 92 });
    log.scroll(-90, 8, 10);
    assert_eq!(log.first(8, 10), LogPosition { line: 0, row: 2 });
    log.scroll(7, 8, 10);
    assert_eq!((log.first(8, 10), log.follows), (LogPosition { line: 0, row: 9 }, false));
    log.scroll(isize::MAX, 8, 10);
    assert_eq!((log.first(8, 10), log.follows), (LogPosition { line: 0, row: 92 }, true));
    log.scroll(-isize::MAX, 8, 10);
    assert_eq!(log.first(8, 10), LogPosition::default());
}

#[test]
fn a_match_far_to_the_right_is_scrolled_into_view() {
    let mut log = Log::new();
    log.append(&chunk(&format!("{}needle{}\nshort\n", "x".repeat(500), "y".repeat(500)), 0));
    log.search_for("needle", 8, 40);
    assert!(log.left <= 500 && 506 <= log.left + 40, "{}", log.left);
    log.search_for("short", 8, 40);
    assert_eq!(log.left, 0);
    log.wraps = true;
    log.search_for("needle", 8, 40);
    let first = log.first(8, 40);
    assert!(first.line == 0 && first.row <= 12 && 12 < first.row + 8, "{first:?}");
}

#[test]
fn matches_stay_correct_while_lines_are_added_and_dropped() {
    let mut log = Log::new();
    log.append(&chunk("needle\nnee", 100));
    log.search_for("needle", 8, 80);
    log.append(&chunk("dle\nhay\nneedle\n", 110));
    let found = |log: &Log| log.search.as_ref().map(|search| search.lines.clone());
    assert_eq!(found(&log), Some(vec![0, 1, 3]));
    log.prepend(&chunk("needle\nhay\n", 50));
    assert_eq!(found(&log), Some(vec![0, 2, 3, 5]));
    log.follows = true;
    log.append(&chunk(&"x\n".repeat(MAX_LINES - 4), 200));
    assert_eq!((found(&log), log.lines.len()), (Some(vec![0, 1, 3]), MAX_LINES));
}

#[test]
fn a_line_split_by_an_earlier_chunk_is_joined() {
    let mut log = Log::new();
    log.append(&chunk("dle\nlast\n", 10));
    log.search_for("needle", 8, 80);
    log.prepend(&chunk("first\nnee", 0));
    assert_eq!(texts(&log), ["first", "needle", "last"]);
    assert_eq!(log.search.as_ref().map(|search| search.lines.clone()), Some(vec![1]));
}

fn numbered(from: usize, count: usize) -> String {
    (from..from + count).map(|at| format!("line {at}\n")).collect()
}

#[test]
fn lines_being_read_far_above_the_end_are_kept() {
    let mut log = Log::new();
    let chunk = |text: String, offset| LogChunk {
        end: 1 << 30,
        has_earlier: true,
        ..LogChunk::of_text(text, offset, 0)
    };
    log.append(&chunk(numbered(60_000, 60_000), 5_000_000));
    log.scroll(-isize::MAX, 10, 80);
    log.prepend(&chunk(numbered(0, 60_000), 1_000_000));
    let shown = log.first(10, 80);
    assert_eq!(log.lines[shown.line].text, "line 60000");
    log.scroll(-isize::MAX, 10, 80);
    // New output does not replace the lines that are being read.
    log.append(&chunk(numbered(120_000, 60_000), 9_000_000));
    assert_eq!(log.lines[log.first(10, 80).line].text, "line 0");
    assert!(log.lines.len() <= MAX_LINES && log.has_earlier && log.is_withheld);
    // The remaining lines have no gap.
    assert!(log.lines.iter().enumerate().all(|(at, line)| line.text == format!("line {at}")));
    log.search_for("line 99999", 10, 80);
    assert_eq!(log.search.as_ref().map(|search| search.lines.clone()), Some(vec![99_999]));
    log.scroll(-isize::MAX, 10, 80);
    log.prepend(&chunk("earlier\n".to_owned(), 500_000));
    assert_eq!(log.search.as_ref().map(|search| search.lines.clone()), Some(vec![]));
}

#[test]
fn colours_count_towards_the_size_limit() {
    let mut log = Log::new();
    let gaudy = "\x1b[31ma\x1b[32mb".repeat(300) + "\n";
    let text = gaudy.repeat(200);
    for _ in 0..40 {
        log.append(&LogChunk { end: 1, ..chunk(&text, 0) });
    }
    let taken: usize = log.lines.iter().map(|line| line.styles.len() * size_of::<(usize, Style)>()).sum();
    assert!(taken <= MAX_BYTES, "{taken}");
}
