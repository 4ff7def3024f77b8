//! How far this system's kernel can confine commands.

use std::fs;
use std::process::{Command, Stdio};

use mw_model::wire::Enforcer;
use mw_policy::ConfinementLevel;
use serde::{Deserialize, Serialize};

use crate::disk::names::CONFINEMENT_FILE;
use crate::disk::replace_file::{open_directory, replace_file};
use crate::settings::Settings;

/// What was found out in this boot.
#[derive(Serialize, Deserialize)]
struct Found {
    boot: String,
    supervisor: String,
    by: Vec<Enforcer>,
}

/// Returns how far commands can be confined here. The supervisor tries that once per boot; the result is kept in the home.
#[must_use]
pub fn confined_by_kernel(settings: &Settings) -> ConfinementLevel {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let supervisor = settings.executables.supervisor.display().to_string();
    let known = || {
        let found: Found =
            serde_json::from_slice(&fs::read(settings.home.join(CONFINEMENT_FILE)).ok()?).ok()?;
        (found.boot == boot && found.supervisor == supervisor).then_some(found.by)
    };
    let by = known().or_else(|| {
        let by = probe(settings)?;
        let found = Found { boot: boot.clone(), supervisor: supervisor.clone(), by: by.clone() };
        if let (Ok(home), Ok(text)) = (open_directory(&settings.home), serde_json::to_vec(&found)) {
            // Without it, the next call tries again.
            let _ = replace_file(&home, CONFINEMENT_FILE, &text);
        }
        Some(by)
    });
    degree(&by.unwrap_or_default())
}

/// Forgets what was found out, so that the next call tries again.
pub(crate) fn forget_kernel(settings: &Settings) {
    let _ = fs::remove_file(settings.home.join(CONFINEMENT_FILE));
}

fn degree(by: &[Enforcer]) -> ConfinementLevel {
    if Enforcer::OF_GRANTS.iter().all(|enforcer| by.contains(enforcer)) {
        ConfinementLevel::Fully
    } else if by.contains(&Enforcer::Landlock) && by.contains(&Enforcer::Seccomp) {
        ConfinementLevel::Partly
    } else {
        ConfinementLevel::No
    }
}

/// Asks the supervisor what the kernel offers; `None` if it does not answer.
pub(crate) fn probe(settings: &Settings) -> Option<Vec<Enforcer>> {
    #[derive(Deserialize)]
    struct Report {
        #[serde(default)]
        confines_with: Vec<Enforcer>,
    }
    let mut command = Command::new(&settings.executables.supervisor);
    let output = command.arg("check").stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    Some(serde_json::from_slice::<Report>(&output.stdout).ok()?.confines_with)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_all_features_together_confine_completely() {
        assert_eq!(degree(&Enforcer::OF_GRANTS), ConfinementLevel::Fully);
        assert_eq!(degree(&[Enforcer::Landlock, Enforcer::Seccomp]), ConfinementLevel::Partly);
        assert_eq!(degree(&[Enforcer::Namespaces, Enforcer::Seccomp]), ConfinementLevel::No);
        // A task without a network could not start.
        assert_eq!(degree(&[Enforcer::Landlock]), ConfinementLevel::No);
        assert_eq!(degree(&[]), ConfinementLevel::No);
    }
}
