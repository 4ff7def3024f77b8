//! The table of commands.

use mw_policy::Decision;
use serde::Deserialize;

use crate::world::Case;

#[derive(Deserialize)]
struct Table {
    group: Vec<Group>,
}

#[derive(Deserialize)]
struct Group {
    name: String,
    #[serde(default)]
    bash: bool,
    #[serde(default)]
    allow: Vec<String>,
    #[serde(default)]
    ask: Vec<String>,
    /// Commands that need approval because they cannot be parsed.
    #[serde(default)]
    unreadable: Vec<String>,
}

fn table() -> Table {
    toml::from_str(include_str!("table.toml")).unwrap()
}

/// Returns the commands that can be combined with others on one line.
pub(crate) fn one_line_commands() -> Vec<String> {
    let groups = table().group.into_iter();
    let commands = groups.flat_map(|group| group.allow.into_iter().chain(group.ask));
    commands.filter(|command| !command.contains(['\n', '#'])).collect()
}

#[test]
fn every_command_in_the_table_gets_its_listed_decision() {
    let mut wrong = Vec::new();
    for group in table().group {
        let allowed = group.allow.iter().map(|command| (command, Decision::Allow, true));
        let asked = group.ask.iter().map(|command| (command, Decision::Ask, true));
        let unreadable = group.unreadable.iter().map(|command| (command, Decision::Ask, false));
        for (command, decision, parsed) in allowed.chain(asked).chain(unreadable) {
            let case = if group.bash { Case::bash(command) } else { Case::script(command) };
            let verdict = case.verdict();
            if verdict.decision != decision || verdict.parsed != parsed {
                let reasons: Vec<_> = verdict.reasons.iter().map(ToString::to_string).collect();
                let (group, actual) = (&group.name, verdict.decision);
                wrong.push(format!(
                    "{group}: {command:?} is {actual} (parsed {}), not {decision}: {reasons:?}",
                    verdict.parsed
                ));
            }
            assert!(
                verdict.decision == Decision::Allow || !verdict.reasons.is_empty(),
                "{command}: no reason"
            );
        }
    }
    wrong.sort_by_key(|message| !message.contains(" is allow "));
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn the_table_has_at_least_400_commands_and_no_duplicates() {
    let mut commands: Vec<(bool, String)> = Vec::new();
    for group in table().group {
        let all = group.allow.into_iter().chain(group.ask).chain(group.unreadable);
        commands.extend(all.map(|command| (group.bash, command)));
    }
    let count = commands.len();
    commands.sort();
    commands.dedup();
    assert_eq!(commands.len(), count);
    assert!(count >= 400, "{count}");
}
