//! Real engines, each with its own directory and socket. They end with the test.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::time::Duration;

use mw_testkit::{Need, SOON, need_program, need_root, skip, wait_until};
use tempfile::TempDir;

use crate::engine_api::ask;

/// The image that tests use.
pub(crate) const IMAGE: &str = "localhost/busybox:latest";

/// A server process that can be killed and started again.
pub(crate) struct Server {
    command: Mutex<Command>,
    child: Mutex<Option<Child>>,
}

impl Server {
    fn start(mut command: Command) -> Self {
        let child = command.spawn().unwrap();
        Self { command: Mutex::new(command), child: Mutex::new(Some(child)) }
    }

    /// Kills the server with SIGKILL and starts it again.
    pub(crate) fn restart(&self) {
        let mut child = self.child.lock().unwrap();
        let mut old = child.take().unwrap();
        old.kill().unwrap();
        old.wait().unwrap();
        *child = Some(self.command.lock().unwrap().spawn().unwrap());
    }

    /// Starts the server again if it has ended: Docker needs a second attempt while parts of the first one still live.
    fn revive(&self) {
        let mut child = self.child.lock().unwrap();
        if child.as_mut().is_some_and(|child| matches!(child.try_wait(), Ok(Some(_)))) {
            *child = Some(self.command.lock().unwrap().spawn().unwrap());
        }
    }

    /// The processes that the server has started for connections.
    pub(crate) fn children(&self) -> Vec<u32> {
        let server = self.child.lock().unwrap().as_ref().map(Child::id);
        let parent = |pid: &u32| mw_testkit::processes::stat(*pid).map(|stat| stat.parent);
        mw_testkit::processes::all().into_iter().filter(|pid| parent(pid) == server).collect()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let Some(mut child) = self.child.lock().unwrap().take() else {
            unreachable!("it is only taken here")
        };
        // Engines end their own processes on SIGTERM.
        if let Ok(pid) = i32::try_from(child.id()) {
            let _ = rustix::process::kill_process(
                rustix::process::Pid::from_raw(pid).unwrap(),
                rustix::process::Signal::TERM,
            );
        }
        let has_ended = || child.try_wait().ok().flatten();
        let ended =
            AssertUnwindSafe(|| wait_until(Duration::from_secs(10), "the server has ended", has_ended));
        let _ = catch_unwind(ended);
        let _ = child.kill();
        let _ = child.wait();
    }
}

/// An SSH server on this machine.
pub(crate) struct Sshd {
    pub(crate) server: Server,
    pub(crate) directory: TempDir,
}

impl Sshd {
    /// Starts a server with a key, for the user who runs the test.
    pub(crate) fn start() -> Self {
        need_program("ssh");
        let program =
            ["/usr/sbin/sshd", "/usr/local/sbin/sshd"].into_iter().find(|path| Path::new(path).exists());
        let Some(program) = program else { skip(Need::Program("sshd"), "no such program is in /usr/sbin") };
        let directory = tempfile::Builder::new().prefix("mw-sshd-").tempdir().unwrap();
        let at = |name: &str| directory.path().join(name).to_string_lossy().into_owned();
        for key in ["host_key", "key"] {
            let made =
                Command::new("ssh-keygen").args(["-q", "-t", "ed25519", "-N", "", "-f", &at(key)]).status();
            assert!(made.unwrap().success());
        }
        // The server of root needs this directory; others cannot make it, and need none.
        let _ = fs::create_dir_all("/run/sshd");
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let config = format!(
            "ListenAddress 127.0.0.1:{port}\nHostKey {}\nPidFile none\nAuthorizedKeysFile {}\nPasswordAuthentication no\nUsePAM no\nStrictModes no\nPermitRootLogin prohibit-password\nMaxSessions 50\nMaxStartups 100\n",
            at("host_key"),
            at("key.pub")
        );
        fs::write(at("sshd_config"), config).unwrap();
        let client = format!(
            "Host far\nHostName 127.0.0.1\nPort {port}\nIdentityFile {}\nIdentitiesOnly yes\nStrictHostKeyChecking no\nUserKnownHostsFile {}\nLogLevel ERROR\n",
            at("key"),
            at("known_hosts")
        );
        fs::write(at("ssh_config"), client).unwrap();
        let mut command = Command::new(program);
        command.args(["-D", "-f", &at("sshd_config"), "-E", &at("log")]).stdin(Stdio::null());
        let server = Server::start(command);
        let sshd = Self { server, directory };
        sshd.until_ready(port);
        sshd
    }

    fn until_ready(&self, port: u16) {
        wait_until(SOON, "the SSH server listens", || std::net::TcpStream::connect(("127.0.0.1", port)).ok());
    }

    /// The settings of a back-end on this server.
    pub(crate) fn backend(&self, name: &str) -> String {
        let at = |name: &str| self.directory.path().join(name).to_string_lossy().into_owned();
        format!(
            "[backends.{name}]\nkind = \"ssh\"\nhost = \"far\"\noptions = [\"-F\", {:?}]\nstate = {:?}\n",
            at("ssh_config"),
            at("state")
        )
    }
}

/// A container engine of this test.
pub(crate) struct ContainerEngine {
    pub(crate) server: Server,
    pub(crate) socket: PathBuf,
    // Dropped last: the engine must have ended before its directory is removed.
    _directory: EngineDirectory,
}

