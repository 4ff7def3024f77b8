//! Runs attacks through the gate, and without it.

use std::io::Read;
use std::net::{IpAddr, TcpListener, UdpSocket};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use mw_model::Grant;
use mw_testkit::{Home, Invocation, Need, SOON, skip, wait_until};
use serde_json::Value;
use tempfile::TempDir;

use crate::effects::{Effect, State, shows_secret};
use crate::world::{SECRET, World, template};

const MW: &str = env!("CARGO_BIN_EXE_mw");
/// The session of the attacker.
const SESSION: &str = "attacker";
/// What the task of another session prints.
const OTHER: &str = "OTHER-SECRET-output";
/// How long an attack may take.
const LIMIT: &str = "2s";
/// How many attacks run at the same time.
const WORKERS: usize = 3;

/// A home of `mw` with a request that is open and a task of another session.
pub(crate) struct Gate {
    home: Home,
    template: TempDir,
    ask: String,
    task: String,
    listener: Listener,
}

/// What the kernel can hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kernel {
    /// Everything.
    Full,
    /// What Landlock holds without namespaces. Policy does not rely on it.
    LandlockOnly,
    /// Nothing. Policy alone decides.
    Neither,
}

impl Kernel {
    pub(crate) const ALL: [Self; 3] = [Self::Full, Self::LandlockOnly, Self::Neither];

    /// Returns the features that it lacks.
    const fn lacks(self) -> &'static str {
        match self {
            Self::Full => "",
            Self::LandlockOnly => "namespaces",
            Self::Neither => "landlock,namespaces",
        }
    }
}

/// What became of attacks.
#[derive(Default)]
pub(crate) struct Runs {
    /// How many needed approval, and did not get it.
    pub(crate) asked: usize,
    /// How many ran.
    pub(crate) ran: usize,
    /// Those that had their effect, and the effect.
    pub(crate) had: Vec<(String, String)>,
}

/// Returns how many attacks run at the same time. Connections are counted for all together.
const fn workers(effect: Effect) -> usize {
    match effect {
        Effect::Network => 1,
        Effect::Outside
        | Effect::Protected
        | Effect::Secret
        | Effect::Setuid
        | Effect::Kills
        | Effect::Deletes
        | Effect::Approves
        | Effect::Session => WORKERS,
    }
}

/// Counts connections to an address that is not the loopback.
struct Listener {
    address: IpAddr,
    port: u16,
    count: Arc<AtomicUsize>,
}

impl Listener {
    fn new() -> Self {
        // No packet is sent: this only asks which address would be used. Without a route the loopback stands in.
        let address = UdpSocket::bind("0.0.0.0:0")
            .and_then(|socket| socket.connect("192.0.2.1:9").and_then(|()| socket.local_addr()))
            .map_or(IpAddr::from([127, 0, 0, 1]), |address| address.ip());
        let listener = TcpListener::bind((address, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let count = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&count);
        thread::spawn(move || {
            while let Ok((stream, _)) = listener.accept() {
                counted.fetch_add(1, Ordering::SeqCst);
                drop(stream);
            }
        });
        Self { address, port, count }
    }
}

/// A process that an attack tries to end; in a group of its own.
struct Victim(Child);

impl Victim {
    fn new() -> Self {
        Self(Command::new("sleep").arg("600").process_group(0).spawn().unwrap())
    }

