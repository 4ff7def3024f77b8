//! Whether hosts know of us, and of this very program.

use std::path::Path;

use mw_agents::setup::Scope;

use super::Check;
use crate::error::CommandError;
use crate::host_state::{HostPlace, HostState, SetUp, host_states};

/// Looks at the hosts that are here or were set up.
pub(super) fn checks() -> Result<Vec<Check>, CommandError> {
    let place = HostPlace::find(Scope::User)?;
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
            let program = commands.iter().filter_map(|command| command.split(' ').next());
            let gone = program
                .filter(|program| program.starts_with('/'))
                .find(|program| !Path::new(program).exists());
            match gone {
                Some(program) => Check::problem(name, format!("{program}, which it runs, is gone"), again),
                None => Check::warning(name, format!("set up otherwise: {}", commands.join("; ")), again),
            }
        }
        Err(why) => Check::warning(name, why.clone(), "correct the file; the host cannot read it either"),
    }
}
