//! What the documentation shows and names exists: commands, settings, tools, notifications, sections.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use mw_model::wire::drop_marker;
use mw_testkit::{SOON, wait_until};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn page(name: &str) -> String {
    let path = root().join(name);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
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
    let names = fs::read_dir(root().join("docs"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap());
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
const NO_SETTINGS: [&str; 11] = [
    "hooks.lock",
    "hooks.log",
    "hooks.log.old",
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
fn every_command_has_a_manual_page() {
    let home = crate::home();
    let folder = home.work().join("man");
    home.mw(["reference", "--man", folder.to_str().unwrap()]).ok();
    let reference = page("docs/reference.md");
    let commands = reference.lines().filter_map(|line| line.strip_prefix("### mw "));
    for name in commands.clone().map(|name| format!("mw-{name}")).chain(["mw-template-save".to_owned()]) {
        let text = fs::read_to_string(folder.join(format!("{name}.1"))).unwrap();
        assert!(text.contains(&format!("\n.TH {name} 1 ")), "{text}");
        let is_whole = name == "mw-template-save" || text.contains("\n.SH EXAMPLES\n");
        assert!(is_whole && text.contains("\n.SH OPTIONS\n") && text.contains("\n.SH SEE ALSO\n"), "{text}");
        // The formatter drops a line that begins like a request but is none.
        let requests = text.lines().filter(|line| line.starts_with(['.', '\'']));
        let known = ["ie", "el", "TH", "SH", "TP", "PP", "RS", "RE", "IP", "br", "nf", "fi", "sp"];
        for line in requests {
            let request = line[1..].split_whitespace().next().unwrap_or_default();
            assert!(known.contains(&request), "{name}: {line}");
        }
    }
    assert!(commands.count() > 30);
    let all = fs::read_to_string(folder.join("mw.1")).unwrap();
    assert!(all.contains("mw\\-template") && !all.contains("settle"), "{all}");
}

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
fn the_pages_show_a_notification_with_the_elements_that_it_has() {
    let home = crate::home();
    home.command(["start", "echo 1 failed; exit 101"]).session("s").run().ok();
    let notices = || home.command(["notices", "--session", "s"]).run().ok();
    let block = wait_until(SOON, "the notification", || Some(notices()).filter(|text| !text.is_empty()));
    let real = elements(&block);
    for name in ["README.md", "docs/agents.md", "docs/hosts.md"] {
        let text = page(name);
        let (_, rest) =
            text.split_once("<task-notification>\n").unwrap_or_else(|| panic!("no example in {name}"));
        let shown = elements(rest.split("</task-notification>").next().unwrap_or_default());
        assert!(shown.iter().all(|element| real.contains(element)), "{name}: {shown:?}, not {real:?}");
        assert!(shown.contains("task-id") && shown.contains("status"), "{name}: {shown:?}");
    }
}

/// Returns the names of the elements that begin a line.
fn elements(text: &str) -> BTreeSet<&str> {
    let starts = text.lines().filter_map(|line| line.trim_start().strip_prefix('<'));
    starts.filter(|rest| !rest.starts_with('/')).filter_map(|rest| Some(rest.split_once('>')?.0)).collect()
}

#[test]
fn the_pages_for_agents_name_tools_and_parameters_that_exist() {
    let tools = crate::home().mw(["tools"]).ok();
    for (name, words) in [
        ("README.md", &["run_in_background", "task_wait"][..]),
        ("docs/agents.md", &["run_in_background", "task_output", "task_wait", "task_stop", "task_input"]),
    ] {
        let text = page(name);
        for word in words {
            assert!(text.contains(word), "{name}: {word}");
            assert!(tools.contains(&format!("\"{word}\"")), "no tool and no parameter is called {word}");
        }
    }
}

#[test]
fn the_pages_show_the_marker_of_dropped_output() {
    let marker = drop_marker(7).replace('7', "N");
    let marker = marker.trim().lines().next().unwrap();
    for name in ["docs/limits.md", "docs/agents.md"] {
        assert!(page(name).contains(marker), "{name}: {marker}");
    }
}

/// The pages that were required, with their sections.
const REQUIRED: [(&str, &[&str]); 6] = [
    ("README.md", &["With a coding agent", "A tour in one minute", "Limits"]),
    ("docs/limits.md", &[]),
    ("docs/agents.md", &["Subagents"]),
    ("docs/architecture.md", &["From a call to a notification"]),
    ("docs/design/background-execution.md", &["What and how", "Core logic", "Configuration", "Files"]),
    ("docs/chat.md", &["During a conversation", "Leaving and resuming"]),
];

#[test]
fn the_required_pages_have_their_sections_and_pictures() {
    for (name, sections) in REQUIRED {
        let text = page(name);
        for heading in sections {
            let (_, section) =
                text.split_once(&format!("\n## {heading}\n")).unwrap_or_else(|| panic!("{name}: {heading}"));
            assert!(section.trim_start().starts_with(|c: char| c != '#'), "{name}: {heading} is empty");
        }
        let folder = Path::new(name).parent().unwrap();
        for (picture, _) in text.split("](").skip(1).filter_map(|link| link.split_once(')')) {
            if [".svg", ".png"].iter().any(|kind| picture.ends_with(kind)) {
                assert!(root().join(folder).join(picture).is_file(), "{name}: {picture}");
            }
        }
    }
}
