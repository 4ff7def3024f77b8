//! What the kernel refuses to a confined command whatever its grant: other numbers of system calls, devices, rights.

use std::env::consts::ARCH;
use std::fs;

use mw_testkit::{Need, need_root, skip};

use super::{Outside, PROJECT, confined, confining};

/// Every grant that confines, with its network.
const NETWORKS: [&str; 3] = ["none", "loopback", "full"];

/// The filter knows only the calls of 64-bit programs, so it refuses the others, and the calls that do what others do.
#[test]
fn no_call_evades_the_filter() {
    let home = confining().needing("python3");
    // A 32-bit program would do the same: `mov eax, 20; int 0x80; ret` asks for its process id.
    let script = "import ctypes, mmap, os\n\
        libc = ctypes.CDLL(None, use_errno=True)\n\
        def call(*a):\n ctypes.set_errno(0); return 'errno %d' % ctypes.get_errno() if libc.syscall(*map(ctypes.c_long, a)) < 0 else 'done'\n\
        print('ring', call(425, 8, 0))\n\
        print('openat2', call(437, -100, 0, 0, 0))\n\
        if os.uname().machine != 'x86_64': exit()\n\
        page = mmap.mmap(-1, 4096, prot=7)\n\
        page.write(bytes.fromhex('53b814000000cd805bc3'))\n\
        old = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))\n\
        print('32-bit', old())\n\
        print('x32', call(0x40000000 + 39))\n\
        print('own', call(39))\n";
    fs::write(home.work().join("calls.py"), script).unwrap();
    for network in NETWORKS {
        let (log, _) =
            confined(&home, &["--confine", "project", "--network", network], "python3 calls.py 2>&1");
        let others = ["32-bit -38", "x32 errno 38", "own done"];
        let others = if ARCH == "x86_64" { &others[..] } else { &[] };
        for said in ["ring errno 38", "openat2 errno 38"].iter().chain(others) {
            assert!(log.contains(said), "{network}: {said}: {log}");
        }
    }
}

/// A root could read disks, memory and screens, and make devices that lead there.
#[test]
fn a_confined_root_opens_and_makes_no_devices() {
    need_root();
    let home = confining().needing("python3");
    let script = "import os, stat\n\
        opened = []\n\
        known = {'null', 'zero', 'full', 'random', 'urandom', 'tty', 'ptmx', 'kvm', 'kfd'}\n\
        for top, _, names in os.walk('/dev'):\n\
        \x20for name in names:\n\
        \x20 path = os.path.join(top, name)\n\
        \x20 kind = os.lstat(path).st_mode\n\
        \x20 if name in known or top.startswith(('/dev/pts', '/dev/dri')) or name.startswith('nvidia'): continue\n\
        \x20 if not (stat.S_ISBLK(kind) or stat.S_ISCHR(kind)): continue\n\
        \x20 try: os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK)); opened.append(path)\n\
        \x20 except OSError: pass\n\
        print('opened', opened)\n\
        for name, kind, major, minor in [('b', stat.S_IFBLK, 7, 0), ('c', stat.S_IFCHR, 1, 1), ('n', stat.S_IFCHR, 1, 3)]:\n\
        \x20for there in ['', '/tmp/', '/dev/shm/']:\n\
        \x20 try: os.mknod(there + name, kind | 0o600, os.makedev(major, minor)); print('made', there + name)\n\
        \x20 except OSError as e: print('refused', e.errno)\n\
        for usual in ['null', 'zero', 'full', 'urandom', 'random']: os.close(os.open('/dev/' + usual, os.O_RDWR))\n\
        first, second = os.openpty(); os.write(first, b'x\\n'); print('terminal', os.read(second, 9))\n\
        sets = dict(line.split(':\\t') for line in open('/proc/self/status').read().splitlines() if line.startswith('Cap'))\n\
        print('rights', sets['CapInh'], sets['CapAmb'], sets['CapBnd'] == sets['CapPrm'])\n";
    fs::write(home.work().join("devices.py"), script).unwrap();
    let disks = fs::read_dir("/sys/dev/block").unwrap().count();
    assert!(disks > 0, "there is a disk to open");
    for network in NETWORKS {
        let (log, task) =
            confined(&home, &["--confine", "project", "--network", network], "python3 devices.py 2>&1");
        assert!(log.contains("opened []") && !log.contains("made"), "{network}: {log}");
        assert_eq!(log.matches("refused").count(), 9, "{log}");
        assert!(log.contains("terminal b'x\\n'"), "{log}");
        assert!(log.contains("rights 0000000000000000 0000000000000000 True"), "{log}");
        assert_eq!(task["exit_code"], 0, "{log}");
    }
    // The same with a terminal of its own.
    let (log, _) =
        confined(&home, &[&PROJECT[..], &["--pty"]].concat(), "python3 devices.py 2>&1; echo > /dev/tty");
    assert!(log.contains("opened []") && log.contains("terminal b'x\\n'"), "{log}");
}

