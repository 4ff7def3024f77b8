//! Words that people know from other programs: names of commands, short options, tasks that are not named.

use mw_testkit::{SOON, children, wait_until};

use crate::home;

#[test]
fn commands_have_the_names_that_other_programs_use() {
    let home = home();
    let web = home.start_with(&["--name", "web"], "for n in 1 2 3; do echo line $n; done");
    home.ended(&web);
    assert_eq!(home.mw(["ps", "--json"]).ok(), home.mw(["list", "--json"]).ok());
    assert_eq!(home.mw(["ls", "-q"]).ok(), format!("{web}\n"));
    assert_eq!(home.mw(["list", "-o", "id"]).ok(), format!("{web}\n"));
    assert_eq!(home.mw(["list", "-o", "json"]).ok(), home.mw(["list", "--json"]).ok());
    assert_eq!(home.mw(["logs", "web", "-n", "2"]).ok(), "line 2\nline 3\n");
    assert_eq!(home.mw(["log", "web", "--lines", "1"]).ok(), "line 3\n");
    assert_eq!(home.mw(["tail", "web", "-n", "1"]).ok(), "line 3\n");
    let server = home.start(children::SLEEPER);
    assert_eq!(home.mw(["rm", &server]).exits(6).text(), "");
    let receipt = home.mw(["stop", &server, "-t", "1s", "--json"]).exits(0).json();
    assert_eq!(receipt["status"], "cancelled");
    let _ = home.mw(["rm", &server, "web"]).exits(0);
    assert_eq!(home.list().len(), 0);
    assert!(home.mw(["help", "ps"]).ok().contains("Usage: mw list"));
}

#[test]
fn tail_follows_the_last_lines() {
    let home = home();
    let id = home.start_with(&["--name", "web"], &format!("seq 20; {}; echo end", children::gate("more")));
    home.until_logged(&id, "20\n");
    let tail = home.command(["tail", "web"]).spawn();
    wait_until(SOON, "the last lines", || tail.printed().ends_with("20\n").then_some(()));
    home.open("more");
    assert_eq!(tail.wait().ok(), "11\n12\n13\n14\n15\n16\n17\n18\n19\n20\nend\n");
}

#[test]
fn the_latest_task_of_this_directory_needs_no_name() {
    let home = home();
    let (here, there) = (home.work().join("here"), home.work().join("there"));
    for directory in [&here, &there] {
        std::fs::create_dir(directory).unwrap();
    }
    let start = |directory: &std::path::Path, words: &[&str]| {
        let words: Vec<_> = ["start", "-q"].iter().chain(words).copied().collect();
        home.command(words).cwd(directory).run().ok().trim().to_owned()
    };
    let server = start(&here, &["--name", "server", children::SLEEPER]);
    let build = start(&here, &["echo built"]);
    home.ended(&build);
    let _other = start(&there, &["true"]);
    let said = |words: &[&str]| home.command(words).cwd(&here).run();
    let output = said(&["output"]).exits(0);
    assert_eq!(output.text(), "built\n");
    assert_eq!(output.stderr_text(), format!("mw: the latest task of this directory: {build}\n"));
    assert_eq!(said(&["status", "--json"]).exits(0).json()["id"], build);
    let waited = said(&["wait", "-t", "1ms"]).exits(124);
    assert!(
        waited.stderr_text().contains(&format!("directory: server ({server})")),
        "live tasks first: {waited:?}"
    );
    let refused = said(&["attach"]).exits(6).stderr_text();
    assert!(refused.contains(&format!("{server} has no input")), "{refused}");
}

#[test]
fn an_unknown_task_is_answered_with_similar_names() {
    let home = home();
    let _web = home.start_with(&["--name", "dev-server"], children::SLEEPER);
    let said = home.mw(["status", "dev-sever"]).exits(5).stderr_text();
    assert_eq!(
        said,
        "error: no task \"dev-sever\"\nhint: did you mean dev-server? mw list shows the tasks\n"
    );
    let said = home.mw(["kill", "--json", "devserver"]).exits(5).json();
    assert_eq!(said["error"]["hint"], "did you mean dev-server? mw list shows the tasks");
    let said = home.mw(["kill", "something"]).exits(5).stderr_text();
    assert!(said.ends_with("hint: mw list shows the tasks\n"), "{said}");
    let said = home.command(["status", "dev-sever"]).session("other").run().stderr_text();
    assert!(!said.contains("dev-server"), "a session sees no names of others: {said}");
}

#[test]
fn durations_have_several_units() {
    let home = home();
    let answer = home.mw(["start", "--timeout", "1m30s", "--json", children::SLEEPER]).exits(0).json();
    assert_eq!(answer["status"], "running");
    let spec =
        std::fs::read_to_string(home.task_dir(answer["id"].as_str().unwrap()).join("spec.json")).unwrap();
    assert!(spec.contains("\"run_timeout_ms\":90000"), "{spec}");
}

#[test]
fn help_is_grouped_and_has_examples() {
    let home = home();
    let help = home.mw(["--help"]).ok();
    for part in [
        "\nTasks:\n  start ",
        "\nApproval:\n",
        "\nSet-up:\n",
        "list, ls, ps ",
        "kill, stop ",
        "\nExamples:\n",
    ] {
        assert!(help.contains(part), "{part:?}: {help}");
    }
    assert!(!help.contains("settle"), "{help}");
    assert_eq!(home.mw(["help"]).ok(), help);
    assert!(home.mw(["wait", "--help"]).ok().contains("Examples:\n  mw wait"));
}
