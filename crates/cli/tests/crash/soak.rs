//! Ten thousand tasks. Kept out of the normal run: `cargo test -p mw-cli --test crash -- --ignored`.

use std::thread;
use std::time::Duration;

use mw_testkit::wait_until;

use crate::home;

const TASKS: usize = 10_000;
const HOSTS: usize = 4;

#[test]
#[ignore = "a soak of minutes, run by hand"]
fn ten_thousand_tasks_all_end_and_leave_nothing_behind() {
    let home = home();
    thread::scope(|scope| {
        for _ in 0..HOSTS {
            scope.spawn(|| {
                for _ in 0..TASKS / HOSTS {
                    let _ = home.start("exit 0");
                }
            });
        }
    });
    wait_until(Duration::from_secs(600), "all are over", || {
        let answer = home.mw(["list", "--json", "--status", "completed", "--limit", "1"]).json();
        (answer["total"] == TASKS).then_some(())
    });
    home.wait_until_empty(Duration::from_secs(60));
    let answer = home.mw(["list", "--json"]).exits(0).json();
    assert_eq!(answer["total"], TASKS);
}
