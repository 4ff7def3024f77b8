//! The grant with which a task runs.

use std::borrow::Cow;
use std::path::PathBuf;

use mw_model::{
    EnvironmentGrant, Grant, NetworkGrant, Place, RawText, ReadGrant, TaskGrant, TaskSpec, WriteGrant,
};

use super::list::{path, raw};
use super::secrets::home_of_user;
use crate::approval::project_of;

/// Returns the grant with which a task runs: its own, but in the sandbox never more than that allows. `None` if it is not
/// confined.
pub(crate) fn grant_of(spec: &TaskSpec) -> Option<Cow<'_, TaskGrant>> {
    let own = spec.grant.as_deref();
    match spec.place {
        Place::Sandbox => Some(Cow::Owned(in_sandbox(own, &spec.cwd))),
        Place::Process | Place::Mock | Place::Backend(_) => own.map(Cow::Borrowed),
    }
}

/// The project and temporary files may be changed; the network is that of the task's grant.
fn in_sandbox(own: Option<&TaskGrant>, cwd: &RawText) -> TaskGrant {
    let write = match own.map(|task| &task.grant.write) {
        Some(WriteGrant::Temp) => WriteGrant::Temp,
        None | Some(WriteGrant::Project | WriteGrant::Paths(_) | WriteGrant::Anything) => WriteGrant::Project,
    };
    let network = own.map_or(NetworkGrant::None, |task| task.grant.network);
    let home: Option<PathBuf> = match own {
        Some(task) => task.home.as_ref().map(path),
        None => home_of_user(),
    };
    let project = match own.and_then(|task| task.project.clone()) {
        Some(project) => Some(project),
        None => project_of(&path(cwd), home.as_deref()).map(|project| raw(&project)),
    };
    TaskGrant {
        grant: Grant { read: ReadGrant::NoSecrets, write, network, environment: EnvironmentGrant::NoSecrets },
        project,
        home: home.map(|home| raw(&home)),
        strict: true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sandbox_allows_no_more_than_the_project_and_the_network_of_the_grant() {
        let cwd = RawText::from("/");
        let alone = in_sandbox(None, &cwd);
        assert_eq!((alone.grant.write, alone.grant.network), (WriteGrant::Project, NetworkGrant::None));
        let of = |grant| in_sandbox(Some(&TaskGrant { grant, ..TaskGrant::default() }), &cwd);
        let most = of(Grant::everything());
        assert_eq!((most.grant.read, most.grant.write), (ReadGrant::NoSecrets, WriteGrant::Project));
        assert_eq!(
            (most.grant.network, most.grant.environment),
            (NetworkGrant::Full, EnvironmentGrant::NoSecrets)
        );
        let least = of(Grant::default());
        assert_eq!((least.grant.write, least.grant.network), (WriteGrant::Temp, NetworkGrant::None));
        assert!(alone.strict && most.strict && least.strict);
    }
}
