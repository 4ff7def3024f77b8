//! `mw` inside a confined task: the server of the session answers it as it answers the model.

use std::fs;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;

use mw_testkit::host::{Host, text};
use mw_testkit::{Home, SOON, directory_outside, wait_until};
use serde_json::{Value, json};

use crate::confined::project;

const MW: &str = env!("CARGO_BIN_EXE_mw");

fn server(home: &Home, session: &str) -> Host {
    Host::of(home.command(["mcp"]).session(session).env("MEANWHILE_APPROVAL_WAIT", "50ms"))
}

/// Writes a program of the project that runs a script; returns the command that runs it.
fn code(home: &Home, name: &str, script: &str) -> String {
    let program = format!("import subprocess\nsubprocess.run(['sh', '-c', {}])\n", json!(script));
    fs::write(home.work().join(name), program).unwrap();
    format!("python3 {name}")
}

/// Runs a script confined, in the foreground; returns its output.
fn inside(home: &Home, host: &mut Host, script: &str) -> String {
    let command = code(home, "inside.py", script);
    text(&host.call("shell", &json!({"command": command})))
}

/// Returns the socket of a session, as its tasks know it.
fn socket(home: &Home, host: &mut Host) -> PathBuf {
    let said = inside(home, host, "echo socket $MEANWHILE_CALLS");
    PathBuf::from(said.lines().find_map(|line| line.strip_prefix("socket ")).unwrap())
}

#[track_caller]
fn has(said: &str, parts: &[&str]) {
    for part in parts {
        assert!(said.contains(part), "{part}: {said}");
    }
}

#[test]
fn a_confined_task_uses_the_tasks_of_its_session() {
    let home = project();
    let mut host = server(&home, "one");
    let script = format!(
        "id=$({MW} start --quiet --cwd . 'pwd; exit 3'); {MW} wait $id; echo code $?; {MW} output $id; {MW} status $id; \
         {MW} list; {MW} list --json; other=$({MW} start -q -- sleep 600); {MW} wait $other --timeout 10ms; echo late $?; \
         {MW} kill $other; echo killed $?; {MW} output nothing; echo none $?"
    );
    let said = inside(&home, &mut host, &script);
    let work = fs::canonicalize(home.work()).unwrap().display().to_string();
    has(&said, &["code 3", &work, "failed, exited 3", "\"total\":", "late 124", "killed 0", "none 5"]);
    let tasks = home.list();
    let started = tasks.iter().find(|task| task["command"] == "pwd; exit 3").unwrap();
    assert_eq!((&started["session"], &started["approved_by"]), (&"one".into(), &"auto".into()), "{started}");
    let started = home.status(started["id"].as_str().unwrap());
    assert_eq!(started["confined"]["by"].as_array().unwrap().len(), 3, "{started}");
    let killed = tasks.iter().find(|task| task["command"] == "sleep 600").unwrap();
    assert!(killed["cause"].as_str().unwrap().contains("by task bash-"), "{killed}");
}

/// A socket address has room for 108 bytes.
#[test]
fn a_home_with_a_long_path_has_the_same_socket() {
    let home = project();
    let long = home.user().join("a-long-name-of-a-directory/".repeat(6)).join("home");
    let mut host = Host::of(home.command(["mcp"]).session("one").env("MEANWHILE_HOME", &long));
    let said =
        inside(&home, &mut host, &format!("{MW} list; echo list $?; {MW} start 'echo fine'; echo start $?"));
    has(&said, &["list 0", "start 0"]);
    let listed = home.command(["list", "--json", "--all"]).env("MEANWHILE_HOME", &long).run().json();
    assert!(listed.to_string().contains("echo fine"), "{listed}");
}

#[test]
fn nothing_is_left_of_the_sockets_after_everything_was_cleared() {
    let home = project();
    let mut host = server(&home, "one");
    let socket = socket(&home, &mut host);
    // A server that is killed removes nothing.
    host.server.signal(rustix::process::Signal::KILL);
    let _ = host.server.wait(SOON);
    assert!(socket.exists());
    home.mw(["clear", "--everything"]).ok();
    assert!(!socket.parent().unwrap().exists() && !home.state().exists());
}

