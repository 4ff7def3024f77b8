//! `mw logs` and `mw output` of several tasks: the services of a project, or those that are named.

use std::fs;

use mw_testkit::{Home, SOON, children, wait_until};

use crate::home;

/// Declares and starts `db` and `web`; each goes on when its gate is open.
fn started() -> Home {
    let home = home();
    let service = |name: &str, more: &str| {
        let script = format!(
            "echo {name} 1; printf {name}; {}; echo ' 2'; exec sleep 600",
            children::gate(&format!("go-{name}"))
        );
        format!("[services.{name}]\ncommand = \"{script}\"\nready = {{ when = '1' }}\n{more}")
    };
    let all = [service("db", ""), service("web", "depends-on = ['db']\n")].concat();
    fs::write(home.work().join("meanwhile.toml"), all).unwrap();
    let _ = home.mw(["start", "echo other"]).exits(0);
    assert_eq!(home.mw(["logs", "-n", "1"]).ok(), "other\n", "no service was started");
    let _ = home.mw(["up"]).exits(0);
    home
}

#[test]
fn the_lines_of_all_services_begin_with_their_names() {
    let home = started();
    ["go-db", "go-web"].iter().for_each(|gate| home.open(gate));
    for name in ["db", "web"] {
        home.until_logged(home.status(name)["id"].as_str().unwrap(), "2\n");
    }
    assert_eq!(home.mw(["logs"]).ok(), "db  | db 1\ndb  | db 2\nweb | web 1\nweb | web 2\n");
    assert_eq!(home.mw(["logs", "web", "db", "web", "-n", "1"]).ok(), "web | web 2\ndb  | db 2\n");
    assert_eq!(home.mw(["output", "web", "db", "-n", "1"]).ok(), "web | web 2\ndb  | db 2\n");
    assert_eq!(home.mw(["logs", "web"]).ok(), "web 1\nweb 2\n");
    let outputs = home.mw(["logs", "--json"]).json();
    assert_eq!(
        (&outputs["outputs"][1]["name"], &outputs["outputs"][1]["text"]),
        (&"web".into(), &"web 1\nweb 2\n".into())
    );
    let _ = home.mw(["logs", "--json", "web", "db", "--grep", "x"]).refusal(2);
    let _ = home.mw(["logs", "--json", "web", "nobody"]).refusal(5);
}

#[test]
fn all_services_are_followed_until_they_end() {
    let home = started();
    let running = home.command(["logs", "-f"]).spawn();
    let until = |count: usize| {
        wait_until(SOON, &format!("{count} lines"), || {
            (running.printed().lines().count() == count).then_some(())
        });
    };
    until(2);
    ["go-db", "go-web"].iter().for_each(|gate| home.open(gate));
    until(4);
    let _ = home.mw(["down"]).exits(0);
    let text = running.wait().exits(0).text();
    let mut lines: Vec<_> = text.lines().collect();
    lines.sort_unstable();
    assert_eq!(lines, ["db  | db 1", "db  | db 2", "web | web 1", "web | web 2"]);
}

#[test]
fn following_ends_when_nobody_reads_any_more() {
    let home = started();
    // The other one stays silent.
    let piped = format!("{} logs -f | head -n 1", env!("CARGO_BIN_EXE_mw"));
    let running = home.program("sh").arg("-c").arg(piped).spawn();
    wait_until(SOON, "the first line", || running.printed().contains(" | ").then_some(()));
    home.open("go-db");
    let _ = running.wait().exits(0);
}
