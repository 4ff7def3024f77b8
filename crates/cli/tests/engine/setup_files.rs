//! `mw setup` and unusual files: malformed, linked, read-only, in other directories, changed concurrently.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

use crate::home;
use crate::setup::{HOSTS, agree, put, read};

#[test]
fn a_malformed_file_is_refused_with_the_line_and_unchanged() {
    for (host, files) in HOSTS {
        let (path, _) = files[0];
        let broken =
            if path.ends_with("toml") { "a = 1\nb = [\nc = 2\n" } else { "{\n  \"a\": 1,\n  \"b\" 2\n}\n" };
        let home = home();
        put(&home, path, broken);
        for words in
            [&["setup", "--json", "--yes", host][..], &["setup", "--json", "--yes", "--remove", host]]
        {
            let error = home.mw(words).refusal(2);
            assert_eq!(error["code"], "broken_file", "{error}");
            let message = error["message"].as_str().unwrap();
            assert!(message.contains("line 3"), "{host}: {message}");
        }
        assert_eq!(read(&home, path), broken, "{host}");
        assert!(
            files.iter().skip(1).all(|(path, _)| !home.user().join(path).exists()),
            "{host}: only a part of the files is changed"
        );
    }
}

#[test]
fn bytes_that_are_not_utf8_are_refused_with_the_line() {
    let home = home();
    let path = put(&home, ".cursor/mcp.json", "");
    fs::write(&path, b"{\n\"a\": \"\xff\"}").unwrap();
    let error = home.mw(["setup", "--json", "--yes", "cursor"]).refusal(2);
    assert!(error["message"].as_str().unwrap().contains("line 2"), "{error}");
    assert_eq!(fs::read(&path).unwrap(), b"{\n\"a\": \"\xff\"}");
}

#[test]
fn a_file_of_unexpected_structure_is_not_overwritten() {
    for text in [
        "[]",
        "{\"mcpServers\": []}",
        "{\"mcpServers\": null}",
        "{\"mcpServers\": {}, \"mcpServers\": {}}",
        "7",
    ] {
        let home = home();
        put(&home, ".cursor/mcp.json", text);
        let error = home.mw(["setup", "--json", "--yes", "cursor"]).refusal(2);
        assert_eq!(error["code"], "unfit_file", "{error}");
        assert_eq!(read(&home, ".cursor/mcp.json"), text);
    }
    let home = home();
    let inline = "mcp_servers = { other = { command = \"x\" } }\n";
    put(&home, ".codex/config.toml", inline);
    assert_eq!(home.mw(["setup", "--json", "--yes", "codex"]).refusal(2)["code"], "unfit_file");
    assert_eq!(read(&home, ".codex/config.toml"), inline);
}

#[test]
fn links_and_file_modes_are_kept() {
    for (host, files) in HOSTS {
        let home = home();
        for (number, (path, text)) in files.iter().enumerate() {
            let real = home.work().join(format!("dotfiles-{number}"));
            fs::write(&real, text).unwrap();
            fs::set_permissions(&real, Permissions::from_mode(0o640)).unwrap();
            let link = home.user().join(path);
            fs::create_dir_all(link.parent().unwrap()).unwrap();
            symlink(&real, &link).unwrap();
        }
        for words in [&[host][..], &[host, "--remove"]] {
            agree(&home, words);
            for (number, (path, _)) in files.iter().enumerate() {
                assert!(home.user().join(path).is_symlink(), "{host}");
                let real = home.work().join(format!("dotfiles-{number}"));
                assert_eq!(fs::metadata(&real).unwrap().mode() & 0o777, 0o640, "{host}");
            }
        }
        for (path, text) in files {
            assert_eq!(&read(&home, path), text, "{host}");
        }
        let names = fs::read_dir(home.work()).unwrap().count();
        assert_eq!(names, files.len(), "{host} left another file in the directory");
    }
}

#[test]
fn dangling_links_and_read_only_files_are_refused() {
    let home = home();
    let path = put(&home, ".cursor/mcp.json", "{}");
    fs::set_permissions(&path, Permissions::from_mode(0o444)).unwrap();
    let error = home.mw(["setup", "--json", "--yes", "cursor"]).refusal(6);
    assert_eq!(error["code"], "read_only", "{error}");
    assert_eq!(read(&home, ".cursor/mcp.json"), "{}");
    fs::create_dir_all(home.user().join(".gemini")).unwrap();
    symlink("/nowhere/at/all", home.user().join(".gemini/settings.json")).unwrap();
    let error = home.mw(["setup", "--json", "--yes", "gemini"]).refusal(1);
    assert_eq!(error["code"], "io", "{error}");
    assert!(home.user().join(".gemini/settings.json").is_symlink());
}

