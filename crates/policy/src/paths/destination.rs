//! Where paths lead, and which files and devices are special.

use mw_model::{Grant, NetworkGrant, WriteGrant};

use crate::decision::BuiltinRule;
use crate::judge::Judge;
use crate::names::Names;
use crate::need;
use crate::paths::protected::may_be_protected;
use crate::paths::secret_files::{has_private_environment, is_secret};
use crate::script::word::Word;

/// Devices that may be written to.
const HARMLESS_DEVICES: Names<'_> = Names("/dev/null /dev/zero /dev/full /dev/stdout /dev/stderr /dev/tty");

/// Directories for temporary files.
const TEMPORARY: Names<'_> = Names("/tmp /var/tmp /dev/shm");

/// Where a path leads, the strictest last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Destination {
    /// To a harmless device such as `/dev/null`.
    Harmless,
    /// To a temporary file, which every grant includes where the kernel confines.
    Temporary,
    /// Into the project, or a directory that the user made writable.
    Inside,
    /// Into the project, to a file that controls other programs.
    Control,
    /// Elsewhere.
    Outside,
    /// The target is unknown.
    Unknown,
    /// To another machine.
    Network,
    /// To a disk or another device.
    Device,
}

impl Judge<'_> {
    /// Returns the absolute paths that a text can mean; none if the current directory is unknown.
    pub(crate) fn absolutes(&self, value: &str) -> Option<Vec<String>> {
        if value.starts_with('/') {
            return Some(vec![value.to_owned()]);
        }
        if self.cwd.is_empty() {
            return None;
        }
        Some(self.cwd.iter().map(|cwd| format!("{}/{value}", cwd.trim_end_matches('/'))).collect())
    }

    /// Returns where a path leads; the strictest destination if there are several.
    pub(crate) fn destination(&self, value: &str) -> Destination {
        let Some(paths) = self.absolutes(value) else { return Destination::Unknown };
        paths.iter().map(|path| self.destination_of(path)).max().unwrap_or(Destination::Unknown)
    }

    fn destination_of(&self, absolute: &str) -> Destination {
        if HARMLESS_DEVICES.contains(absolute) || is_descriptor(absolute) {
            return Destination::Harmless;
        }
        if absolute.starts_with("/dev/tcp/") || absolute.starts_with("/dev/udp/") {
            return Destination::Network;
        }
        // A pattern is taken to lead where its fixed beginning leads. A file that it matches could be a link.
        let fixed = fixed_part(absolute);
        let Some(real) = self.request.files.real(fixed) else { return Destination::Unknown };
        if HARMLESS_DEVICES.contains(&real) {
            return Destination::Harmless;
        }
        // Shared memory is below `/dev` and holds ordinary files.
        if ["/dev", "/proc", "/sys"].iter().any(|directory| is_below(&real, directory))
            && !is_below(&real, "/dev/shm")
        {
            return Destination::Device;
        }
        let pattern = &absolute[fixed.len()..];
        let is_pattern = |part: &str| part.contains(['*', '?', '[']);
        // A directory that a pattern matches may be a link out of the project.
        let through_pattern = pattern.rsplit_once('/').is_some_and(|(directory, _)| is_pattern(directory));
        if pattern.contains("..") || through_pattern && !self.is_confined() {
            return Destination::Unknown;
        }
        let project = self.request.project;
        if is_below(&real, project) && !project.is_empty() {
            let inside = format!("{}{}", &real[project.len()..], &absolute[fixed.len()..]);
            return if may_be_protected(&inside) { Destination::Control } else { Destination::Inside };
        }
        let home = self.request.home;
        let in_home = !home.is_empty() && is_below(&real, home);
        if self.is_confined() && !in_home && TEMPORARY.iter().any(|directory| is_below(&real, directory)) {
            return Destination::Temporary;
        }
        let writable = self.request.writable.iter().any(|directory| is_below(&real, directory));
        if writable { Destination::Inside } else { Destination::Outside }
    }

    /// Asks about a write, unless it stays inside the project.
    pub(crate) fn write(&mut self, word: &Word, part: &str) {
        let Some(values) = word.values().filter(|_| !word.ambiguous) else {
            self.wrote = true;
            self.needs(need::writes(WriteGrant::Project));
            if self.is_project_file(word) {
                if self.finds_protected && !self.is_confined() {
                    let why = "a found file may control other programs";
                    self.ask(
                        BuiltinRule::WriteProtected,
                        part,
                        why,
                        "changes files that are found by a search",
                    );
                }
            } else {
                let why = format!("the path {} is known only at run time", word.text);
                self.ask(BuiltinRule::NotLiteral, part, &why, "writes to an unknown file");
            }
            return;
        };
        for value in values {
            self.write_to(value, part);
        }
    }

    /// Asks about a write to a known path, unless it stays inside the project.
    pub(crate) fn write_to(&mut self, value: &str, part: &str) {
        let shown = self.shown(value);
        let destination = self.destination(value);
        self.wrote |= destination != Destination::Harmless;
        // Split at its spaces, `x /etc/passwd` names another file, which a list of names would not show.
        if value.contains(" /") || value.contains("\t/") || value.contains("\n/") {
            let why = format!("programs that split at spaces read {shown} as two names");
            let effect = "creates a file whose name can be read as two paths";
            self.held(BuiltinRule::Disguise, part, &why, effect, need::writes(WriteGrant::Project));
        }
        let (builtin, why, effect) = match destination {
            Destination::Harmless | Destination::Temporary => return,
            Destination::Inside => {
                let grant = self.writes_to(value);
                return self.needs(grant);
            }
            Destination::Control => {
                let effect = format!("changes a file that controls other programs: {shown}");
                (BuiltinRule::WriteProtected, format!("{shown} controls other programs"), effect)
            }
            Destination::Device => (
                BuiltinRule::Destroy,
                format!("{shown} is a device"),
                format!("writes to the device {shown}"),
            ),
            Destination::Network if self.is_confined() && is_local_device(value) => {
                return self.needs(need::network(NetworkGrant::Loopback));
            }
            Destination::Network => {
                let effect = format!("sends data to {}", host_of_device(value));
                (BuiltinRule::Network, format!("{shown} is a network connection"), effect)
            }
            Destination::Outside => {
                let effect = format!("writes outside the project: {shown}");
                (BuiltinRule::WriteOutside, format!("{shown} is outside the project"), effect)
            }
            Destination::Unknown => {
                let effect = format!("writes to {shown}, whose target is unknown");
                (BuiltinRule::NotLiteral, format!("the target of {shown} is unknown"), effect)
            }
        };
        let grant = match destination {
            Destination::Network => need::network(NetworkGrant::Full),
            Destination::Device | Destination::Unknown => need::everything(),
            Destination::Harmless
            | Destination::Temporary
            | Destination::Inside
            | Destination::Control
            | Destination::Outside => self.writes_to(value),
        };
        self.ask_for(builtin, part, &why, &effect, grant);
    }

    /// Returns what a write to a known path needs.
    fn writes_to(&self, value: &str) -> Grant {
        let Some(paths) = self.absolutes(value) else { return need::everything() };
        let grants = paths.iter().map(|path| self.writes_to_path(path));
        grants.fold(need::writes(WriteGrant::Project), Grant::joined)
    }

    fn writes_to_path(&self, absolute: &str) -> Grant {
        let files = self.request.files;
        let fixed = fixed_part(absolute);
        let Some(real) = files.real(fixed) else { return need::everything() };
        let inside = !self.request.project.is_empty() && is_below(&real, self.request.project);
        let there = self.destination_of(absolute);
        if inside && there == Destination::Inside || there == Destination::Temporary {
            return Grant::default();
        }
        need::writes(WriteGrant::Paths(vec![real]))
    }

    /// Asks about reading a file that may hold a secret.
    pub(crate) fn read(&mut self, word: &Word, part: &str) {
        if self.is_project_file(word) {
            return;
        }
        let Some(values) = word.values() else {
            let why = format!("the file {} is known only at run time", word.text);
            let effect = "reads an unknown file";
            return self.held(BuiltinRule::NotLiteral, part, &why, effect, Grant::default());
        };
        for value in values {
            self.read_from(value, part);
        }
    }

    /// Asks about reading a known path that may hold a secret.
    pub(crate) fn read_from(&mut self, value: &str, part: &str) {
        if value.starts_with("/dev/tcp/") || value.starts_with("/dev/udp/") {
            let effect = format!("connects to {}", host_of_device(value));
            if self.is_confined() && is_local_device(value) {
                return self.needs(need::network(NetworkGrant::Loopback));
            }
            return self.ask(BuiltinRule::Network, part, "it is a network connection", &effect);
        }
        let paths = self.absolutes(value);
        let shown = self.shown(value);
        match paths.iter().flatten().map(|path| self.secrecy(path)).max() {
            Some(Secrecy::Secret) => self.reads_secret(&shown, part, true),
            Some(Secrecy::MayHold) => self.reads_secret(&shown, part, false),
            Some(Secrecy::None) => {}
            None if is_secret(value) => self.reads_secret(&shown, part, true),
            None if value.starts_with('-') => {}
            None => {
                let why = format!("the file {value} is unknown, because the current directory is unknown");
                let effect = "reads an unknown file";
                self.held(BuiltinRule::NotLiteral, part, &why, effect, Grant::default());
            }
        }
    }

    fn secrecy(&self, path: &str) -> Secrecy {
        let fixed = path.split(['*', '?', '[']).next().unwrap_or_default();
        let real = self.request.files.real(if path == fixed { path } else { fixed });
        let home = self.request.home;
        let names_secret = |path: &str| is_secret(path) || has_private_environment(path);
        if names_secret(path) || real.as_ref().is_some_and(|real| names_secret(real)) {
            return Secrecy::Secret;
        }
        // These hold the settings of many programs, with their secrets.
        let is_store = |real: &str| {
            let inside = real.strip_prefix(home).unwrap_or_default();
            matches!(inside, "/.config" | "/.local" | "/.local/share" | "/.mozilla")
        };
        let holds_home =
            real.is_none_or(|real| !home.is_empty() && (is_below(home, &real) || is_store(&real)));
        if holds_home { Secrecy::MayHold } else { Secrecy::None }
    }

    /// Asks about reading a secret. Where the kernel confines, secrets in a directory are hidden.
    fn reads_secret(&mut self, shown: &str, part: &str, is_named: bool) {
        let (why, effect) = (format!("{shown} may contain secrets"), format!("reads {shown}"));
        if is_named {
            self.ask(BuiltinRule::Secret, part, &why, &effect);
        } else {
            self.held(BuiltinRule::Secret, part, &why, &effect, Grant::default());
        }
    }

    /// Shortens a path in the home directory for a sentence.
    fn shown(&self, value: &str) -> String {
        let home = self.request.home;
        let inside_home = value.strip_prefix(home).filter(|_| !home.is_empty());
        inside_home.map_or_else(|| value.to_owned(), |rest| format!("~{rest}"))
    }
}

