//! `mw setup`: a change to a host's files is shown, made after confirmation, and undone byte for byte.

use std::fs;
use std::path::PathBuf;

use mw_testkit::{Home, SOON, wait_until};

use crate::home;

/// Every host with its files below the user's home, and files with existing content.
pub(crate) const HOSTS: [(&str, &[(&str, &str)]); 7] = [
    (
        "claude-code",
        &[
            (
                ".claude.json",
                "{\n  \"numStartups\": 12,\n  \"mcpServers\": {},\n  \"projects\": {\n    \"/shop\": { \"allowedTools\": [] }\n  }\n}",
            ),
            (
                ".claude/settings.json",
                "{\n    \"hooks\": {\n        \"Stop\": [\n            { \"hooks\": [ { \"type\": \"command\", \"command\": \"beep\" } ] }\n        ]\n    }\n}\n",
            ),
        ],
    ),
    (
        "codex",
        &[
            (
                ".codex/config.toml",
                "# mine\nmodel = \"m\" # best\n\n[mcp_servers.other]\ncommand = \"x\"\n\n[projects.\"/shop\"]\ntrust_level = \"trusted\"",
            ),
            (".codex/hooks.json", "{\"hooks\":{\"Stop\":[]}}"),
        ],
    ),
    (
        "gemini",
        &[(
            ".gemini/settings.json",
            "{\n  // colours\n  \"theme\": \"dark\", /* yes */\n  \"mcpServers\": { \"a\": { \"command\": \"b\" } }\n}\n",
        )],
    ),
    (
        "opencode",
        &[(
            ".config/opencode/opencode.json",
            "{\r\n\t\"$schema\": \"https://opencode.ai/config.json\",\r\n\t\"mcp\": {\r\n\t\t// none yet\r\n\t},\r\n}\r\n",
        )],
    ),
    (
        "vscode",
        &[(
            ".config/Code/User/mcp.json",
            "{\n\t\"servers\": {\n\t\t\"x\": { \"url\": \"http://x\" }, // one\n\t},\n\t\"inputs\": [],\n}\n",
        )],
    ),
    ("cursor", &[(".cursor/mcp.json", "{ \"mcpServers\": { } }")]),
    (
        "zed",
        &[(
            ".config/zed/settings.json",
            "// Zed settings\n//\n// For information on how to configure Zed, see the documentation\n{\n  \"ui_font_size\": 16, // large\n  \"theme\": {\n    \"mode\": \"system\",\n  },\n}\n",
        )],
    ),
];

pub(crate) fn put(home: &Home, path: &str, text: &str) -> PathBuf {
    let path = home.user().join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, text).unwrap();
    path
}

pub(crate) fn read(home: &Home, path: &str) -> String {
    fs::read_to_string(home.user().join(path)).unwrap()
}

/// Runs setup with confirmation and returns the state.
pub(crate) fn agree(home: &Home, words: &[&str]) -> String {
    let words = [&["setup", "--json", "--yes"], words].concat();
    let done = home.mw(words);
    assert_eq!(done.code, Some(0), "{done}");
    done.json()["status"].as_str().unwrap().to_owned()
}

#[test]
fn setup_creates_missing_files_once_and_remove_deletes_them() {
    for (host, files) in HOSTS {
        let home = home();
        assert_eq!(agree(&home, &[host]), "set_up", "{host}");
        let first: Vec<_> = files.iter().map(|(path, _)| read(&home, path)).collect();
        assert!(first.iter().all(|text| text.contains(env!("CARGO_BIN_EXE_mw"))), "{host}: {first:?}");
        assert_eq!(agree(&home, &[host]), "already_set_up", "{host}");
        let second: Vec<_> = files.iter().map(|(path, _)| read(&home, path)).collect();
        assert_eq!(first, second, "{host}");
        assert_eq!(agree(&home, &[host, "--remove"]), "removed", "{host}");
        assert!(files.iter().all(|(path, _)| !home.user().join(path).exists()), "{host}");
        assert_eq!(agree(&home, &[host, "--remove"]), "not_set_up", "{host}");
    }
}

#[test]
fn setup_and_remove_restore_existing_files_byte_for_byte() {
    for (host, files) in HOSTS {
        let home = home();
        for (path, text) in files {
            put(&home, path, text);
        }
        assert_eq!(agree(&home, &[host]), "set_up", "{host}");
        for (path, text) in files {
            let now = read(&home, path);
            assert!(now.len() > text.len(), "{host}: {now}");
            for word in text.split(|c: char| !c.is_alphanumeric()) {
                assert!(now.contains(word), "{host}: {word} is gone from {now}");
            }
        }
        assert_eq!(agree(&home, &[host]), "already_set_up", "{host}");
        assert_eq!(agree(&home, &[host, "--remove"]), "removed", "{host}");
        for (path, text) in files {
            assert_eq!(&read(&home, path), text, "{host} {path}");
        }
    }
}

