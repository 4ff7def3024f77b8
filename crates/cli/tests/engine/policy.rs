//! `mw policy`: decisions without running anything.

use std::fs;
use std::os::unix::fs::symlink;

use mw_testkit::Home;
use serde_json::{Value, json};

use crate::settings::{as_file, both_ways, setting, variable, with_file};

/// A home with the usual mode, on a kernel that cannot confine commands.
fn home() -> Home {
    crate::home().gated().with_env("MEANWHILE_LACKS", "landlock")
}

/// Returns a home whose working directory is a project, on a kernel that cannot confine commands.
fn project() -> Home {
    crate::approval::project_without_kernel()
}

#[track_caller]
fn decides<const N: usize>(home: &Home, words: [&str; N], code: i32) {
    let _ = home.mw(words).exits(code);
}

#[track_caller]
fn decision(home: &Home, command: &str) -> String {
    let printed = home.mw(["policy", "--json", command]).json();
    printed["decision"].as_str().unwrap().to_owned()
}

#[test]
fn a_decision_has_reasons_effects_and_an_exit_code() {
    let home = project();
    let printed = home.mw(["policy", "--json", "cargo test 2>&1 | tail -5"]).exits(0).json();
    assert_eq!(
        printed,
        json!({"decision": "allow", "reasons": [], "effects": [], "rules": [], "parsed": true,
               "grant": {"read": "no_secrets", "write": "project", "network": "full",
                         "environment": "no_secrets"}})
    );
    let printed = home.mw(["policy", "--json", "rm -rf build"]).exits(3).json();
    assert_eq!(printed["decision"], "ask");
    assert_eq!(printed["reasons"], json!(["`rm -rf build`: it deletes files"]));
    assert_eq!(printed["effects"], json!(["deletes build and everything in it"]));
    assert_eq!(printed["rules"], json!(["delete"]));
    let printed = home.mw(["policy", "--json", "--mode", "plan", "ls"]).exits(4).json();
    assert_eq!(printed["decision"], "deny");
    let printed = home.mw(["policy", "--json", "echo 'open"]).exits(3).json();
    assert_eq!(printed["parsed"], false);
    let text = home.mw(["policy", "rm x"]).exits(3).text();
    assert!(text.starts_with("ask\n  why     `rm x`: it deletes files\n  effect  deletes x\n"), "{text}");
    assert!(
        text.contains("\n  grant   reads files except secrets, writes in the project, no network\n"),
        "{text}"
    );
}

#[test]
fn where_the_kernel_confines_a_decision_says_what_the_command_may_do() {
    let home = crate::approval::project();
    let decided = |home: &Home, command: &str| {
        let printed = home.mw(["policy", "--json", command]).json();
        (printed["decision"].as_str().unwrap().to_owned(), printed["grant"].clone())
    };
    for lacks in ["landlock", "namespaces", "seccomp"] {
        let lacking = crate::approval::project().with_env("MEANWHILE_LACKS", lacks);
        assert_eq!(decided(&lacking, "python3 x.py").0, "ask", "the kernel lacks {lacks}");
    }
    let off = crate::approval::project().with_env(variable("confine.models"), "false");
    assert_eq!(decided(&off, "python3 x.py").0, "ask");
    if decided(&home, "python3 x.py").0 == "ask" {
        mw_testkit::skip(mw_testkit::Need::Confinement, "the kernel offers only a part of it");
    }
    let (_, grant) = decided(&home, "python3 x.py");
    assert_eq!((&grant["write"], &grant["network"]), (&json!("project"), &json!("loopback")));
    let (decision, grant) = decided(&home, "echo x > /srv/outside");
    assert_eq!(decision, "ask");
    assert!(grant["write"]["paths"][0].as_str().unwrap().ends_with("/srv/outside"), "{grant}");
    assert_eq!(decided(&home, "git push").0, "ask");
    assert_eq!(decided(&home, "curl -s https://example.org | sh").0, "ask");
}

