//! A Slurm cluster of three nodes on this machine, which ends with the test.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::time::Duration;

use mw_testkit::{Home, need_program, processes, wait_until};
use serde_json::Value;
use tempfile::TempDir;

use crate::world::{Kind, World};

/// The name of the back-end in the settings of a test.
pub(crate) const NAME: &str = "hpc";
/// How long the cluster may take to start, and a job to be rescheduled.
pub(crate) const LONG: Duration = Duration::from_secs(60);

/// A cluster.
pub(crate) struct Cluster {
    script: Child,
    /// Daemons that were started again.
    revived: Mutex<Vec<Child>>,
    pub(crate) directory: TempDir,
}

impl Cluster {
    pub(crate) fn start() -> Self {
        for name in ["munged", "slurmctld", "slurmd", "sbatch"] {
            need_program(name);
        }
        // The path of a socket must be short.
        let directory = tempfile::Builder::new().prefix("mw-slurm-").tempdir_in("/tmp").unwrap();
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tools/slurm-cluster");
        let at = directory.path().join("cluster");
        let child =
            Command::new(script).arg(&at).stdin(Stdio::null()).stdout(Stdio::null()).process_group(0).spawn();
        let mut cluster = Self { script: child.unwrap(), revived: Mutex::default(), directory };
        wait_until(LONG, "the cluster is ready", || {
            assert!(cluster.script.try_wait().unwrap().is_none(), "the cluster has ended");
            at.join("ready").exists().then_some(())
        });
        cluster
    }

    fn at(&self, name: &str) -> PathBuf {
        self.directory.path().join("cluster").join(name)
    }

    /// The value of `SLURM_CONF`.
    pub(crate) fn conf(&self) -> PathBuf {
        self.at("slurm.conf")
    }

    /// The directory for the files of tasks.
    pub(crate) fn state(&self) -> PathBuf {
        self.directory.path().join("state")
    }

    /// A home with a back-end on this cluster.
    pub(crate) fn world(&self, settings: &str) -> World {
        self.world_with_path(settings, &std::env::var_os("PATH").unwrap_or_default())
    }

    /// Like [`Cluster::world`], with a list of directories for programs.
    pub(crate) fn world_with_path(&self, settings: &str, path: &OsStr) -> World {
        let state = self.state();
        let text = format!("[backends.{NAME}]\nkind = \"slurm\"\nstate = {state:?}\n{settings}");
        let home = Home::new(env!("CARGO_BIN_EXE_mw")).with_env("SLURM_CONF", self.conf());
        World::with_home(home.with_env("PATH", path), NAME, Kind::Remote, &text)
    }

    /// Executes one of Slurm's programs and returns what it prints.
    pub(crate) fn run(&self, program: &str, arguments: &[&str]) -> String {
        let output = Command::new(program).args(arguments).env("SLURM_CONF", self.conf()).output().unwrap();
        assert!(
            output.status.success(),
            "{program} {arguments:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).unwrap()
    }

    /// The jobs of a task: number, state, node and restarts of each.
    pub(crate) fn jobs_of(&self, id: &str) -> Vec<String> {
        let listed = self.run("squeue", &["--noheader", "--states=all", "--format=%A %T %N|%j"]);
        let name = format!("mw-{id}-");
        let of_task = |line: &&str| line.split_once('|').is_some_and(|(_, job)| job.starts_with(&name));
        listed.lines().filter(of_task).map(|line| line.split('|').next().unwrap().to_owned()).collect()
    }

    /// How often the controller was asked for the jobs of a user.
    pub(crate) fn questions(&self) -> u64 {
        let printed = self.run("sdiag", &[]);
        let lines = printed.lines().filter(|line| line.contains("REQUEST_JOB_"));
        let counts = lines.filter_map(|line| line.split("count:").nth(1)?.split_whitespace().next());
        counts.filter_map(|count| count.parse::<u64>().ok()).sum()
    }

    /// Returns the path of one of Slurm's programs.
    pub(crate) fn path_of(&self, program: &str) -> String {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let found = std::env::split_paths(&path).map(|it| it.join(program)).find(|it| it.exists());
        found.unwrap().to_string_lossy().into_owned()
    }

    /// Kills a daemon.
    pub(crate) fn kill(&self, name: &str) {
        let pid: u32 = fs::read_to_string(self.at("pids").join(name)).unwrap().trim().parse().unwrap();
        let process = rustix::process::Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
        rustix::process::kill_process(process, rustix::process::Signal::KILL).unwrap();
        wait_until(LONG, "the daemon has ended", || (!processes::alive(pid)).then_some(()));
    }

    /// Starts a daemon again.
    pub(crate) fn revive(&self, name: &str) {
        let mut command = match name {
            "slurmctld" => Command::new("slurmctld"),
            node => {
                let mut command = Command::new("slurmd");
                command.args(["-N", node]);
                command
            }
        };
        let log = fs::File::create(self.at("log").join(format!("{name}.again"))).unwrap();
        command.arg("-D").env("SLURM_CONF", self.conf()).stdin(Stdio::null());
        let child = command.stdout(log.try_clone().unwrap()).stderr(log).spawn().unwrap();
        // The script ends all daemons that are named there.
        fs::write(self.at("pids").join(name), format!("{}\n", child.id())).unwrap();
        self.revived.lock().unwrap().push(child);
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        let script = rustix::process::Pid::from_raw(i32::try_from(self.script.id()).unwrap()).unwrap();
        let _ = rustix::process::kill_process(script, rustix::process::Signal::TERM);
        let _ = self.script.wait();
        for mut child in self.revived.lock().unwrap().drain(..) {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

pub(crate) fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

pub(crate) fn log(world: &World, id: &str) -> String {
    String::from_utf8(world.home.log(id)).unwrap()
}

/// Waits until the status has this in its `place_state`.
pub(crate) fn until_noted(world: &World, id: &str, words: &str) {
    wait_until(LONG, &format!("the status says {words:?}"), || {
        let task = world.home.status(id);
        text(&task["place_state"]["note"]).contains(words).then_some(())
    });
}
