//! Slurm's programs: `sbatch`, `squeue`, `scancel` and `sinfo`.

use std::io::{self, Read};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::error::{PlaceError, Result};

/// A program that takes longer is stopped. Slurm's own limit for a message is shorter.
const TIMEOUT: Duration = Duration::from_secs(60);
/// Variables of this machine that a job gets. Slurm passes on everything that `sbatch` has. Those of a job that runs this
/// process are not among them, nor those that make `squeue` or `scancel` ignore jobs.
const ENVIRONMENT: [&str; 9] =
    ["PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "SLURM_CONF", "SLURM_CLUSTERS", "SLURM_JWT"];
/// Defaults of `sbatch` that would make it wait for the end, or submit several jobs.
const NOT_FOR_US: [&str; 2] = ["SBATCH_WAIT", "SBATCH_ARRAY_INX"];

/// Messages that say nothing about the request: it may have arrived or not.
const UNCLEAR: [&str; 8] = [
    "contact slurm controller",
    "timed out",
    "Zero Bytes",
    "authentication",
    "emporarily",
    "standby",
    "Unexpected message",
    "communication",
];

/// Executes a program and returns what it printed.
pub(super) fn run(program: &str, arguments: &[String], input: Stdio) -> Result<String> {
    let is_kept = |name: &str| {
        let is_default = name.starts_with("SBATCH_") && !NOT_FOR_US.contains(&name);
        ENVIRONMENT.contains(&name) || name.starts_with("LC_") || is_default
    };
    let environment = std::env::vars_os().filter(|(name, _)| name.to_str().is_some_and(is_kept));
    let mut child = Command::new(program)
        .args(arguments)
        .env_clear()
        .envs(environment)
        .stdin(input)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| PlaceError::Refused(cannot_run(program, &error)))?;
    let output = reader(child.stdout.take());
    let errors = reader(child.stderr.take());
    let status = wait(&mut child)?;
    let text = |bytes: thread::JoinHandle<Vec<u8>>| {
        String::from_utf8_lossy(&bytes.join().unwrap_or_default()).into_owned()
    };
    let (output, errors) = (text(output), text(errors));
    if status {
        return Ok(output);
    }
    let message = message_of(program, &errors);
    let is_unclear = UNCLEAR.iter().any(|words| errors.contains(words));
    Err(if is_unclear { PlaceError::Unreachable(message) } else { PlaceError::Refused(message) })
}

fn cannot_run(program: &str, error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => format!("there is no program {program} on PATH; install Slurm's client"),
        _ => format!("cannot run {program}: {error}"),
    }
}

fn reader(from: Option<impl Read + Send + 'static>) -> thread::JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = from.map(|mut from| from.read_to_end(&mut bytes));
        bytes
    })
}

/// Waits for the end of a program. Returns whether it has succeeded.
fn wait(child: &mut Child) -> Result<bool> {
    let failed =
        |error: io::Error| PlaceError::Unreachable(format!("cannot wait for Slurm's programs: {error}"));
    let deadline = Instant::now() + TIMEOUT;
    let mut pause = Duration::from_millis(1);
    loop {
        if let Some(status) = child.try_wait().map_err(failed)? {
            return Ok(status.success());
        }
        if Instant::now() >= deadline {
            let _ = child.kill();
            let _ = child.wait();
            return Err(PlaceError::Unreachable("Slurm does not answer".to_owned()));
        }
        thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}

/// Returns the most telling line of a program's messages.
fn message_of(program: &str, errors: &str) -> String {
    let lines = || errors.lines().map(str::trim).filter(|line| !line.is_empty());
    // What follows the line about munge does not name it.
    let line = lines()
        .find(|line| line.contains("Munge"))
        .or_else(|| lines().rfind(|line| line.contains("error:")))
        .or_else(|| lines().next_back());
    let line = line.unwrap_or("it failed without a message");
    let line = line.trim_start_matches(&format!("{program}: ")).trim_start_matches("error: ");
    format!("{program}: {line}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_error_is_the_message() {
        let errors = "sbatch: error: invalid partition specified: nope\nsbatch: error: Batch job submission failed: Invalid partition name specified\n";
        assert_eq!(
            message_of("sbatch", errors),
            "sbatch: Batch job submission failed: Invalid partition name specified"
        );
        let errors = "sbatch: error: Munge encode failed: Failed to connect to \"/run/munge.socket\"\nsbatch: error: Batch job submission failed: Protocol authentication error\n";
        let message = message_of("sbatch", errors);
        assert_eq!(message, "sbatch: Munge encode failed: Failed to connect to \"/run/munge.socket\"");
        assert_eq!(message_of("squeue", ""), "squeue: it failed without a message");
    }

    #[test]
    fn an_answer_that_never_came_is_not_a_refusal() {
        let run = |script: &str| run("sh", &["-c".to_owned(), script.to_owned()], Stdio::null());
        assert_eq!(run("echo hello").unwrap(), "hello\n");
        let slow = "echo 'sbatch: error: Batch job submission failed: Socket timed out on send/recv operation' >&2; exit 1";
        assert!(matches!(run(slow), Err(PlaceError::Unreachable(_))));
        assert!(matches!(run("echo 'error: Invalid account' >&2; exit 1"), Err(PlaceError::Refused(_))));
        assert!(matches!(super::run("no-such-program", &[], Stdio::null()), Err(PlaceError::Refused(_))));
    }
}
