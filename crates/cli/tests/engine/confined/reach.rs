//! Networks, sockets, processes and terminals: what a confined task cannot reach.

use std::fs;
use std::net::{IpAddr, SocketAddr, TcpListener, UdpSocket};
use std::path::Path;
use std::time::Duration;

use mw_testkit::{SOON, alive, wait_until};

use super::{Outside, PROJECT, confined, confining};

/// Connects to an address with nothing but a shell.
pub(super) fn connect(to: SocketAddr) -> String {
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
                  try: socket.socket(socket.AF_INET, socket.SOCK_STREAM, 132); print('other protocol')\n\
                  except OSError as e: print('no other protocol', e.errno)\n\
                  for protocol in [0, 6]: socket.socket(socket.AF_INET6, socket.SOCK_STREAM, protocol).close()\n\
                  try: l2 = socket.create_connection(('192.0.2.1', 9), 5)\n\
                  except OSError as e: print('outside', e.errno)\n\
                  try: socket.socket().sendto(b'x', 0x20000000, l.getsockname()); print('fast open')\n\
                  except OSError as e: print('no fast open', e.errno)\n";
    fs::write(home.work().join("own.py"), script).unwrap();
    let options = ["--confine", "project", "--network", "loopback"];
    let (log, _) = confined(&home, &options, "python3 own.py");
    for said in
        ["own 40", "pair b'y'", "no datagram", "outside 101", "no fast open 1", "no other protocol 13"]
    {
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
         there = os.open('{foreign}', os.O_PATH); itself = os.open('{foreign}/s', os.O_PATH)\n\
         os.symlink(f'/proc/self/fd/{{there}}', 'lead')\n\
         os.chdir('{foreign}')\n\
         paths = ['./s', '/proc/self/cwd/s', '/proc/thread-self/cwd/s', f'/dev/fd/{{there}}/s', '{1}/lead/s']\n\
         paths += [f'/proc/{{pid}}/fd/{{fd}}' for pid in ['self', os.getpid()] for fd in [itself, f'{{there}}/s']]\n\
         [call(path) for path in paths]\n\
         own = os.open('{1}', os.O_PATH); call(f'/proc/self/fd/{{own}}/s')\n",
        "    ",
        home.work().display()
    );
    fs::write(home.work().join("call.py"), code).unwrap();
    for network in ["none", "loopback"] {
        let options = ["--confine", "project", "--network", network];
        let (log, _) = confined(&home, &options, "python3 call.py");
        for said in ["/s 13\n", "link 13\n", "\ns connected\n", "/nowhere 2\n", "./s 13\n"] {
            assert!(log.contains(said), "{network}, {said:?}: {log}");
        }
        // Its own socket, by its name and by a descriptor.
        assert_eq!(log.matches("connected").count(), 2, "{network}: {log}");
        assert!(log.trim_end().ends_with("/s connected"), "{network}: {log}");
        fs::remove_file(home.work().join("lead")).unwrap();
    }
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

/// An editor, for example, runs programs for whoever connects to it.
#[test]
fn sockets_that_existed_are_out_of_reach_of_a_command_with_the_network() {
    let home = confining().needing("python3");
    let (outside, place) = (Outside::new(), tempfile::tempdir_in("/var/tmp").unwrap());
    fs::create_dir(place.path().join("editor")).unwrap();
    let listen = |path: &Path| std::os::unix::net::UnixListener::bind(path).unwrap();
    let theirs = [outside.at("s"), place.path().join("editor/server")];
    let _listening = theirs.each_ref().map(|path| listen(path));
    let _of_project = listen(&home.work().join("s"));
    let script = format!(
        "import socket\n\
         def reach(path):\n try: socket.socket(socket.AF_UNIX).connect(path); return True\n except OSError: return False\n\
         own = socket.socket(socket.AF_UNIX); own.bind('own'); own.listen()\n\
         print('theirs', reach('{}'), reach('{}'), 'own', reach('own'), reach('s'))",
        theirs[0].display(),
        theirs[1].display()
    );
    fs::write(home.work().join("reach.py"), script).unwrap();
    let (said, _) = confined(&home, &["--confine", "project", "--network", "full"], "python3 reach.py");
    assert!(said.contains("theirs False False own True True"), "{said}");
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

/// A limit on the time of the processor ends a process at once.
#[test]
fn limits_of_other_processes_are_not_changed() {
    let home = confining().needing("python3");
    let victim = home.start("exec sleep 600");
    let pid = home.pid(&victim);
    let script = format!(
        "import resource as r, subprocess\n\
         print('read', len(r.prlimit({pid}, r.RLIMIT_CPU)))\n\
         for limit in [r.RLIMIT_CPU, r.RLIMIT_NOFILE]:\n try: r.prlimit({pid}, limit, (1, 1)); print('changed')\n except PermissionError: print('refused')\n\
         r.setrlimit(r.RLIMIT_NOFILE, (100, 100)); print('own', r.prlimit(0, r.RLIMIT_NOFILE, (99, 99))[0])\n\
         print('inherited', subprocess.run(['sh', '-c', 'ulimit -n 50; ulimit -n'], capture_output=True, text=True).stdout)"
    );
    fs::write(home.work().join("limits.py"), script).unwrap();
    let (log, _) = confined(&home, &PROJECT, "python3 limits.py 2>&1");
    for said in ["read 2", "refused\nrefused", "own 100", "inherited 50"] {
        assert!(log.contains(said), "{said}: {log}");
    }
    assert!(!log.contains("changed") && alive(pid), "{log}");
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
