//! Types into a task.

use meanwhile::Result;

use crate::desk::Desk;
use crate::text::count;

/// What a task was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Given {
    /// Which.
    pub id: String,
    /// How many bytes it took.
    pub bytes: u64,
}

impl Given {
    /// Says what came of it.
    #[must_use]
    pub fn line(&self) -> String {
        format!("{} was given {}", self.id, count(self.bytes as usize, "byte", "bytes"))
    }
}

impl Desk {
    /// Types a line into a task.
    ///
    /// # Errors
    /// When it takes no input, or none any more.
    pub fn input(&self, id: &str, line: &str) -> Result<Given> {
        let data = format!("{line}\n");
        let bytes = self.with(|runtime| runtime.input(id, &self.scope(), data.as_bytes(), false))?;
        Ok(Given { id: id.to_owned(), bytes })
    }
}
