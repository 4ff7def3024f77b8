//! Finds the file in which a project declares its services.

use std::env;
use std::io;
use std::path::{Path, PathBuf};

use super::service::Service;
use super::{declared, order, procfile};
use crate::config::{project_text, shown};
use crate::error::CommandError;

/// The file with sections `[services.NAME]`.
const DECLARATIONS: &str = "meanwhile.toml";
const PROCFILE: &str = "Procfile";

/// The services of a project.
pub(crate) struct Project {
    /// Where they are declared.
    file: PathBuf,
    /// Each one comes after those that it depends on.
    pub(super) services: Vec<Service>,
}

impl Project {
    /// Reads the services of a file, or else of the nearest one in this directory and those above it, up to the root of the
    /// project.
    ///
    /// # Errors
    /// When there is none, or something is wrong with it.
    pub(crate) fn find(file: Option<&Path>) -> Result<Self, CommandError> {
        if let Some(file) = file {
            let file = absolute(file)?;
            return Self::read(&file)?.ok_or_else(|| {
                let message =
                    format!("{} declares no services, or does not exist", shown(&file.to_string_lossy()));
                CommandError::not_found(message, "write a section [services.NAME] with command = \"…\"")
            });
        }
        let user = env::var_os("HOME").map(PathBuf::from);
        let here = env::current_dir()?;
        for directory in here.ancestors() {
            for name in [DECLARATIONS, PROCFILE] {
                if let Some(project) = Self::read(&directory.join(name))? {
                    return Ok(project);
                }
            }
            if directory.join(".git").exists() || Some(directory) == user.as_deref() {
                break;
            }
        }
        Err(CommandError::not_found(
            format!("no services are declared in {} or above it in its project", here.display()),
            "write [services.NAME] with command = \"…\" into meanwhile.toml, or a Procfile; or give one with --file",
        ))
    }

    /// Reads a file; `None` if it does not exist, or declares no services.
    fn read(file: &Path) -> Result<Option<Self>, CommandError> {
        let Some(text) = project_text(file)? else { return Ok(None) };
        let directory = file.parent().unwrap_or(file);
        let read = match file.extension().is_some_and(|extension| extension == "toml") {
            true => declared::read(&text, directory),
            false => procfile::read(&text, directory).map_err(|(line, why)| (Some(line), why)),
        };
        let refused = |(line, why): (Option<usize>, String)| {
            let line = line.map_or_else(String::new, |line| format!(":{line}"));
            let place = shown(&file.to_string_lossy());
            let hint = format!(
                "correct the file; nothing was changed. mw kill --batch {place} ends what runs of it"
            );
            CommandError::usage(format!("{place}{line}: {}", why.replace('\n', " ")), hint)
        };
        let services =
            read.and_then(|found| order::in_order(found).map_err(|why| (None, why))).map_err(refused)?;
        Ok((!services.is_empty()).then(|| Self { file: file.to_owned(), services }))
    }

    /// Returns the batch of the tasks of these services.
    pub(crate) fn batch(&self) -> String {
        self.file.to_string_lossy().into_owned()
    }

    /// Returns the names of all services.
    pub(crate) fn names(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.services.iter().map(|service| service.name.as_str())
    }

    /// Returns the services of these names with all that they depend on; all if there are no names.
    pub(super) fn chosen(&self, names: &[String]) -> Result<Vec<&Service>, CommandError> {
        order::chosen(&self.services, names).map_err(|why| self.unknown(&why))
    }

    /// Refuses a name that is not declared.
    pub(crate) fn unknown(&self, why: &str) -> CommandError {
        let names: Vec<_> = self.names().collect();
        let hint = format!("{} declares {}", shown(&self.file.to_string_lossy()), names.join(", "));
        CommandError::not_found(why, hint)
    }
}

/// Returns the path by which the file is known, however it is named.
fn absolute(file: &Path) -> io::Result<PathBuf> {
    let absolute = std::path::absolute(file)?;
    let directory = absolute.parent().and_then(|directory| directory.canonicalize().ok());
    Ok(directory.zip(absolute.file_name()).map_or(absolute.clone(), |(directory, name)| directory.join(name)))
}
