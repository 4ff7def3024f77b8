//! What holds for any text.

use mw_policy::Decision;
use proptest::prelude::*;

use crate::table::one_line_commands;
use crate::world::{Case, decided};

/// Texts with here-documents, and with what changes where those begin and end.
fn documents() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "cat", "<<E", "<<-E", "<<'E'", "<< \"E\"", "<<<", "<<", "E", "\nE\n", "\n", "\t", " ", "\"", "'",
        "\\", "\\\n", "$(", "${", "$((", "$[", "`", ")", "))", "}", "]", "(", ";", "|", "#", "x", "a=1",
        "$'", "$\"",
    ]);
    proptest::collection::vec(pieces, 1..16).prop_map(|pieces| pieces.concat())
}

/// Texts made of what shells give a meaning to.
fn shellish() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "ls",
        "rm",
        "-rf",
        "x",
        "/etc/x",
        "cd",
        "..",
        "echo",
        "sh",
        "-c",
        "git",
        "find",
        "-exec",
        "{}",
        "+",
        "curl",
        "env",
        "A=1",
        " ",
        " ",
        " ",
        ";",
        "&",
        "&&",
        "|",
        "||",
        "\n",
        "(",
        ")",
        "{",
        "}",
        "$",
        "$(",
        "`",
        "${",
        "x}",
        "$((",
        "))",
        "<",
        ">",
        ">>",
        "<<E\n",
        "E\n",
        "<<<",
        "&>",
        "2>&1",
        "\"",
        "'",
        "\\",
        "#",
        "*",
        "?",
        "[",
        "]",
        "[[",
        "]]",
        "~",
        "!",
        "=",
        "if",
        "then",
        "fi",
        "for",
        "in",
        "do",
        "done",
        "while",
        "case",
        "esac",
        ";;",
        "function",
        "f()",
        "$'",
        "1",
        "9999999999",
        "{a,b}",
        "{1..3}",
        "é",
        "\u{200b}",
        "\t",
        "time",
        "coproc",
        "select",
        "eval",
        "trap",
        "<(",
        ">(",
        "|&",
        "a[",
        "+=",
        "@(",
        ",",
        "..",
    ]);
    prop::collection::vec(pieces, 0..24).prop_map(|pieces| pieces.concat())
}

fn command() -> impl Strategy<Value = String> {
    prop::sample::select(one_line_commands())
}

/// Writes a word in another way that means the same.
fn quoted(word: &str, how: u8) -> String {
    match how % 5 {
        0 => format!("'{word}'"),
        1 => format!("\"{word}\""),
        2 => word.chars().flat_map(|c| ['\\', c]).collect(),
        3 => word.chars().map(|c| format!("'{c}'")).collect(),
        _ => word.to_owned(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_document_makes_the_judgement_fail(text in documents()) {
        for case in [Case::script(&text), Case::bash(&text)] {
            let verdict = case.verdict();
            prop_assert!(verdict.parsed || verdict.decision != Decision::Allow);
            prop_assert!(verdict.reasons.iter().all(|reason| !reason.why.contains("the parser failed")), "{text:?}");
        }
        // What is shown of it is taken apart, too.
        let _ = mw_policy::steps(&text);
    }

    #[test]
    fn no_text_panics_and_none_is_allowed_that_was_not_read(text in any::<String>(), shellish in shellish()) {
        for text in [text, shellish] {
            for case in [Case::script(&text), Case::bash(&text)] {
                let verdict = case.verdict();
                prop_assert!(verdict.parsed || verdict.decision != Decision::Allow, "{text:?}");
                prop_assert!(verdict.decision == Decision::Allow || !verdict.reasons.is_empty());
            }
        }
    }

    #[test]
    fn steps_leave_nothing_of_a_script_out(texts in prop::collection::vec(shellish(), 1..4), document in documents()) {
        for text in [texts.join("; "), texts.join(" > log\n"), format!("ls; {document}")] {
            let mut rest = text.as_str();
            for step in mw_policy::steps(&text) {
                let (before, after) = rest.split_once(&step).expect("a step is as it is written");
                prop_assert!(before.trim_matches([' ', '\t', '\n', ';', '&', '|']).is_empty(), "{text:?}: {before:?}");
                rest = after;
            }
            let is_apart = rest.len() < text.len();
            prop_assert!(!is_apart || rest.trim_matches([' ', '\t', '\n', ';']).is_empty(), "{text:?}: {rest:?}");
        }
    }

    #[test]
    fn another_stage_never_lowers(first in command(), second in command(), third in shellish()) {
        let behind = decided(&format!("{first} | {second}"));
        prop_assert!(behind >= decided(&first), "{first} | {second}");
        // Names that come from a known place make xargs better known, and nothing else does. Behind `cd src &&`, a path
        // is another path.
        if !second.contains("xargs") && !first.contains("cd ") {
            prop_assert!(behind >= decided(&second), "{first} | {second}");
        }
        let odd = decided(&format!("{first} | {third}"));
        prop_assert!(odd >= decided(&first), "{first} | {third}");
    }

    #[test]
    fn another_command_beside_it_never_lowers(first in command(), second in command()) {
        for between in ["; ", " && ", " || ", " & ", "\n"] {
            let both = decided(&format!("{first}{between}{second}"));
            prop_assert!(both >= decided(&first), "{first}{between}{second}");
        }
    }

    #[test]
    fn wrapping_never_lowers(command in command()) {
        // A wrapper without a command is a command of its own.
        prop_assume!(!command.starts_with(['>', '&']));
        let plain = decided(&command);
        for wrapped in [
            format!("( {command} )"),
            format!("{{ {command}\n}}"),
            format!("if true; then {command}\nfi"),
            format!("while true; do {command}\ndone"),
            format!("f() {{ {command}\n}}; f"),
            format!("echo \"$( {command} )\""),
            format!("env {command}"),
            format!("nice {command}"),
            format!("timeout 5 {command}"),
            format!("env A=1 nohup {command}"),
        ] {
            prop_assert!(decided(&wrapped) >= plain, "{wrapped}");
        }
    }

    #[test]
    fn quoting_a_word_differently_changes_nothing(
        command in command().prop_filter("plain words", |command| is_plain(command)),
        how in prop::collection::vec(any::<u8>(), 12),
    ) {
        let words = command.split(' ').enumerate();
        let other: Vec<String> = words.map(|(at, word)| quoted(word, how[at % how.len()])).collect();
        let other = other.join(" ");
        prop_assert_eq!(decided(&other), decided(&command), "{}", other);
    }
}

/// Tells whether a command is words that quotes do not change.
fn is_plain(command: &str) -> bool {
    let first = command.split(' ').next().unwrap_or_default();
    command.chars().all(|c| c.is_ascii_alphanumeric() || " -_./:,+@%=".contains(c))
        && !command.contains("  ")
        && !first.contains('=')
        // Keywords are none when they are quoted.
        && !["time", "coproc", "for", "done", "fi", "select", "if", "case", "function"].contains(&first)
}

#[test]
fn a_document_on_a_line_that_goes_on_is_asked_about() {
    for text in [
        "cat <<E \"\n${\n$(\nE\n\"",
        "<<E \"\n${x\n$(\nE\n",
        "cat <<E '\"' \"\n$(\n",
        "cat <<E \\\n${ $(\nE\n",
    ] {
        assert_eq!(decided(text), Decision::Ask, "{text:?}");
    }
    assert_eq!(decided("cat <<E\nit is \"so\nE\n"), Decision::Allow);
    assert_eq!(decided("echo \"1 << 2\""), Decision::Allow);
}
