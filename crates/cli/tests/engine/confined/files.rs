//! Files, repositories and variables: what a confined task can neither change nor read.

use std::fs;
use std::net::TcpListener;
use std::time::Duration;

use super::reach::connect;
use super::{Outside, PROJECT, confined, confining};

#[test]
fn a_confined_task_changes_the_project_and_nothing_else() {
    let home = confining();
    let outside = Outside::new();
    let there = outside.show();
    fs::write(outside.at("kept"), "as it was").unwrap();
    fs::write(home.work().join(".envrc"), "as it was").unwrap();
    fs::write(home.work().join(".env"), "KEY=value-of-env").unwrap();
    fs::create_dir_all(home.user().join(".ssh")).unwrap();
    fs::write(home.user().join(".ssh/id_rsa"), "the-private-key").unwrap();
    let script = format!(
        "echo in > inside; mkdir sub && echo x > sub/x && mv sub/x y && rm y; echo tmp > $(mktemp); \
         echo new > {there}/new; echo changed > {there}/kept; rm {there}/kept; mv {there}/kept k2; \
         chmod 777 {there}/kept; touch -d 2001-01-01 {there}/kept; ln {there}/kept hard; \
         echo x > .git/hooks/pre-commit; echo x >> .git/config; echo x > .envrc; rm .envrc; mv .git .git2; \
         cat .env; cat ~/.ssh/id_rsa; cat $HOME/.ss[h]/id_*; cat $MEANWHILE_HOME/tasks/*/spec.json; \
         cp /bin/true own; chmod u+s own; install -m 4755 /bin/true own2; umount .envrc; mount -o remount,rw /; \
         echo over"
    );
    let (log, task) = confined(&home, &PROJECT, &script);
    assert!(log.contains("over"), "{log}");
    assert_eq!(task["confined"]["by"], serde_json::json!(["landlock", "namespaces", "seccomp"]), "{task}");
    assert_eq!(fs::read_to_string(home.work().join("inside")).unwrap(), "in\n", "{log}");
    assert!(!outside.at("new").exists(), "{log}");
    let kept = outside.at("kept");
    assert_eq!(fs::read_to_string(&kept).unwrap(), "as it was");
    let about = fs::metadata(&kept).unwrap();
    assert_ne!(std::os::unix::fs::PermissionsExt::mode(&about.permissions()) & 0o777, 0o777, "{log}");
    assert!(about.modified().unwrap().elapsed().unwrap() < Duration::from_secs(86_400), "{log}");
    assert!(!home.work().join(".git/hooks/pre-commit").exists() && !home.work().join(".git2").exists());
    assert!(!fs::read_to_string(home.work().join(".git/config")).unwrap().contains('x') || !log.is_empty());
    assert_eq!(fs::read_to_string(home.work().join(".envrc")).unwrap(), "as it was");
    for secret in ["value-of-env", "the-private-key", "\"session\""] {
        assert!(!log.contains(secret), "{secret}: {log}");
    }
    for file in ["own", "own2"] {
        if let Ok(about) = fs::metadata(home.work().join(file)) {
            assert_eq!(std::os::unix::fs::PermissionsExt::mode(&about.permissions()) & 0o6000, 0, "{file}");
        }
    }
}

#[test]
fn a_read_only_task_changes_no_project_and_reads_it() {
    let home = confining();
    fs::write(home.work().join("text"), "content").unwrap();
    let (log, _) = confined(
        &home,
        &["--confine", "read-only"],
        "cat text; echo x > text; rm text; echo x > $(mktemp) && echo temp ok",
    );
    assert!(log.contains("content") && log.contains("temp ok"), "{log}");
    assert_eq!(fs::read_to_string(home.work().join("text")).unwrap(), "content");
}

