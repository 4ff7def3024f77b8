//! Progress of a task survives the death of its supervisors.

use mw_testkit::{Home, SOON, children, wait_until};

use crate::home;

/// Reports progress of 10, and of 20 when a gate opens.
fn start(home: &Home) -> String {
    let script = format!(
        "echo '{{\"percent\":10}}' >&3; {}; echo '{{\"percent\":20}}' >&3; touch reported; {}; exit 6",
        children::gate("go"),
        children::gate("end")
    );
    let id = home.start_with(&["--progress-fd"], &script);
    until_progress(home, &id, 10.0);
    id
}

fn until_progress(home: &Home, id: &str, percent: f64) {
    wait_until(SOON, &format!("progress of {percent} is reported"), || {
        (home.status(id)["progress"]["percent"] == percent).then_some(())
    });
}

#[test]
fn progress_is_kept_when_the_guardian_takes_over() {
    let home = home();
    let id = start(&home);
    home.kill_process(home.pair(&id).supervisor);
    until_progress(&home, &id, 10.0);
    home.open("go");
    until_progress(&home, &id, 20.0);
    home.open("end");
    assert_eq!(home.ended(&id)["exit_code"], 6);
}

#[test]
fn an_adopting_supervisor_reads_progress_written_before_the_adoption() {
    let home = home();
    let id = start(&home);
    home.kill_supervisors(&id);
    home.open("go");
    home.file("reported");
    until_progress(&home, &id, 20.0);
    home.open("end");
    home.ended(&id);
}
