//! Hosts: whether meanwhile is set up in each, with this executable.

use std::path::Path;

use mw_agents::hosts::SetupScope;

use super::Check;
use crate::error::CommandError;
use crate::hosts::{HostPlace, HostState, SetUp, host_states};

/// Checks the hosts that are installed or set up.
pub(super) fn checks() -> Result<Vec<Check>, CommandError> {
    let place = HostPlace::find(SetupScope::User)?;
    let states = host_states(&place);
    let is_of_interest = |state: &&HostState| state.found || state.set_up != Ok(SetUp::No);
    Ok(states.iter().filter(is_of_interest).map(check).collect())
}

fn check(state: &HostState) -> Check {
    let name = state.host.id;
    let again = format!("mw setup {name}");
    match &state.set_up {
        Ok(SetUp::Yes) => Check::ok(name, "set up, with this mw"),
        Ok(SetUp::No) => Check::warning(name, "not set up", again),
        Ok(SetUp::Otherwise(commands)) => {
            match commands
                .iter()
                .filter_map(|words| program(words))
                .find(|program| !Path::new(program).exists())
            {
                Some(program) => Check::problem(name, format!("its program {program} does not exist"), again),
                None => Check::warning(name, format!("set up differently: {}", in_words(commands)), again),
            }
        }
        Err(why) => Check::warning(name, why.clone(), "fix the file; the host cannot read it either"),
    }
}

/// Returns the path of the program that a host runs; none if the host searches for it. The command of a hook is one word for
/// a shell that ends with `hook` and the name of the host.
fn program(words: &[String]) -> Option<&str> {
    let first = words.first()?;
    let program =
        first.split_once(" hook ").map_or(first.as_str(), |(program, _)| program).trim_matches('\'');
    program.starts_with('/').then_some(program)
}

fn in_words(commands: &[Vec<String>]) -> String {
    let mut shown: Vec<_> = commands.iter().map(|words| words.join(" ")).collect();
    shown.dedup();
    let shown: Vec<_> = shown
        .into_iter()
        .map(|it| if it.is_empty() { "an entry is missing".to_owned() } else { it })
        .collect();
    shown.join("; ")
}
