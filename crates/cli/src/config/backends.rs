//! The back-ends of the settings file: `[backends.NAME]`.

use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt;

use meanwhile::engine::model::{
    BackendKind, BackendPlace, ContainerPlace, Place, RawText, SlurmPlace, SshPlace,
};
use serde::Deserialize;

use super::file::SettingsFile;
use super::load::Config;
use super::source::{FileLine, shown};
use crate::error::CommandError;
use crate::programs;

/// The back-ends of a settings file; the settings in it are read elsewhere.
#[derive(Deserialize)]
struct File {
    backends: BTreeMap<String, Table>,
}

/// `[backends.NAME]`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    kind: String,
    host: Option<String>,
    options: Option<Vec<String>>,
    directory: Option<String>,
    state: Option<String>,
    #[serde(default)]
    pass_env: Vec<String>,
    socket: Option<String>,
    image: Option<String>,
    container: Option<String>,
    pull: Option<Pull>,
    mounts: Option<Vec<String>>,
    mount_project: Option<bool>,
    user: Option<String>,
    network: Option<String>,
    init: Option<bool>,
    partition: Option<String>,
    account: Option<String>,
    time: Option<String>,
    requeue: Option<bool>,
}

/// When an image is pulled.
#[derive(Clone, Copy, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum Pull {
    Never,
    Missing,
}

const HINT: &str = "docs/backends.md describes the settings of each kind";

impl Config {
    /// Reads the back-ends of the user file, of which `line` is the first.
    pub(super) fn take_backends(&mut self, file: &SettingsFile, line: &FileLine) -> Result<(), CommandError> {
        let refused = |why: &str| CommandError::usage(format!("{line}: {}", shown(why)), HINT);
        let read: File = toml::from_str(&file.text).map_err(|error| refused(error.message()))?;
        for (name, table) in read.backends {
            check_name(&name).map_err(|why| refused(&format!("backends.{name}: {why}")))?;
            let kind = table.kind().map_err(|why| refused(&format!("backends.{name}: {why}")))?;
            self.settings.backends.places.push(BackendPlace { name, kind, variables: Vec::new() });
        }
        self.settings.backends.driver = driver();
        Ok(())
    }

    /// Returns the place with this name.
    ///
    /// # Errors
    /// When there is none.
    pub(crate) fn place(&self, name: &str) -> Result<Place, CommandError> {
        self.settings.backends.place(name).ok_or_else(|| {
            let names = self.settings.backends.names().join(", ");
            let message = format!("no back-end {name:?}; choose one of {names}");
            CommandError::usage(message, "mw backends lists them; [backends.NAME] in the settings adds one")
        })
    }
}

/// Returns the command line of the driver.
fn driver() -> Vec<RawText> {
    let mw = programs::mw().unwrap_or_default();
    vec![mw.as_os_str().as_bytes().into(), "backend-driver".into()]
}

fn check_name(name: &str) -> Result<(), String> {
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_' | '.');
    if name.is_empty() || name.len() > 60 || !name.chars().all(fits) {
        return Err("a name has up to 60 lowercase letters, digits, -, _ and .".to_owned());
    }
    if Place::BUILT_IN.iter().any(|place| place.name() == name) {
        return Err("this name belongs to a back-end that needs no configuration".to_owned());
    }
    Ok(())
}

impl Table {
    fn kind(self) -> Result<BackendKind, String> {
        let container = [
            ("socket", self.socket.is_some()),
            ("image", self.image.is_some()),
            ("container", self.container.is_some()),
            ("pull", self.pull.is_some()),
            ("mounts", self.mounts.is_some()),
            ("mount_project", self.mount_project.is_some()),
            ("user", self.user.is_some()),
            ("network", self.network.is_some()),
            ("init", self.init.is_some()),
        ];
        let ssh = [("host", self.host.is_some())];
        let slurm = [
            ("partition", self.partition.is_some()),
            ("account", self.account.is_some()),
            ("time", self.time.is_some()),
            ("requeue", self.requeue.is_some()),
        ];
        let options = [("options", self.options.is_some())];
        let (foreign, read): (_, fn(Self) -> _) = match self.kind.as_str() {
            "ssh" => ([&container[..], &slurm, &[]], Self::ssh),
            "container" => ([&ssh[..], &slurm, &options], Self::container),
            "slurm" => ([&ssh[..], &container, &[]], Self::slurm),
            other => {
                let words = BackendKind::WORDS.join(" or ");
                return Err(format!("no kind {other:?}; use {words}"));
            }
        };
        if let Some((name, _)) = foreign.into_iter().flatten().find(|(_, is_set)| *is_set) {
            return Err(format!("{name} is not a setting of the kind {}", self.kind));
        }
        read(self)
    }

