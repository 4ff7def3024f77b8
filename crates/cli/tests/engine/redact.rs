//! Secrets are hidden wherever a task is shown, but not changed where they are used.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use mw_model::wire::{LOG_FILE, SPEC_FILE};
use mw_testkit::{Home, SOON, children, wait_until};

use crate::home;
use crate::settings::{both_ways, setting, variable, with_file};
use crate::settings_refused::assert_refused;

/// In the command.
const TOKEN: &str = "ghp_aB3dE5gH1jK2mN4pQ6sT8vW0yZaB3dE5gH1j";
/// In the environment.
const VALUE: &str = "tr0mb0ne-and-drum";
/// In the output.
const KEY: &str = "AKIAIOSFODNN7EXAMPLE";
const MARKS: [&str; 2] = ["[redacted:github-token]", "[redacted:environment]"];

/// A command that holds a secret and prints three.
fn leaky() -> String {
    format!("echo {TOKEN} $DB_PASSWORD {KEY}; exit 3")
}

fn start(home: &Home, session: &str, more: &[&str], script: &str) -> String {
    let variable = format!("DB_PASSWORD={VALUE}");
    let args = [&["start", "--json", "--env", &variable][..], more, &[script]].concat();
    let started = home.command(args).session(session).run();
    assert_hidden(&started.text());
    started.json()["id"].as_str().unwrap().to_owned()
}

#[track_caller]
fn assert_hidden(text: &str) {
    for secret in [TOKEN, VALUE, KEY] {
        assert!(!text.contains(secret), "{text}");
    }
}

#[test]
fn no_command_shows_a_secret_unless_requested() {
    let home = home();
    let id = start(&home, "s", &["--description", &format!("with {TOKEN}")], &leaky());
    let _ = home.mw(["wait", &id]);
    let surfaces: [(&[&str], i32); 14] = [
        (&["status", &id], 0),
        (&["status", "--json", &id], 0),
        (&["list"], 0),
        (&["list", "--json"], 0),
        (&["output", &id], 0),
        (&["output", "--json", &id], 0),
        (&["output", "--follow", &id], 0),
        (&["output", "--screen", &id], 0),
        (&["output", "--grep", "AKIA", &id], 0),
        (&["output", "--grep", "AKIA", "--json", &id], 0),
        (&["wait", "--json", &id], 3),
        (&["watch", "--no-follow"], 0),
        (&["notices", "--session", "s", "--peek"], 0),
        (&["notices", "--session", "s", "--json", "--peek"], 0),
    ];
    for (args, code) in surfaces {
        let outcome = home.mw(args).exits(code);
        assert_hidden(&outcome.text());
        assert_hidden(&outcome.stderr_text());
        // Events name the task, but not its command.
        let shows = if args[0] == "watch" { id.as_str() } else { MARKS[0] };
        assert!(outcome.text().contains(shows), "{outcome}");
    }
    assert!(home.mw(["output", &id]).ok().contains(MARKS[1]));
    for args in [&["status", "--raw", &id][..], &["list", "--raw", "--json"], &["output", "--raw", &id]] {
        let text = home.mw(args).ok();
        assert!(text.contains(TOKEN), "{text}");
    }
    assert!(home.mw(["output", "--raw", "--grep", "AKIA", &id]).ok().contains(KEY));
}

