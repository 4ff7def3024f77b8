//! Confined tasks: what they cannot do, observed from outside, and what they still can.

use std::fs;
use std::net::{IpAddr, SocketAddr, TcpListener, UdpSocket};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use mw_testkit::{Home, Need, SOON, alive, children, directory_outside, skip, wait_until};
use serde_json::Value;
use tempfile::TempDir;

use crate::approval::{SESSION, agent, asked, open};
use crate::home;
use crate::settings::{both_ways, variable};

const MW: &str = env!("CARGO_BIN_EXE_mw");

/// Returns the features that confine commands here.
fn features() -> Vec<String> {
    let supervisor = Path::new(MW).with_file_name("mw-supervisor");
    let report = Command::new(supervisor).arg("check").output().unwrap().stdout;
    let report: Value = serde_json::from_slice(&report).unwrap();
    let words = report["confines_with"].as_array().unwrap();
    words.iter().map(|word| word.as_str().unwrap().to_owned()).collect()
}

/// Creates a home with a project, on a system that can confine completely.
fn confining() -> Home {
    if !["landlock", "namespaces", "seccomp"]
        .iter()
        .all(|needed| features().iter().any(|word| word == needed))
    {
        skip(Need::Confinement, "the kernel offers only a part of it");
    }
    let home = home();
    let git = home.program("git").arg("init").arg("-q").run();
    git.ok();
    home
}

/// A directory outside of the project and of temporary files.
struct Outside(TempDir);

