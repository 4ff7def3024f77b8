//! Everyday commands: what they may do where the kernel confines, and how many of them ask.

use mw_policy::{ConfinementLevel, Decision, Grant, NetworkGrant, WriteGrant};
use serde::Deserialize;

use crate::world::Case;

#[derive(Deserialize)]
struct Table {
    group: Vec<Group>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Group {
    name: String,
    #[serde(default)]
    reads: Vec<String>,
    #[serde(default)]
    writes: Vec<String>,
    #[serde(default)]
    loopback: Vec<String>,
    #[serde(default)]
    code: Vec<String>,
    #[serde(default)]
    fetches: Vec<String>,
    #[serde(default)]
    asks: Vec<String>,
}

fn everyday() -> Vec<(String, &'static str, String)> {
    let table: Table = toml::from_str(include_str!("everyday.toml")).unwrap();
    let mut all = Vec::new();
    for group in table.group {
        let lists = [
            ("reads", group.reads),
            ("writes", group.writes),
            ("loopback", group.loopback),
            ("code", group.code),
            ("fetches", group.fetches),
            ("asks", group.asks),
        ];
        for (kind, commands) in lists {
            all.extend(commands.into_iter().map(|command| (group.name.clone(), kind, command)));
        }
    }
    all
}

/// Names a decision with its grant as the lists do.
fn kind(decision: Decision, grant: &Grant) -> &'static str {
    if decision != Decision::Allow {
        return "asks";
    }
    match (&grant.write, grant.network) {
        (_, NetworkGrant::Full) => "fetches",
        (WriteGrant::Temp, NetworkGrant::None) => "reads",
        (WriteGrant::Temp, NetworkGrant::Loopback) => "loopback",
        (_, NetworkGrant::None) => "writes",
        (_, NetworkGrant::Loopback) => "code",
    }
}

#[test]
fn every_everyday_command_gets_what_it_needs_and_no_more() {
    let mut wrong = Vec::new();
    for (group, expected, command) in everyday() {
        let verdict = Case { confined: ConfinementLevel::Fully, ..Case::bash(&command) }.verdict();
        let found = kind(verdict.decision, &verdict.grant);
        if found != expected {
            let reasons: Vec<_> = verdict.reasons.iter().map(ToString::to_string).collect();
            wrong.push(format!("{group}: {command:?} {found}, not {expected}: {reasons:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn at_most_three_in_a_hundred_everyday_commands_ask() {
    let commands = everyday();
    let asks = |confined| {
        let asks =
            |command: &str| Case { confined, ..Case::bash(command) }.verdict().decision != Decision::Allow;
        commands.iter().filter(|(_, _, command)| asks(command)).count()
    };
    let (confined, open) = (asks(ConfinementLevel::Fully), asks(ConfinementLevel::No));
    println!(
        "{} everyday commands: {confined} ask where the kernel confines, {open} elsewhere",
        commands.len()
    );
    // docs/approval.md has these numbers.
    assert_eq!((commands.len(), confined, open), (544, 11, 261));
    assert!(confined * 100 <= commands.len() * 3, "{confined} of {} ask", commands.len());
    assert_eq!(asks(ConfinementLevel::Partly), open, "partial confinement is not relied on");
}