#[test]
fn commands_and_stored_output_are_not_redacted() {
    let home = home();
    let id = start(&home, "s", &[], &leaky());
    let _ = home.mw(["wait", &id]);
    let log = format!("{TOKEN} {VALUE} {KEY}\n");
    assert_eq!(home.log(&id), log.as_bytes());
    assert_eq!(home.mw(["output", "--raw", &id]).ok(), log);
    let spec = home.task_dir(&id).join(SPEC_FILE);
    let text = fs::read_to_string(&spec).unwrap();
    assert!(text.contains(TOKEN) && text.contains(VALUE), "{text}");
    for file in [SPEC_FILE, LOG_FILE] {
        let mode = fs::metadata(home.task_dir(&id).join(file)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{file}");
    }
}

#[test]
fn hooks_get_no_secrets() {
    let place = home();
    let heard = place.work().join("heard");
    let listener = format!("{{ cat; echo \"$MEANWHILE_SUMMARY\"; }} >> {}", heard.display());
    let home = home().with_env("MEANWHILE_HOOKS_EXIT", listener).with_env("MEANWHILE_STALL_MS", "200");
    start(&home, "s", &[], &leaky());
    let text = wait_until(SOON, "the hook has run", || {
        fs::read_to_string(&heard).ok().filter(|text| text.lines().count() == 2)
    });
    assert_hidden(&text);
    assert_eq!(text.matches(MARKS[0]).count(), 2, "{text}");
}

#[test]
fn stall_and_readiness_notifications_have_no_secrets() {
    let home = home().with_env("MEANWHILE_STALL_MS", "200");
    let script = format!("echo up {TOKEN}; printf 'use {KEY}? (y/n) '; exec sleep 600");
    let id = start(&home, "s", &["--ready-when", "^up"], &script);
    let delivered = wait_until(SOON, "both notifications are pending", || {
        let text = home.mw(["notices", "--session", "s", "--json", "--peek"]).text();
        (text.contains("stalled") && text.contains("\"ready\"")).then_some(text)
    });
    assert_hidden(&delivered);
    assert!(delivered.contains("use [redacted:aws-key]?"), "{delivered}");
    assert_hidden(&home.mw(["watch", "--no-follow"]).text());
    home.mw(["kill", &id]).ok();
}

#[test]
fn a_secret_split_by_pages_is_hidden_on_all_of_them() {
    let home = home();
    let id = start(&home, "s", &[], "printf 'before %s after\\n' ghp_aB3dE5gH1jK2mN4pQ6sT8vW0yZaB3dE5gH1j");
    let _ = home.mw(["wait", &id]);
    let whole = "before [redacted:github-token] after\n";
    assert_eq!(home.mw(["output", &id]).text(), whole);
    for size in [1, 7, 10, 20, 47, 60] {
        let mut text = String::new();
        let mut offset = 0;
        loop {
            let (at, most) = (offset.to_string(), size.to_string());
            let page = home.mw(["output", "--json", "--offset", &at, "--max-bytes", &most, &id]).json();
            assert_eq!(page["offset"], offset, "{page}");
            text.push_str(page["text"].as_str().unwrap());
            offset = page["next_offset"].as_u64().unwrap();
            if page["eof"] == true {
                break;
            }
        }
        assert_eq!(offset, home.log(&id).len() as u64, "offsets are those of the log");
        while text.contains(&MARKS[0].repeat(2)) {
            text = text.replace(&MARKS[0].repeat(2), MARKS[0]);
        }
        assert_eq!(text, whole, "pages of {size} bytes");
    }
    let tail = home.mw(["output", "--json", "--max-bytes", "20", &id]).json();
    assert_eq!(tail["text"], "[redacted:github-token] after\n");
}

#[test]
fn a_secret_in_two_writes_is_hidden_while_following() {
    let home = home();
    let gate = children::gate("go");
    let script = format!("printf 'x %s' {}; {gate}; echo {}", &TOKEN[..20], &TOKEN[20..]);
    let id = start(&home, "s", &[], &script);
    let following = home.command(["output", "--follow", &id]).spawn();
    wait_until(SOON, "the first half is hidden", || following.printed().contains(MARKS[0]).then_some(()));
    home.open("go");
    let text = following.wait().text();
    assert!(!text.contains(&TOKEN[4..20]) && !text.contains(&TOKEN[20..]), "{text}");
    assert_eq!(text, format!("x {}\n", MARKS[0].repeat(2)));
    assert_eq!(home.mw(["output", &id]).text(), format!("x {}\n", MARKS[0]));
}

#[test]
fn a_private_key_is_hidden_in_output_tail_and_search() {
    let home = home();
    let key = "printf -- '-----BEGIN %s KEY-----\\nMIIEpAIBAAKCAQEA0Zx\\nq1Zx+/Qaaaa==\\n-----END %s KEY-----\\nok\\n' PRIVATE PRIVATE";
    let id = start(&home, "s", &[], key);
    let _ = home.mw(["wait", &id]);
    assert_eq!(home.mw(["output", &id]).text(), "[redacted:private-key]\nok\n");
    assert_eq!(home.mw(["output", "--tail", "3", &id]).text(), "[redacted:private-key]\nok\n");
    for from in ["0", "40"] {
        let found = home.mw(["output", "--grep", ".", "--offset", from, &id]).text();
        assert!(!found.contains("MIIE") && !found.contains("q1Zx") && found.contains("ok"), "{found}");
    }
}

#[test]
fn a_secret_in_a_long_line_is_hidden_in_a_search() {
    let home = home();
    // A long line is searched in parts of 256 KiB; the beginning of each is shown.
    let script = format!(
        "head -c 262130 /dev/zero | tr '\\0' .; printf ' %s ' {TOKEN}; head -c 100000 /dev/zero | tr '\\0' .; echo"
    );
    let id = start(&home, "s", &[], &script);
    let _ = home.mw(["wait", &id]);
    let found = home.mw(["output", "--grep", "\\.", "--json", &id]).json();
    let second = found["matches"][1]["text"].as_str().unwrap();
    assert!(second.starts_with(&format!("{} ...", MARKS[0])), "{second}");
    assert!(!found.to_string().contains(&TOKEN[25..]), "{found}");
}

#[test]
fn a_terminal_gets_colours_but_no_other_sequences() {
    let home = home();
    let script = format!("printf '\\033[31mred\\033[0m\\033]0;title\\007 {TOKEN}\\033[2J done\\n'");
    let id = start(&home, "s", &[], &script);
    let _ = home.mw(["wait", &id]);
    let terminal = home.command(["output", &id]).on_terminal();
    let shown = wait_until(SOON, "the output is shown", || {
        Some(terminal.shown()).filter(|text| text.contains("done"))
    });
    assert!(shown.contains("\x1b[31mred\x1b[0m") && shown.contains(MARKS[0]), "{shown:?}");
    assert!(!shown.contains("title") && !shown.contains("\x1b[2J") && !shown.contains(TOKEN), "{shown:?}");
    assert_eq!(terminal.wait(), Some(0));
}

#[test]
fn a_task_with_an_unreadable_environment_shows_no_command_and_marks_its_output() {
    let home = home();
    let id = start(&home, "s", &["--description", "prints it"], &format!("echo {VALUE} {KEY}; exit 3"));
    let _ = home.mw(["wait", &id]);
    fs::write(home.task_dir(&id).join(SPEC_FILE), "{").unwrap();
    for args in [
        &["status", &id][..],
        &["status", "--json", &id],
        &["list"],
        &["list", "--json"],
        &["wait", "--json", &id],
        &["watch", "--no-follow"],
        &["notices", "--session", "s", "--peek"],
    ] {
        let outcome = home.mw(args);
        // The end of the output follows the record of the task.
        let record = outcome.text().replace(&format!("{VALUE} [redacted:aws-key]"), "");
        assert_hidden(&record);
        let is_silent = args[0] == "watch";
        assert!(is_silent || record.contains("[redacted:unreadable-environment]"), "{outcome}");
    }
    let said =
        "[spec.json of this task cannot be read: the values of its secret variables are not redacted here]";
    assert_eq!(home.mw(["output", &id]).ok(), format!("{said}\n{VALUE} [redacted:aws-key]\n"));
    let found = home.mw(["output", "--grep", "drum", &id]).ok();
    assert!(found.contains(said) && !found.contains(KEY), "{found}");
    assert_eq!(home.mw(["output", "--raw", &id]).ok(), format!("{VALUE} {KEY}\n"));
    let raw = home.mw(["list", "--raw"]).ok();
    assert!(raw.contains("prints it") && !raw.contains("[redacted:"), "{raw}");
}

#[test]
fn redact_enabled_takes_effect() {
    for home in both_ways("redact.enabled", "false") {
        let id = home.start(&leaky());
        let ended = home.ended(&id);
        assert!(ended["command"].as_str().unwrap().contains(TOKEN), "{ended}");
        assert!(home.mw(["output", &id]).text().contains(KEY));
    }
}

#[test]
fn redact_patterns_take_effect() {
    let by_variable = home().with_env(variable("redact.patterns"), "CASE-[0-9]+\nbadge \\w+");
    let in_file = with_file("[redact]\npatterns = [\"CASE-[0-9]+\", 'badge \\w+']\n");
    for home in [by_variable, in_file] {
        assert_eq!(setting(&home, "redact.patterns").0, "CASE-[0-9]+\nbadge \\w+");
        let id = home.start("echo CASE-4711 and badge xyz");
        let ended = home.ended(&id);
        assert_eq!(ended["command"], "echo [redacted:pattern] and [redacted:pattern]");
        assert_eq!(home.mw(["output", &id]).text(), "[redacted:pattern] and [redacted:pattern]\n");
    }
}

#[test]
fn invalid_patterns_are_refused_by_name() {
    for bad in ["(", "x*"] {
        let in_file = with_file(&format!("[redact]\npatterns = [\"good\", \"{bad}\"]\n"));
        assert_refused(&in_file, &["redact.patterns", "config.toml:2", "regular expressions"]);
        let by_variable = home().with_env(variable("redact.patterns"), bad);
        assert_refused(
            &by_variable,
            &["MEANWHILE_REDACT_PATTERNS", "redact.patterns", "regular expressions"],
        );
    }
}

#[test]
fn output_with_random_bytes_is_shown_to_its_end() {
    let home = home();
    let id = home.start("head -c 300000 /dev/urandom; printf '\\nend\\n'");
    home.ended(&id);
    assert!(home.mw(["output", "--max-bytes", "0", &id]).text().ends_with("end\n"));
    assert!(home.mw(["status", &id]).text().trim_end().ends_with("end"));
}