impl Outside {
    fn new() -> Self {
        Self(directory_outside(env!("CARGO_TARGET_TMPDIR")))
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn show(&self) -> String {
        self.0.path().display().to_string()
    }
}

/// Runs a script with these options, and returns its output and the task.
#[track_caller]
fn confined(home: &Home, options: &[&str], script: &str) -> (String, Value) {
    let id = home.start_with(options, script);
    let task = home.ended(&id);
    (String::from_utf8(home.log(&id)).unwrap(), task)
}

const PROJECT: [&str; 2] = ["--confine", "project"];

#[test]
fn a_confined_task_changes_the_project_and_nothing_else() {
    let home = confining();
    let outside = Outside::new();
    let there = outside.show();
    fs::write(outside.at("kept"), "as it was").unwrap();
    fs::write(home.work().join(".envrc"), "as it was").unwrap();
    fs::write(home.work().join(".env"), "KEY=value-of-env").unwrap();
    fs::create_dir_all(home.user().join(".ssh")).unwrap();
    fs::write(home.user().join(".ssh/id_rsa"), "the-private-key").unwrap();
    let script = format!(
        "echo in > inside; mkdir sub && echo x > sub/x && mv sub/x y && rm y; echo tmp > $(mktemp); \
         echo new > {there}/new; echo changed > {there}/kept; rm {there}/kept; mv {there}/kept k2; \
         chmod 777 {there}/kept; touch -d 2001-01-01 {there}/kept; ln {there}/kept hard; \
         echo x > .git/hooks/pre-commit; echo x >> .git/config; echo x > .envrc; rm .envrc; mv .git .git2; \
         cat .env; cat ~/.ssh/id_rsa; cat $HOME/.ss[h]/id_*; cat $MEANWHILE_HOME/tasks/*/spec.json; \
         cp /bin/true own; chmod u+s own; install -m 4755 /bin/true own2; umount .envrc; mount -o remount,rw /; \
         echo over"
    );
    let (log, task) = confined(&home, &PROJECT, &script);
    assert!(log.contains("over"), "{log}");
    assert_eq!(task["confined"]["by"], serde_json::json!(["landlock", "namespaces", "seccomp"]), "{task}");
    assert_eq!(fs::read_to_string(home.work().join("inside")).unwrap(), "in\n", "{log}");
    assert!(!outside.at("new").exists(), "{log}");
    let kept = outside.at("kept");
    assert_eq!(fs::read_to_string(&kept).unwrap(), "as it was");
    let about = fs::metadata(&kept).unwrap();
    assert_ne!(std::os::unix::fs::PermissionsExt::mode(&about.permissions()) & 0o777, 0o777, "{log}");
    assert!(about.modified().unwrap().elapsed().unwrap() < Duration::from_secs(86_400), "{log}");
    assert!(!home.work().join(".git/hooks/pre-commit").exists() && !home.work().join(".git2").exists());
    assert!(!fs::read_to_string(home.work().join(".git/config")).unwrap().contains('x') || !log.is_empty());
    assert_eq!(fs::read_to_string(home.work().join(".envrc")).unwrap(), "as it was");
    for secret in ["value-of-env", "the-private-key", "\"session\""] {
        assert!(!log.contains(secret), "{secret}: {log}");
    }
    for file in ["own", "own2"] {
        if let Ok(about) = fs::metadata(home.work().join(file)) {
            assert_eq!(std::os::unix::fs::PermissionsExt::mode(&about.permissions()) & 0o6000, 0, "{file}");
        }
    }
}

#[test]
fn a_read_only_task_changes_no_project_and_reads_it() {
    let home = confining();
    fs::write(home.work().join("text"), "content").unwrap();
    let (log, _) = confined(
        &home,
        &["--confine", "read-only"],
        "cat text; echo x > text; rm text; echo x > $(mktemp) && echo temp ok",
    );
    assert!(log.contains("content") && log.contains("temp ok"), "{log}");
    assert_eq!(fs::read_to_string(home.work().join("text")).unwrap(), "content");
}

#[test]
fn other_processes_are_out_of_reach() {
    let home = confining();
    let victim = home.start("SECRET_OF_VICTIM=in-the-environment exec sleep 600");
    let pid = home.pid(&victim);
    let script = format!(
        "kill -9 {pid}; kill -9 $(cat /proc/{pid}/stat | cut -d' ' -f4); cat /proc/{pid}/environ; \
         cat /proc/{pid}/root/etc/hostname; ls -l /proc/{pid}/cwd; echo over"
    );
    let (log, _) = confined(&home, &PROJECT, &script);
    assert!(log.contains("over") && !log.contains("in-the-environment"), "{log}");
    assert!(alive(pid));
    let _ = home.pair(&victim);
}

/// Connects to an address with nothing but a shell.
fn connect(to: SocketAddr) -> String {
    let (ip, port) = (to.ip(), to.port());
    format!("bash -c 'exec 3<>/dev/tcp/{ip}/{port} && echo hello >&3 && echo connected || echo refused'")
}

/// Returns an address of this machine that others could reach, too.
fn address_for_others() -> Option<IpAddr> {
    let socket = UdpSocket::bind("0.0.0.0:0").ok()?;
    socket.connect("192.0.2.1:9").ok()?;
    Some(socket.local_addr().ok()?.ip()).filter(|ip| !ip.is_loopback() && !ip.is_unspecified())
}

fn has_caller(listener: &TcpListener) -> bool {
    listener.set_nonblocking(true).unwrap();
    let found = listener.accept().is_ok();
    listener.set_nonblocking(false).unwrap();
    found
}

#[test]
fn the_network_is_what_was_granted() {
    let home = confining().needing("bash");
    let local = TcpListener::bind("127.0.0.1:0").unwrap();
    let foreign = address_for_others().map(|ip| TcpListener::bind((ip, 0)).unwrap());
    // Whether each is reached.
    for (network, reaches_local, reaches_foreign) in
        [("none", false, false), ("loopback", true, false), ("full", true, true)]
    {
        let options = ["--confine", "project", "--network", network];
        for (listener, reaches) in [(Some(&local), reaches_local), (foreign.as_ref(), reaches_foreign)] {
            let Some(listener) = listener else { continue };
            let (log, _) = confined(&home, &options, &connect(listener.local_addr().unwrap()));
            assert_eq!(log.contains("connected"), reaches, "{network}: {log}");
            assert_eq!(has_caller(listener), reaches, "{network}: {log}");
        }
    }
}

#[test]
fn servers_on_this_machine_work_and_datagrams_do_not_with_the_grant_loopback() {
    let home = confining().needing("python3");
    let script = "import socket, threading\n\
                  l = socket.create_server(('127.0.0.1', 0))\n\
                  n = 40\n\
                  def call():\n    c = socket.create_connection(l.getsockname()); c.sendall(b'x'); c.close()\n\
                  for _ in range(n): threading.Thread(target=call).start()\n\
                  print('own', sum(len(l.accept()[0].recv(1)) for _ in range(n)))\n\
                  a, b = socket.socketpair(); a.send(b'y'); print('pair', b.recv(1))\n\
                  try: socket.socket(socket.AF_INET, socket.SOCK_DGRAM); print('datagram')\n\
                  except PermissionError: print('no datagram')\n\
                  try: l2 = socket.create_connection(('192.0.2.1', 9), 5)\n\
                  except OSError as e: print('outside', e.errno)\n\
                  try: socket.socket().sendto(b'x', 0x20000000, l.getsockname()); print('fast open')\n\
                  except OSError as e: print('no fast open', e.errno)\n";
    fs::write(home.work().join("own.py"), script).unwrap();
    let options = ["--confine", "project", "--network", "loopback"];
    let (log, _) = confined(&home, &options, "python3 own.py");
    for said in ["own 40", "pair b'y'", "no datagram", "outside 101", "no fast open 1"] {
        assert!(log.contains(said), "{said}: {log}");
    }
}

/// Whoever holds a socket outside may act for the user.
#[test]
fn sockets_of_other_programs_are_out_of_reach() {
    let home = confining().needing("python3");
    let outside = Outside::new();
    let listen = |path: &Path| std::os::unix::net::UnixListener::bind(path).unwrap();
    let _foreign = listen(&outside.at("s"));
    let _own = listen(&home.work().join("s"));
    std::os::unix::fs::symlink(outside.at("s"), home.work().join("link")).unwrap();
    let foreign = outside.show();
    let code = format!(
        "import os, socket\n\
         def call(path):\n    s = socket.socket(socket.AF_UNIX)\n\
         {0}try: s.connect(path); print(path, 'connected')\n{0}except OSError as e: print(path, e.errno)\n\
         [call(path) for path in ['{foreign}/s', 'link', '/proc/self/root{foreign}/s', 's', '/nowhere']]\n\
         os.chdir('{foreign}'); call('./s')\n",
        "    "
    );
    fs::write(home.work().join("call.py"), code).unwrap();
    for network in ["none", "loopback"] {
        let options = ["--confine", "project", "--network", network];
        let (log, _) = confined(&home, &options, "python3 call.py");
        for said in ["/s 13\n", "link 13\n", "\ns connected\n", "/nowhere 2\n", "./s 13\n"] {
            assert!(log.contains(said), "{network}, {said:?}: {log}");
        }
        assert_eq!(log.matches("connected").count(), 1, "{network}: {log}");
    }
}

/// The file would make git obey another configuration.
#[test]
fn a_repository_is_not_redirected() {
    let home = confining();
    let script = "mkdir -p evil/hooks; echo ../evil > .git/commondir; echo made; git status; echo over";
    let (log, _) = confined(&home, &PROJECT, script);
    assert!(log.contains("over"), "{log}");
    assert!(!home.work().join(".git/commondir").exists(), "{log}");
}

#[test]
fn secret_variables_are_removed_and_others_kept() {
    let home = confining();
    let id = home
        .command(["start", "--json", "--confine", "project", "env"])
        .env("DEPLOY_TOKEN", "abcdefgh12345678")
        .env("PLAIN", "kept")
        .run()
        .json()["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let _ = home.ended(&id);
    let log = String::from_utf8(home.log(&id)).unwrap();
    assert!(log.contains("PLAIN=kept") && !log.contains("DEPLOY_TOKEN"), "{log}");
}

#[test]
fn terminals_input_progress_and_streams_work() {
    let home = confining();
    let (log, _) =
        confined(&home, &["--confine", "project", "--pty"], "tty; test -t 1 && echo is terminal > /dev/tty");
    assert!(log.contains("/dev/pts/") && log.contains("is terminal"), "{log}");
    let id = home.start_with(&["--confine", "project", "--stdin"], "read line; echo got $line > /dev/stdout");
    home.mw(["input", &id, "hello"]).ok();
    let _ = home.ended(&id);
    home.until_logged(&id, "got hello");
    let script = "echo '{\"percent\":40}' >&$MEANWHILE_PROGRESS_FD; echo told; sleep 600";
    let id = home.start_with(&["--confine", "project", "--progress-fd"], script);
    wait_until(SOON, "progress", || (home.status(&id)["progress"]["percent"] == 40.0).then_some(()));
    home.mw(["kill", &id]).ok();
    let (log, _) =
        confined(&home, &["--confine", "project", "--direct"], "echo direct > /dev/stdout; echo e >&2");
    assert!(log.contains("direct") && log.contains('e'), "{log}");
}

/// A server among the temporary files may act for the user, unless the command has started it.
#[test]
fn sockets_that_existed_among_temporary_files_are_out_of_reach() {
    let home = confining().needing("python3");
    let place = tempfile::tempdir_in("/var/tmp").unwrap();
    let theirs = place.path().join("deep/sock");
    fs::create_dir(place.path().join("deep")).unwrap();
    let _listener = std::os::unix::net::UnixListener::bind(&theirs).unwrap();
    let script = format!(
        "import socket, os\n\
         def reach(path):\n try: socket.socket(socket.AF_UNIX).connect(path); return True\n except OSError: return False\n\
         own = \"{0}/own\"; s = socket.socket(socket.AF_UNIX); s.bind(own); s.listen()\n\
         print(\"own\", reach(own), \"theirs\", reach(\"{1}\"))",
        place.path().display(),
        theirs.display()
    );
    fs::write(home.work().join("reach.py"), script).unwrap();
    wait_until(SOON, "the socket is older than the command", || {
        let made = fs::symlink_metadata(&theirs).unwrap().modified().unwrap();
        made.elapsed().is_ok_and(|age| age > Duration::from_millis(50)).then_some(())
    });
    let (said, _) = confined(&home, &["--confine", "project"], "python3 reach.py");
    assert!(said.contains("own True theirs False"), "{said}");
}

/// Another program's terminal can be neither read nor written.
#[test]
fn terminals_of_other_programs_are_out_of_reach() {
    let home = confining().needing("python3");
    let other = home.start_with(&["--pty"], "tty; exec sleep 600");
    let log = wait_until(SOON, "the terminal is named", || {
        Some(String::from_utf8(home.log(&other)).unwrap()).filter(|log| log.contains("/dev/pts/"))
    });
    let terminal = log.lines().find(|line| line.starts_with("/dev/pts/")).unwrap().trim();
    let script = format!(
        "echo injected > {terminal}; test -t 0; stty -F {terminal} -echo; \
         python3 -c 'import pty, os; a, b = pty.openpty(); os.write(a, b\"x\"); print(\"own\", os.ttyname(b))'"
    );
    for options in [&["--confine", "project"][..], &["--confine", "project", "--pty"]] {
        let (said, _) = confined(&home, options, &script);
        assert!(said.contains("own /dev/pts/"), "its own terminals work: {said}");
    }
    assert!(!String::from_utf8(home.log(&other)).unwrap().contains("injected"));
}

#[test]
fn a_confined_tree_is_killed_completely_and_survivors_are_counted() {
    let home = confining();
    let script = "(setsid sleep 601 &) ; (setsid setsid sleep 602 & echo $! > apart) ; echo begun; sleep 603";
    let id = home.start_with(&PROJECT, script);
    home.until_logged(&id, "begun");
    home.mw(["kill", &id]).ok();
    home.wait_until_empty(SOON);
    let id = home.start_with(&PROJECT, "setsid sleep 604 & echo left");
    let task = home.ended(&id);
    assert_eq!(task["survivors"], 1, "{task}");
    home.mw(["kill", &id]).ok();
    home.wait_until_empty(SOON);
}

#[test]
fn a_confined_task_survives_its_supervisors_and_is_adopted() {
    let home = confining();
    let script =
        format!("echo begun; {}; echo x > /root/escaped 2>/dev/null; echo end; exit 7", children::gate("go"));
    for both in [false, true] {
        let _ = fs::remove_file(home.work().join("go"));
        let id = home.start_with(&PROJECT, &script);
        home.until_logged(&id, "begun");
        let pair = home.pair(&id);
        if both {
            home.kill_supervisors(&id);
            home.mw(["list"]).ok();
        } else {
            home.kill_process(pair.supervisor);
        }
        home.open("go");
        let task = home.ended(&id);
        home.until_logged(&id, "end");
        assert_eq!(task["confined"]["by"][0], "landlock", "{task}");
        assert!(task["exit_code"] == 7 || (both && task["status"] == "lost"), "{task}");
    }
}

#[test]
fn without_namespaces_a_task_still_changes_nothing_outside() {
    let path = format!("{}:/usr/local/bin:/usr/bin:/bin", std::env::var("PATH").unwrap_or_default());
    let home = confining().needing("bash").with_env("PATH", path).with_env("MEANWHILE_LACKS", "namespaces");
    let outside = Outside::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let call = connect(listener.local_addr().unwrap());
    let script = format!("echo in > inside; echo new > {}/new; {call}; echo over", outside.show());
    let (log, task) = confined(&home, &PROJECT, &script);
    assert!(log.contains("over") && !log.contains("connected"), "{log}");
    assert!(home.has_file("inside") && !outside.at("new").exists(), "{log}");
    assert_eq!(task["confined"]["by"], serde_json::json!(["landlock", "seccomp"]), "{task}");
}

#[test]
fn a_start_that_cannot_be_confined_is_refused() {
    let home = home().with_env("MEANWHILE_LACKS", "landlock");
    let refused = home.command(["start", "--json", "--confine", "project", "echo ran > ran"]).run();
    let refusal = refused.refusal(1);
    assert!(refusal.to_string().contains("cannot be confined: landlock"), "{refusal}");
    assert!(!home.has_file("ran"));
    home.mw(["start", "true"]).ok();
}

/// As in a container that shares the home, or after a change of the system's settings.
#[test]
fn a_kernel_that_confines_less_than_it_did_is_asked_again() {
    let home = confining().gated();
    let start = |lacks: &str| models(&home, "python3 x.py").env("MEANWHILE_LACKS", lacks).run();
    let _ = start("").exits(0);
    // What was found out is still believed, and the supervisor refuses.
    assert!(start("namespaces").exits(1).text().contains("cannot be confined"));
    let _ = start("namespaces").exits(3);
}

#[test]
fn everyday_work_in_a_project_is_possible() {
    let home = confining();
    let script = "git config --global --get user.name; echo text > file && git add file && \
                  git -c user.name=n -c user.email=e@x commit -qm first && git checkout -qb next && \
                  echo more >> file && git -c user.name=n -c user.email=e@x commit -qam second && \
                  git log --oneline | wc -l && git status --short && git stash list && echo all done";
    let (log, task) = confined(&home, &PROJECT, script);
    assert!(log.contains("all done") && task["exit_code"] == 0, "{log}");
    let Ok(cargo) = std::env::var("CARGO") else { return };
    let bin = Path::new(&cargo).parent().unwrap().display().to_string();
    let script = format!(
        "export PATH={bin}:$PATH && cargo init -q --name hello . && cargo build -q --offline && ./target/debug/hello"
    );
    let (log, task) = confined(&home, &PROJECT, &script);
    assert!(log.contains("Hello, world!"), "{log} {task}");
}

#[test]
fn a_failure_of_the_confinement_is_recognised() {
    let home = confining();
    let outside = Outside::new();
    let script = format!("echo x > {}/new", outside.show());
    let (_, task) = confined(&home, &PROJECT, &script);
    assert!(task["confined"]["refused"].as_str().unwrap().contains("Read-only file system"), "{task}");
    let text = home.mw(["status", task["id"].as_str().unwrap()]).ok();
    assert!(text.contains("retry with approval"), "{text}");
    let (_, task) = confined(&home, &PROJECT, "exit 3");
    assert!(task["confined"].get("refused").is_none(), "{task}");
}

#[test]
fn mw_inside_a_confined_task_says_that_it_cannot_be_used() {
    let home = confining();
    let (log, _) = confined(
        &home,
        &PROJECT,
        &format!("{MW} list; {MW} start true; {MW} approve ask-aaaaaaaa; echo over"),
    );
    assert!(log.contains("over") && log.matches("mw cannot be used inside this task").count() >= 3, "{log}");
}

/// A task that leaves its user namespace cannot be asked which task it is.
#[test]
fn a_task_in_another_user_namespace_is_still_inside_a_task() {
    let home = confining().needing("unshare");
    let script = "rm -f x";
    let waiting = agent(&home, ["start", "--json", "rm -rf precious"]).env("MEANWHILE_MODE", "safe").spawn();
    let ask = asked(&home);
    let bare = "env -i PATH=\"$PATH\" HOME=\"$HOME\" MEANWHILE_HOME=\"$MEANWHILE_HOME\"";
    let script = format!("{script}; {bare} unshare -Ur {MW} approve {ask}; echo approve $?; echo over");
    let (log, _) = confined(&home, &[], &script);
    assert!(log.contains("over") && !log.contains("approve 0"), "{log}");
    assert_eq!(open(&home).len(), 1, "it is still open: {log}");
    home.mw(["deny", &ask]).ok();
    drop(waiting);
}

fn models(home: &Home, script: &str) -> mw_testkit::Invocation {
    home.command(["start", "--json", script])
        .session(SESSION)
        .env("MEANWHILE_MODE", "safe")
        .env(variable("approval.wait"), "50ms")
}

#[test]
fn what_a_model_starts_gets_the_grant_of_its_verdict() {
    let home = confining();
    fs::write(home.work().join("precious"), "x").unwrap();
    let started = models(&home, "cat precious").run().json();
    let task = home.ended(started["id"].as_str().unwrap());
    assert!(task["confined"]["grant"].as_str().unwrap().contains("no network"), "{task}");
    assert_eq!(task["confined"]["by"].as_array().unwrap().len(), 3, "{task}");
    let asked = models(&home, "# ask: the compiler of the system\ncat precious").run();
    assert_eq!(asked.code, Some(3), "{}", asked.stderr_text());
    let entry = &open(&home)[0];
    assert_eq!(entry["grant"], "may do everything that you may", "{entry}");
    home.mw(["approve", entry["id"].as_str().unwrap()]).ok();
    let started = models(&home, "# ask: the compiler of the system\ncat precious").run().json();
    let task = home.ended(started["id"].as_str().unwrap());
    assert_eq!(task["status"], "completed", "{task}");
    assert_eq!(task["confined"]["by"].as_array().unwrap().len(), 0, "{task}");
}

#[test]
fn a_confined_task_reports_its_grant_when_it_is_restarted() {
    let home = confining();
    let (_, task) = confined(&home, &PROJECT, "true");
    let id = task["id"].as_str().unwrap();
    home.mw(["restart", id]).ok();
    let again = home.ended(id);
    assert_eq!(again["confined"], task["confined"], "{again}");
}

#[test]
fn confine_user_takes_effect() {
    drop(confining());
    for home in both_ways("confine.user", "project") {
        let (_, task) = confined(&home, &[], "true");
        assert_eq!(task["confined"]["by"].as_array().unwrap().len(), 3, "{task}");
        let (_, task) = confined(&home, &["--confine", "none"], "true");
        assert!(task.get("confined").is_none(), "{task}");
    }
}

#[test]
fn confine_models_takes_effect() {
    let usual = confining().gated();
    let started = |home: &Home| {
        let wait = variable("approval.wait");
        let started = home.command(["start", "--json", "ls"]).session(SESSION).env(wait, "50ms").run().json();
        home.ended(started["id"].as_str().unwrap())
    };
    let task = started(&usual);
    assert_eq!(task["confined"]["by"].as_array().unwrap().len(), 3, "{task}");
    let (_, own) = confined(&usual, &[], "true");
    assert!(own.get("confined").is_none(), "{own}");
    for home in both_ways("confine.models", "false") {
        let task = started(&home);
        assert!(task.get("confined").is_none(), "{task}");
    }
}
