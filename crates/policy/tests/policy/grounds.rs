//! Modes, words without a shell, the environment, limits, and the reasons and effects of a decision.

use mw_policy::{
    CommandText, ConfinementLevel, Decision, Dialect, Files, Mode, Request, Rules, Tool, Verdict, decide,
};

use crate::world::{Case, Nowhere, decided};

fn texts(verdict: &Verdict) -> Vec<String> {
    verdict.reasons.iter().map(ToString::to_string).collect()
}

/// Each built-in rule about commands, a command that it asks about, and a similar one that it does not.
const EXAMPLES: [(&str, &str, &str); 16] = [
    ("unreadable", "echo 'open", "echo 'closed'"),
    ("delete", "find . -name '*.o' -delete", "find . -name '*.o'"),
    ("destroy", "mkfs.ext4 /dev/sda1", "lsblk"),
    ("write-outside", "echo x > ../notes.txt", "echo x > notes.txt"),
    ("write-protected", "echo x > .git/hooks/pre-commit", "cat .git/HEAD"),
    ("network", "curl -X POST https://example.org", "curl https://example.org"),
    ("unknown-code", "python -c 'print(1)'", "python --version"),
    ("unknown-program", "frobnicate", "ls"),
    ("not-literal", "$cmd file", "cat file"),
    ("variable", "PATH=. ls", "LANG=C ls"),
    ("secret", "cat ~/.ssh/id_rsa", "cat README.md"),
    ("other-user", "sudo ls", "ls"),
    ("kill", "kill -9 -1", "kill -l"),
    ("install", "pip install requests", "pip list"),
    ("repository", "git push", "git status"),
    ("disguise", "l\u{0455} -a", "ls -a"),
];

#[test]
fn every_built_in_rule_asks_about_its_example_but_not_its_counter_example() {
    for (rule, example, counter) in EXAMPLES {
        let verdict = Case::script(example).verdict();
        assert_eq!(verdict.decision, Decision::Ask, "{example}");
        assert!(verdict.rules.iter().any(|name| name == rule), "{example}: {:?}", verdict.rules);
        assert_eq!(decided(counter), Decision::Allow, "{counter}");
    }
}

#[test]
fn a_command_may_only_raise_a_decision_and_not_in_dangerous_mode() {
    let decision = |mode, dialect, text| Case { mode, dialect, ..Case::script(text) }.verdict().decision;
    let neutral = Dialect::Canonical;
    assert_eq!(decision(Mode::Safe, neutral, "ls"), Decision::Allow);
    assert_eq!(decision(Mode::Safe, neutral, "rm x"), Decision::Ask);
    assert_eq!(decision(Mode::Auto, neutral, "rm x"), Decision::Ask);
    assert_eq!(decision(Mode::Dangerous, neutral, "rm x"), Decision::Allow);
    assert_eq!(decision(Mode::Dangerous, neutral, "echo 'open"), Decision::Allow);
    assert_eq!(decision(Mode::Safe, Dialect::Opta, "ls"), Decision::Ask);
    assert_eq!(decision(Mode::Auto, Dialect::Opta, "ls"), Decision::Allow);
    assert_eq!(decision(Mode::Safe, Dialect::CoCli, "ls"), Decision::Allow);
    for mode in [Mode::Plan, Mode::Ci] {
        assert_eq!(decision(mode, neutral, "ls"), Decision::Deny);
        assert_eq!(decision(mode, neutral, "rm x"), Decision::Deny);
    }
}

#[test]
fn reasons_quote_the_part_and_effects_describe_what_it_does() {
    let verdict =
        Case::script("ls && rm -rf build; echo x > /etc/hosts | curl -d x https://example.org").verdict();
    let reasons = texts(&verdict).join("\n");
    assert!(reasons.contains("`rm -rf build`: it deletes files"), "{reasons}");
    assert!(reasons.contains("`> /etc/hosts`: /etc/hosts is outside the project"), "{reasons}");
    assert!(
        verdict.effects.contains(&"deletes build and everything in it".to_owned()),
        "{:?}",
        verdict.effects
    );
    assert!(verdict.effects.contains(&"writes outside the project: /etc/hosts".to_owned()));
    assert!(verdict.effects.iter().any(|effect| effect.contains("example.org")), "{:?}", verdict.effects);
    assert!(verdict.parsed);
    let verdict = Case::script("python -c 'x'").verdict();
    assert_eq!(verdict.effects, ["runs code that cannot be analysed"]);
}

#[test]
fn an_allowed_command_has_no_reasons_effects_or_rules() {
    let verdict = Case::script("cargo test 2>&1 | tail -5").verdict();
    assert_eq!((verdict.decision, verdict.reasons.len(), verdict.effects.len()), (Decision::Allow, 0, 0));
    assert!(verdict.rules.is_empty());
}