#[test]
fn the_host_of_a_session_answers_its_tasks_by_the_policy_of_the_session() {
    let home = project();
    let task = code(&home, "inside.py", &format!("{MW} start 'echo from inside'; echo start $?; {MW} list"));
    let script = format!("id=$({MW} start --quiet '{task}') && {MW} wait $id; {MW} output $id");
    let host = home.command(["session", "run", "hosted", "--", "sh", "-c", &script]).session("");
    let said = host.env("MEANWHILE_APPROVAL_WAIT", "50ms").run().ok();
    has(&said, &["start 0", "echo from inside"]);
    let calls = PathBuf::from(format!("{}.calls", home.state().display()));
    assert_eq!(fs::read_dir(calls).unwrap().count(), 0, "nothing is left");
}

/// What a task has read, waited for or killed, the model has not seen.
#[test]
fn the_model_is_told_what_its_tasks_did() {
    let home = project();
    let mut host = server(&home, "one");
    let first = host.start("echo first line; exec sleep 600");
    home.until_logged(&first, "first line");
    let said =
        inside(&home, &mut host, &format!("{MW} output {first}; {MW} kill {first}; {MW} wait {first}"));
    has(&said, &["first line", "cancelled"]);
    let read = text(&host.call("task_output", &json!({"task_id": first})));
    has(&read, &["first line"]);
    let told = said.contains(&format!("<task-id>{first}</task-id>"))
        || read.contains(&format!("<task-id>{first}</task-id>"));
    assert!(told || host.all_notifications(1).contains(&first), "{said}\n{read}");
}

/// Code without a network, or that may not write outside, could otherwise have a command do it.
#[test]
fn a_start_from_inside_gets_no_more_than_the_task_that_asks() {
    let home = project();
    let outside = directory_outside(env!("CARGO_TARGET_TMPDIR"));
    let mark = outside.path().join("mark");
    let mut host = server(&home, "one");
    // The model may fetch.
    let fetch = "curl -s http://192.0.2.1/data";
    assert_eq!(home.command(["policy", "--json", fetch]).session("one").run().json()["decision"], "allow");
    let script = format!(
        "{MW} start '{fetch}'; echo fetch $?; {MW} start 'touch {}'; echo write $?; \
         {MW} start '# ask: everything\nid'; echo all $?; {MW} start 'echo fine'; echo fine $?",
        mark.display()
    );
    let said = inside(&home, &mut host, &script);
    has(&said, &["fetch 3", "write 3", "all 3", "fine 0"]);
    assert!(!mark.exists(), "{said}");
    let open = home.mw(["approvals", "--json"]).json();
    let open = open["approvals"].as_array().unwrap();
    assert_eq!(open.len(), 3, "{open:?}");
    let asked = |entry: &Value| entry["reasons"].to_string().contains("a confined task asks for it");
    assert!(open.iter().all(asked), "{open:?}");
    assert!(home.list().iter().all(|task| !task["command"].as_str().unwrap().contains("curl")));
}

#[test]
fn a_task_answers_and_changes_nothing_that_is_the_users() {
    let home = project();
    let mut other = server(&home, "two");
    let theirs = other.start("echo OF-ANOTHER-SESSION; exec sleep 600");
    let mut host = server(&home, "one");
    let asked = host.call("shell", &json!({"command": "rm -rf .git"}));
    assert_eq!(asked["isError"], true, "{asked}");
    let open = || home.mw(["approvals", "--json"]).json()["approvals"].as_array().unwrap().clone();
    let ask = open()[0]["id"].as_str().unwrap().to_owned();
    let bare = "env -i PATH=\"$PATH\" HOME=\"$HOME\" MEANWHILE_HOME=\"$MEANWHILE_HOME\" MEANWHILE_CALLS=\"$MEANWHILE_CALLS\"";
    let elsewhere = format!(
        "env -i PATH=\"$PATH\" HOME=\"$PWD\" XDG_CONFIG_HOME=\"$OUTER\" MEANWHILE_HOME=\"$PWD/h\" {MW}"
    );
    let mut script = format!(
        "export OUTER=\"${{XDG_CONFIG_HOME:-$HOME/.config}}\"; cp {MW} {MW}-engine {MW}-surfaces {MW}-supervisor .; "
    );
    for mw in [
        MW.to_owned(),
        format!("{bare} {MW}"),
        format!("setsid {MW}"),
        "./mw".to_owned(),
        format!("{bare} ./mw"),
    ] {
        for words in [
            &*format!("approve {ask}"),
            &*format!("deny {ask}"),
            "config set mode dangerous",
            "session list",
            "session end two",
            "session run two -- true",
            "notices --session two",
            "notices",
            "approvals",
            &*format!("kill {theirs}"),
            &*format!("output {theirs}"),
            &*format!("input {theirs} x"),
            &*format!("restart {theirs}"),
            "clear",
            "start --confine none true",
            "start --on mock true",
            "mcp </dev/null",
        ] {
            script.push_str(&format!("{mw} {words} && echo 'DONE {words}'; "));
        }
    }
    script.push_str(&format!("{elsewhere} config set mode dangerous && echo 'DONE elsewhere'; "));
    script.push_str(&format!("(setsid {elsewhere} config set mode dangerous && echo 'DONE apart' &); "));
    script.push_str("sleep 0.1; echo all over");
    let said = inside(&home, &mut host, &script);
    assert!(said.contains("all over") && !said.contains("DONE") && !said.contains("OF-ANOTHER"), "{said}");
    assert_eq!(open().len(), 1, "{said}");
    assert_eq!(home.status(&theirs)["status"], "running");
    let mode = home.mw(["config", "get", "mode"]).ok();
    assert_eq!(mode.trim(), "safe", "{said}");
}