#[test]
fn setup_changes_nothing_without_confirmation() {
    for (host, files) in HOSTS {
        let home = home();
        let shown = home.mw(["setup", host]).exits(9);
        for (path, _) in files {
            let line = format!("+++ {}", home.user().join(path).display());
            assert!(shown.text().contains(&line), "{shown}");
            assert!(!home.user().join(path).exists(), "{host}");
        }
        assert!(shown.stderr_text().contains("--yes"), "{shown}");
        let shown = home.mw(["setup", "--json", host]).exits(9).json();
        assert_eq!(shown["status"], "shown", "{shown}");
        assert!(shown["files"][0]["diff"].as_str().unwrap().contains("meanwhile"), "{shown}");
    }
}

#[test]
fn setup_asks_for_confirmation_and_the_default_is_no() {
    let home = home();
    for (answer, code, made) in [("\r", 9, false), ("n\r", 9, false), ("y\r", 0, true)] {
        let mut terminal = home.command(["setup", "cursor"]).without("NO_COLOR").on_terminal();
        wait_until(SOON, "the prompt is shown", || terminal.shown().contains("[y/N]").then_some(()));
        assert!(terminal.shown().contains("\u{1b}[32m+"), "{}", terminal.shown());
        terminal.press(answer);
        assert_eq!(terminal.wait(), Some(code), "{answer:?}");
        assert_eq!(home.user().join(".cursor/mcp.json").exists(), made, "{answer:?}");
    }
}

#[test]
fn project_files_contain_no_absolute_path() {
    let project = [
        ("claude-code", &[".mcp.json", ".claude/settings.json"][..]),
        ("codex", &[".codex/config.toml", ".codex/hooks.json"]),
        ("gemini", &[".gemini/settings.json"]),
        ("opencode", &["opencode.json"]),
        ("vscode", &[".vscode/mcp.json"]),
        ("cursor", &[".cursor/mcp.json"]),
        ("zed", &[".zed/settings.json"]),
    ];
    for (host, files) in project {
        let home = home();
        assert_eq!(agree(&home, &[host, "--project"]), "set_up", "{host}");
        for file in files {
            let text = fs::read_to_string(home.work().join(file)).unwrap();
            assert!(text.contains("\"mw") && !text.contains(env!("CARGO_BIN_EXE_mw")), "{host}: {text}");
        }
        assert_eq!(fs::read_dir(home.user()).unwrap().count(), 0, "{host} changed the user's own files");
        assert_eq!(agree(&home, &[host, "--project", "--remove"]), "removed", "{host}");
        assert!(files.iter().all(|file| !home.work().join(file).exists()), "{host}");
    }
}

#[test]
fn hosts_are_listed_with_their_state() {
    let home = home();
    put(&home, ".zed-is-elsewhere", "");
    fs::create_dir_all(home.user().join(".codex")).unwrap();
    put(&home, ".gemini/settings.json", "{,}");
    agree(&home, &["cursor"]);
    let list = home.mw(["setup", "--json"]).json();
    let host =
        |id: &str| list["hosts"].as_array().unwrap().iter().find(|host| host["host"] == id).unwrap().clone();
    assert_eq!((&host("codex")["found"], &host("codex")["set_up"]), (&true.into(), &"no".into()));
    assert_eq!(host("cursor")["set_up"], "yes");
    assert!(host("gemini")["error"].as_str().unwrap().contains("line 1"), "{list}");
    let text = home.mw(["setup"]).ok();
    assert!(HOSTS.iter().all(|(id, _)| text.contains(id)), "{text}");
}

#[test]
fn the_documentation_shows_the_written_files() {
    let page = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/setup.md")).unwrap();
    let home = home();
    for (host, _) in HOSTS {
        let printed = home.mw(["setup", host, "--print", "--json"]).json();
        let snippets = printed["snippets"].as_array().unwrap();
        assert!(!snippets.is_empty(), "{host}: {printed}");
        for snippet in snippets {
            let text =
                snippet["text"].as_str().unwrap().replace(env!("CARGO_BIN_EXE_mw"), "/home/me/.cargo/bin/mw");
            assert!(page.contains(&text), "docs/setup.md lacks for {host}:\n{text}");
        }
        assert!(!home.user().join(".claude.json").exists());
    }
}