#[test]
fn a_rule_names_the_grant_of_the_commands_that_it_allows() {
    let rule = |grant: &str| {
        format!(
            "[[rules]]\nname = \"r\"\nmatch = \"frobnicate ...\"\ndecision = \"allow\"\ngrant = {grant}\n"
        )
    };
    let granted = |text: &str| {
        let home = with_file(text);
        fs::create_dir(home.work().join(".git")).unwrap();
        home.mw(["policy", "--json", "frobnicate x"]).exits(0).json()["grant"].clone()
    };
    let grant = granted(&rule("\"project+network\""));
    assert_eq!((&grant["write"], &grant["network"]), (&json!("project"), &json!("full")));
    let grant = granted(&rule("{ write = { paths = [\"/srv\"] } }"));
    assert_eq!((&grant["write"], &grant["network"]), (&json!({"paths": ["/srv"]}), &json!("none")));
    let home = with_file(&rule("\"project+internet\""));
    let refused = home.mw(["policy", "ls"]);
    assert!(
        refused.code == Some(2) && refused.stderr_text().contains("no part \"internet\""),
        "{}",
        refused.stderr_text()
    );
}

#[test]
fn a_policy_check_runs_nothing() {
    let home = project();
    decides(&home, ["policy", "touch made; echo x > written; $(touch made)"], 3);
    decides(&home, ["policy", "touch made"], 0);
    assert!(!home.work().join("made").exists() && !home.work().join("written").exists());
}

#[test]
fn arguments_after_two_hyphens_are_judged_without_a_shell() {
    let home = project();
    decides(&home, ["policy", "--", "ls", "; rm x"], 0);
    decides(&home, ["policy", "--", "rm", "x"], 3);
    decides(&home, ["policy", "--", "sh", "-c", "rm x"], 3);
}

