//! Limits on the output that `mw output` shows, and unknown runs.

use crate::home;

#[test]
fn a_tail_beyond_the_limit_shows_its_end() {
    let home = home();
    let id = home.start("echo FIRST; for n in $(seq 1000 3000); do printf '\\r%08d' $n; done");
    home.ended(&id);
    let shown =
        home.mw(["output", "--json", &id, "--raw", "--tail", "5", "--max-bytes", "50"]).exits(0).json();
    let text = shown["text"].as_str().unwrap();
    assert!(text.ends_with("\r00002999\r00003000") && text.len() == 50, "{shown}");
    assert_eq!((&shown["eof"], &shown["truncated"]), (&true.into(), &true.into()), "{shown}");
    let outcome = home.mw(["output", &id, "--tail", "1", "--max-bytes", "50"]).exits(0);
    assert_eq!(outcome.text().trim(), "00003000");
    assert!(outcome.stderr_text().contains("the last 50 bytes"), "{outcome}");
    assert_eq!(home.mw(["output", &id, "--tail", "1"]).exits(0).stderr_text(), "");
}

#[test]
fn a_tail_within_the_limit_is_complete() {
    let home = home();
    let id = home.start("seq 100");
    home.ended(&id);
    assert_eq!(home.mw(["output", &id, "--tail", "2", "--max-bytes", "1KiB"]).ok(), "99\n100\n");
    assert_eq!(home.mw(["output", &id, "--tail", "2", "--max-bytes", "0"]).ok(), "99\n100\n");
}

#[test]
fn a_tail_begins_with_a_complete_character() {
    let home = home();
    let id = home.start("printf 'aéé€'");
    home.ended(&id);
    for (bytes, text) in [("3", "€"), ("4", "€"), ("5", "é€"), ("6", "é€"), ("8", "aéé€")] {
        assert_eq!(home.mw(["output", &id, "--max-bytes", bytes]).ok(), text);
        assert_eq!(home.mw(["output", &id, "--tail", "1", "--max-bytes", bytes]).ok(), text);
    }
}

#[test]
fn matches_of_a_pattern_are_limited_by_bytes() {
    let home = home();
    let id = home.start("seq 1000");
    home.ended(&id);
    let outcome = home.mw(["output", &id, "--grep", "9", "--max-bytes", "20"]).exits(0);
    assert_eq!(outcome.text(), "9:9\n19:19\n29:29\n");
    assert!(outcome.stderr_text().contains("there may be more"), "{outcome}");
    let mut found = 0;
    let mut from = "0".to_owned();
    loop {
        let args = ["output", "--json", &id, "--grep", "^9+$", "--max-bytes", "1", "--offset", &from];
        let reply = home.mw(args).exits(0).json();
        found += reply["matches"].as_array().unwrap().len();
        if reply["truncated"] == false {
            break;
        }
        from = reply["next_offset"].to_string();
    }
    assert_eq!(found, 3, "9, 99 and 999");
}

#[test]
fn the_output_of_an_unknown_run_is_refused() {
    let home = home();
    let id = home.start("echo one");
    home.ended(&id);
    for run in ["9", "0"] {
        for more in [&[][..], &["--grep", "x"]] {
            let args = [&["output", "--json", &id, "--run", run][..], more].concat();
            let refusal = home.mw(args).refusal(2).to_string();
            assert!(refusal.contains("it has 1 run") && !refusal.contains("clear"), "{refusal}");
        }
    }
    let _ = home.mw(["restart", &id]).ok();
    home.ended(&id);
    assert_eq!(home.mw(["output", &id, "--run", "1"]).ok(), "one\n");
    assert_eq!(home.mw(["output", &id, "--run", "1", "--grep", "o"]).ok(), "1:one\n");
    assert!(home.mw(["output", "--json", &id, "--run", "3"]).refusal(2).to_string().contains("2 runs"));
}
