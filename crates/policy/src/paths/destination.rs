//! Where paths lead, and which files and devices are special.

use crate::decision::BuiltinRule;
use crate::judge::Judge;
use crate::names::{Names, may_be_same};
use crate::paths::secret_files::{has_private_environment, is_secret};
use crate::script::word::Word;

/// Devices that may be written to.
const HARMLESS_DEVICES: Names<'_> = Names("/dev/null /dev/zero /dev/full /dev/stdout /dev/stderr /dev/tty");

/// Names in a project that control other programs: a write to them may run code later.
const CONTROL_NAMES: Names<'_> = Names(
    "
    .git .gitmodules .hg .svn .jj .zed .mise.toml mise.toml .meanwhile.toml .env .envrc .husky .vscode .idea
    .cargo .claude .codex .gemini .cursor .opencode .mcp.json .npmrc .pre-commit-config.yaml .ssh .bashrc
    .bash_profile .bash_login .profile .zshrc .zshenv .zprofile .gitconfig .config .netrc .aws .gnupg .kube
    .docker .local .vimrc .gdbinit .lldbinit .inputrc .tmux.conf
",
);

/// Where a path leads, the strictest last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Destination {
    /// To a harmless device such as `/dev/null`.
    Harmless,
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
        let fixed = absolute.find(['*', '?', '[']).map_or(absolute, |at| &absolute[..at]);
        let fixed =
            if fixed.len() < absolute.len() { fixed.rsplit_once('/').map_or("/", |(d, _)| d) } else { fixed };
        let fixed = if fixed.is_empty() { "/" } else { fixed };
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
        if absolute[fixed.len()..].contains("..") {
            return Destination::Unknown;
        }
        let project = self.request.project;
        if is_below(&real, project) && !project.is_empty() {
            let inside = format!("{}{}", &real[project.len()..], &absolute[fixed.len()..]);
            let is_control = inside.split('/').any(|part| {
                let part = part.to_lowercase();
                CONTROL_NAMES.iter().any(|name| may_be_same(&part, name))
            });
            return if is_control { Destination::Control } else { Destination::Inside };
        }
        let writable = self.request.writable.iter().any(|directory| is_below(&real, directory));
        if writable { Destination::Inside } else { Destination::Outside }
    }

    /// Asks about a write, unless it stays inside the project.
    pub(crate) fn write(&mut self, word: &Word, part: &str) {
        let Some(values) = word.values().filter(|_| !word.ambiguous) else {
            self.wrote = true;
            if !self.is_project_file(word) {
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
            self.ask(BuiltinRule::Disguise, part, &why, "creates a file whose name can be read as two paths");
        }
        let (builtin, why, effect) = match destination {
            Destination::Inside | Destination::Harmless => return,
            Destination::Control => {
                let effect = format!("changes a file that controls other programs: {shown}");
                (BuiltinRule::WriteProtected, format!("{shown} controls other programs"), effect)
            }
            Destination::Device => (
                BuiltinRule::Destroy,
                format!("{shown} is a device"),
                format!("writes to the device {shown}"),
            ),
            Destination::Network => {
                let effect = format!("sends data to {}", host_of_device(value));
                (BuiltinRule::Network, format!("{shown} is a connection"), effect)
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
        self.ask(builtin, part, &why, &effect);
    }

    /// Asks about reading a file that may hold a secret.
    pub(crate) fn read(&mut self, word: &Word, part: &str) {
        if self.is_project_file(word) {
            return;
        }
        let Some(values) = word.values() else {
            let why = format!("the file {} is known only at run time", word.text);
            return self.ask(BuiltinRule::NotLiteral, part, &why, "reads an unknown file");
        };
        for value in values {
            self.read_from(value, part);
        }
    }

    /// Asks about reading a known path that may hold a secret.
    pub(crate) fn read_from(&mut self, value: &str, part: &str) {
        if value.starts_with("/dev/tcp/") || value.starts_with("/dev/udp/") {
            let effect = format!("connects to {}", host_of_device(value));
            return self.ask(BuiltinRule::Network, part, "this is a connection", &effect);
        }
        let paths = self.absolutes(value);
        let secret = match &paths {
            None => is_secret(value),
            Some(paths) => paths.iter().any(|path| {
                let fixed = path.split(['*', '?', '[']).next().unwrap_or_default();
                let real = self.request.files.real(if path == fixed { path } else { fixed });
                let home = self.request.home;
                let holds_home = |real: &String| !home.is_empty() && is_below(home, real);
                is_secret(path)
                    || has_private_environment(path)
                    || real.as_ref().is_some_and(holds_home)
                    || real.is_none_or(|real| is_secret(&real) || has_private_environment(&real))
            }),
        };
        if secret {
            let shown = self.shown(value);
            self.ask(
                BuiltinRule::Secret,
                part,
                &format!("{shown} may hold secrets"),
                &format!("reads {shown}"),
            );
        } else if paths.is_none() && !value.starts_with('-') {
            let why = format!("the file {value} is unknown, because the current directory is unknown");
            self.ask(BuiltinRule::NotLiteral, part, &why, "reads an unknown file");
        }
    }

    /// Shortens a path in the home directory for a sentence.
    fn shown(&self, value: &str) -> String {
        let home = self.request.home;
        let inside_home = value.strip_prefix(home).filter(|_| !home.is_empty());
        inside_home.map_or_else(|| value.to_owned(), |rest| format!("~{rest}"))
    }
}

/// Returns whether a path is this directory or is in it.
pub(crate) fn is_below(path: &str, directory: &str) -> bool {
    let directory = directory.trim_end_matches('/');
    path.strip_prefix(directory).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn is_descriptor(path: &str) -> bool {
    let number = path.strip_prefix("/dev/fd/").or_else(|| path.strip_prefix("/proc/self/fd/"));
    number.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}

fn host_of_device(path: &str) -> String {
    path.split('/').nth(3).unwrap_or_default().to_owned()
}