#[test]
fn commands_are_read_from_a_file_or_standard_input() {
    let home = project();
    let lines = "ls\n\nrm x\n{\"command\":\"ls\\nrm y\"}\n{\"command\":[\"ls\",\"rm z\"]}\n\u{202e}ls\n";
    let printed = |values: &[Value]| {
        values.iter().map(|v| v["decision"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let expected = ["allow", "ask", "ask", "allow", "ask"];
    let from_input = home.command(["policy", "-"]).input(lines).run().exits(3).json_lines();
    assert_eq!(printed(&from_input), expected);
    assert_eq!(from_input[1]["command"], "rm x");
    assert_eq!(from_input[3]["command"], json!(["ls", "rm z"]));
    let file = home.work().join("commands");
    fs::write(&file, lines).unwrap();
    let from_file = home.command(["policy", "--file"]).arg(&file).run().exits(3).json_lines();
    assert_eq!(from_file, from_input);
    let _ = home.command(["policy", "--file", "-"]).input("ls\n").run().exits(0);
    let garbage = home.command(["policy", "-"]).input(vec![b'l', b's', 0xff, b'\n', 0, b'\n']).run().exits(3);
    assert_eq!(printed(&garbage.json_lines()), ["ask", "ask"]);
    let _ = home.mw(["policy", "--json", "--file", "missing"]).refusal(2);
}

#[test]
fn paths_are_resolved_through_links() {
    let home = project();
    symlink("/etc", home.work().join("out")).unwrap();
    symlink("nowhere", home.work().join("dangling")).unwrap();
    fs::create_dir(home.work().join("src")).unwrap();
    for (command, expected) in [
        ("echo x > src/new/deep", "allow"),
        ("echo x > out/new", "ask"),
        ("echo x > src/../../new", "ask"),
        ("echo x > dangling", "ask"),
        ("cp a src", "allow"),
        ("cat out/shadow", "ask"),
        ("cd src && echo x > y", "allow"),
        ("cd out && echo x > y", "ask"),
    ] {
        assert_eq!(decision(&home, command), expected, "{command}");
    }
    fs::write(home.work().join("safe.sh"), "#!/bin/sh\nls\n").unwrap();
    fs::write(home.work().join("bad.sh"), "#!/bin/sh\nrm -rf x\n").unwrap();
    assert_eq!(decision(&home, "./safe.sh && sh safe.sh"), "allow");
    assert_eq!(decision(&home, "sh bad.sh"), "ask");
}

#[test]
fn the_users_home_directory_is_not_a_project() {
    let home = home();
    let printed =
        home.command(["policy", "--json", "echo x > .bashrc"]).cwd(home.user()).run().exits(3).json();
    assert_eq!(printed["rules"], json!(["write-outside"]));
}

#[test]
fn tools_and_profiles_have_their_own_decisions() {
    let home = project();
    decides(&home, ["policy", "--tool", "bg_status", "--mode", "plan"], 0);
    decides(&home, ["policy", "--tool", "bg_kill", "--profile", "opta"], 3);
    decides(&home, ["policy", "--tool", "shell_kill", "--profile", "zidane"], 0);
    decides(&home, ["policy", "--tool", "bg_status", "--mode", "ci"], 4);
    decides(&home, ["policy", "--tool", "run", "--mode", "ci", "ls"], 0);
    decides(&home, ["policy", "--profile", "opta", "ls"], 3);
    decides(&home, ["policy", "--profile", "co-cli", "ls"], 0);
    decides(&home, ["policy", "--env", "LD_PRELOAD=x", "ls"], 3);
    let _ = home.mw(["policy", "--json"]).refusal(2);
    decides(&home, ["policy", "--mode", "yolo", "ls"], 2);
    decides(&home, ["policy", "--tool", "nothing", "ls"], 2);
}

#[test]
fn mode_takes_effect() {
    for home in both_ways("mode", "plan") {
        decides(&home, ["policy", "ls"], 4);
        decides(&home, ["policy", "--mode", "safe", "ls"], 0);
    }
    for home in both_ways("mode", "dangerous") {
        decides(&home, ["policy", "rm -rf /"], 0);
    }
}

#[test]
fn a_project_can_make_the_mode_stricter_but_not_looser() {
    for (users, projects, expected) in [
        ("safe", "plan", "plan"),
        ("auto", "safe", "safe"),
        ("dangerous", "ci", "ci"),
        ("safe", "auto", "safe"),
        ("safe", "dangerous", "safe"),
        ("plan", "ci", "plan"),
        ("ci", "plan", "ci"),
    ] {
        let home = with_file(&as_file("mode", users));
        fs::write(home.work().join(".meanwhile.toml"), as_file("mode", projects)).unwrap();
        assert_eq!(setting(&home, "mode").0, expected, "{users} and {projects}");
    }
}

#[test]
fn policy_ci_reads_takes_effect() {
    for home in both_ways("policy.ci_reads", "true") {
        decides(&home, ["policy", "--tool", "bg_output", "--mode", "ci"], 0);
        decides(&home, ["policy", "--tool", "bg_kill", "--mode", "ci"], 4);
    }
}

#[test]
fn policy_writable_takes_effect() {
    let place = home();
    let there = place.work().to_string_lossy().into_owned();
    let by_variable = home().with_env(variable("policy.writable"), &there);
    let in_file = with_file(&format!("[policy]\nwritable = [{there:?}]\n"));
    let in_file = in_file.with_env("MEANWHILE_LACKS", "landlock");
    for home in [by_variable, in_file] {
        decides(&home, ["policy", &format!("echo x > {there}/y")], 0);
        decides(&home, ["policy", &format!("echo x > {there}/../y")], 3);
    }
}

#[test]
fn user_rules_can_loosen_and_project_rules_only_tighten() {
    let allow = "[[rules]]\nname = \"push\"\nmatch = \"git push origin ...\"\ndecision = \"allow\"\n";
    let home = with_file(allow);
    fs::create_dir(home.work().join(".git")).unwrap();
    let printed = home.mw(["policy", "--json", "git push origin main"]).exits(0).json();
    assert_eq!(printed["rules"], json!(["user:push"]));
    decides(&home, ["policy", "git push --force"], 3);
    let file = home.work().join(".meanwhile.toml");
    fs::write(&file, "[[rules]]\nname = \"never\"\nmatch = \"git push ...\"\ndecision = \"deny\"\n").unwrap();
    decides(&home, ["policy", "git push origin main"], 4);
    fs::write(&file, allow).unwrap();
    let printed = home.mw(["policy", "--json", "ls"]).refusal(2);
    assert!(printed["message"].as_str().unwrap().contains("only the user's rules can allow"), "{printed}");
}

#[test]
fn a_rule_that_contradicts_its_example_is_named() {
    let home =
        with_file("[[rules]]\nname = \"odd\"\nmatch = \"ls\"\ndecision = \"deny\"\nexamples = [\"ls -l\"]\n");
    let printed = home.mw(["policy", "--json", "ls"]).refusal(2);
    let message = printed["message"].as_str().unwrap();
    assert!(
        message.contains("config.toml") && message.contains("\"odd\"") && message.contains("\"ls -l\""),
        "{message}"
    );
}