impl ContainerEngine {
    /// Starts Docker.
    pub(crate) fn docker() -> Self {
        need_root();
        need_program("dockerd");
        let directory = directory("mw-docker-");
        let at = |name: &str| directory.path().join(name).to_string_lossy().into_owned();
        // In a network namespace of its own: a Docker of this machine keeps its bridge.
        let mut command = Command::new("unshare");
        command.args(["--net", "dockerd"]);
        command.args([
            "-H",
            &format!("unix://{}", at("socket")),
            "--data-root",
            &at("data"),
            "--exec-root",
            &at("exec"),
        ]);
        command.args([
            "--pidfile",
            &at("pid"),
            "--bridge=none",
            "--iptables=false",
            "--ip-forward=false",
            "--live-restore",
        ]);
        Self::ready(command, directory)
    }

    /// Starts Podman's service.
    pub(crate) fn podman() -> Self {
        need_root();
        need_program("podman");
        need_program("runc");
        let directory = directory("mw-podman-");
        let at = |name: &str| directory.path().join(name).to_string_lossy().into_owned();
        // Without CAP_SYS_RESOURCE, the usual limits cannot be set. Not every machine has control groups for crun.
        let settings = "[containers]\ndefault_ulimits = [\"nofile=1024:1024\", \"nproc=2048:2048\"]\n[engine]\nruntime = \"runc\"\nevents_logger = \"file\"\n";
        fs::write(at("containers.conf"), settings).unwrap();
        let mut command = Command::new("podman");
        command.env("CONTAINERS_CONF", at("containers.conf"));
        command.args(["--root", &at("root"), "--runroot", &at("runroot"), "--tmpdir", &at("tmp")]);
        command.args(["system", "service", "--time=0", &format!("unix://{}", at("socket"))]);
        Self::ready(command, directory)
    }

    fn ready(mut command: Command, directory: TempDir) -> Self {
        let directory = EngineDirectory(directory);
        let log = fs::File::create(directory.path().join("log")).unwrap();
        // Podman leaves files where it was started.
        command
            .current_dir(directory.path())
            .stdin(Stdio::null())
            .stdout(log.try_clone().unwrap())
            .stderr(log);
        let socket = directory.path().join("socket");
        let engine = Self { server: Server::start(command), socket, _directory: directory };
        engine.until_ready();
        engine.load_image();
        engine
    }

    pub(crate) fn until_ready(&self) {
        wait_until(SOON, "the container engine answers", || {
            self.server.revive();
            (ask(&self.socket, "GET", "/_ping", "text/plain", b"").0 == 200).then_some(())
        });
    }

    /// Makes an image of busybox, which is linked statically.
    fn load_image(&self) {
        let busybox = PathBuf::from("/bin/busybox");
        if !busybox.exists() {
            skip(Need::Program("busybox"), "no such program is in /bin (busybox-static)");
        }
        let root = tempfile::tempdir().unwrap();
        let bin = root.path().join("bin");
        fs::create_dir(&bin).unwrap();
        fs::create_dir(root.path().join("tmp")).unwrap();
        fs::copy(&busybox, bin.join("busybox")).unwrap();
        fs::set_permissions(bin.join("busybox"), fs::Permissions::from_mode(0o755)).unwrap();
        let listed = Command::new(&busybox).arg("--list").output().unwrap();
        for applet in String::from_utf8_lossy(&listed.stdout).lines().filter(|name| *name != "busybox") {
            symlink("/bin/busybox", bin.join(applet)).unwrap();
        }
        let tar = Command::new("tar").arg("-C").arg(root.path()).args(["-c", "."]).output().unwrap();
        let path = "/images/create?fromSrc=-&repo=localhost/busybox&tag=latest";
        let (status, answer) = ask(&self.socket, "POST", path, "application/x-tar", &tar.stdout);
        assert_eq!(status, 200, "{answer}");
    }

    /// The settings of a back-end with a container for each task.
    pub(crate) fn backend(&self, name: &str) -> String {
        let socket = self.socket.to_string_lossy();
        format!(
            "[backends.{name}]\nkind = \"container\"\nsocket = {socket:?}\nimage = {IMAGE:?}\nnetwork = \"none\"\n"
        )
    }

    /// The settings of a back-end in a container that exists already.
    pub(crate) fn backend_in(&self, name: &str, container: &str) -> String {
        let socket = self.socket.to_string_lossy();
        format!("[backends.{name}]\nkind = \"container\"\nsocket = {socket:?}\ncontainer = {container:?}\n")
    }
}

/// The directory of an engine. Engines leave file systems mounted there when they end.
struct EngineDirectory(TempDir);

impl EngineDirectory {
    fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for EngineDirectory {
    fn drop(&mut self) {
        let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
        let below = mounts.lines().filter_map(|line| line.split(' ').nth(1)).map(Path::new);
        // Later mounts may be on top of earlier ones.
        let below: Vec<_> = below.filter(|mount| mount.starts_with(self.path())).collect();
        for mount in below.into_iter().rev() {
            let _ = Command::new("umount").arg("--lazy").arg(mount).status();
        }
    }
}

/// The path of a socket must be short, and others than the owner may have to enter the directory.
fn directory(prefix: &str) -> TempDir {
    let made = tempfile::Builder::new().prefix(prefix).tempdir().unwrap();
    fs::set_permissions(made.path(), fs::Permissions::from_mode(0o711)).unwrap();
    made
}

impl Drop for ContainerEngine {
    /// Removes all containers: those of Docker outlive their daemon.
    fn drop(&mut self) {
        let (_, listed) = ask(&self.socket, "GET", "/containers/json?all=true", "text/plain", b"");
        for id in listed.split("\"Id\":\"").skip(1).filter_map(|rest| rest.split('"').next()) {
            ask(&self.socket, "DELETE", &format!("/containers/{id}?force=true"), "text/plain", b"");
        }
    }
}