    fn is_alive(&mut self) -> bool {
        matches!(self.0.try_wait(), Ok(None))
    }
}

impl Drop for Victim {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn filled(attack: &str, world: &World, listener: &Listener, ids: [&str; 3]) -> String {
    let [pid, ask, task] = ids;
    let (outside, home) = (world.outside().display().to_string(), world.home().display().to_string());
    let places = [
        ("@OUT@", outside.as_str()),
        ("@HOME@", home.as_str()),
        ("@ADDR@", &listener.address.to_string()),
        ("@PORT@", &listener.port.to_string()),
        ("@PID@", pid),
        ("@ASK@", ask),
        ("@TASK@", task),
    ];
    places.iter().fold(attack.to_owned(), |text, (name, value)| text.replace(name, value))
}

impl Gate {
    /// Creates a home on a system that can confine completely, or as if it had less.
    pub(crate) fn new(kernel: Kernel) -> Self {
        let supervisor = Path::new(MW).with_file_name("mw-supervisor");
        let report = Command::new(supervisor).arg("check").output().unwrap().stdout;
        let report: Value = serde_json::from_slice(&report).unwrap();
        if report["confines_with"].as_array().is_none_or(|by| by.len() < 3) {
            skip(Need::Confinement, "the kernel offers only a part of it");
        }
        let home = Home::new(MW).gated().needing("git").needing("python3").needing("bash");
        let home = home.with_env("MEANWHILE_LACKS", kernel.lacks());
        let other = home.command(["start", "--json", &format!("echo {OTHER}; sleep 600")]);
        let task = other.env("MEANWHILE_MODE", "dangerous").session("other").run().json();
        let task = task["id"].as_str().unwrap().to_owned();
        home.until_logged(&task, OTHER);
        let asked = home.command(["start", "rm -rf precious"]).session("other");
        let _ = asked.env("MEANWHILE_MODE", "safe").env("MEANWHILE_APPROVAL_WAIT", "10ms").run();
        let ask = wait_until(SOON, "a request", || {
            let open = home.mw(["approvals", "--json"]).json();
            open["approvals"][0]["id"].as_str().map(str::to_owned)
        });
        Self { home, template: template(), ask, task, listener: Listener::new() }
    }

    /// Runs all attacks.
    pub(crate) fn run_all(&self, effect: Effect, attacks: &[String]) -> Runs {
        let next = AtomicUsize::new(0);
        let runs = Mutex::new(Runs::default());
        thread::scope(|scope| {
            for _ in 0..workers(effect) {
                scope.spawn(|| {
                    while let Some(attack) = attacks.get(next.fetch_add(1, Ordering::SeqCst)) {
                        let (asked, seen) = self.run(effect, attack);
                        let mut runs = runs.lock().unwrap();
                        *(if asked { &mut runs.asked } else { &mut runs.ran }) += 1;
                        runs.had.extend(seen.map(|what| (attack.clone(), what)));
                    }
                });
            }
        });
        runs.into_inner().unwrap()
    }

    /// Runs an attack as a command of a session; returns whether it was asked about, and its effect.
    fn run(&self, effect: Effect, attack: &str) -> (bool, Option<String>) {
        let world = World::new(self.template.path());
        let before = State::of(effect, &world);
        let mut victim = (effect == Effect::Kills).then(Victim::new);
        let pid = victim.as_ref().map_or_else(String::new, |victim| victim.0.id().to_string());
        let script = filled(attack, &world, &self.listener, [&pid, &self.ask, &self.task]);
        let connections = self.listener.count.load(Ordering::SeqCst);
        let outcome = self.as_model(&world, &script).run();
        let output = outcome.text();
        let seen = match effect {
            Effect::Outside | Effect::Protected | Effect::Deletes | Effect::Setuid => {
                before.difference(&State::of(effect, &world))
            }
            Effect::Secret => shows_secret(&output).then(|| "printed".to_owned()),
            Effect::Network => {
                let now = self.listener.count.load(Ordering::SeqCst);
                (now > connections).then(|| "connected".to_owned())
            }
            Effect::Kills => (!victim.as_mut().unwrap().is_alive()).then(|| "ended".to_owned()),
            Effect::Approves => self.is_answered().then(|| "answered".to_owned()),
            Effect::Session => self.is_disturbed(&output),
        };
        (outcome.code == Some(3), seen)
    }

    /// Creates a home directory with a project.
    pub(crate) fn world(&self) -> World {
        World::new(self.template.path())
    }

    /// Puts the paths of a home directory into a script.
    pub(crate) fn filled(&self, text: &str, world: &World) -> String {
        filled(text, world, &self.listener, ["none", &self.ask, &self.task])
    }

    /// Returns the decision about a script and its grant, without running it.
    pub(crate) fn judged(&self, world: &World, script: &str) -> (String, Grant) {
        let call = self.home.command(["policy", "--json", "--shell", "/bin/bash", script]);
        let call = call.cwd(world.project()).env("HOME", world.home());
        let call = call.env("MEANWHILE_MODE", "safe");
        let printed = call.run().json();
        let grant = serde_json::from_value(printed["grant"].clone()).unwrap();
        (printed["decision"].as_str().unwrap().to_owned(), grant)
    }

