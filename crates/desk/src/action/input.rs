//! Sends a line of input to a task.

use meanwhile::Result;

use crate::desk::Desk;
use crate::text::count;

impl Desk {
    /// Sends a line to the standard input of a task. Returns a description of the result.
    ///
    /// # Errors
    /// Fails if the task accepts no input, or its input is closed.
    pub fn input(&self, id: &str, line: &str) -> Result<String> {
        let data = format!("{line}\n");
        let bytes = self.with(|runtime| runtime.live().input(id, &self.scope(), data.as_bytes(), false))?;
        Ok(format!("sent {} to {id}", count(bytes as usize, "byte", "bytes")))
    }
}
