//! Common mistakes of new users, and the replies to them.

use std::net::TcpListener;

use mw_testkit::children;

use crate::home;

#[test]
fn a_misspelt_command_below_another_is_answered_there() {
    let refused = home().mw(["queue", "mvoe", "x"]).exits(2).to_string();
    assert!(refused.contains("mw queue has no command \"mvoe\""), "{refused}");
    assert!(refused.contains("did you mean mw queue move? mw queue --help"), "{refused}");
}

#[test]
fn arguments_without_two_hyphens_are_the_command() {
    let home = home();
    for words in
        [&["start", "echo", "a b", "-n", "--json"][..], &["start", "--", "echo", "a b", "-n", "--json"]]
    {
        let started = home.mw(words).ok();
        let id = started.split_whitespace().find(|word| word.starts_with("bash-")).unwrap().replace(',', "");
        home.ended(&id);
        assert_eq!(home.log(&id), b"a b -n --json\n", "{words:?}");
    }
    let _ = home.mw(["run", "sh", "-c", "exit 7"]).exits(7);
    assert_eq!(home.mw(["run", "printf", "%s", "$HOME"]).ok(), "$HOME", "no shell expands the words");
    assert_eq!(home.mw(["run", "echo $((1 + 1))"]).ok(), "2\n", "one argument is a script");
    let _ = home.mw(["run", "--", "echo $((1 + 1))"]).exits(127);
}

#[test]
fn options_may_follow_a_quoted_script() {
    let home = home();
    let answer = home.mw(["start", "sleep 600", "--name", "web", "--json"]).exits(0).json();
    assert_eq!(home.status("web")["id"], answer["id"]);
    for words in
        [&["start", "a b", "c"][..], &["start", "a b", "--name", "x", "c"], &["start", "a b", "--", "c"]]
    {
        let said = home.mw(words).exits(2).stderr_text();
        assert!(said.contains("a script must be a single quoted argument"), "{words:?}: {said}");
    }
}

#[test]
fn the_usage_shows_both_command_forms() {
    let said = home().mw(["start"]).exits(2).stderr_text();
    assert!(
        said.contains("Usage: mw start [OPTIONS] 'SCRIPT'\n       mw start [OPTIONS] [--] PROGRAM"),
        "{said}"
    );
}

#[test]
fn a_quiet_start_prints_the_id_alone() {
    let home = home();
    let id = home.mw(["start", "-q", "--name", "web", children::SLEEPER]).ok();
    assert_eq!(id, format!("{}\n", home.status("web")["id"].as_str().unwrap()));
    let loud = home.mw(["start", "--name", "other", "true"]).ok();
    assert!(loud.starts_with("started other (bash-"), "{loud}");
}

#[test]
fn running_tasks_are_listed_first_and_pipes_get_full_lines() {
    let home = home().with_env("MEANWHILE_QUEUE_MAX_RUNNING", "2");
    let failed = home.start("exit 3");
    home.ended(&failed);
    let done = home.start("true");
    home.ended(&done);
    let long = format!("exec sleep 600 # {} the end", "x".repeat(200));
    let (first, second) = (home.start(&long), home.start(children::SLEEPER));
    let queued: Vec<_> = (0..4).map(|_| home.start("true")).collect();
    let list = home.mw(["list"]).ok();
    let ids: Vec<_> = list.lines().skip(1).map(|line| line.split_whitespace().nth(2).unwrap()).collect();
    let mut expected = vec![second.as_str(), first.as_str()];
    expected.extend(queued.iter().map(String::as_str));
    expected.extend([failed.as_str(), done.as_str()]);
    assert_eq!(ids, expected, "{list}");
    assert!(list.contains("the end\n"), "{list}");
    assert!(list.contains("queued, position 1 ") && list.contains("queued, position 4 "), "{list}");
    assert!(list.contains("WHEN") && list.contains(" ago ") | list.contains(" now "), "{list}");
    let part = home.mw(["list", "--limit", "3"]).exits(0);
    assert_eq!(part.text().lines().count(), 4, "{part:?}");
    assert_eq!(part.stderr_text(), "mw: 5 more tasks; use --all or --limit N\n");
    assert_eq!(
        home.mw(["list", "--limit", "0"]).exits(0).stderr_text(),
        "mw: 8 more tasks; use --all or --limit N\n"
    );
    assert_eq!(home.mw(["list", "--name", "nosuch"]).ok(), "No matching tasks.\n");
    home.open("never");
}

#[test]
fn a_wait_that_cannot_succeed_says_why() {
    let home = home();
    let _web = home.start_with(&["--name", "web"], children::SLEEPER);
    let said = home.mw(["wait", "web", "--timeout", "50ms"]).exits(124);
    assert!(said.stderr_text().starts_with("error: timed out after 0.1s: web did not end"), "{said:?}");
    let _short = home.start_with(&["--name", "short"], "echo other");
    let said = home.mw(["wait", "short", "--until", "match=hello"]).exits(8).stderr_text();
    assert!(
        said.starts_with("error: short ended but did not print a line that matches \"hello\"\n"),
        "{said}"
    );
    assert!(said.contains("PYTHONUNBUFFERED=1"), "{said}");
    let answer = home.mw(["wait", "short", "--until", "match=hello", "--json"]).exits(8);
    assert_eq!(answer.json()["reason"], "short ended but did not print a line that matches \"hello\"");
    assert!(home.mw(["wait", "short", "--json"]).exits(0).json()["reason"].is_null());
}