/// Submodules have repositories of their own, whose names may have slashes, and the configuration may name hooks and further
/// configurations among the files of the project.
#[test]
fn what_git_obeys_in_submodules_worktrees_and_its_configuration_is_protected() {
    let home = confining();
    let set_up = "set -e; git config user.email a@b.c; git config user.name n; git config protocol.file.allow always\n\
        git init -q ../library; git -C ../library -c user.email=a@b.c -c user.name=n commit -q --allow-empty -m x\n\
        git -c protocol.file.allow=always submodule --quiet add ../library libs/one; git commit -qm x\n\
        git config extensions.worktreeConfig true; git worktree add -q ../tree\n\
        mkdir -p tools/hooks scripts; touch tools/hooks/pre-commit own.config scripts/clean.sh\n\
        git config core.hooksPath tools/hooks; git config include.path ../own.config\n\
        git config filter.x.clean 'sh scripts/clean.sh %f'; ls .git/modules/libs/one .git/worktrees/tree";
    home.program("sh").arg("-c").arg(set_up).run().ok();
    let obeyed = [
        ".git/modules/libs/one/config",
        ".git/modules/libs/one/hooks/post-checkout",
        ".git/modules/libs/one/hooks/new",
        "libs/one/.git",
        ".git/worktrees/tree/config.worktree",
        ".git/worktrees/tree/commondir",
        "tools/hooks/pre-commit",
        "tools/hooks/new",
        "own.config",
        "scripts/clean.sh",
    ];
    let mut script = String::new();
    for path in obeyed {
        script.push_str(&format!("echo x >> {path} && echo 'WRITTEN {path}'; "));
    }
    for path in [
        ".git/modules",
        ".git/modules/libs",
        ".git/modules/libs/one",
        ".git/worktrees",
        "libs",
        "libs/one",
        "tools",
    ] {
        script.push_str(&format!("mv {path} {path}2 && echo 'MOVED {path}'; "));
    }
    script.push_str(
        "mkdir -p evil/hooks; echo ../../../../evil > .git/modules/libs/one/commondir; git status > /dev/null",
    );
    let (log, _) = confined(&home, &PROJECT, &script);
    assert!(!log.contains("WRITTEN") && !log.contains("MOVED"), "{log}");
    assert!(!home.work().join(".git/modules/libs/one/commondir").exists(), "{log}");
    let (log, _) = confined(
        &home,
        &PROJECT,
        "echo y > libs/one/y; git -C libs/one add y && git -C libs/one -c user.email=a@b.c -c user.name=n commit -qm y; \
         git status --short; echo over",
    );
    assert!(log.contains("M libs/one") && log.contains("over"), "work in a submodule goes on: {log}");
}

/// The file would make git obey another configuration.
#[test]
fn a_repository_is_not_redirected() {
    let home = confining();
    let script = "mkdir -p evil/hooks; echo ../evil > .git/commondir; echo made; git status; echo over";
    let (log, _) = confined(&home, &PROJECT, script);
    assert!(log.contains("over"), "{log}");
    assert!(!home.work().join(".git/commondir").exists(), "{log}");
}

#[test]
fn secret_variables_are_removed_and_others_kept() {
    let home = confining();
    let id = home
        .command(["start", "--json", "--confine", "project", "env"])
        .env("DEPLOY_TOKEN", "abcdefgh12345678")
        .env("PLAIN", "kept")
        .run()
        .json()["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let _ = home.ended(&id);
    let log = String::from_utf8(home.log(&id)).unwrap();
    assert!(log.contains("PLAIN=kept") && !log.contains("DEPLOY_TOKEN"), "{log}");
}

#[test]
fn without_namespaces_a_task_still_changes_nothing_outside() {
    let path = format!("{}:/usr/local/bin:/usr/bin:/bin", std::env::var("PATH").unwrap_or_default());
    let home = confining().needing("bash").with_env("PATH", path).with_env("MEANWHILE_LACKS", "namespaces");
    let outside = Outside::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let call = connect(listener.local_addr().unwrap());
    let script = format!("echo in > inside; echo new > {}/new; {call}; echo over", outside.show());
    let (log, task) = confined(&home, &PROJECT, &script);
    assert!(log.contains("over") && !log.contains("connected"), "{log}");
    assert!(home.has_file("inside") && !outside.at("new").exists(), "{log}");
    assert_eq!(task["confined"]["by"], serde_json::json!(["landlock", "seccomp"]), "{task}");
}
