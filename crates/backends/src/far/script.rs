//! The texts that the shell at the far side executes.

use mw_model::RawText;

use crate::driver::Job;

const LAUNCH: &str = include_str!("launch.sh");
const KEEP: &str = include_str!("keep.sh");
const FOLLOW: &str = include_str!("follow.sh");
pub(crate) const SIGNAL: &str = include_str!("signal.sh");

/// What the far side says first. Nothing is executed there before it was heard.
pub(super) const HELLO: &str = "mw hello";

/// The variable by which processes of a run are found.
const MARK: &str = "MEANWHILE_FAR_RUN";

/// The first line for the shell.
pub(super) fn hello() -> Vec<u8> {
    format!("echo {HELLO}\n").into_bytes()
}

/// Starts a run, unless it was started before.
pub(super) fn launch(job: &Job, state: &str, directory: Option<&str>) -> Vec<u8> {
    let words = job.spec.command.argv();
    let cwd = directory.map_or_else(|| job.spec.cwd.clone(), RawText::from);
    let mut script = Script::default();
    script.set("S", state.as_bytes());
    script.set("I", job.spec.id.as_str().as_bytes());
    script.set("N", job.run.to_string().as_bytes());
    script.set("W", cwd.as_bytes());
    script.set("P", words.first().map(RawText::as_bytes).unwrap_or_default());
    script.set("M", format!("{:03o}", job.spec.umask).as_bytes());
    script.set("C", &[format!("export {}\n", mark(job)).into_bytes(), command(job, &cwd)].concat());
    script.set("K", KEEP.as_bytes());
    script.body(LAUNCH)
}

/// Sends the output from these offsets on.
pub(super) fn follow(run_dir: &str, offsets: [u64; 2]) -> Vec<u8> {
    let mut script = Script::default();
    script.set("R", run_dir.as_bytes());
    script.set("A", offsets[0].to_string().as_bytes());
    script.set("B", offsets[1].to_string().as_bytes());
    script.body(FOLLOW)
}

/// Sends a signal to all processes of a run.
pub(super) fn signal(job: &Job, run_dir: &str, number: i32) -> Vec<u8> {
    let mut script = Script::default();
    script.set("R", run_dir.as_bytes());
    script.set("G", number.to_string().as_bytes());
    script.set("E", mark(job).as_bytes());
    script.body(SIGNAL)
}

/// Removes the files of a run that has ended.
pub(super) fn clean_up(run_dir: &str) -> Vec<u8> {
    let mut script = Script::default();
    script.set("R", run_dir.as_bytes());
    script.body("[ -f \"$R/status\" ] && rm -rf \"$R\"\necho mw removed\n")
}

/// Returns the variable by which processes of a run are found, with its value.
pub(crate) fn mark(job: &Job) -> String {
    format!("{MARK}={}", job.name())
}

/// Returns the script that becomes the command.
pub(crate) fn command(job: &Job, cwd: &RawText) -> Vec<u8> {
    let mut script = Vec::new();
    for var in job.variables() {
        // A name that no shell accepts cannot be passed on.
        if is_name(var.name.as_bytes()) {
            script.extend(
                [b"export ".as_slice(), var.name.as_bytes(), b"=", &quoted(var.value.as_bytes()), b"\n"]
                    .concat(),
            );
        }
    }
    script.extend([b"cd ".as_slice(), &quoted(cwd.as_bytes()), b" || exit 126\nexec"].concat());
    for word in job.spec.command.argv() {
        script.push(b' ');
        script.extend(quoted(word.as_bytes()));
    }
    script.push(b'\n');
    script
}

fn is_name(name: &[u8]) -> bool {
    let fits = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    name.first().is_some_and(|first| !first.is_ascii_digit()) && name.iter().all(fits)
}

/// Quotes bytes for a shell.
pub(crate) fn quoted(bytes: &[u8]) -> Vec<u8> {
    let parts: Vec<_> = bytes.split(|byte| *byte == b'\'').collect();
    [b"'".as_slice(), &parts.join(b"'\\''".as_slice()), b"'"].concat()
}

/// A script in the making.
#[derive(Default)]
struct Script {
    text: Vec<u8>,
}

impl Script {
    fn set(&mut self, name: &str, value: &[u8]) {
        self.text.extend([name.as_bytes(), b"=", &quoted(value), b"\n"].concat());
    }

    /// Completes the script. It is one group, so that it is executed only if it has arrived completely.
    fn body(self, body: &str) -> Vec<u8> {
        [b"{\n".as_slice(), &self.text, body.as_bytes(), b"}\n"].concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_bytes_are_one_word() {
        assert_eq!(quoted(b"it's\n$x"), b"'it'\\''s\n$x'");
        assert_eq!(quoted(b""), b"''");
        assert!(is_name(b"CI_2") && !is_name(b"2CI") && !is_name(b"a-b") && !is_name(b""));
    }
}
