//! The version of this supervisor and what the system offers, for `mw doctor`.

use mw_model::wire::{Enforcer, START_VERSION};
use serde_json::{Value, json};

use crate::spawn::cgroup;
use crate::spawn::cgroup::Cgroup;
use crate::spawn::confined;
use crate::sys;

/// Reports as one JSON object.
pub(crate) fn report() -> Value {
    let found = sys::capabilities();
    let group =
        cgroup::base_group().and_then(|base| Cgroup::make(&base, &format!("check-{}", std::process::id())));
    if let Some(group) = &group {
        group.remove();
    }
    json!({
        "version": env!("CARGO_PKG_VERSION"),
        "build": sys::BUILD,
        "start_message": START_VERSION,
        "pidfd": found.pidfd,
        "subreaper": found.subreaper,
        "exit_of_others": found.exit_of_others,
        "cgroup": group.is_some(),
        "landlock": sys::landlock_abi(),
        "confines_with": confined::probe().into_iter().map(Enforcer::word).collect::<Vec<_>>(),
    })
}
