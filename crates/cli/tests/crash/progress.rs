//! What a task tells of its progress outlives whoever heard it.

use mw_testkit::{Home, SOON, children, wait_until};

use crate::home;

/// Tells 10, and 20 when a gate opens.
fn start(home: &Home) -> String {
    let script = format!(
        "echo '{{\"percent\":10}}' >&3; {}; echo '{{\"percent\":20}}' >&3; touch told; {}; exit 6",
        children::gate("go"),
        children::gate("end")
    );
    let id = home.start_with(&["--progress-fd"], &script);
    until_told(home, &id, 10.0);
    id
}

fn until_told(home: &Home, id: &str, percent: f64) {
    wait_until(SOON, &format!("{percent} is told"), || {
        (home.status(id)["progress"]["percent"] == percent).then_some(())
    });
}

#[test]
fn the_guardian_knows_what_was_told() {
    let home = home();
    let id = start(&home);
    home.slay(home.pair(&id).supervisor);
    until_told(&home, &id, 10.0);
    home.open("go");
    until_told(&home, &id, 20.0);
    home.open("end");
    assert_eq!(home.ended(&id)["exit_code"], 6);
}

#[test]
fn an_adopter_hears_what_is_told_meanwhile() {
    let home = home();
    let id = start(&home);
    home.slay_watchers(&id);
    home.open("go");
    home.file("told");
    until_told(&home, &id, 20.0);
    home.open("end");
    home.ended(&id);
}
