//! Files of the session's own tasks, such as logs. They are outside of every project but may be read. Files of other
//! sessions' tasks may not be read.

use std::fs;
use std::path::{Path, PathBuf};

use meanwhile::engine::{ReadFrom, ReadRequest, Runtime};
use meanwhile::{Scope, Task};
use mw_desk::text::error_text;
use mw_model::wire::{LOG_FILE, RUNS_DIR, SPEC_FILE};

use super::roots::{MAX_BYTES, read_text};

/// A file of a task.
pub(in crate::builtin) struct OwnFile {
    pub(in crate::builtin) task: Task,
    what: What,
}

enum What {
    /// The log of a run, or of the last run if no number is given.
    Log(Option<u32>),
    Other(PathBuf),
}

impl OwnFile {
    /// Finds the task and file of a resolved path, if it belongs to a task of this session.
    pub(in crate::builtin) fn find(runtime: &Runtime, session: &str, path: &Path) -> Option<Self> {
        let tasks = fs::canonicalize(runtime.home().tasks()).ok()?;
        let inside = path.strip_prefix(tasks).ok()?;
        let words: Vec<_> = inside.iter().map(|word| word.to_str()).collect::<Option<_>>()?;
        let (id, rest) = words.split_first()?;
        let task = runtime.tasks().task(id, &Scope::Session(session.to_owned())).ok()?;
        // A lookup also accepts the beginning of an id, but the name of a directory is a whole id.
        if task.id.as_str() != *id {
            return None;
        }
        let what = match rest {
            // The spec contains the environment and may not be read.
            [SPEC_FILE] => return None,
            [LOG_FILE] => What::Log(None),
            [RUNS_DIR, run, LOG_FILE] => What::Log(Some(run.parse().ok()?)),
            _ => What::Other(path.to_owned()),
        };
        Some(Self { task, what })
    }

    /// Reads the file and redacts secrets.
    pub(in crate::builtin) fn read(&self, runtime: &Runtime) -> Result<String, String> {
        let run = match &self.what {
            What::Log(run) => *run,
            What::Other(path) => {
                return Ok(runtime.redaction().redactor(&self.task.id).text(&read_text(path)?).into_owned());
            }
        };
        let request =
            ReadRequest { from: ReadFrom::Offset(0), max_bytes: MAX_BYTES, run, ..ReadRequest::default() };
        let scope = Scope::Session(self.task.session.clone());
        let read = runtime.reader().read_shown(self.task.id.as_str(), &scope, &request);
        let read = read.map_err(|error| error_text(&error))?;
        if read.left > 0 {
            return Err(format!("it has more than {MAX_BYTES} bytes: use task_output"));
        }
        Ok(read.text())
    }

    /// Returns whether reading this file to its end shows how the task ended.
    pub(in crate::builtin) fn tells_the_end(&self) -> bool {
        matches!(self.what, What::Log(None)) && self.task.status.is_terminal()
    }
}
