//! Compares decisions with real shells: an allowed script never runs a hidden program.
//!
//! The test changes scripts at random and decides about them. Real shells then run the allowed ones, with one forbidden
//! program that leaves a mark. A mark means that a shell and the parser read a text differently.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Stdio};

use mw_policy::{CommandText, Decision};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use tempfile::TempDir;

use crate::world::Case;

/// The program that must not run.
const FORBIDDEN: &str = "FORBIDDEN";

/// The original scripts. They have no loop that ends on a condition, because a changed one could run forever.
const SCRIPTS: [&str; 33] = [
    "cat <<E\na b\nE\nls",
    "cat <<'E'\na $x\nE\n",
    "cat <<-E\n\ta\n\tE\nls",
    "cat <<A <<B\na\nA\nb\nB\n",
    "cat <<< 'x y'",
    "echo 'a b' \"c $x d\" e",
    "echo a # comment\nls",
    "echo $(ls $(echo a)) b",
    "echo `ls` c",
    "echo \"a $(echo 'b c') d\"",
    "case a in (a) ls;; b|c) echo x;; esac",
    "if [ a = a ]; then ls; else echo b; fi",
    "for i in a b; do echo $i; done",
    "f() { echo a; }; f",
    "function g { ls; }; g",
    "x=a; echo ${x:-b} ${x#c}",
    "echo \"${x:-\"a b\"}\" ${x:-'a}b'}",
    "[[ a == b && c =~ d|e ]]",
    "echo $'a\\nb' c",
    "{ ls; echo a; } > f",
    "( ls; echo a ) 2>&1 | cat",
    "echo $((1+2))",
    "((1+1)); ls",
    "echo {a,b}{c,d} ~ *",
    "echo a \\\n b",
    "ls &> f",
    "ls |& cat",
    "a=(b c); echo ${a[0]}",
    "echo \"a\\\"b\" 'c'\\''d'",
    "! ls",
    "eval 'echo a'",
    "trap 'echo b' EXIT",
    "echo a && ls || echo b; ls &",
];

/// The pieces to insert. The first eight contain the forbidden program.
const PIECES: [&str; 38] = [
    "FORBIDDEN",
    "; FORBIDDEN ;",
    "\nFORBIDDEN\n",
    "`FORBIDDEN`",
    "$(FORBIDDEN)",
    " FORBIDDEN",
    "| FORBIDDEN",
    "&& FORBIDDEN",
    "\"",
    "'",
    "\\",
    "\n",
    "#",
    " #",
    "$'",
    "\\\n",
    "(",
    ")",
    "{",
    "}",
    "<<E\n",
    "E\n",
    "$(",
    "`",
    "$((",
    "))",
    "${",
    ";",
    "&",
    "|",
    " ",
    "<",
    ">",
    "!",
    "=",
    "[[",
    "]]",
    "\\'",
];

/// Generates scripts with pieces inserted at random places. One of the pieces runs the forbidden program.
fn changed_script() -> impl Strategy<Value = String> {
    let forbidden = prop::sample::select(&PIECES[..8]);
    let pieces =
        prop::collection::vec((any::<prop::sample::Index>(), prop::sample::select(&PIECES[..])), 0..4);
    let scripts = (
        prop::sample::select(&SCRIPTS[..]),
        prop::sample::select(vec!["", ";", "\n", " | "]),
        prop::sample::select(&SCRIPTS[..]),
    );
    (scripts, any::<prop::sample::Index>(), forbidden, pieces).prop_map(
        |((first, between, second), at, forbidden, pieces)| {
            let mut text =
                if between.is_empty() { first.to_owned() } else { format!("{first}{between}{second}") };
            text.insert_str(at.index(text.len() + 1), forbidden);
            for (at, piece) in pieces {
                text.insert_str(at.index(text.len() + 1), piece);
            }
            text
        },
    )
}

/// Creates a directory whose `programs` are the only ones that shells find.
fn directory() -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    let programs = directory.path().join("programs");
    fs::create_dir_all(directory.path().join("work")).unwrap();
    fs::create_dir(&programs).unwrap();
    let forbidden = programs.join(FORBIDDEN);
    fs::write(&forbidden, format!("#!/bin/sh\n: > '{}/mark'\n", directory.path().display())).unwrap();
    fs::set_permissions(&forbidden, PermissionsExt::from_mode(0o755)).unwrap();
    for name in ["ls", "cat"] {
        symlink(Path::new("/bin").join(name), programs.join(name)).unwrap();
    }
    directory
}

/// Runs a script and returns whether the forbidden program ran.
fn leaves_a_mark(directory: &Path, shell: &str, text: &str) -> bool {
    let mark = directory.join("mark");
    let mut command = Command::new(shell);
    command
        .args(["-c", text])
        .current_dir(directory.join("work"))
        .env_clear()
        .env("PATH", directory.join("programs"));
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let _ = command.status();
    fs::remove_file(mark).is_ok()
}

#[test]
fn no_shell_runs_a_forbidden_program_hidden_in_an_allowed_command() {
    let directory = directory();
    let shells: Vec<&str> =
        ["/bin/bash", "/bin/sh", "/bin/dash"].into_iter().filter(|shell| Path::new(shell).exists()).collect();
    assert!(leaves_a_mark(directory.path(), shells[0], "echo a; FORBIDDEN"));
    let mut runner = TestRunner::new(Config { cases: 1_500, failure_persistence: None, ..Config::default() });
    let result = runner.run(&changed_script(), |text| {
        for shell in &shells {
            let verdict = Case::of(CommandText::Script { shell, text: &text }).verdict();
            if verdict.decision == Decision::Allow {
                prop_assert!(
                    !leaves_a_mark(directory.path(), shell, &text),
                    "{shell} runs the forbidden program in {text:?}"
                );
            }
        }
        Ok(())
    });
    assert!(result.is_ok(), "{}", result.unwrap_err());
}