#[test]
fn words_without_a_shell_are_taken_literally() {
    let decided = |words: &[&str]| {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        Case::of(CommandText::Words(&words)).verdict().decision
    };
    assert_eq!(decided(&["ls", "-la", "$(rm x)", ";", "rm"]), Decision::Allow);
    assert_eq!(decided(&["echo", "*", "a > b"]), Decision::Allow);
    assert_eq!(decided(&["rm", "x"]), Decision::Ask);
    assert_eq!(decided(&["sh", "-c", "rm x"]), Decision::Ask);
    assert_eq!(decided(&["sh", "-c", "ls"]), Decision::Allow);
    assert_eq!(decided(&["env", "LD_PRELOAD=x", "ls"]), Decision::Ask);
    assert_eq!(decided(&["ls\u{202e}"]), Decision::Ask);
    assert_eq!(decided(&["cat", "~/.ssh/id_rsa"]), Decision::Ask);
    assert_eq!(decided(&["tee", "../x"]), Decision::Ask);
}

#[test]
fn a_command_with_a_deceptive_character_needs_approval() {
    let decided = |c: char| {
        (
            Case::script(&format!("ls a{c}b")).verdict().decision,
            Case::of(CommandText::Words(&["ls".to_owned(), format!("a{c}b")])).verdict().decision,
        )
    };
    let ranges = [
        '\u{7f}'..='\u{a0}',
        '\u{ad}'..='\u{ad}',
        '\u{34f}'..='\u{34f}',
        '\u{61c}'..='\u{61c}',
        '\u{115f}'..='\u{1160}',
        '\u{1680}'..='\u{1680}',
        '\u{17b4}'..='\u{17b5}',
        '\u{180b}'..='\u{180f}',
        '\u{2000}'..='\u{200f}',
        '\u{2028}'..='\u{202f}',
        '\u{205f}'..='\u{206f}',
        '\u{2800}'..='\u{2800}',
        '\u{3000}'..='\u{3000}',
        '\u{3164}'..='\u{3164}',
        '\u{fe00}'..='\u{fe0f}',
        '\u{feff}'..='\u{feff}',
        '\u{ffa0}'..='\u{ffa0}',
        '\u{fff0}'..='\u{fffd}',
        '\u{1bca0}'..='\u{1bca3}',
        '\u{1d173}'..='\u{1d17a}',
        '\u{e0000}'..='\u{e0fff}',
    ];
    let asks: Vec<char> = ranges.into_iter().flatten().collect();
    for c in asks.iter().copied().chain(['\u{1}', '\u{1b}', '\r']) {
        assert_eq!(decided(c), (Decision::Ask, Decision::Ask), "{}", c.escape_unicode());
    }
    for c in ['ü', '日', 'ש', '\u{301}', '\u{1f600}'] {
        assert_eq!(decided(c), (Decision::Allow, Decision::Allow), "{}", c.escape_unicode());
    }
}

#[test]
fn the_selector_that_belongs_to_an_emoji_is_ordinary_text() {
    for (text, decision) in [
        ("echo '\u{26a0}\u{fe0f} done'", Decision::Allow),
        ("echo '\u{26a0}\u{fe0f}\u{fe0f}'", Decision::Ask),
        ("echo '\u{26a0}\u{fe0e}'", Decision::Ask),
        ("echo 'a\u{fe0f}'", Decision::Ask),
        ("\u{fe0f}ls", Decision::Ask),
    ] {
        assert_eq!(Case::script(text).verdict().decision, decision, "{}", text.escape_unicode());
    }
}

#[test]
fn the_environment_is_judged_with_the_command() {
    let with = |name: &str, value: &str, text: &str| {
        let env = [(name.to_owned(), value.to_owned())];
        Case { env: &env, ..Case::script(text) }.verdict().decision
    };
    assert_eq!(with("RUST_LOG", "debug", "cargo test"), Decision::Allow);
    assert_eq!(with("LD_PRELOAD", "./x.so", "ls"), Decision::Ask);
    assert_eq!(with("GIT_PAGER", "sh -c id", "git log"), Decision::Ask);
    assert_eq!(with("F", "/home/me/.ssh/id_rsa", "cat $F"), Decision::Ask);
    assert_eq!(with("OUT", "/etc/x", "OUT=a; echo x > $OUT"), Decision::Ask);
    assert_eq!(with("x", "a[$(id)]", "echo $((x))"), Decision::Ask);
}