    /// Prepares a command of a session in a project, in mode safe.
    pub(crate) fn as_model(&self, world: &World, script: &str) -> Invocation {
        let programs = Path::new(MW).parent().unwrap().display().to_string();
        let path = format!("{programs}:{}", std::env::var("PATH").unwrap_or_default());
        let call = self.home.command(["run", "--shell", "/bin/bash", "--timeout", LIMIT, script]);
        let call = call.cwd(world.project()).session(SESSION).limit(Duration::from_secs(60));
        call.env("HOME", world.home())
            .env("PATH", path)
            .env("API_TOKEN", SECRET)
            .env("MEANWHILE_MODE", "safe")
            .env("MEANWHILE_APPROVAL_WAIT", "0")
    }

    fn is_answered(&self) -> bool {
        let open = self.home.mw(["approvals", "--json"]).json();
        let is_it = |entry: &Value| entry["id"] == self.ask.as_str();
        !open["approvals"].as_array().unwrap().iter().any(is_it)
    }

    fn is_disturbed(&self, output: &str) -> Option<String> {
        if output.contains(OTHER) {
            return Some("printed".to_owned());
        }
        let status = self.home.mw(["status", "--json", &self.task]).json();
        (status["status"] != "running").then(|| format!("{}", status["status"]))
    }
}

/// Counts the attacks that have their effect without a gate.
pub(crate) fn count_effective(effect: Effect, attacks: &[String]) -> usize {
    let (template, listener) = (template(), Listener::new());
    let next = AtomicUsize::new(0);
    let count = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..workers(effect) {
            scope.spawn(|| {
                while let Some(attack) = attacks.get(next.fetch_add(1, Ordering::SeqCst)) {
                    if is_effective(effect, attack, template.path(), &listener) {
                        count.fetch_add(1, Ordering::SeqCst);
                    } else if std::env::var_os("MW_ATTACK").is_some() {
                        println!("without effect: {attack:?}");
                    }
                }
            });
        }
    });
    count.into_inner()
}

fn is_effective(effect: Effect, attack: &str, template: &Path, listener: &Listener) -> bool {
    let world = World::new(template);
    let before = State::of(effect, &world);
    let mut victim = (effect == Effect::Kills).then(Victim::new);
    let pid = victim.as_ref().map_or_else(String::new, |victim| victim.0.id().to_string());
    let script = filled(attack, &world, listener, [&pid, "none", "none"]);
    let connections = listener.count.load(Ordering::SeqCst);
    let output = output_of(&script, &world.project(), &world.home());
    match effect {
        Effect::Outside | Effect::Protected | Effect::Deletes | Effect::Setuid => {
            before.difference(&State::of(effect, &world)).is_some()
        }
        Effect::Secret => shows_secret(&output),
        Effect::Network => listener.count.load(Ordering::SeqCst) > connections,
        Effect::Kills => !victim.as_mut().unwrap().is_alive(),
        Effect::Approves | Effect::Session => false,
    }
}

/// Runs a script in a group of its own, for at most some seconds, and returns its output.
fn output_of(script: &str, cwd: &PathBuf, home: &Path) -> String {
    let mut child = Command::new("timeout")
        .args(["-k", "1", "3", "/bin/bash", "-c", script])
        .current_dir(cwd)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", home)
        .env("LANG", "C.UTF-8")
        .env("API_TOKEN", SECRET)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
        .unwrap();
    let mut stdout = child.stdout.take().unwrap();
    let (sender, receiver) = std::sync::mpsc::channel();
    thread::spawn(move || {
        let mut text = Vec::new();
        let _ = stdout.read_to_end(&mut text);
        let _ = sender.send(String::from_utf8_lossy(&text).into_owned());
    });
    let until = Instant::now() + Duration::from_secs(8);
    let _ = child.wait();
    receiver.recv_timeout(until.saturating_duration_since(Instant::now())).unwrap_or_default()
}
