//! `mw up` and `mw down`: the services that a project declares.

use std::fs;

use mw_testkit::{Home, SOON, children, wait_until};
use serde_json::{Value, json};

use crate::approval::{hurried, project_without_kernel};
use crate::home;

/// Runs until it is ended.
const RUNS: &str = "echo up; exec sleep 600";

fn declare(home: &Home, text: &str) {
    fs::write(home.work().join("meanwhile.toml"), text).unwrap();
}

/// Declares `db`, and `web` that depends on it.
fn declare_two(home: &Home, script_of_db: &str) {
    declare(
        home,
        &format!(
            "[services.web]\ncommand = \"{RUNS}\"\ndepends-on = ['db']\n\
             [services.db]\ncommand = \"{script_of_db}\"\nready = {{ when = 'up' }}\n"
        ),
    );
}

/// Returns what a command says about each service, by its name.
fn services(reply: &Value) -> Value {
    let of = |service: &Value| (service["name"].as_str().unwrap().to_owned(), service.clone());
    Value::Object(reply["services"].as_array().unwrap().iter().map(of).collect())
}

fn up(home: &Home) -> Value {
    services(&home.mw(["up", "--json"]).exits(0).json())
}

/// Returns the names of the tasks that have not ended.
fn live(home: &Home) -> Vec<String> {
    let is_live = |task: &Value| matches!(task["status"].as_str(), Some("pending" | "starting" | "running"));
    let mut names: Vec<_> = home
        .list()
        .iter()
        .filter(|task| is_live(task))
        .map(|task| task["name"].as_str().unwrap().to_owned())
        .collect();
    names.sort();
    names
}

#[test]
fn a_service_starts_when_those_it_depends_on_are_ready() {
    let home = home();
    declare_two(&home, &format!("{}; touch ready; {RUNS}", children::gate("go")));
    let running = home.command(["up"]).spawn();
    wait_until(SOON, "db runs", || (live(&home) == ["db"]).then_some(()));
    assert!(running.runs());
    home.open("go");
    let said = running.wait().exits(0).text();
    let lines: Vec<_> = said.lines().map(|line| line.split(',').next().unwrap()).collect();
    assert_eq!(lines, ["db   started", "db   ready", "web  started"], "{said}");
    assert_eq!(live(&home), ["db", "web"]);
    let file = home.work().canonicalize().unwrap().join("meanwhile.toml");
    assert_eq!(home.status("web")["batch_id"], file.to_str().unwrap());
}

#[test]
fn what_is_not_ready_is_said_and_what_depends_on_it_is_not_started() {
    let home = home();
    declare(
        &home,
        &format!(
            "[services.db]\ncommand = '{RUNS}'\nready = {{ when = 'up' }}\n\
             [services.api]\ncommand = 'echo boom; exit 3'\ndepends-on = ['db']\nready = {{ when = 'up' }}\n\
             restart = 'on-failure'\n\
             [services.web]\ncommand = '{RUNS}'\ndepends-on = ['api', 'db']\n"
        ),
    );
    let _ = home.mw(["up", "db", "--timeout", "60s"]).exits(0);
    let refused = home.mw(["up", "--timeout", "300ms", "--json"]).exits(1).json();
    let found = services(&refused);
    assert_eq!((&found["db"]["result"], &found["db"]["up"]), (&json!("running"), &json!(true)), "{found}");
    assert_eq!((&found["api"]["result"], &found["api"]["up"]), (&json!("started"), &json!(false)), "{found}");
    assert!(found["api"]["reason"].as_str().unwrap().starts_with("not ready after 0.3s"), "{found}");
    assert_eq!(found["web"]["result"], "not_started", "{found}");
    assert_eq!(found["web"]["reason"], "not started: it depends on api, which is not up");
    assert_eq!(live(&home), ["api", "db"]);
    let again = home.mw(["up", "--timeout", "1ms"]).exits(1);
    assert!(again.stderr_text().contains("2 of 3 services are not up: api, web"), "{}", again.stderr_text());
    let _ = home.mw(["down"]).exits(0);
    assert_eq!(live(&home), [""; 0]);
    home.wait_until_empty(SOON);
}

#[test]
fn a_service_that_has_failed_is_not_waited_for() {
    let home = home();
    declare_two(&home, "exit 3");
    let found = services(&home.mw(["up", "--timeout", "1h", "--json"]).exits(1).json());
    assert!(found["db"]["reason"].as_str().unwrap().starts_with("ended: failed"), "{found}");
    assert_eq!(found["web"]["result"], "not_started");
}

