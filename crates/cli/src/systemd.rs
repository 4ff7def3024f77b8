//! A timer of the user's systemd that starts due tasks after a reboot, when nothing else does.
//!
//! The timer runs a command that only looks, which starts what is due like every other command.

use std::env;
use std::path::PathBuf;
use std::process::Command;

use mw_agents::hosts::{FileChange, RequestedChange, SetupError};

use crate::error::CommandError;
use crate::exit_code;

/// The names of the units.
const SERVICE: &str = "meanwhile.service";
const TIMER: &str = "meanwhile.timer";
/// The first line of both files. Files without it are left alone.
const MARK: &str = "# Written by mw setup systemd.";

/// Plans the changes to the unit files. `home` is a home that the environment names.
pub(crate) fn plan(
    change: RequestedChange,
    program: &str,
    home: Option<&str>,
) -> Result<Vec<FileChange>, CommandError> {
    let directory = units()?;
    let wanted = |text: String| (change == RequestedChange::SetUp).then_some(text);
    let plan = |(name, text)| {
        let change = FileChange::of(directory.join(name), wanted(text))?;
        match &change.before {
            Some(before) if !before.starts_with(MARK) => Err(CommandError::conflict(
                format!("{} was not written by mw", change.path.display()),
                "remove or rename it first",
            )),
            _ => Ok(change),
        }
    };
    texts(program, home).into_iter().map(plan).collect()
}

/// Returns the files and their content.
pub(crate) fn snippets(program: &str, home: Option<&str>) -> Result<Vec<(PathBuf, String)>, CommandError> {
    let directory = units()?;
    Ok(texts(program, home).map(|(name, text)| (directory.join(name), text)).into())
}

/// Loads the changed files, and starts or has stopped the timer.
pub(crate) fn apply(change: RequestedChange) -> Result<(), CommandError> {
    systemctl(&["daemon-reload"])?;
    match change {
        RequestedChange::SetUp => systemctl(&["enable", "--now", TIMER]),
        RequestedChange::Remove => Ok(()),
    }
}

/// Stops the timer, before its files are removed.
pub(crate) fn stop() -> Result<(), CommandError> {
    systemctl(&["disable", "--now", TIMER])
}

fn units() -> Result<PathBuf, CommandError> {
    let named = |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let config = named("XDG_CONFIG_HOME").or_else(|| Some(named("HOME")?.join(".config")));
    Ok(config.ok_or(SetupError::NoHome)?.join("systemd/user"))
}

fn texts(program: &str, home: Option<&str>) -> [(&'static str, String); 2] {
    let home = home.map(|home| format!("Environment={}\n", quoted(&format!("MEANWHILE_HOME={home}"))));
    let service = format!(
        "{MARK}\n[Unit]\nDescription=Start the tasks of meanwhile that are due\n\n[Service]\nType=oneshot\n{}ExecStart={} queue\n\
         StandardOutput=null\n# The tasks that it starts go on.\nKillMode=process\n",
        home.unwrap_or_default(),
        quoted(program).replace('$', "$$")
    );
    let timer = format!(
        "{MARK}\n[Unit]\nDescription=Start the tasks of meanwhile that are due\n\n[Timer]\nOnStartupSec=5s\nOnUnitInactiveSec=5min\n\n\
         [Install]\nWantedBy=timers.target\n"
    );
    [(SERVICE, service), (TIMER, timer)]
}

/// Quotes a word of a unit file.
fn quoted(word: &str) -> String {
    let escaped = word.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n").replace('%', "%%");
    format!("\"{escaped}\"")
}

fn systemctl(words: &[&str]) -> Result<(), CommandError> {
    let shown = format!("systemctl --user {}", words.join(" "));
    let failed = |why: &str| CommandError {
        code: "systemd".to_owned(),
        message: format!("{shown} failed: {}", why.trim()),
        hint: format!("run {shown} where the systemd of the user runs, and then mw setup systemd again"),
        exit: exit_code::FAILURE,
        library: None,
        unknown_task: None,
    };
    let output = Command::new("systemctl").arg("--user").args(words).output();
    match output {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => Err(failed(&String::from_utf8_lossy(&output.stderr))),
        Err(error) => Err(failed(&error.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_unit_file_are_taken_literally() {
        assert_eq!(quoted("/opt/my tools/mw"), "\"/opt/my tools/mw\"");
        assert_eq!(quoted("/50%/\"x\\"), r#""/50%%/\"x\\""#);
        let [(_, service), _] = texts("/$/mw", Some("/$b c"));
        assert!(service.contains("Environment=\"MEANWHILE_HOME=/$b c\"\n"), "{service}");
        assert!(service.contains("ExecStart=\"/$$/mw\" queue\n"), "{service}");
    }
}
