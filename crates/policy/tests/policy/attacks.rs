//! Attacks: where the kernel confines, each needs approval, or its grant excludes the effect that it tries to have.
//!
//! `crates/cli/tests/attacks` runs the same commands for real.

use mw_policy::{
    CommandText, ConfinementLevel, Decision, Dialect, EnvironmentGrant, Files, Grant, Mode, NetworkGrant,
    ReadGrant, Request, Rules, Tool, Verdict, WriteGrant, decide,
};
use serde::Deserialize;

use crate::world::resolved;

#[derive(Deserialize)]
struct Table {
    group: Vec<Group>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Group {
    name: String,
    effect: String,
    commands: Vec<String>,
}

fn attacks() -> Vec<(String, String, String)> {
    let table: Table = toml::from_str(include_str!("../../../cli/tests/attacks/attacks.toml")).unwrap();
    let of = |group: Group| {
        let (name, effect) = (group.name, group.effect);
        group.commands.into_iter().map(move |command| (name.clone(), effect.clone(), filled(&command)))
    };
    table.group.into_iter().flat_map(of).collect()
}

fn filled(command: &str) -> String {
    let places = [
        ("@OUT@", "/home/me/outside"),
        ("@HOME@", "/home/me"),
        ("@ADDR@", "192.0.2.7"),
        ("@PORT@", "8123"),
        ("@PID@", "4711"),
        ("@ASK@", "ask-12345678"),
        ("@TASK@", "bash-12345678"),
    ];
    places.iter().fold(command.to_owned(), |text, (name, value)| text.replace(name, value))
}

/// A project in a home directory, with a link out of it.
struct Project;

impl Files for Project {
    fn real(&self, absolute: &str) -> Option<String> {
        Some(resolved(absolute, &[("/home/me/project/linked", "/home/me/outside")]))
    }

    fn text(&self, absolute: &str) -> Option<String> {
        match self.real(absolute)?.as_str() {
            "/home/me/project/.git/HEAD" => Some("ref: refs/heads/main\n".to_owned()),
            "/home/me/project/.gitignore" => Some("target/\nbuild/\n.env\n".to_owned()),
            _ => None,
        }
    }
}

fn verdict(command: &str, confined: ConfinementLevel) -> Verdict {
    decide(&Request {
        mode: Mode::Safe,
        dialect: Dialect::Canonical,
        tool: Tool::named("shell").unwrap(),
        command: Some(CommandText::Script { shell: "/bin/bash", text: command }),
        cwd: "/home/me/project",
        project: "/home/me/project",
        home: "/home/me",
        writable: &[],
        env: &[],
        ci_reads: false,
        confined,
        rules: &Rules::none(),
        files: &Project,
    })
}

/// Returns whether a command with this grant cannot have an effect.
fn excludes(grant: &Grant, effect: &str) -> bool {
    let writes_at = |place: &str| match &grant.write {
        WriteGrant::Temp | WriteGrant::Project => false,
        WriteGrant::Paths(paths) => paths.iter().any(|path| path.starts_with(place)),
        WriteGrant::Anything => true,
    };
    match effect {
        "outside" => !writes_at("/home/me/outside"),
        "protected" => !writes_at("/home/me/project"),
        "secret" => grant.read == ReadGrant::NoSecrets && grant.environment == EnvironmentGrant::NoSecrets,
        "network" => grant.network != NetworkGrant::Full,
        // A task without every right cannot do these at all.
        "setuid" | "kills" | "approves" | "session" => *grant != everything(),
        "deletes" => grant.write == WriteGrant::Temp,
        other => panic!("unknown effect {other}"),
    }
}

fn everything() -> Grant {
    Grant {
        read: ReadGrant::All,
        write: WriteGrant::Anything,
        network: NetworkGrant::Full,
        environment: EnvironmentGrant::All,
    }
}

#[test]
fn an_attack_is_asked_about_or_its_grant_excludes_its_effect() {
    let attacks = attacks();
    assert!(attacks.len() >= 400, "{}", attacks.len());
    let (mut wrong, mut allowed) = (Vec::new(), 0);
    for (group, effect, command) in &attacks {
        let verdict = verdict(command, ConfinementLevel::Fully);
        if verdict.decision == Decision::Allow {
            allowed += 1;
            if !excludes(&verdict.grant, effect) {
                wrong.push(format!(
                    "{group}: {command:?} may have the effect {effect}: {}",
                    verdict.grant.in_words()
                ));
            }
        }
    }
    println!("{} attacks: {allowed} run confined, {} need approval", attacks.len(), attacks.len() - allowed);
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn without_confinement_attacks_need_approval() {
    let mut allowed = Vec::new();
    for (group, _, command) in attacks() {
        // Documented: a search reads all files of the project. `mw` itself decides what a task may see.
        let known = command == "grep -rh SECRET ." || group == "tasks of other sessions";
        if !known && verdict(&command, ConfinementLevel::No).decision == Decision::Allow {
            allowed.push(format!("{group}: {command:?}"));
        }
    }
    assert!(allowed.is_empty(), "{} allowed:\n{}", allowed.len(), allowed.join("\n"));
}