/// A shell may set these variables itself, and arithmetic may change them. A later word then has another value than
/// the one that the script or the call assigned.
#[test]
fn values_of_variables_that_the_shell_may_change_are_not_trusted() {
    for name in ["PWD", "OLDPWD", "SECONDS", "_", "LINENO", "BASH_SUBSHELL"] {
        let text = format!("echo x > \"${name}/../out\"");
        let env = [(name.to_owned(), "/p/sub/a".to_owned())];
        let case = Case { env: &env, ..Case::bash(&text) };
        assert_eq!(case.verdict().decision, Decision::Ask, "{name} set by the call");
        for text in
            [format!("{name}=/p/sub/a; cd .; {text}"), format!("export {name}=/p/sub/a; sh -c '{text}'")]
        {
            assert_eq!(Case::bash(&text).verdict().decision, Decision::Ask, "{text}");
        }
    }
    for calculation in ["echo $((X=1))", "Y=$((X=1))", "[ $((X++)) = 1 ]", "((X=1))", "let X=1"] {
        let text = format!("X=sub/a; {calculation}; echo x > $X/../../OUT");
        assert_eq!(Case::bash(&text).verdict().decision, Decision::Ask, "{text}");
    }
    let ordinary = Case::bash("sub=/p/sub/a; echo x > \"$sub/../out\"");
    assert_eq!(ordinary.verdict().decision, Decision::Allow, "an ordinary variable keeps its assigned value");
    assert_eq!(Case::bash("echo x > \"$PWD/sub/out\"").verdict().decision, Decision::Allow);
}

fn deep(open: &str, inside: &str, close: &str, times: usize) -> String {
    format!("{}{inside}{}", open.repeat(times), close.repeat(times))
}

#[test]
fn too_long_or_too_deep_texts_need_approval() {
    let hostile = [
        "ls ".repeat(30_000),
        deep("(", "ls", ")", 5_000),
        deep("$(", "ls", ")", 5_000),
        deep("echo $(", "ls", ")", 150),
        deep("{ ", "ls", "; }", 3_000),
        deep("if ", "ls", "; then ls; fi", 2_000),
        deep("case x in a) ", "ls", " esac", 22),
        deep("\"${a:-", "x", "}\"", 90),
        "(".repeat(100),
        "`".repeat(999),
        "{a,b}".repeat(40),
        deep("while cd ..; do ", "echo x > y", "; done", 35),
        deep("eval '", "ls", "'", 40),
    ];
    for text in &hostile {
        let shown: String = text.chars().take(40).collect();
        assert_eq!(Case::bash(text).verdict().decision, Decision::Ask, "{shown}");
    }
}

#[test]
fn harmless_texts_with_large_numbers_or_many_braces_are_allowed() {
    let harmless = [
        format!("echo {}", "{".repeat(9_000)),
        "echo {1..99999999999999999999}".to_owned(),
        "echo ~+99999999999999999999999".to_owned(),
        deep("for i in a b c; do ", "echo $i", "; done", 38),
    ];
    for text in &harmless {
        let shown: String = text.chars().take(40).collect();
        assert_eq!(Case::bash(text).verdict().decision, Decision::Allow, "{shown}");
    }
}

#[test]
fn a_script_for_an_unknown_shell_needs_approval_and_is_not_parsed() {
    let verdict = Case::of(CommandText::Script { shell: "/bin/zsh", text: "ls" }).verdict();
    assert_eq!((verdict.decision, verdict.parsed), (Decision::Ask, false));
}

/// A file system in which no path can be resolved.
struct Unresolvable;

impl Files for Unresolvable {
    fn real(&self, _: &str) -> Option<String> {
        None
    }

    fn text(&self, _: &str) -> Option<String> {
        None
    }
}

#[test]
fn writes_and_builds_need_approval_if_paths_cannot_be_resolved() {
    let rules = Rules::none();
    let decided = |text: &str, files: &dyn Files, writable: &[String]| {
        let request = Request {
            mode: Mode::Safe,
            dialect: Dialect::Canonical,
            tool: Tool::named("shell").unwrap(),
            command: Some(CommandText::Script { shell: "sh", text }),
            cwd: "/p",
            project: "/p",
            home: "",
            writable,
            env: &[],
            ci_reads: false,
            confined: ConfinementLevel::No,
            rules: &rules,
            files,
        };
        decide(&request).decision
    };
    assert_eq!(decided("echo x > y", &Unresolvable, &[]), Decision::Ask);
    assert_eq!(decided("cargo test", &Unresolvable, &[]), Decision::Ask);
    assert_eq!(decided("ls", &Unresolvable, &[]), Decision::Allow);
    assert_eq!(decided("echo x > /tmp/y", &Nowhere, &[]), Decision::Ask);
    assert_eq!(decided("echo x > /tmp/y", &Nowhere, &["/tmp".to_owned()]), Decision::Allow);
    assert_eq!(decided("echo x > ~/y", &Nowhere, &[]), Decision::Ask);
}
