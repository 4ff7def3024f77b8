//! Properties that hold for any text.

use mw_policy::Decision;
use proptest::prelude::*;

use crate::table::one_line_commands;
use crate::world::{Case, decided};

/// Generates texts with here-documents and with characters that change where they begin and end.
fn documents() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "cat", "<<E", "<<-E", "<<'E'", "<< \"E\"", "<<<", "<<", "E", "\nE\n", "\n", "\t", " ", "\"", "'",
        "\\", "\\\n", "$(", "${", "$((", "$[", "`", ")", "))", "}", "]", "(", ";", "|", "#", "x", "a=1",
        "$'", "$\"",
    ]);
    proptest::collection::vec(pieces, 1..16).prop_map(|pieces| pieces.concat())
}

/// Generates texts from words and characters that have a meaning in shells.
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

/// Quotes a word in another way, without changing its meaning.
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
    fn here_documents_never_make_the_parser_fail(text in documents()) {
        for case in [Case::script(&text), Case::bash(&text)] {
            let verdict = case.verdict();
            prop_assert!(verdict.parsed || verdict.decision != Decision::Allow);
            prop_assert!(verdict.reasons.iter().all(|reason| !reason.why.contains("the parser failed")), "{text:?}");
        }
        // Splitting the text into steps must not panic either.
        let _ = mw_policy::steps(&text);
    }

    #[test]
    fn no_text_panics_and_unparsed_text_is_never_allowed(text in any::<String>(), shellish in shellish()) {
        for text in [text, shellish] {
            for case in [Case::script(&text), Case::bash(&text)] {
                let verdict = case.verdict();
                prop_assert!(verdict.parsed || verdict.decision != Decision::Allow, "{text:?}");
                prop_assert!(verdict.decision == Decision::Allow || !verdict.reasons.is_empty());
            }
        }
    }

    #[test]
    fn splitting_a_script_into_steps_loses_only_separators(
        texts in prop::collection::vec(shellish(), 1..4),
        document in documents(),
    ) {
        for text in [texts.join("; "), texts.join(" > log\n"), format!("ls; {document}")] {
            let mut rest = text.as_str();
            for step in mw_policy::steps(&text) {
                let (before, after) = rest.split_once(&step).expect("a step is a part of the script, unchanged");
                prop_assert!(before.trim_matches([' ', '\t', '\n', ';', '&', '|']).is_empty(), "{text:?}: {before:?}");
                rest = after;
            }
            let is_split = rest.len() < text.len();
            prop_assert!(!is_split || rest.trim_matches([' ', '\t', '\n', ';']).is_empty(), "{text:?}: {rest:?}");
        }
    }

    #[test]
    fn adding_a_pipeline_stage_never_lowers_the_decision(first in command(), second in command(), third in shellish()) {
        let piped = decided(&format!("{first} | {second}"));
        prop_assert!(piped >= decided(&first), "{first} | {second}");
        // Two exceptions: xargs is easier to judge when its names come from a known command, and a relative path
        // means another file after `cd`.
        if !second.contains("xargs") && !first.contains("cd ") {
            prop_assert!(piped >= decided(&second), "{first} | {second}");
        }
        let odd = decided(&format!("{first} | {third}"));
        prop_assert!(odd >= decided(&first), "{first} | {third}");
    }

    #[test]
    fn adding_a_command_to_a_list_never_lowers_the_decision(first in command(), second in command()) {
        for between in ["; ", " && ", " || ", " & ", "\n"] {
            let both = decided(&format!("{first}{between}{second}"));
            prop_assert!(both >= decided(&first), "{first}{between}{second}");
            // A relative path means another file after `cd`.
            prop_assert!(first.contains("cd ") || both >= decided(&second), "{first}{between}{second}");
        }
    }

    #[test]
    fn wrapping_a_command_never_lowers_the_decision(command in command()) {
        // A wrapper before a redirection has no command to run and is judged as a command itself.
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
    fn quoting_a_word_differently_does_not_change_the_decision(
        command in command().prop_filter("plain words", |command| is_plain(command)),
        how in prop::collection::vec(any::<u8>(), 12),
    ) {
        let words = command.split(' ').enumerate();
        let other: Vec<String> = words.map(|(at, word)| quoted(word, how[at % how.len()])).collect();
        let other = other.join(" ");
        prop_assert_eq!(decided(&other), decided(&command), "{}", other);
    }
}

/// Returns whether quotes do not change the meaning of any word of a command.
fn is_plain(command: &str) -> bool {
    let first = command.split(' ').next().unwrap_or_default();
    command.chars().all(|c| c.is_ascii_alphanumeric() || " -_./:,+@%=".contains(c))
        && !command.contains("  ")
        && !first.contains('=')
        // A quoted keyword is not a keyword.
        && !["time", "coproc", "for", "done", "fi", "select", "if", "case", "function"].contains(&first)
}

#[test]
fn a_here_document_on_a_line_that_continues_needs_approval() {
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
