//! Other programs that get the terminal for a while.

use std::io::{BufRead, Write};
use std::process::Command;

use super::event::{Effect, Force, Program};
use super::program::Options;

/// Runs a program to its end. One that fails leaves what it said on the terminal until a key is pressed.
pub(super) fn run(options: &Options, program: &Program) -> Result<(), String> {
    let (name, mut command) = match program {
        Program::Attach(id) => {
            let mut command = Command::new(&options.mw);
            command.arg("attach").arg(id);
            ("attach", command)
        }
        Program::Command(words) => {
            let mut command = Command::new(&options.mw);
            command.args(words);
            ("mw", command)
        }
        Program::Editor(path) => ("the editor", in_shell(&options.editor, path)),
        Program::Pager(path) => ("the pager", in_shell(&options.pager, path)),
    };
    let status = command.status().map_err(|error| format!("{name} cannot be run: {error}"))?;
    // What a command of ours said is its result.
    if !status.success() || matches!(program, Program::Command(_)) {
        let mut err = std::io::stderr().lock();
        let _ = write!(err, "\r\n{name}: {status}. Enter goes back to mw top. ").and_then(|()| err.flush());
        let _ = std::io::stdin().lock().read_line(&mut String::new());
    }
    Ok(())
}

/// Returns the command that does the same as an effect, and asks before.
pub(super) fn words(effect: &Effect) -> Vec<String> {
    let words: &[&str] = match effect {
        Effect::Kill(id, Force::Term) => &["kill", id],
        Effect::Kill(id, Force::Kill) => &["kill", "--signal", "KILL", "--grace", "0s", id],
        Effect::Restart(id) => &["restart", id],
        Effect::Input(id, text) => &["input", id, "--", text],
        _ => &[],
    };
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// `$EDITOR` may hold arguments, so a shell takes it apart.
fn in_shell(program: &str, path: &str) -> Command {
    let mut command = Command::new("sh");
    command.arg("-c").arg(format!("{program} \"$1\"")).arg("sh").arg(path);
    command
}