/// Sends bytes; returns what is answered.
fn exchange(socket: &PathBuf, sent: &[u8]) -> String {
    let mut stream = UnixStream::connect(socket).unwrap();
    stream.set_read_timeout(Some(SOON)).unwrap();
    let _ = stream.write_all(sent);
    let _ = stream.shutdown(std::net::Shutdown::Write);
    let mut answer = String::new();
    let _ = stream.read_to_string(&mut answer);
    answer
}

#[test]
fn only_confined_tasks_of_the_session_are_answered() {
    let home = project();
    let mut host = server(&home, "one");
    let socket = socket(&home, &mut host);
    let call = r#"{"v":1,"tool":"task_list","arguments":{}}"#;
    has(&exchange(&socket, format!("{call}\n").as_bytes()), &["only confined tasks"]);
    let mut other = server(&home, "two");
    let theirs =
        code(&home, "call.py", &format!("MEANWHILE_CALLS={} {MW} list; echo code $?", socket.display()));
    has(&text(&other.call("shell", &json!({"command": theirs}))), &["code "]);
    // Its confinement does not let it connect; with the whole network the socket is hidden.
    let connect = format!(
        "import socket\ns = socket.socket(socket.AF_UNIX)\ntry:\n s.connect('{}')\n try: s.sendall(b'{call}\\n')\n except BrokenPipeError: pass\n print(s.recv(999))\n\
         except OSError as e: print('errno', e.errno)\n",
        socket.display()
    );
    fs::write(home.work().join("connect.py"), connect).unwrap();
    has(&text(&other.call("shell", &json!({"command": "python3 connect.py"}))), &["errno 13"]);
    for network in ["none", "full"] {
        let options = ["--confine", "project", "--network", network];
        let id = home.command(["start", "--json"].into_iter().chain(options).chain(["python3 connect.py"]));
        let id = id.session("").run().json()["id"].as_str().unwrap().to_owned();
        let _ = home.ended(&id);
        let log = String::from_utf8(home.log(&id)).unwrap();
        has(&log, &[if network == "full" { "errno 111" } else { "errno 13" }]);
    }
}