#[test]
fn a_second_up_starts_nothing() {
    let home = home();
    declare_two(&home, RUNS);
    let (first, second) = (up(&home), up(&home));
    for name in ["db", "web"] {
        assert_eq!((&first[name]["result"], &second[name]["result"]), (&json!("started"), &json!("running")));
        assert_eq!(first[name]["id"], second[name]["id"]);
        assert_eq!(second[name]["changed"], json!([]));
    }
    assert_eq!(home.mw(["up"]).ok(), "db   already running\ndb   ready\nweb  already running\n");
    assert_eq!(home.list().len(), 2);
}

#[test]
fn several_at_once_start_each_service_once() {
    let home = home();
    declare_two(&home, RUNS);
    let all = [(); 6].map(|()| home.command(["up", "--json"]).spawn());
    let found = all.map(|running| services(&running.wait().exits(0).json()));
    for name in ["db", "web"] {
        let mut results: Vec<_> = found.iter().map(|one| one[name]["result"].as_str().unwrap()).collect();
        results.sort_unstable();
        assert_eq!(results, ["running", "running", "running", "running", "running", "started"], "{found:?}");
        assert!(found.iter().all(|one| one[name]["id"] == found[0][name]["id"]), "{found:?}");
    }
    assert_eq!(home.list().len(), 2);
}

#[test]
fn a_killed_up_is_completed_by_the_next_one() {
    let home = home();
    declare_two(&home, &format!("{}; {RUNS}", children::gate("go")));
    let running = home.command(["up"]).spawn();
    wait_until(SOON, "db runs", || (live(&home) == ["db"]).then_some(()));
    let _ = running.kill();
    home.open("go");
    let found = up(&home);
    assert_eq!((&found["db"]["result"], &found["web"]["result"]), (&json!("running"), &json!("started")));
    assert_eq!(live(&home), ["db", "web"]);
}

#[test]
fn a_changed_declaration_is_said_and_replaces_the_task_if_wanted() {
    let home = home();
    let with = |value: &str, more: &str| {
        declare(
            &home,
            &format!(
                "[services.db]\ncommand = \"echo $A >> said; {RUNS}\"\nready = {{ when = 'up' }}\nenv = {{ A = '{value}' }}\n{more}"
            ),
        );
    };
    with("one", "");
    let first = up(&home);
    with("two", "restart = 'always'\ndir = '/'\n");
    let said = up(&home);
    assert_eq!(said["db"]["changed"], json!(["directory", "environment", "restart"]), "{said}");
    assert_eq!((&said["db"]["id"], &said["db"]["up"]), (&first["db"]["id"], &json!(true)));
    assert!(home.mw(["up"]).ok().contains("mw up --recreate replaces it"));
    with("two", "");
    let replaced = services(&home.mw(["up", "--recreate", "--json"]).exits(0).json());
    assert_eq!(replaced["db"]["result"], "replaced", "{replaced}");
    assert_ne!(replaced["db"]["id"], first["db"]["id"]);
    assert_eq!(home.lines_in("said", 2), "one\ntwo\n");
    let unchanged = services(&home.mw(["up", "--recreate", "--json"]).exits(0).json());
    assert_eq!(
        (&unchanged["db"]["result"], &unchanged["db"]["id"]),
        (&json!("running"), &replaced["db"]["id"])
    );
}

#[test]
fn down_ends_all_with_dependents_first() {
    let home = home();
    let service = |name: &str, more: &str| {
        let script = format!("trap 'echo {name} >> ended; exit' TERM; echo up; while :; do sleep 0.05; done");
        format!("[services.{name}]\ncommand = \"{script}\"\nready = {{ when = 'up' }}\n{more}")
    };
    let all = [service("b", "depends-on = ['c']\n"), service("c", "depends-on = ['a']\n"), service("a", "")];
    declare(&home, &all.concat());
    let _ = home.mw(["up"]).exits(0);
    let receipts = home.mw(["down", "--json"]).exits(0).json();
    assert_eq!(receipts["receipts"].as_array().unwrap().len(), 3, "{receipts}");
    assert_eq!(home.lines_in("ended", 3), "b\nc\na\n");
    home.wait_until_empty(SOON);
    let nothing = home.mw(["down"]).exits(0);
    assert!(nothing.stderr_text().contains("none of the services is running"), "{}", nothing.stderr_text());
}

#[test]
fn down_ends_the_named_services_and_those_that_are_no_longer_declared() {
    let home = home();
    declare_two(&home, RUNS);
    let _ = home.mw(["up"]).exits(0);
    let _ = home.mw(["down", "web"]).exits(0);
    assert_eq!(live(&home), ["db"]);
    let _ = home.mw(["down", "--json", "nonsense"]).refusal(5);
    declare(&home, &format!("[services.other]\ncommand = '{RUNS}'\n"));
    let _ = home.mw(["start", "--name", "own", RUNS]).exits(0);
    let _ = home.mw(["down"]).exits(0);
    assert_eq!(live(&home), ["own"]);
}