#[test]
fn setup_uses_the_directories_in_the_variables_of_a_host() {
    let home = home();
    let elsewhere = home.work().join("elsewhere");
    let run = |name: &str, host: &str| {
        home.command(["setup", "--yes", host]).env(name, &elsewhere).run().ok();
    };
    run("CODEX_HOME", "codex");
    run("CLAUDE_CONFIG_DIR", "claude-code");
    run("XDG_CONFIG_HOME", "zed");
    run("GEMINI_CLI_HOME", "gemini");
    for file in [
        "config.toml",
        "hooks.json",
        ".claude.json",
        "settings.json",
        "zed/settings.json",
        ".gemini/settings.json",
    ] {
        assert!(elsewhere.join(file).exists(), "{file}");
    }
    assert_eq!(fs::read_dir(home.user()).unwrap().count(), 0);
    put(&home, ".config/opencode/opencode.jsonc", "{ // mine\n}\n");
    agree(&home, &["opencode"]);
    assert!(!home.user().join(".config/opencode/opencode.json").exists());
}

#[test]
fn an_entry_with_another_mw_path_is_updated_and_keeps_other_keys() {
    let home = home();
    put(
        &home,
        ".codex/config.toml",
        "[mcp_servers.meanwhile]\ncommand = \"/old/mw\" # moved\nargs = [\"mcp\"]\ntool_timeout_sec = 9\n",
    );
    put(
        &home,
        ".codex/hooks.json",
        "{\"hooks\":{\"Stop\":[{\"hooks\":[{\"type\":\"command\",\"command\":\"/old/mw hook codex\"},{\"type\":\"command\",\"command\":\"beep\"}]}]}}",
    );
    assert_eq!(agree(&home, &["codex"]), "set_up");
    let (config, hooks) = (read(&home, ".codex/config.toml"), read(&home, ".codex/hooks.json"));
    assert!(config.contains("# moved\n") && config.contains("tool_timeout_sec = 9\n"), "{config}");
    assert!(config.contains(env!("CARGO_BIN_EXE_mw")) && !config.contains("/old"), "{config}");
    assert!(hooks.contains("beep") && !hooks.contains("/old"), "{hooks}");
    assert_eq!(hooks.matches(" hook codex").count(), 3, "{hooks}");
    assert_eq!(agree(&home, &["codex"]), "already_set_up");
    agree(&home, &["codex", "--remove"]);
    let hooks = read(&home, ".codex/hooks.json");
    assert_eq!(hooks, "{\"hooks\":{\"Stop\":[{\"hooks\":[{\"type\":\"command\",\"command\":\"beep\"}]}]}}");
}

#[test]
fn concurrent_setups_leave_one_valid_entry() {
    let home = home();
    put(&home, ".cursor/mcp.json", "{\n  \"mcpServers\": {\n    \"x\": {}\n  }\n}\n");
    std::thread::scope(|scope| {
        for _ in 0..4 {
            // A setup fails if the file has changed since it was read.
            scope.spawn(|| drop(home.mw(["setup", "--yes", "cursor"])));
        }
    });
    let text = read(&home, ".cursor/mcp.json");
    assert_eq!(text.matches("\"meanwhile\"").count(), 1, "{text}");
    assert_eq!(agree(&home, &["cursor"]), "already_set_up");
    assert_eq!(fs::read_dir(home.user().join(".cursor")).unwrap().count(), 1);
}

#[test]
fn an_entry_of_the_same_name_for_another_command_is_unchanged() {
    let home = home();
    let json = r#"{"mcpServers":{"meanwhile":{"command":"npx","args":["mine"]}}}"#;
    let toml = "[mcp_servers.meanwhile.env]\nA = \"b\"\n";
    for (host, file, theirs) in [("cursor", ".cursor/mcp.json", json), ("codex", ".codex/config.toml", toml)]
    {
        put(&home, file, theirs);
        let error = home.mw(["setup", "--json", "--yes", host]).refusal(2);
        assert_eq!(error["code"], "unfit_file", "{error}");
        assert!(error["message"].as_str().unwrap().contains("starts something else"), "{error}");
        assert_eq!(read(&home, file), theirs);
        agree(&home, &[host, "--remove"]);
        assert_eq!(read(&home, file), theirs);
    }
}

#[test]
fn a_byte_order_mark_is_kept() {
    let home = home();
    for theirs in ["\u{feff}{\n  \"a\": 1\n}\n", "\u{feff}"] {
        put(&home, ".cursor/mcp.json", theirs);
        agree(&home, &["cursor"]);
        let ours = read(&home, ".cursor/mcp.json");
        assert!(ours.starts_with("\u{feff}{") && ours.contains("meanwhile"), "{ours:?}");
        agree(&home, &["cursor", "--remove"]);
        assert_eq!(read(&home, ".cursor/mcp.json"), theirs);
    }
}
