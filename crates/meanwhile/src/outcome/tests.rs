//! Summaries of real output of tools. The files are described in `fixtures/README.md`.

use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;

use super::summarize;

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/outcome/fixtures");

/// Every fixture with its summary, one per line.
const EXPECTED: &str = include_str!("fixtures/summaries.tsv");

fn expected() -> impl Iterator<Item = (&'static str, &'static str)> {
    EXPECTED.lines().map(|line| line.split_once('\t').unwrap())
}

fn fixture(name: &str) -> Vec<u8> {
    fs::read(Path::new(FIXTURES).join(name).with_extension("txt")).unwrap()
}

fn fixture_files() -> Vec<PathBuf> {
    let entries = fs::read_dir(FIXTURES).unwrap().map(|entry| entry.unwrap().path());
    let mut found: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|end| end == "txt")).collect();
    found.sort();
    found
}

fn summary(text: &str) -> Option<String> {
    summarize(text.as_bytes())
}

fn summary_of_parts(parts: &[&[u8]]) -> Option<String> {
    summarize(&parts.concat())
}

#[test]
fn real_output_is_summarised_in_one_line() {
    for (name, expected) in expected() {
        assert_eq!(summarize(&fixture(name)).as_deref(), Some(expected), "{name}");
    }
}

#[test]
fn every_fixture_has_an_expected_summary() {
    let names: Vec<String> =
        fixture_files().iter().map(|path| path.file_stem().unwrap().to_string_lossy().into_owned()).collect();
    let mut listed: Vec<&str> = expected().map(|(name, _)| name).collect();
    listed.sort_unstable();
    assert_eq!(names, listed);
}

#[test]
fn leading_noise_and_crlf_line_ends_do_not_change_the_summary() {
    for (name, expected) in expected() {
        let bytes = fixture(name);
        let noise = [vec![b'='; 300_000], b"\r\n\xff\xfe 12%\r 99%\x1b[K\n".to_vec()].concat();
        assert_eq!(summary_of_parts(&[&noise, &bytes]).as_deref(), Some(expected), "{name} after noise");
        let windows = String::from_utf8_lossy(&bytes).replace('\n', "\r\n");
        assert_eq!(summary(&windows).as_deref(), Some(expected), "{name} with CRLF");
    }
}

#[test]
fn other_output_is_summarised_by_its_last_line() {
    assert_eq!(summary("one\ntwo  three\n\n \t\n").as_deref(), Some("two three"));
    assert_eq!(summary("10%\r55%\r100% done\r").as_deref(), Some("100% done"));
    assert_eq!(summary("\x1b[31mred\x1b[0m\x07 \x1b]0;title\x07text").as_deref(), Some("red text"));
    assert_eq!(summarize(b"caf\xc3").as_deref(), Some("caf\u{fffd}"));
    assert_eq!(summary(" \n\x1b[0m\n\u{200b}"), None);
    assert_eq!(summary(""), None);
    let long = summary(&"é".repeat(1_000_000)).unwrap();
    assert_eq!(long.chars().count(), 200);
    assert!(long.ends_with("é…"));
}

#[test]
fn trivial_lines_after_the_tool_are_left_out() {
    let pass = fixture("pytest_pass");
    let passed = "5 passed, 1 skipped, 1 xfailed (pytest)";
    assert_eq!(summary_of_parts(&[&pass, b"\nexit code: 0\n"]).as_deref(), Some(passed));
    assert_eq!(summary_of_parts(&[&pass, b"done\n"]).as_deref(), Some(passed));
}

#[test]
fn a_success_does_not_hide_the_output_that_follows_it() {
    let pass = fixture("pytest_pass");
    let followed =
        summary_of_parts(&[&pass, b"Traceback (most recent call last):\n  File \"x.py\"\nKeyError: 'a'\n"]);
    assert_eq!(followed.as_deref(), Some("5 passed, 1 skipped, 1 xfailed (pytest); then: KeyError: 'a'"));
    let followed = summary_of_parts(&[&pass, b"1\n2\n3\n4\nuploaded\n"]);
    assert_eq!(followed.as_deref(), Some("5 passed, 1 skipped, 1 xfailed (pytest); then: uploaded"));
    let followed = summary_of_parts(&[&pass, b"deploying\nERROR: no such host\n"]);
    assert_eq!(
        followed.as_deref(),
        Some("5 passed, 1 skipped, 1 xfailed (pytest); then: ERROR: no such host")
    );
    let followed = summary_of_parts(&[&fixture("nextest_pass"), b"packing\nerror: disk full\n"]);
    assert_eq!(followed.as_deref(), Some("4 passed, 2 skipped (nextest); then: error: disk full"));
    let followed = summary_of_parts(&[&fixture("cargo_build_ok"), b"hello\n"]);
    assert_eq!(followed.as_deref(), Some("hello"));
}

