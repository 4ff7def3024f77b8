//! Other programs that get the terminal for a while.

use std::io::{BufRead, Write};
use std::process::Command;

use super::event::Program;
use super::program::Options;

/// Runs a program to its end. One that fails leaves what it said on the terminal until a key is pressed.
pub(super) fn run(options: &Options, program: &Program) -> Result<(), String> {
    let (name, mut command) = match program {
        Program::Attach(id) => {
            let mut words = options.attach.iter();
            let first = words.next().ok_or("no command to attach with is set")?;
            let mut command = Command::new(first);
            command.args(words).arg(id);
            ("attach", command)
        }
        Program::Editor(path) => ("the editor", in_shell(&options.editor, path)),
        Program::Pager(path) => ("the pager", in_shell(&options.pager, path)),
    };
    let status = command.status().map_err(|error| format!("{name} cannot be run: {error}"))?;
    if !status.success() {
        let mut err = std::io::stderr().lock();
        let _ = write!(err, "\r\n{name}: {status}. Enter goes back to mw top. ").and_then(|()| err.flush());
        let _ = std::io::stdin().lock().read_line(&mut String::new());
    }
    Ok(())
}

/// `$EDITOR` may hold arguments, so a shell takes it apart.
fn in_shell(program: &str, path: &str) -> Command {
    let mut command = Command::new("sh");
    command.arg("-c").arg(format!("{program} \"$1\"")).arg("sh").arg(path);
    command
}
