//! Where paths lead, and which places are special.

use super::decision::Ground;
use super::judge::Judge;
use super::names::{Names, may_be_same};
use super::secret_files::{has_private_environment, is_secret};
use super::word::Word;

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

/// Where a path leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Into the project, or a directory that the user made writable.
    Inside,
    /// Into the project, to a file that controls other programs.
    Control,
    /// To a harmless device such as `/dev/null`.
    Harmless,
    /// To a disk or another device.
    Device,
    /// To another machine.
    Network,
    /// Elsewhere.
    Outside,
    /// The target is unknown.
    Unknown,
}

impl Judge<'_> {
    /// Returns the absolute paths that a text can mean; none if the current directory is unknown.
    pub(super) fn absolutes(&self, value: &str) -> Option<Vec<String>> {
        if value.starts_with('/') {
            return Some(vec![value.to_owned()]);
        }
        if self.cwd.is_empty() {
            return None;
        }
        Some(self.cwd.iter().map(|cwd| format!("{}/{value}", cwd.trim_end_matches('/'))).collect())
    }

    /// Returns where a path leads; the strictest place if there are several.
    pub(super) fn place(&self, value: &str) -> Place {
        let Some(paths) = self.absolutes(value) else { return Place::Unknown };
        let places = paths.iter().map(|path| self.place_of(path));
        places.max_by_key(|place| strictness(*place)).unwrap_or(Place::Unknown)
    }

    fn place_of(&self, absolute: &str) -> Place {
        if HARMLESS_DEVICES.contains(absolute) || is_descriptor(absolute) {
            return Place::Harmless;
        }
        if absolute.starts_with("/dev/tcp/") || absolute.starts_with("/dev/udp/") {
            return Place::Network;
        }
        // A pattern is taken to lead where its fixed beginning leads. A file that it matches could be a link.
        let fixed = absolute.find(['*', '?', '[']).map_or(absolute, |at| &absolute[..at]);
        let fixed =
            if fixed.len() < absolute.len() { fixed.rsplit_once('/').map_or("/", |(d, _)| d) } else { fixed };
        let fixed = if fixed.is_empty() { "/" } else { fixed };
        let Some(real) = self.request.files.real(fixed) else { return Place::Unknown };
        if HARMLESS_DEVICES.contains(&real) {
            return Place::Harmless;
        }
        // Shared memory is below `/dev` and holds ordinary files.
        if ["/dev", "/proc", "/sys"].iter().any(|directory| is_below(&real, directory))
            && !is_below(&real, "/dev/shm")
        {
            return Place::Device;
        }
        if absolute[fixed.len()..].contains("..") {
            return Place::Unknown;
        }
        let project = self.request.project;
        if is_below(&real, project) && !project.is_empty() {
            let inside = format!("{}{}", &real[project.len()..], &absolute[fixed.len()..]);
            let is_control = inside.split('/').any(|part| {
                let part = part.to_lowercase();
                CONTROL_NAMES.iter().any(|name| may_be_same(&part, name))
            });
            return if is_control { Place::Control } else { Place::Inside };
        }
        let writable = self.request.writable.iter().any(|directory| is_below(&real, directory));
        if writable { Place::Inside } else { Place::Outside }
    }

    /// Asks about a write, unless it stays inside the project.
    pub(super) fn write(&mut self, word: &Word, part: &str) {
        let Some(values) = word.values().filter(|_| !word.ambiguous) else {
            self.wrote = true;
            if !self.is_project_file(word) {
                let why = format!("the path {} is known only at run time", word.text);
                self.ask(Ground::NotLiteral, part, &why, "writes to an unknown file");
            }
            return;
        };
        for value in values {
            self.write_to(value, part);
        }
    }

    /// Asks about a write to a known path, unless it stays inside the project.
    pub(super) fn write_to(&mut self, value: &str, part: &str) {
        let shown = self.shown(value);
        let place = self.place(value);
        self.wrote |= place != Place::Harmless;
        // Split at its spaces, `x /etc/passwd` names another file, which a list of names would not show.
        if value.contains(" /") || value.contains("\t/") || value.contains("\n/") {
            let why = format!("programs that split at spaces read {shown} as two names");
            self.ask(Ground::Disguise, part, &why, "makes a name that leads elsewhere");
        }
        match place {
            Place::Inside | Place::Harmless => {}
            Place::Control => {
                let why = format!("{shown} controls other programs");
                self.ask(
                    Ground::WriteProtected,
                    part,
                    &why,
                    &format!("changes a file that controls other programs: {shown}"),
                );
            }
            Place::Device => {
                let why = format!("{shown} is a device");
                self.ask(Ground::Destroy, part, &why, &format!("writes to the device {shown}"));
            }
            Place::Network => {
                let why = format!("{shown} is a connection");
                self.ask(Ground::Network, part, &why, &format!("sends data to {}", host_of_device(value)));
            }
            Place::Outside => {
                let why = format!("{shown} is outside the project");
                self.ask(Ground::WriteOutside, part, &why, &format!("writes outside the project: {shown}"));
            }
            Place::Unknown => {
                let why = format!("the target of {shown} is unknown");
                self.ask(
                    Ground::NotLiteral,
                    part,
                    &why,
                    &format!("writes to {shown}, whose target is unknown"),
                );
            }
        }
    }

    /// Asks about reading a file that may hold a secret.
    pub(super) fn read(&mut self, word: &Word, part: &str) {
        if self.is_project_file(word) {
            return;
        }
        let Some(values) = word.values() else {
            let why = format!("the file {} is known only at run time", word.text);
            return self.ask(Ground::NotLiteral, part, &why, "reads an unknown file");
        };
        for value in values {
            self.read_from(value, part);
        }
    }

    /// Asks about reading a known path that may hold a secret.
    pub(super) fn read_from(&mut self, value: &str, part: &str) {
        if value.starts_with("/dev/tcp/") || value.starts_with("/dev/udp/") {
            let effect = format!("connects to {}", host_of_device(value));
            return self.ask(Ground::Network, part, "this is a connection", &effect);
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
            self.ask(Ground::Secret, part, &format!("{shown} may hold secrets"), &format!("reads {shown}"));
        } else if paths.is_none() && !value.starts_with('-') {
            let why = format!("the file {value} is unknown, because the current directory is unknown");
            self.ask(Ground::NotLiteral, part, &why, "reads an unknown file");
        }
    }

    /// Shortens a path in the home directory for a sentence.
    fn shown(&self, value: &str) -> String {
        let home = self.request.home;
        let inside_home = value.strip_prefix(home).filter(|_| !home.is_empty());
        inside_home.map_or_else(|| value.to_owned(), |rest| format!("~{rest}"))
    }
}

fn strictness(place: Place) -> u8 {
    match place {
        Place::Harmless => 0,
        Place::Inside => 1,
        Place::Control => 2,
        Place::Outside => 3,
        Place::Unknown => 4,
        Place::Network => 5,
        Place::Device => 6,
    }
}

/// Returns whether a path is this directory or is in it.
pub(super) fn is_below(path: &str, directory: &str) -> bool {
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