    fn slurm(self) -> Result<BackendKind, String> {
        check_absolute("directory", self.directory.as_deref())?;
        check_absolute("state", self.state.as_deref())?;
        if let Some(time) = self.time.as_deref().filter(|time| !is_slurm_time(time)) {
            return Err(format!("{time:?} is not a time limit of Slurm such as 90, 2:30:00 or 1-12"));
        }
        let options = self.options.unwrap_or_default();
        // A word without a dash would be taken for the script.
        if let Some(word) = options.iter().find(|option| !option.starts_with("--")) {
            return Err(format!("{word:?} is not an option of sbatch such as \"--gres=gpu:1\""));
        }
        if let Some(option) = options.iter().find(|option| is_own_option(option)) {
            return Err(format!(
                "{option:?} cannot be used: meanwhile needs this option to follow the job; remove it"
            ));
        }
        Ok(BackendKind::Slurm(SlurmPlace {
            partition: self.partition,
            account: self.account,
            time: self.time,
            options,
            requeue: self.requeue.unwrap_or(false),
            directory: self.directory,
            state: self.state,
            pass_env: self.pass_env,
        }))
    }

    fn ssh(self) -> Result<BackendKind, String> {
        let host = self.host.filter(|host| !host.is_empty()).ok_or("host is missing")?;
        if host.starts_with('-') {
            return Err(format!("{host:?} is not a host"));
        }
        check_absolute("directory", self.directory.as_deref())?;
        Ok(BackendKind::Ssh(SshPlace {
            host,
            options: self.options.unwrap_or_default(),
            directory: self.directory,
            state: self.state,
            pass_env: self.pass_env,
        }))
    }

    fn container(self) -> Result<BackendKind, String> {
        if self.image.is_some() == self.container.is_some() {
            return Err(
                "set either image (a new container for each task) or container (an existing one)".into()
            );
        }
        let of_image = [
            ("pull", self.pull.is_some()),
            ("mounts", self.mounts.is_some()),
            ("mount_project", self.mount_project.is_some()),
            ("network", self.network.is_some()),
            ("init", self.init.is_some()),
        ];
        let foreign = of_image.iter().find(|(_, is_set)| *is_set && self.container.is_some());
        if let Some((name, _)) = foreign {
            return Err(format!("{name} needs image: an existing container keeps its own"));
        }
        if self.state.is_some() && self.image.is_some() {
            return Err("state needs container: a new container needs none".to_owned());
        }
        check_absolute("directory", self.directory.as_deref())?;
        for mount in self.mounts.iter().flatten() {
            check_mount(mount)?;
        }
        Ok(BackendKind::Container(ContainerPlace {
            socket: self.socket,
            mount_project: self.mount_project.unwrap_or(self.image.is_some()),
            image: self.image,
            container: self.container,
            pull_missing: self.pull == Some(Pull::Missing),
            mounts: self.mounts.unwrap_or_default(),
            user: self.user,
            network: self.network,
            directory: self.directory,
            no_init: self.init == Some(false),
            state: self.state,
            pass_env: self.pass_env,
        }))
    }
}

/// Returns whether this is minutes, minutes:seconds, hours:minutes:seconds, or days before these, as Slurm reads it.
fn is_slurm_time(text: &str) -> bool {
    let (days, rest) = text.split_once('-').map_or((None, text), |(days, rest)| (Some(days), rest));
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    days.is_none_or(is_number) && rest.split(':').count() <= 3 && rest.split(':').all(is_number)
}