#[test]
fn garbage_and_crowds_on_the_socket_do_no_harm() {
    let home = project();
    let mut host = server(&home, "one");
    let attack = "import json, os, socket\n\
        path = os.environ['MEANWHILE_CALLS']\n\
        def send(data, end=True):\n s = socket.socket(socket.AF_UNIX); s.settimeout(20); s.connect(path)\n\
        \x20try:\n  s.sendall(data)\n  if end: s.shutdown(socket.SHUT_WR)\n  return s.recv(9999).decode()\n except OSError as e: return 'errno %s' % e\n\
        call = lambda tool, **given: json.dumps({'v': 1, 'tool': tool, 'arguments': given}).encode() + b'\\n'\n\
        for data in [b'', b'\\n', b'x\\n', b'\\0' * 70000, b'[' * 60000 + b'\\n', b'{\"v\":1}\\n', b'{\"v\":9,\"tool\":\"task_list\"}\\n', \
        b'{\"v\":1,\"tool\":\"task_list\",\"arguments\":7}\\n', b'\\xff\\n', call('task_list')[:-1]]: print('garbage', send(data)[:60])\n\
        for tool in ['task_input', 'task_clear', 'agent', 'task_resume', 'approve', 'shell ', '']: print('tool', send(call(tool, task_id='x'), False)[:60])\n\
        print('wrong', send(call('task_list', status='nonsense'), False)[:60])\n\
        crowd = []\n\
        for n in range(3000):\n s = socket.socket(socket.AF_UNIX)\n s.setblocking(False)\n try: s.connect(path)\n except OSError: pass\n crowd.append(s)\n crowd = crowd[-200:]\n\
        print('crowded', send(call('task_list'), False)[:60])\n\
        [s.close() for s in crowd]\n";
    fs::write(home.work().join("attack.py"), attack).unwrap();
    let said = text(&host.call("shell", &json!({"command": "python3 attack.py"})));
    assert_eq!(said.matches("garbage").count(), 10, "{said}");
    assert_eq!(said.matches("not a call").count() + said.matches("garbage \n").count(), 10, "{said}");
    assert_eq!(said.matches("for tasks; available").count(), 7, "{said}");
    has(&said, &["wrong {", "crowded"]);
    // Connections that were given up are closed, and the server answers again.
    wait_until(SOON, "the server answers", || {
        inside(&home, &mut host, &format!("{MW} list && echo answered")).contains("answered\n").then_some(())
    });
}

/// A caller that sends nothing holds a connection for a few seconds only, and a wait ends with its caller.
#[test]
fn silent_callers_and_waits_without_a_caller_end() {
    let home = project();
    let mut host = server(&home, "one");
    let sleeper = host.start("exec sleep 600");
    let attack = format!(
        "import os, socket, json\n\
         path = os.environ['MEANWHILE_CALLS']\n\
         def connect():\n s = socket.socket(socket.AF_UNIX); s.connect(path); return s\n\
         wait = json.dumps({{'v': 1, 'tool': 'task_wait', 'arguments': {{'task_ids': ['{sleeper}']}}}}).encode() + b'\\n'\n\
         waits = [connect() for _ in range(8)]\n\
         [s.sendall(wait) for s in waits]\n\
         silent = [connect() for _ in range(8)]\n\
         busy = connect(); print('busy', busy.recv(999))\n\
         [s.close() for s in waits]\n\
         [print('silent', s.recv(999)) for s in silent]\n"
    );
    fs::write(home.work().join("attack.py"), attack).unwrap();
    let said = text(&host.call("shell", &json!({"command": "python3 attack.py"})));
    has(&said, &["busy b'{", "too many calls"]);
    assert_eq!(said.matches("silent b'{").count(), 8, "{said}");
    wait_until(SOON, "the waits have ended", || {
        inside(&home, &mut host, &format!("{MW} list && echo answered")).contains("answered\n").then_some(())
    });
    assert_eq!(home.status(&sleeper)["status"], "running");
}

#[test]
fn a_killed_server_leaves_a_refusal_and_the_next_one_answers() {
    let home = project();
    let mut host = server(&home, "one");
    let socket = socket(&home, &mut host);
    let sleeper = host.start("exec sleep 600");
    let gate = "while [ ! -e next ]; do sleep 0.02; done; rm next";
    let script = format!(
        "{MW} wait {sleeper}; echo waited $?; {MW} list; echo alone $?; {gate}; {MW} list; echo again $?"
    );
    let task = host.start(&code(&home, "long.py", &format!("echo begun; {script}")));
    home.until_logged(&task, "begun");
    wait_until(SOON, "the call waits", || {
        // The server's end of a connection has the path, and this state.
        let sockets = fs::read_to_string("/proc/net/unix").unwrap();
        let path = socket.display().to_string();
        sockets.lines().any(|line| line.ends_with(&path) && line.contains(" 03 ")).then_some(())
    });
    host.server.signal(rustix::process::Signal::KILL);
    home.until_logged(&task, "alone");
    let log = String::from_utf8(home.log(&task)).unwrap();
    has(
        &log,
        &[
            "the host of the session did not reply",
            "waited 6",
            "mw cannot be used inside this task",
            "alone 7",
        ],
    );
    let mut next = server(&home, "one");
    let _ = next.notifications();
    home.open("next");
    home.until_logged(&task, "again 0");
}
