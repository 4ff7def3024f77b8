//! From a grant to a confinement.

use std::path::{Path, PathBuf};

use mw_model::wire::{Confinement, Enforcer};
use mw_model::{
    DEFAULT_SESSION, EnvVar, EnvironmentGrant, NetworkGrant, Place, RawText, ReadGrant, TaskGrant, TaskSpec,
    WriteGrant, is_secret_name,
};

use super::grant::grant_of;
use super::list::{outermost, path, raw, real, texts};
use super::protected::Protected;
use super::{places, secrets, services};
use crate::disk::session_dir::call_socket;

/// Returns what the kernel must prevent; `None` if the task is not confined. `own_home` is the home of meanwhile.
pub(crate) fn confinement(spec: &TaskSpec, own_home: &Path) -> Option<Confinement> {
    let task = grant_of(spec).filter(|task| !task.grant.is_everything())?;
    let places = Places::of(&task, spec, own_home);
    let mut changes = places.changes(&task);
    let mut hidden: Vec<PathBuf> = places.own_home.iter().cloned().collect();
    hidden.extend(services::found(places.agent.as_deref()));
    let calls = places.calls(&spec.session);
    if task.grant.network == NetworkGrant::Full {
        let own = places.project.as_deref().into_iter().chain(calls.as_deref());
        hidden.extend(services::of_other_programs(&own.collect::<Vec<_>>()));
    }
    if task.grant.read == ReadGrant::NoSecrets {
        for home in &places.homes {
            hidden.extend(secrets::of_user(home));
        }
        hidden.extend(secrets::of_system());
        for directory in places.project.iter().chain(places.cwd_in_project()) {
            hidden.extend(secrets::in_directory(directory));
        }
    }
    let hidden = outermost(hidden);
    changes.protect_calls(calls.as_deref());
    changes.forget_hidden(&hidden);
    changes.pin_parents(&hidden);
    let mut writable = outermost(changes.writable);
    if !matches!(task.grant.write, WriteGrant::Temp | WriteGrant::Anything) {
        // Also if it is among the temporary files: other rules apply to its sockets.
        writable.extend(places.project);
    }
    Some(Confinement {
        writable: texts(writable),
        writes_all: changes.writes_all,
        read_only: texts(outermost(changes.read_only)),
        writable_again: texts(changes.writable_again),
        pinned: texts(changes.pinned),
        hidden: texts(hidden),
        devices: texts(places::devices()),
        absent: texts(changes.absent),
        calls: calls.map(|path| raw(&path)),
        network: task.grant.network,
        needs: if spec.place == Place::Sandbox { Enforcer::ALL.to_vec() } else { needs(&task) },
    })
}

/// Returns what must be available. A network that is not granted is never reachable.
fn needs(task: &TaskGrant) -> Vec<Enforcer> {
    match (task.strict, task.grant.network) {
        (true, _) => Enforcer::OF_GRANTS.to_vec(),
        (false, NetworkGrant::None | NetworkGrant::Loopback) => vec![Enforcer::Landlock, Enforcer::Seccomp],
        (false, NetworkGrant::Full) => vec![Enforcer::Landlock],
    }
}

/// Returns whether a command with this grant gets a variable.
pub(crate) fn keeps_variable(grant: Option<&TaskGrant>, var: &EnvVar) -> bool {
    match grant.map(|task| task.grant.environment) {
        None | Some(EnvironmentGrant::All) => true,
        Some(EnvironmentGrant::NoSecrets) => !is_secret_name(var.name.as_bytes()),
    }
}

/// The directories that a grant refers to; real paths.
struct Places {
    project: Option<PathBuf>,
    home: Option<PathBuf>,
    /// `home`, and the home directory in the user database, because `HOME` of a task can name any directory.
    homes: Vec<PathBuf>,
    cwd: Option<PathBuf>,
    own_home: Option<PathBuf>,
    temporary: Option<PathBuf>,
    agent: Option<PathBuf>,
}

/// What may be changed.
#[derive(Default)]
struct Changes {
    writes_all: bool,
    writable: Vec<PathBuf>,
    read_only: Vec<PathBuf>,
    writable_again: Vec<PathBuf>,
    pinned: Vec<PathBuf>,
    absent: Vec<PathBuf>,
}