/// Returns whether an option of `sbatch` is one without which a job cannot be found and followed. `sbatch` also takes the
/// beginning of a name.
fn is_own_option(option: &str) -> bool {
    const OWN: [&str; 11] = [
        "array",
        "chdir",
        "comment",
        "job-name",
        "no-requeue",
        "open-mode",
        "output",
        "parsable",
        "requeue",
        "test-only",
        "wrap",
    ];
    let name = option.trim_start_matches('-').split('=').next().unwrap_or_default();
    OWN.iter().any(|own| own.starts_with(name)) || name == "wait"
}

fn check_absolute(name: &str, path: Option<&str>) -> Result<(), String> {
    match path {
        Some(path) if !path.starts_with('/') => Err(format!("{name} must be an absolute path, not {path:?}")),
        Some(_) | None => Ok(()),
    }
}

fn check_mount(mount: &str) -> Result<(), String> {
    let parts: Vec<_> = mount.split(':').collect();
    match parts[..] {
        [source, target] | [source, target, "ro" | "rw"]
            if source.starts_with('/') && target.starts_with('/') =>
        {
            Ok(())
        }
        _ => Err(format!("{mount:?} is not a mount such as /data:/data:ro")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(text: &str) -> Result<BackendKind, String> {
        let table: Table = toml::from_str(text).map_err(|error| error.message().to_owned())?;
        table.kind()
    }

    #[test]
    fn settings_of_another_kind_and_incomplete_ones_are_refused() {
        for (text, why) in [
            ("kind = \"moon\"", "ssh or container or slurm"),
            ("kind = \"slurm\"\nhost = \"h\"", "host is not a setting"),
            ("kind = \"ssh\"\nhost = \"h\"\npartition = \"gpu\"", "partition is not a setting"),
            ("kind = \"container\"\nimage = \"i\"\noptions = [\"-v\"]", "options is not a setting"),
            ("kind = \"slurm\"\ntime = \"soon\"", "not a time limit"),
            ("kind = \"slurm\"\noptions = [\"gpu\"]", "not an option of sbatch"),
            ("kind = \"slurm\"\noptions = [\"--gres=gpu:1\", \"--array=1-9\"]", "needs this option"),
            ("kind = \"slurm\"\noptions = [\"--outp=x\"]", "needs this option"),
            ("kind = \"slurm\"\nstate = \"x\"", "absolute"),
            ("kind = \"ssh\"", "host is missing"),
            ("kind = \"ssh\"\nhost = \"-oProxyCommand=x\"", "not a host"),
            ("kind = \"ssh\"\nhost = \"h\"\nimage = \"i\"", "image is not a setting"),
            ("kind = \"ssh\"\nhost = \"h\"\ndirectory = \"x\"", "absolute"),
            ("kind = \"ssh\"\nhost = \"h\"\nspeed = 1", "unknown field"),
            ("kind = \"container\"", "either image"),
            ("kind = \"container\"\nimage = \"i\"\ncontainer = \"c\"", "either image"),
            ("kind = \"container\"\ncontainer = \"c\"\npull = \"never\"", "pull needs image"),
            ("kind = \"container\"\nimage = \"i\"\nmounts = [\"data\"]", "not a mount"),
        ] {
            let refused = kind(text).unwrap_err();
            assert!(refused.contains(why), "{text}: {refused}");
        }
    }

    #[test]
    fn options_that_only_choose_where_a_job_runs_are_passed_on() {
        for option in
            ["--gres=gpu:1", "--ntasks-per-node=2", "--nodelist=n1", "--wait-all-nodes=1", "--exclusive"]
        {
            assert!(kind(&format!("kind = \"slurm\"\noptions = [{option:?}]")).is_ok(), "{option}");
        }
    }

    #[test]
    fn a_new_container_has_the_project_unless_the_settings_say_otherwise() {
        let mounts = |text: &str| match kind(text).unwrap() {
            BackendKind::Container(place) => place.mount_project,
            BackendKind::Ssh(_) | BackendKind::Slurm(_) => false,
        };
        assert!(mounts("kind = \"container\"\nimage = \"i\""));
        assert!(!mounts("kind = \"container\"\nimage = \"i\"\nmount_project = false"));
        assert!(!mounts("kind = \"container\"\ncontainer = \"c\""));
    }
}
