//! Measures the latency of a start, a wake-up and a kill by running `mw` in a temporary home.

use std::env;
use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant, SystemTime};

use mw_agents::hosts::{HOSTS, HostSession, SessionEvidence, session_of};
use serde::Serialize;
use serde_json::Value;

use crate::programs;

/// Number of measurements; the median is reported.
const RUNS: usize = 5;
/// The timeout of each step.
pub(super) const LIMIT: Duration = Duration::from_secs(10);
/// The interval between two checks of a running program.
const POLL_INTERVAL: Duration = Duration::from_micros(200);

/// Medians, in milliseconds.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Measured {
    /// From calling `mw start` until it has returned.
    pub(crate) start_ms: f64,
    /// From the end of a task until `mw wait` has returned.
    pub(crate) wake_ms: f64,
    /// From calling `mw kill` until it has returned, everything being dead.
    pub(crate) kill_ms: f64,
    /// From the end of a task until the hook that wakes an idle agent has exited; none if it does not wake.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) idle_wake_ms: Option<f64>,
}

impl Measured {
    pub(crate) fn in_words(&self) -> String {
        let Self { start_ms, wake_ms, kill_ms, idle_wake_ms } = self;
        let idle = idle_wake_ms.map(|ms| format!("; an idle agent is woken after {ms:.0} ms"));
        let idle = idle.unwrap_or_default();
        format!("start {start_ms:.1} ms, wake {wake_ms:.1} ms, kill {kill_ms:.1} ms (median of {RUNS}){idle}")
    }
}

/// Runs tasks in a home below `scratch`, and ends them all.
pub(super) fn measure(scratch: &Path) -> Result<Measured, String> {
    let home = Private { home: scratch.join("home"), directory: scratch };
    let mut times = [const { Vec::new() }; 3];
    for _ in 0..RUNS {
        let begun = Instant::now();
        let started = home.mw(&["start", "--json", "--timeout", "1m", "--", "sleep", "60"])?;
        times[0].push(begun.elapsed());
        let begun = Instant::now();
        home.mw(&["kill", "--json", id_of(&started)?])?;
        times[2].push(begun.elapsed());
        let short = home.mw(&["start", "--json", "--", "sleep", "0.05"])?;
        home.mw(&["wait", "--json", id_of(&short)?])?;
        let woken = SystemTime::now();
        let status = home.mw(&["status", "--json", id_of(&short)?])?;
        times[1].push(woken.duration_since(ended(&status)?).unwrap_or_default());
    }
    let [start, wake, kill] = times.map(median);
    Ok(Measured { start_ms: start, wake_ms: wake, kill_ms: kill, idle_wake_ms: idle_wake(&home) })
}

/// Measures the hook of an idle agent; none if it does not wake.
fn idle_wake(home: &Private<'_>) -> Option<f64> {
    let (host, hooks, signal) = HOSTS.iter().find_map(|host| {
        let hooks = host.hooks.as_ref()?;
        Some((host.id, hooks, hooks.wake.as_ref()?))
    })?;
    let own = HostSession { host, id: "doctor".to_owned() };
    let input = hooks.stop_input(&own.id);
    let session = session_of(&SessionEvidence { host_session: Some(own), ..SessionEvidence::default() });
    let mut start = home.command(&["start", "--json", "--", "sleep", "0.3"]).ok()?;
    let started = run(start.env("MEANWHILE_SESSION", session), LIMIT).ok()?;
    let started: Value = serde_json::from_str(&started).ok()?;
    let asked = home.directory.join("asked");
    std::fs::write(&asked, input).ok()?;
    let mut hook = home.command(&["hook", host, "--wake"]).ok()?;
    let (variable, value) = signal.interactive;
    hook.env(variable, value).stdin(std::fs::File::open(&asked).ok()?);
    let mut child = hook.stdout(Stdio::null()).stderr(Stdio::null()).spawn().ok()?;
    let status = end_of(&mut child, LIMIT)?;
    let woken = SystemTime::now();
    if status.code() != Some(signal.exit_code.into()) {
        return None;
    }
    let task = home.mw(&["status", "--json", id_of(&started).ok()?]).ok()?;
    Some(in_ms(woken.duration_since(ended(&task).ok()?).unwrap_or_default()))
}

fn id_of(task: &Value) -> Result<&str, String> {
    task["id"].as_str().ok_or_else(|| "mw start printed no task id".to_owned())
}

fn ended(task: &Value) -> Result<SystemTime, String> {
    let at = task["ended_at"].as_str().and_then(|text| text.parse::<meanwhile::model::Timestamp>().ok());
    let at = at.ok_or("mw wait returned before the task ended")?;
    Ok(at.into())
}

fn median(mut times: Vec<Duration>) -> f64 {
    times.sort();
    in_ms(times.get(times.len() / 2).copied().unwrap_or_default())
}

/// Returns a time in milliseconds with one decimal.
fn in_ms(time: Duration) -> f64 {
    (time.as_secs_f64() * 10_000.0).round() / 10.0
}

struct Private<'a> {
    home: std::path::PathBuf,
    directory: &'a Path,
}

impl Private<'_> {
    fn mw(&self, words: &[&str]) -> Result<Value, String> {
        let output = run(&mut self.command(words)?, LIMIT)?;
        serde_json::from_str(&output).map_err(|_| format!("mw {} answered {output:?}", words.join(" ")))
    }

    fn command(&self, words: &[&str]) -> Result<Command, String> {
        let me = programs::mw().map_err(|error| error.to_string())?;
        let mut command = Command::new(me);
        command.args(words).current_dir(self.directory).env_clear();
        // Without the user's settings, but with the paths of programs.
        let kept = ["PATH", "LANG", "MEANWHILE_SUPERVISOR"];
        command.envs(kept.into_iter().filter_map(|name| Some((name, env::var_os(name)?))));
        command.env("HOME", self.directory).env("MEANWHILE_HOME", &self.home);
        Ok(command)
    }
}

impl Drop for Private<'_> {
    fn drop(&mut self) {
        // A failed measurement may have left tasks.
        let _ = self.mw(&["kill", "--json", "--all"]);
    }
}

/// Waits for the end of a program; kills it after `limit`.
fn end_of(child: &mut Child, limit: Duration) -> Option<ExitStatus> {
    let begun = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status),
            Ok(None) if begun.elapsed() < limit => std::thread::sleep(POLL_INTERVAL),
            Ok(None) | Err(_) => {
                let _ = child.kill();
                let _ = child.wait();
                return None;
            }
        }
    }
}

/// Runs a program and returns its output; kills it after `limit`.
pub(super) fn run(command: &mut Command, limit: Duration) -> Result<String, String> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| format!("cannot run it: {error}"))?;
    let status =
        end_of(&mut child, limit).ok_or_else(|| format!("it did not end within {} s", limit.as_secs()))?;
    let mut text = (String::new(), String::new());
    let _ = child.stdout.take().map(|mut out| out.read_to_string(&mut text.0));
    let _ = child.stderr.take().map(|mut err| err.read_to_string(&mut text.1));
    if status.success() {
        return Ok(text.0);
    }
    let said = if text.1.trim().is_empty() { &text.0 } else { &text.1 };
    Err(format!("{status}: {}", said.trim().lines().next().unwrap_or("no output")))
}