/// Whether a path holds secrets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Secrecy {
    None,
    /// It is unknown, or a directory that contains all files of the user.
    MayHold,
    Secret,
}

/// Returns whether a path is this directory or is in it.
pub(crate) fn is_below(path: &str, directory: &str) -> bool {
    let directory = directory.trim_end_matches('/');
    path.strip_prefix(directory).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Returns the beginning of a pattern that is the same for all its matches: a directory, or the whole path.
fn fixed_part(absolute: &str) -> &str {
    let fixed = absolute.find(['*', '?', '[']).map_or(absolute, |at| &absolute[..at]);
    let fixed =
        if fixed.len() < absolute.len() { fixed.rsplit_once('/').map_or("/", |(d, _)| d) } else { fixed };
    if fixed.is_empty() { "/" } else { fixed }
}

fn is_descriptor(path: &str) -> bool {
    let number = path.strip_prefix("/dev/fd/").or_else(|| path.strip_prefix("/proc/self/fd/"));
    number.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Returns whether a device of bash such as `/dev/tcp/localhost/80` connects to this machine.
fn is_local_device(path: &str) -> bool {
    matches!(host_of_device(path).as_str(), "localhost" | "127.0.0.1" | "::1")
}

fn host_of_device(path: &str) -> String {
    path.split('/').nth(3).unwrap_or_default().to_owned()
}
