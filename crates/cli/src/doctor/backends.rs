//! The back-ends: what tasks support there, and whether they can run there now.

use meanwhile::engine::{Capabilities, backends};

use super::Check;

pub(super) fn checks() -> Vec<Check> {
    let check = |report: meanwhile::engine::BackendReport| {
        let name = format!("back-end {}", report.place);
        match report.problem {
            None => Check::ok(&name, in_words(report.capabilities)),
            Some(error) => Check::problem(&name, error.to_string(), error.hint()),
        }
    };
    backends().into_iter().map(check).collect()
}

fn in_words(capabilities: Capabilities) -> String {
    let Capabilities { terminal, resources } = capabilities;
    let word = |has: bool| if has { "yes" } else { "no" };
    format!("available; terminal: {}, resource limits: {}", word(terminal), word(resources))
}