impl Places {
    fn of(task: &TaskGrant, spec: &TaskSpec, own_home: &Path) -> Self {
        let resolved = |text: &RawText| real(&path(text));
        let variable = |name: &str| {
            let var = spec.env.iter().rev().find(|var| var.name.as_bytes() == name.as_bytes())?;
            Some(path(&var.value)).filter(|path| path.is_absolute())
        };
        let home = task.home.as_ref().and_then(resolved);
        let known = secrets::home_of_user().and_then(|home| real(&home));
        Self {
            project: task.project.as_ref().and_then(resolved),
            homes: home.iter().cloned().chain(known.filter(|known| Some(known) != home.as_ref())).collect(),
            home,
            cwd: resolved(&spec.cwd),
            own_home: real(own_home),
            temporary: variable("TMPDIR"),
            agent: variable("SSH_AUTH_SOCK"),
        }
    }

    /// The socket on which the session of the task answers calls, if the task has a session.
    fn calls(&self, session: &str) -> Option<PathBuf> {
        let home = self.own_home.as_ref().filter(|_| session != DEFAULT_SESSION)?;
        Some(call_socket::path(home, session))
    }

    /// The working directory, if it is another directory of the project than the first.
    fn cwd_in_project(&self) -> Option<&PathBuf> {
        let project = self.project.as_ref()?;
        self.cwd.as_ref().filter(|cwd| *cwd != project && cwd.starts_with(project))
    }

    fn changes(&self, task: &TaskGrant) -> Changes {
        let home = self.home.as_deref();
        let mut changes =
            Changes { writable: places::temporary(self.temporary.as_deref(), home), ..Changes::default() };
        match &task.grant.write {
            // The project may be among the temporary files.
            WriteGrant::Temp => changes.read_only.extend(self.project.clone()),
            WriteGrant::Project => self.add_project(&mut changes, task),
            WriteGrant::Paths(paths) => {
                self.add_project(&mut changes, task);
                paths.iter().for_each(|named| self.add_named(&mut changes, Path::new(named)));
            }
            WriteGrant::Anything => changes = Changes { writes_all: true, ..Changes::default() },
        }
        changes
    }

    fn add_project(&self, changes: &mut Changes, task: &TaskGrant) {
        changes.writable.extend(self.project.clone());
        if let Some(home) = &self.home {
            changes.writable.extend(places::caches(home, task.grant.network));
        }
        for directory in self.project.iter().chain(self.cwd_in_project()) {
            protect(changes, directory);
        }
    }

    /// Adds a path that the grant names. A file that does not exist can only be made if its directory may be changed.
    fn add_named(&self, changes: &mut Changes, named: &Path) {
        match real(named) {
            Some(path) => {
                changes.writable_again.push(path.clone());
                changes.writable.push(path);
            }
            None => {
                let Some(directory) = named.ancestors().skip(1).find_map(real) else { return };
                if !changes.writable.iter().any(|outer| directory.starts_with(outer)) {
                    protect(changes, &directory);
                }
                // A protected directory in which a file is made.
                if changes.read_only.iter().any(|outer| directory.starts_with(outer)) {
                    changes.writable_again.push(directory.clone());
                }
                changes.writable.push(directory);
            }
        }
    }
}

fn protect(changes: &mut Changes, directory: &Path) {
    let mut found = Protected::default();
    found.find_in(directory);
    changes.read_only.extend(found.read_only);
    changes.pinned.extend(found.pinned);
    changes.absent.extend(found.absent);
    changes.writable.extend(found.writable);
}

impl Changes {
    /// Pins the directories between a read-only or hidden file and the directory that may be changed: if one of them were renamed, another
    /// could take its place, with another file in it.
    fn pin_parents(&mut self, hidden: &[PathBuf]) {
        let roots = self.writable.clone();
        let is_below = |path: &Path| roots.iter().any(|root| path.starts_with(root) && path != root);
        let parents = |file: &PathBuf| {
            file.ancestors().skip(1).take_while(|path| is_below(path)).map(Path::to_owned).collect::<Vec<_>>()
        };
        let parents: Vec<PathBuf> = self.read_only.iter().chain(hidden).flat_map(parents).collect();
        self.pinned.extend(parents);
        self.pinned.sort();
        self.pinned.dedup();
    }

    /// Keeps the sockets of sessions from being replaced, if the home is among the files that may be changed.
    fn protect_calls(&mut self, calls: Option<&Path>) {
        let directory = calls.and_then(Path::parent).and_then(real);
        let may_change =
            |path: &PathBuf| self.writes_all || self.writable.iter().any(|it| path.starts_with(it));
        self.read_only.extend(directory.filter(may_change));
    }

    /// Removes what cannot be reached at all.
    fn forget_hidden(&mut self, hidden: &[PathBuf]) {
        for paths in [&mut self.writable, &mut self.read_only, &mut self.writable_again, &mut self.pinned] {
            paths.retain(|path| !hidden.iter().any(|hidden| path.starts_with(hidden)));
        }
    }
}
