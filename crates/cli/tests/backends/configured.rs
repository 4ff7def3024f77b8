//! `[backends.NAME]` in the settings.

use std::fs;

use crate::world::{Kind, World};

#[test]
fn settings_of_backends_are_checked_when_they_are_loaded() {
    for (settings, why) in [
        ("[backends.far]\nkind = \"moon\"\n", "ssh or container"),
        ("[backends.far]\nkind = \"ssh\"\n", "host is missing"),
        ("[backends.far]\nkind = \"ssh\"\nhost = \"h\"\nspeed = 2\n", "unknown field `speed`"),
        ("[backends.process]\nkind = \"ssh\"\nhost = \"h\"\n", "needs no configuration"),
        ("[backends.Far]\nkind = \"ssh\"\nhost = \"h\"\n", "lowercase"),
    ] {
        let world = World::new("process", Kind::Process, settings);
        let refused = world.home.mw(["start", "true"]);
        assert_eq!(refused.code, Some(2), "{settings}: {refused}");
        assert!(refused.stderr_text().contains(why), "{settings}: {refused}");
        assert!(world.home.list().is_empty());
    }
}

#[test]
fn a_project_file_cannot_choose_where_commands_run() {
    let world = World::new("process", Kind::Process, "");
    let file = world.home.work().join(".meanwhile.toml");
    fs::write(file, "[backends.far]\nkind = \"ssh\"\nhost = \"h\"\n").unwrap();
    let refused = world.home.mw(["start", "true"]);
    assert!(refused.code == Some(2) && refused.stderr_text().contains("project file"), "{refused}");
}

#[test]
fn an_unknown_backend_is_refused_with_the_names_of_the_others() {
    let world = World::new("far", Kind::Remote, "[backends.far]\nkind = \"ssh\"\nhost = \"127.0.0.1\"\n");
    let refused = world.home.mw(["start", "--on", "near", "true"]);
    assert!(
        refused.code == Some(2) && refused.stderr_text().contains("process, mock, sandbox, far"),
        "{refused}"
    );
    for options in [["--pty"].as_slice(), &["--stdin"], &["--memory", "1G"], &["--ready-port", "80"]] {
        let words: Vec<_> = ["start", "--on", "far"].iter().chain(options).chain(&["true"]).collect();
        let refused = world.home.mw(words);
        assert!(refused.code == Some(2) && refused.stderr_text().contains("does not support"), "{refused}");
    }
    assert!(world.home.list().is_empty());
}

/// The kernel of this machine confines nothing there, so policy does not rely on it.
#[test]
fn commands_of_models_elsewhere_are_judged_as_without_confinement() {
    let world = World::new("far", Kind::Remote, "[backends.far]\nkind = \"ssh\"\nhost = \"127.0.0.1\"\n");
    let start = |on: &str| {
        let call = world.home.command(["start", "--json", "--on", on, "python3 x.py"]).session("agent");
        call.env("MEANWHILE_MODE", "safe").env("MEANWHILE_APPROVAL_WAIT", "50ms").run()
    };
    assert_eq!(start("far").code, Some(3));
    let open = world.home.mw(["approvals", "--json"]).json();
    assert!(open["approvals"][0]["grant"].is_null(), "{open}");
}
