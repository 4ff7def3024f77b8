//! `mw` inside a task speaks for the task, never for the user.

use super::{MW, PROJECT, confined, confining};
use crate::approval::{agent, asked, open};

#[test]
fn mw_inside_a_confined_task_says_that_it_cannot_be_used() {
    let home = confining();
    let (log, _) = confined(
        &home,
        &PROJECT,
        &format!("{MW} list; {MW} start true; {MW} approve ask-aaaaaaaa; echo over"),
    );
    assert!(log.contains("over") && log.matches("mw cannot be used inside this task").count() >= 3, "{log}");
}

/// A task that leaves its user namespace cannot be asked which task it is.
#[test]
fn a_task_in_another_user_namespace_is_still_inside_a_task() {
    let home = confining().needing("unshare");
    let script = "rm -f x";
    let waiting = agent(&home, ["start", "--json", "rm -rf precious"]).env("MEANWHILE_MODE", "safe").spawn();
    let ask = asked(&home);
    let bare = "env -i PATH=\"$PATH\" HOME=\"$HOME\" MEANWHILE_HOME=\"$MEANWHILE_HOME\"";
    let script = format!("{script}; {bare} unshare -Ur {MW} approve {ask}; echo approve $?; echo over");
    let (log, _) = confined(&home, &[], &script);
    assert!(log.contains("over") && !log.contains("approve 0"), "{log}");
    assert_eq!(open(&home).len(), 1, "it is still open: {log}");
    home.mw(["deny", &ask]).ok();
    drop(waiting);
}