#[test]
fn a_procfile_is_used_where_nothing_else_declares_services() {
    let home = home();
    let (sub, file) = (home.work().join("sub"), home.work().join("Procfile"));
    fs::create_dir(&sub).unwrap();
    fs::write(&file, format!("# two\nweb: pwd > where; {RUNS}\nworker: {RUNS}\n")).unwrap();
    let _ = home.command(["up"]).cwd(&sub).run().exits(0);
    assert_eq!(live(&home), ["web", "worker"]);
    assert_eq!(home.lines_in("where", 1).trim(), home.work().canonicalize().unwrap().to_str().unwrap());
    let again = home.command(["up", "--json", "--file", "../Procfile"]).cwd(&sub).run().exits(0).json();
    assert_eq!(services(&again)["web"]["result"], "running");
    let other = home.work().join("Procfile.dev");
    fs::write(&other, format!("web: {RUNS}\n")).unwrap();
    let conflict = home.mw(["up", "--json", "--file", "Procfile.dev"]).refusal(6);
    assert!(conflict["message"].as_str().unwrap().contains("another live task of"), "{conflict}");
    fs::create_dir(sub.join(".git")).unwrap();
    let _ = home.command(["up", "--json"]).cwd(&sub).run().refusal(5);
    let _ = home.mw(["down"]).exits(0);
    assert_eq!(live(&home), [""; 0]);
}

#[test]
fn an_env_file_is_read_and_the_declaration_replaces_its_variables() {
    let home = home();
    fs::write(home.work().join(".env"), "# own\nexport A=\"one # two\" # comment\nB='$x'\nC=file\n").unwrap();
    declare(
        &home,
        "[services.a]\ncommand = ['sh', '-c', 'echo $A,$B,$C,$D > said; exec sleep 600']\nenv-file = '.env'\nenv = { C = 'own', D = 5 }\n",
    );
    let _ = home.mw(["up"]).exits(0);
    assert_eq!(home.lines_in("said", 1), "one # two,$x,own,5\n");
}

#[test]
fn what_cannot_be_started_is_refused_before_anything_is() {
    let home = home();
    let good = format!("[services.aaa]\ncommand = '{RUNS}'\n");
    for (bad, code, words) in [
        (
            "[services.b]\ncommand = 'x'\ndepends-on = ['c']\n[services.c]\ncommand = 'x'\ndepends-on = ['b']\n",
            2,
            "b needs c needs b",
        ),
        ("[services.b]\ncommand = 'x'\ndepends-on = ['gone']\n", 2, "\"gone\""),
        ("[services.b]\ncommand = 'x'\ncolour = 'red'\n", 2, "meanwhile.toml:5: unknown field `colour`"),
        ("[services.b]\ncommand = 'x'\nenv-file = '.gone'\n", 2, ".gone"),
        ("[services.b]\ncommand = 'x'\nrestart = 'sometimes'\n", 2, "service b: "),
        ("[services.b]\ncommand = 'x'\nready = { when = '(' }\n", 2, "service b: "),
        ("[services.b]\ncommand = 'x'\ndir = 'gone'\n", 2, "service b: "),
        ("[services.b]\ncommand = 'echo \"'\n", 2, "service b: "),
        ("[services.b]\ncommand = ['/gone/program']\n", 127, "service b: "),
        ("[services.' ']\ncommand = 'x'\n", 2, "service  : "),
    ] {
        declare(&home, &format!("{good}{bad}"));
        let refused = home.mw(["up", "--json"]).refusal(code);
        assert!(refused["message"].as_str().unwrap().contains(words), "{bad}: {refused}");
    }
    declare(&home, &good);
    let _ = home.mw(["up", "--json", "nonsense"]).refusal(5);
    fs::write(home.work().join(".meanwhile.toml"), &good).unwrap();
    let misplaced = home.mw(["up", "--json"]).refusal(2);
    assert!(misplaced["hint"].as_str().unwrap().contains("without a dot"), "{misplaced}");
    fs::remove_file(home.work().join(".meanwhile.toml")).unwrap();
    assert_eq!(home.list().len(), 0);
}

#[test]
fn what_an_agent_starts_is_judged_like_its_commands() {
    let home = project_without_kernel();
    declare(
        &home,
        &format!(
            "[services.bad]\ncommand = 'rm precious; {RUNS}'\n[services.web]\ncommand = '{RUNS}'\ndepends-on = ['bad']\n"
        ),
    );
    let found = services(&hurried(&home, ["up", "--json"]).run().exits(3).json());
    assert!(found["bad"]["reason"].as_str().unwrap().starts_with("not started: "), "{found}");
    assert_eq!(found["web"]["result"], "not_started", "{found}");
    assert_eq!(home.list().len(), 0);
    assert!(home.has_file("precious"));
    for words in ["mw up", "mw down"] {
        let _ = hurried(&home, ["policy", words]).run().exits(3);
    }
}