#[test]
fn several_tools_are_summarised_with_failures_first() {
    let both = summary_of_parts(&[&fixture("pytest_pass"), &fixture("go_fail"), &fixture("npm_install")]);
    assert_eq!(
        both.as_deref(),
        Some(
            "1 of 2 packages failed: till.TestRounds/cents (go test); 5 passed, 1 skipped, 1 xfailed (pytest); \
             added 1 package, and audited 2 packages in 282ms, found 0 vulnerabilities (npm)"
        )
    );
}

#[test]
fn make_and_npm_are_left_out_when_the_tool_they_ran_reports_a_failure() {
    let make = b"make[1]: *** [Makefile:3: test] Error 1\nmake: *** [Makefile:9: all] Error 2\n";
    let failed = "1 failed, 2 passed, 1 skipped, 1 todo: cart \u{203a} totals (jest)";
    assert_eq!(summary_of_parts(&[&fixture("jest_fail"), make]).as_deref(), Some(failed));
    let npm = b"npm ERR! Test failed.  See above for more details.\n";
    assert_eq!(summary_of_parts(&[&fixture("jest_fail"), npm]).as_deref(), Some(failed));
    let passed = summary_of_parts(&[&fixture("pytest_pass"), b"flake8: 3 problems\n", make]);
    let expected = "target test failed (Error 1 at Makefile:3): flake8: 3 problems (make); 5 passed, 1 skipped, 1 xfailed (pytest)";
    assert_eq!(passed.as_deref(), Some(expected));
}

#[test]
fn an_unfinished_run_is_not_reported_as_passed() {
    let pass = String::from_utf8(fixture("cargo_test_pass")).unwrap();
    let cut = pass.find("test prints_a_refund").unwrap();
    assert_eq!(
        summary(&pass[..cut]).as_deref(),
        Some("2 passed, 2 ignored, unfinished: tests/receipts.rs (cargo test)")
    );
    let verbose = String::from_utf8(fixture("go_fail_v")).unwrap();
    let cut = verbose.find("PASS\nok").unwrap();
    assert_eq!(summary(&verbose[..cut]).as_deref(), Some("1 passed, 1 skipped, unfinished (go test)"));
}

/// Checks the properties that every summary has.
fn check_summary(bytes: &[u8]) {
    let Some(line) = summarize(bytes) else {
        return;
    };
    assert!(!line.trim().is_empty());
    assert!(line.chars().count() <= 200, "{line}");
    assert!(!line.chars().any(char::is_control), "{line:?}");
}

#[test]
fn summaries_of_cut_fixtures_are_short_and_printable() {
    for path in fixture_files() {
        let bytes = fs::read(path).unwrap();
        for cut in (0..bytes.len()).step_by(7) {
            check_summary(&bytes[cut..]);
            check_summary(&bytes[..cut]);
        }
    }
}

proptest! {
    #[test]
    fn summaries_of_any_bytes_are_short_and_printable(bytes: Vec<u8>) {
        check_summary(&bytes);
    }

    #[test]
    fn summaries_of_mixed_real_lines_are_short_and_printable(picks in proptest::collection::vec(any::<(u16, u8)>(), 0..60)) {
        let whole = fixture_files().iter().map(|path| fs::read(path).unwrap()).collect::<Vec<_>>().concat();
        let lines: Vec<&[u8]> = whole.split(|byte| *byte == b'\n').collect();
        let mut text = Vec::new();
        for (pick, cut) in picks {
            let line = lines[usize::from(pick) % lines.len()];
            text.extend_from_slice(&line[..line.len().saturating_sub(usize::from(cut / 16))]);
            text.push(if cut % 16 == 0 { b'\r' } else { b'\n' });
        }
        check_summary(&text);
    }
}
