//! Statements that the documentation must contain, and the commands and settings that it names.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use mw_model::wire::drop_marker;

fn page(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Returns a section of a page, on one line.
#[track_caller]
fn section(page: &str, heading: &str) -> String {
    let (_, rest) = page.split_once(&format!("\n## {heading}\n")).unwrap();
    let text = rest.split("\n## ").next().unwrap_or_default();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[track_caller]
fn says(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{part:?} is missing in: {text}");
    }
}

#[test]
fn the_first_paragraph_of_the_readme_states_the_purpose() {
    let readme = page("README.md");
    let paragraph = readme.split("\n\n").nth(1).unwrap().replace('\n', " ");
    says(&paragraph, &["in the background", "returns at once", "coding agents", "exactly one notification"]);
}

#[test]
fn the_readme_shows_how_an_agent_works_without_polling() {
    let text = section(&page("README.md"), "With a coding agent");
    says(&text, &["mw setup", "run_in_background", "<task-notification>"]);
}

/// Returns the code between single backquotes, and the lines of code blocks.
fn code(page: &str) -> Vec<String> {
    let mut code = Vec::new();
    for (at, part) in page.split("```").enumerate() {
        if at % 2 == 1 {
            code.extend(part.lines().skip(1).map(|line| line.trim().trim_start_matches("$ ").to_owned()));
        } else {
            code.extend(part.split('`').skip(1).step_by(2).map(str::to_owned));
        }
    }
    code
}

fn pages() -> Vec<(String, String)> {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let names = fs::read_dir(docs).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    // The ledger also names what was requested and does not exist.
    let names = names.filter(|name| name.ends_with(".md") && name != "requirements.md");
    let names = names.map(|name| format!("docs/{name}")).chain(["README.md".to_owned()]);
    names.map(|name| (name.clone(), page(&name))).collect()
}

#[test]
fn every_command_that_a_page_names_exists() {
    let home = crate::home();
    let mut known = BTreeMap::new();
    for (name, text) in pages() {
        for line in code(&text) {
            let Some(word) = line.strip_prefix("mw ").and_then(|rest| rest.split_whitespace().next()) else {
                continue;
            };
            if word.bytes().all(|byte| byte.is_ascii_lowercase()) {
                let exists =
                    known.entry(word.to_owned()).or_insert_with(|| home.mw([word, "--help"]).code == Some(0));
                assert!(*exists, "{name}: {line}");
            }
        }
    }
    assert!(known.len() > 20, "only {known:?}");
}

/// Files and attributes of spans whose names look like settings.
const NO_SETTINGS: [&str; 10] = [
    "hooks.lock",
    "hooks.log",
    "hooks.json",
    "output.log",
    "output.buffer",
    "agent.log",
    "agent.json",
    "agent.stop_reason",
    "agent.input_tokens",
    "agent.output_tokens",
];

#[test]
fn every_setting_that_a_page_names_exists() {
    let answer = crate::home().mw(["config", "--json"]).exits(0).json();
    let settings: BTreeSet<&str> = answer["settings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|setting| setting["name"].as_str().unwrap())
        .collect();
    let groups: BTreeSet<&str> = settings.iter().filter_map(|name| Some(name.split_once('.')?.0)).collect();
    let mut named = BTreeSet::new();
    for (name, text) in pages() {
        for word in code(&text) {
            let Some((group, rest)) = word.split_once('.') else { continue };
            let is_name = rest.bytes().all(|byte| byte.is_ascii_lowercase() || b"_.".contains(&byte));
            if groups.contains(group) && is_name && !NO_SETTINGS.contains(&word.as_str()) {
                assert!(settings.contains(word.as_str()), "{name}: {word}");
                named.insert(word);
            }
        }
    }
    assert!(named.len() > 20, "only {named:?}");
}

#[test]
fn known_limits_are_stated() {
    let text = page("docs/limits.md");
    let marker = drop_marker(7).replace('7', "N");
    let marker = marker.trim().lines().next().unwrap().to_owned();
    let limits = ["daemons", "Standard input is empty", "both supervisors are killed"];
    says(
        &text,
        &[
            &limits[..],
            &["count the background tasks of a session", "next prompt or tool call", "cannot move"],
            &[&marker],
        ]
        .concat(),
    );
}

#[test]
fn the_guide_has_everything_an_agent_needs() {
    let text = page("docs/agents.md");
    says(&text, &["run_in_background", "Never sleep", "<task-notification>", "<output-file>", "task_output"]);
    says(
        &text,
        &[
            "`stalled`",
            "`stall.ms`",
            "`output.cap`",
            "hooks.exit",
            "with_alias",
            "| a process of this machine (the default) | `process` | yes | yes | yes |",
        ],
    );
    says(&text, &[drop_marker(7).replace('7', "N").trim().lines().next().unwrap()]);
}

#[test]
fn the_architecture_shows_the_path_from_a_call_to_a_notification() {
    let text = section(&page("docs/architecture.md"), "From a call to a notification");
    let parts = [
        "foreground: start",
        "background: start",
        "else an alias",
        "next prompt or reply",
        "start before exit",
    ];
    says(&text, &parts);
    says(&text, &["agents.md#where-a-task-runs"]);
}

/// C-106: the design has the four required parts.
#[test]
fn the_design_has_its_four_parts() {
    let design = page("docs/design/background-execution.md");
    for (part, words) in [
        ("What and how", ["run_in_background", "No daemon"]),
        ("Core logic", ["one gate for foreground and background", "SIGKILL"]),
        ("Configuration", ["background_max_concurrent", "retention.max_age"]),
        ("Files", ["output.log", "metadata.json"]),
    ] {
        says(&section(&design, part), &words);
    }
}

/// Z-130: how the chat shows tasks, with a picture.
#[test]
fn the_chat_page_describes_chip_banner_dialog_and_warning() {
    let chat = page("docs/chat.md");
    says(&chat, &["(chat.svg)"]);
    says(&section(&chat, "During a conversation"), &["`⌁ 2 tasks`", "**Ctrl-B** lists them", "is a banner"]);
    says(&section(&chat, "Leaving and resuming"), &["If tasks run at that moment, the chat says how many"]);
}
