//! The stored request of a task.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;

use mw_model::wire::SPEC_FILE;
use mw_model::{Dependency, EnvVar, SPEC_VERSION, SessionBond, TaskSpec};

use super::TaskDir;
use super::secret_variables::SecretVariables;
use crate::disk::optional_file::{cannot_inspect, has_text, is_no_file};
use crate::error::{Error, Result};

impl TaskDir<'_> {
    pub(crate) fn write_spec(&self, spec: &TaskSpec) -> Result<()> {
        let path = self.path.join(SPEC_FILE);
        let text = serde_json::to_vec(spec).map_err(|error| Error::io("spec.json")(error.into()))?;
        let made = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path);
        let written = made.and_then(|mut file| file.write_all(&text));
        written.map_err(Error::io(format!("cannot write {}", path.display())))
    }

    /// Returns whether a task has a spec. A starter may be killed between creating the file and writing it.
    pub(crate) fn has_spec(&self) -> Result<bool> {
        has_text(&self.path.join(SPEC_FILE))
    }

    /// Reads the spec.
    ///
    /// # Errors
    /// When `spec.json` is missing, corrupt or of a newer version, which is damage, or when it cannot be read now.
    pub fn spec(&self) -> Result<TaskSpec> {
        let damaged = |message: String| Error::Damaged { id: self.id.clone(), message };
        let path = self.path.join(SPEC_FILE);
        let text = match fs::read(&path) {
            Ok(text) => text,
            Err(error) if is_no_file(&error) => {
                return Err(damaged(format!("cannot read spec.json: {error}")));
            }
            Err(error) => return Err(cannot_inspect(&path)(error)),
        };
        let version = serde_json::from_slice::<serde_json::Value>(&text)
            .ok()
            .and_then(|value| value.get("version")?.as_u64());
        if version.is_some_and(|version| version > u64::from(SPEC_VERSION)) {
            return Err(damaged(format!(
                "spec.json has version {}, this build reads up to {SPEC_VERSION}",
                version.unwrap_or(0)
            )));
        }
        let spec: TaskSpec = serde_json::from_slice(&text)
            .map_err(|error| damaged(format!("spec.json is corrupt: {error}")))?;
        if spec.id == *self.id { Ok(spec) } else { Err(damaged(format!("spec.json belongs to {}", spec.id))) }
    }

    /// Reads only the variables with secret names in a task's spec; `None` if it cannot be read.
    pub(crate) fn secret_variables(&self) -> Option<Vec<EnvVar>> {
        #[derive(serde::Deserialize)]
        struct Environment {
            env: SecretVariables,
        }
        let text = fs::read(self.path.join(SPEC_FILE)).ok()?;
        serde_json::from_slice(&text).ok().map(|spec: Environment| spec.env.0)
    }

    /// Stores the tasks that a task still has to wait for.
    pub(crate) fn change_after(&self, after: &[Dependency]) -> Result<()> {
        self.replace_spec(&TaskSpec { after: after.to_vec(), ..self.spec()? })
    }

    /// Stores the task's place in the queue.
    pub(crate) fn change_place(&self, priority: i32, rank: i64) -> Result<()> {
        self.replace_spec(&TaskSpec { priority, rank, ..self.spec()? })
    }

    /// Stores the task's binding to its session.
    pub(crate) fn change_bond(&self, bond: Option<SessionBond>) -> Result<()> {
        self.replace_spec(&TaskSpec { bond, ..self.spec()? })
    }

    pub(crate) fn replace_spec(&self, spec: &TaskSpec) -> Result<()> {
        let text = serde_json::to_vec(spec).map_err(|error| Error::io("spec.json")(error.into()))?;
        self.replace(SPEC_FILE, &text).map_err(Error::io("cannot write spec.json"))
    }
}