#[test]
fn a_run_without_a_free_slot_says_why_it_waits() {
    let home = home().with_env("MEANWHILE_QUEUE_MAX_RUNNING", "1");
    let _web = home.start_with(&["--name", "web"], children::SLEEPER);
    let run = home
        .command(["run", "--at-capacity", "queue", "--name", "hi", "--detach-after", "300ms", "echo hi"])
        .run()
        .exits(0);
    let said = run.stderr_text();
    assert!(said.contains("hi is queued, position 1: 1 of 1 slots are in use (web)"), "{said}");
    assert!(said.contains("MEANWHILE_QUEUE_MAX_RUNNING=2"), "{said}");
    let after = home.command(["run", "--after", "web", "--detach-after", "300ms", "echo hi"]).run().exits(0);
    assert!(after.stderr_text().contains("it starts when web has completed"), "{after:?}");
}

#[test]
fn errors_name_the_problem_and_suggest_similar_commands() {
    let home = home();
    let id = home.start("true");
    home.ended(&id);
    let said = |words: &[&str], code: i32| home.mw(words).exits(code).stderr_text();
    assert!(said(&["output", &id, "--tail", "x"], 2).contains("not a whole number"));
    assert!(said(&["list", "--limit", "-1"], 2).contains("not a whole number"));
    let regex = said(&["output", &id, "--grep", "("], 2);
    assert_eq!(regex.lines().next(), Some("error: \"(\" is not a regular expression: unclosed group"));
    let batch = said(&["wait", "--batch", "nosuch"], 5);
    assert!(batch.contains("error: no tasks in the batch \"nosuch\"\nhint: "), "{batch}");
    let typo = said(&["statr"], 2);
    assert_eq!(
        typo,
        "error: mw has no command \"statr\"\nhint: did you mean mw start, mw status or mw restart? mw --help lists the \
         commands\n"
    );
    assert!(said(&["terminate", &id], 2).contains("did you mean mw kill?"));
    let option = said(&["list", "--limti", "3"], 2);
    assert!(
        option.starts_with("error: unexpected argument '--limti' found\nhint: did you mean --limit? "),
        "{option}"
    );
    let answer = home.mw(["list", "--limti", "3", "--json"]).exits(2).json();
    assert_eq!(
        answer["error"]["hint"],
        "did you mean --limit? mw list --help shows its options, with examples"
    );
    let gone = said(&["status", "nosuch"], 5);
    assert!(gone.starts_with("error: ") && gone.contains("\nhint: "), "{gone}");
}

#[test]
fn an_error_names_the_port_in_use() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let said = home().mw(["mcp", "--http", &port]).exits(6).stderr_text();
    assert!(said.starts_with(&format!("error: port {port} is in use by another process\nhint: ")), "{said}");
}

#[test]
fn a_missing_or_wrong_supervisor_is_reported() {
    let home = home();
    let said = home.command(["start", "true"]).env("MEANWHILE_SUPERVISOR", "/bin/true").run().stderr_text();
    assert!(said.contains("/bin/true (set by MEANWHILE_SUPERVISOR) exited before"), "{said}");
    let missing =
        home.command(["start", "true"]).env("MEANWHILE_SUPERVISOR", "/nowhere/x").run().stderr_text();
    assert!(
        missing.contains("install mw, mw-engine, mw-surfaces and mw-supervisor in one directory"),
        "{missing}"
    );
}

#[test]
fn an_interrupted_run_says_no_more_than_the_command_does() {
    let home = home();
    let mut terminal = home.command(["run", "--name", "web", "echo up; exec sleep 600"]).on_terminal();
    crate::top::until_shown(&terminal, "up");
    terminal.press("\u{3}");
    assert_eq!(terminal.ended(), Some(130));
    assert_eq!(terminal.shown(), "up\r\n^C");
    let running = home.command(["run", "--name", "api", "echo up; exec sleep 600"]).spawn();
    mw_testkit::wait_until(mw_testkit::SOON, "the command runs", || {
        (running.printed() == "up\n").then_some(())
    });
    running.signal(rustix::process::Signal::INT);
    let said = running.wait().exits(130).stderr_text();
    assert_eq!(said, "mw: api cancelled by user (SIGINT)\n");
}

#[test]
fn an_agent_without_a_model_is_refused_before_it_starts() {
    let home = home();
    let said = home.mw(["agent", "--agent", "mw", "say hello"]).exits(2).stderr_text();
    assert!(said.starts_with("error: no model endpoint is set\nhint: "), "{said}");
    assert_eq!(home.list().len(), 0);
}

#[test]
fn an_mcp_server_on_a_terminal_says_that_it_serves_mcp() {
    let home = home();
    let mut terminal = home.command(["mcp"]).on_terminal();
    crate::top::until_shown(&terminal, "serving MCP on stdin and stdout");
    terminal.press("\u{4}");
    assert_eq!(terminal.ended(), Some(0));
}
