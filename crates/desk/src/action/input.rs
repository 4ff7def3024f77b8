//! Sends a line of input to a task.

use meanwhile::Result;

use crate::desk::Desk;
use crate::text::count;

/// What a task was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Given {
    /// The id of the task.
    pub id: String,
    /// How many bytes it took.
    pub bytes: u64,
}

impl Given {
    /// Describes the result.
    #[must_use]
    pub fn line(&self) -> String {
        format!("sent {} to {}", count(self.bytes as usize, "byte", "bytes"), self.id)
    }
}

impl Desk {
    /// Types a line into a task.
    ///
    /// # Errors
    /// When it takes no input, or none any more.
    pub fn input(&self, id: &str, line: &str) -> Result<Given> {
        let data = format!("{line}\n");
        let bytes = self.with(|runtime| runtime.live().input(id, &self.scope(), data.as_bytes(), false))?;
        Ok(Given { id: id.to_owned(), bytes })
    }
}
