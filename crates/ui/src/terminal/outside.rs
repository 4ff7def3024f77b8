//! Other programs that get the terminal for a while.

use std::ffi::OsString;
use std::io::{BufRead, Write};
use std::process::Command;

/// A program that gets the terminal.
pub(crate) struct Outside {
    /// What people call it.
    pub(crate) name: &'static str,
    /// The program and its arguments.
    pub(crate) words: Vec<OsString>,
    pub(crate) afterwards: Afterwards,
}

/// What happens when such a program has ended well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Afterwards {
    /// The screen comes back.
    Return,
    /// What it said is its result, so it stays until somebody has read it.
    Read,
}

impl Outside {
    /// Opens a file. A variable like `$EDITOR` may hold arguments, so a shell takes it apart.
    pub(crate) fn on_file(name: &'static str, program: &str, path: &str) -> Self {
        let words = ["sh", "-c", &format!("{program} \"$1\""), "sh", path].map(OsString::from).into();
        Self { name, words, afterwards: Afterwards::Return }
    }

    /// Runs to its end. One that fails leaves what it said on the terminal until a key is pressed.
    pub(super) fn run(&self) -> Result<(), String> {
        let name = self.name;
        let [program, arguments @ ..] = &self.words[..] else { return Err(format!("{name} has no program")) };
        let status = Command::new(program)
            .args(arguments)
            .status()
            .map_err(|error| format!("{name} cannot be run: {error}"))?;
        if !status.success() || self.afterwards == Afterwards::Read {
            let mut err = std::io::stderr().lock();
            let _ = write!(err, "\r\n{name}: {status}. Enter goes back. ").and_then(|()| err.flush());
            let _ = std::io::stdin().lock().read_line(&mut String::new());
        }
        Ok(())
    }
}