/// Devices and settings of the kernel are not among the files: with them, a root would leave its confinement.
#[test]
fn a_root_that_may_write_everywhere_changes_files_but_no_disks_and_no_kernel() {
    need_root();
    let home = confining().gated().needing("python3");
    let outside = Outside::new();
    let rule =
        "[[rules]]\nname = \"all\"\nmatch = \"python3 all.py\"\ndecision = \"allow\"\ngrant = \"anything\"\n";
    let settings = home.user().join(".config/meanwhile");
    fs::create_dir_all(&settings).unwrap();
    fs::write(settings.join("config.toml"), rule).unwrap();
    let script = format!(
        "import os, socket, stat\n\
         def attempt(name, act):\n try: act(); print(name, 'done')\n except OSError as e: print(name, 'refused')\n\
         disks = [os.path.join('/dev', name) for name in os.listdir('/dev')]\n\
         for disk in [path for path in disks if stat.S_ISBLK(os.lstat(path).st_mode)]: attempt('disk', lambda: os.open(disk, os.O_RDONLY))\n\
         attempt('made', lambda: os.mknod('/tmp/disk', stat.S_IFBLK | 0o600, os.makedev(7, 0)))\n\
         for name in ['/proc/sys/kernel/core_pattern', '/proc/sys/vm/drop_caches', '/sys/kernel/uevent_helper', '/proc/self/oom_score_adj']: attempt('kernel', lambda: open(name, 'r+'))\n\
         attempt('network', lambda: socket.socket())\n\
         attempt('file', lambda: open('{}/mark', 'w'))\n\
         os.close(os.open('/dev/null', os.O_RDWR)); print('terminal', os.openpty())\n",
        outside.show()
    );
    fs::write(home.work().join("all.py"), script).unwrap();
    let run = home.command(["run", "python3 all.py"]).session("s").env("MEANWHILE_MODE", "safe");
    let log = run.run().text();
    for allowed in ["disk done", "made done", "kernel done", "network done"] {
        assert!(!log.contains(allowed), "{log}");
    }
    assert!(log.contains("kernel refused") && log.contains("file done") && log.contains("terminal"), "{log}");
}

/// Rights that a program may inherit stay although they are not among those that it can get.
#[test]
fn no_rights_are_inherited() {
    need_root();
    let home = confining().needing("capsh");
    let start = format!(
        "{} start --confine project --network none 'grep Cap /proc/self/status; unshare -m true; echo code $?'",
        super::MW
    );
    let started = home
        .program("capsh")
        .arg("--inh=cap_sys_admin,cap_sys_ptrace,cap_mknod")
        .arg("--")
        .arg("-c")
        .arg(&start)
        .run();
    if started.code != Some(0) {
        skip(Need::Root, "this root has no rights to pass on");
    }
    let id = home.list()[0]["id"].as_str().unwrap().to_owned();
    let _ = home.ended(&id);
    let log = String::from_utf8(home.log(&id)).unwrap();
    assert!(log.contains("CapInh:\t0000000000000000") && !log.contains("code 0"), "{log}");
}
