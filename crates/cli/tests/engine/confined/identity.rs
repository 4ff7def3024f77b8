//! `mw` inside a task speaks for the task, never for the user.

use mw_testkit::{Home, SOON, wait_until};

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

/// Prepares a command whose environment says nothing.
fn bare(home: &Home) -> String {
    let path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
    format!("env -i PATH={path} HOME={} MEANWHILE_HOME={}", home.user().display(), home.state().display())
}

/// The settings of the user apply to all homes, so it does not matter which home a command names.
#[test]
fn settings_are_not_changed_from_inside_a_task_whatever_home_it_names() {
    let home = confining();
    let config = home.user().join(".config");
    let elsewhere = home.work().join("elsewhere");
    let set = format!(
        "env -i PATH=\"$PATH\" HOME={} XDG_CONFIG_HOME={} MEANWHILE_HOME={}",
        home.work().display(),
        config.display(),
        elsewhere.display()
    );
    let bare = bare(&home);
    let script = format!(
        "cp {MW} {MW}-engine {MW}-surfaces {MW}-supervisor .; {bare} {MW} config set mode dangerous; echo own $?; \
         {set} {MW} config set mode dangerous; echo other $?; {set} ./mw config set mode dangerous; echo copy $?; \
         {set} setsid -w {MW} config unset mode; echo apart $?; \
         (setsid sh -c 'sleep 0; {set} {MW} config set mode dangerous; echo orphan $?' &); sleep 0.2; echo over"
    );
    let (log, _) = confined(&home, &[], &script);
    for said in ["own 2", "other 2", "copy 2", "apart 2", "orphan 2", "over"] {
        assert!(log.contains(said), "{said}: {log}");
    }
    assert!(!config.join("meanwhile").exists(), "{log}");
}

/// In a process namespace of its own, a command sees nothing above it.
#[test]
fn a_task_in_another_process_namespace_is_still_inside_a_task() {
    let home = confining().needing("unshare");
    let waiting = agent(&home, ["start", "--json", "rm -rf precious"]).env("MEANWHILE_MODE", "safe").spawn();
    let ask = asked(&home);
    let bare = bare(&home);
    let answer = |word: &str| format!("{bare} unshare -pf --mount-proc {MW} {word} {ask}; echo {word} $?; ");
    // The second time, the command of the task has ended, and this is what it has left behind.
    let left =
        format!("(sleep 0.3; {bare} unshare -pf --mount-proc {MW} approve {ask}; echo later $?) & exit 0");
    let (log, _) = confined(&home, &[], &format!("{}{}{left}", answer("approve"), answer("deny")));
    assert!(log.contains("approve 4") && log.contains("deny 4"), "{log}");
    let id = home.list()[0]["id"].as_str().unwrap().to_owned();
    home.until_logged(&id, "later 4");
    assert_eq!(open(&home).len(), 1, "it is still open: {log}");
    // A person in a container is in such a namespace, too, and may answer when no task hides from it.
    let answered =
        || home.program("unshare").arg("-pf").arg("--mount-proc").arg(MW).arg("deny").arg(&ask).run();
    wait_until(SOON, "the answer is accepted", || (answered().code == Some(0)).then_some(()));
    drop(waiting);
}
