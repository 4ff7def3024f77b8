//! Tasks that do not exist.

use crate::home;

#[test]
fn a_task_that_does_not_exist_is_not_found_by_any_command() {
    let home = home();
    let _ = home.ended(&home.start("true"));
    let ids =
        ["bash-zzzzzzzz", "zzzzzzzz", "nobody", "bash_99", "task_20200101_000000_x", "../../etc", "a b", "-"];
    for id in ids {
        let commands: [&[&str]; 8] = [
            &["status", "--json", "--", id],
            &["output", "--json", "--", id],
            &["wait", "--json", "--", id],
            &["kill", "--json", "--", id],
            &["input", "--json", "--", id, "x"],
            &["restart", "--json", "--", id],
            &["clear", "--json", "--", id],
            &["attach", "--json", "--", id],
        ];
        for args in commands {
            let _ = home.mw(args).refusal(5);
        }
    }
    assert_eq!(home.list().len(), 1);
}

#[test]
fn an_empty_id_matches_no_task() {
    let home = home();
    let _ = home.ended(&home.start("true"));
    for command in ["status", "kill", "clear", "restart"] {
        let error = home.mw([command, "--json", ""]).refusal(5);
        assert_eq!(error["message"], "no task \"\"", "{command}: {error}");
    }
    assert_eq!(home.list().len(), 1);
}

#[test]
fn an_unknown_id_among_several_kills_no_task() {
    let home = home();
    let id = home.start(mw_testkit::children::SLEEPER);
    let _ = home.mw(["kill", "--json", &id, "bash-zzzzzzzz"]).refusal(5);
    assert_eq!(home.status(&id)["status"], "running");
}
