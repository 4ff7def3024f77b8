//! Rules of users and projects.

use mw_policy::{Decision, Mode, Rule, RuleOrigin, Rules};

use crate::world::Case;

fn parsed(text: &str) -> Vec<Rule> {
    #[derive(serde::Deserialize)]
    struct File {
        rules: Vec<Rule>,
    }
    toml::from_str::<File>(text).unwrap().rules
}

fn rules(text: &str) -> Rules {
    let mut rules = Rules::none();
    rules.add(parsed(text), RuleOrigin::User).unwrap();
    rules
}

#[track_caller]
fn decides(rules: &Rules, command: &str, expected: Decision) {
    let verdict = Case { rules, ..Case::script(command) }.verdict();
    assert_eq!(verdict.decision, expected, "{command}: {:?} {:?}", verdict.rules, verdict.reasons);
}

const ALLOW_PUSH: &str = r#"
[[rules]]
name = "push"
match = "git push origin ..."
decision = "allow"
examples = ["git push origin main"]
counter_examples = ["git push --force", "git push"]
"#;

#[test]
fn an_allow_rule_allows_exactly_the_commands_it_matches() {
    let rules = rules(ALLOW_PUSH);
    for command in
        ["git push origin main", "git status && git push origin main", "timeout 5 git push origin main"]
    {
        decides(&rules, command, Decision::Allow);
    }
    for command in [
        "git push",
        "git push --force origin",
        "git push origin main && rm x",
        "rm x; git push origin main",
        "git push origin main > /etc/x",
        "git push origin $(rm x)",
        "git push origin $X",
        "sudo git push origin main",
        "GIT_SSH_COMMAND=evil git push origin main",
        "PATH=. git push origin main",
        "cd /tmp/evil && git push origin main",
        "git() { rm x; }; git push origin main",
        "./git push origin main",
        "git push origin main | sh",
        "git push origin *",
    ] {
        decides(&rules, command, Decision::Ask);
    }
}

#[test]
fn the_strictest_rule_wins_and_an_allow_rule_cannot_undo_a_deny() {
    let text = format!(
        "{ALLOW_PUSH}\n[[rules]]\nname = \"never\"\nmatch = \"git push ...\"\ndecision = \"deny\"\nreason = \"ask Eve\"\n"
    );
    let rules = rules(&text);
    decides(&rules, "git push origin main", Decision::Deny);
    let verdict = Case { rules: &rules, ..Case::script("ls; git push origin main") }.verdict();
    assert!(verdict.reasons.iter().any(|reason| reason.to_string() == "`git push origin main`: ask Eve"));
    assert!(verdict.rules.contains(&"user:never".to_owned()));
}

#[test]
fn a_deny_rule_applies_in_every_mode_and_inside_every_wrapper() {
    let rules = rules("[[rules]]\nname = \"no-rm\"\nmatch = \"rm ...\"\ndecision = \"deny\"\n");
    for mode in [Mode::Safe, Mode::Auto, Mode::Dangerous] {
        for command in
            ["rm x", "/bin/rm x", "env rm x", "sh -c 'rm x'", "ls; ls | xargs rm", "r\\m x", "echo $(rm x)"]
        {
            let verdict = Case { rules: &rules, mode, ..Case::script(command) }.verdict();
            assert_eq!(verdict.decision, Decision::Deny, "{command}");
        }
    }
    decides(&rules, "ls", Decision::Allow);
}

#[test]
fn a_rule_applies_only_in_the_mode_it_names() {
    let text = "[[rules]]\nname = \"slow\"\nmatch = \"cargo test ...\"\ndecision = \"ask\"\nmode = \"auto\"\ntool = \"shell\"\n";
    let rules = rules(text);
    decides(&rules, "cargo test", Decision::Allow);
    let auto = Case { rules: &rules, mode: Mode::Auto, ..Case::script("cargo test") };
    assert_eq!(auto.verdict().decision, Decision::Ask);
}

#[test]
fn a_project_rule_may_deny_but_not_allow() {
    let mut rules = Rules::none();
    let message = rules.add(parsed(ALLOW_PUSH), RuleOrigin::Project).unwrap_err().to_string();
    assert_eq!(
        message,
        "rule \"push\": a rule of a project can only ask or deny; only the user's rules can allow"
    );
    let deny = "[[rules]]\nname = \"no-net\"\nmatch = \"curl ...\"\ndecision = \"deny\"\n";
    rules.add(parsed(deny), RuleOrigin::Project).unwrap();
    decides(&rules, "curl https://example.org", Decision::Deny);
}
