//! `mw serve --open`: the browser gets the link.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use mw_testkit::{Home, SOON, wait_until};

use crate::home;
use crate::serve::Served;

/// Writes a browser that stores its arguments, and returns its path.
fn browser(home: &Home, name: &str, exits: u8) -> String {
    let path = home.work().join(name);
    fs::write(
        &path,
        format!("#!/bin/sh\nprintf '%s\\n' \"$@\" > {name}.part\nmv {name}.part {name}.got\nexit {exits}\n"),
    )
    .unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path.to_str().unwrap().to_owned()
}

fn arguments(home: &Home, name: &str) -> Option<String> {
    fs::read_to_string(home.work().join(format!("{name}.got"))).ok()
}

#[test]
fn the_browser_gets_the_link_that_was_printed() {
    let home = home();
    let program = browser(&home, "fake-browser", 0);
    let served = Served::with(&home, &["--port", "0", "--open"], &[("BROWSER", &program)]);
    let given = wait_until(SOON, "the browser was started", || arguments(&home, "fake-browser"));
    assert_eq!(given, format!("{}\n", served.link));
    // What the browser would open signs it in.
    let _ = served.sign_in();
    assert_eq!(served.running.stderr_text(), "");
}

#[test]
fn the_first_browser_that_works_gets_the_link_where_it_wants_it() {
    let home = home();
    let (broken, works) = (browser(&home, "broken", 3), browser(&home, "works", 0));
    let named = format!("/no/such/browser:{broken}:{works} --app %s --new:{broken}");
    let served = Served::with(&home, &["--port", "0", "--open"], &[("BROWSER", &named)]);
    let given = wait_until(SOON, "the browser was started", || arguments(&home, "works"));
    assert_eq!(given, format!("--app\n{}\n--new\n", served.link));
    assert_eq!(arguments(&home, "broken").unwrap(), format!("{}\n", served.link));
}

#[test]
fn a_browser_that_is_missing_or_fails_is_named_and_the_link_still_works() {
    for (exits, says) in [(None, "there is no program /no/such/browser"), (Some(3), "exit status: 3")] {
        let home = home();
        let program = exits.map_or("/no/such/browser".to_owned(), |code| browser(&home, "broken", code));
        let served = Served::with(&home, &["--port", "0", "--open"], &[("BROWSER", &program)]);
        let said = wait_until(SOON, "the problem is reported", || {
            Some(served.running.stderr_text()).filter(|said| said.contains("no browser was opened"))
        });
        assert!(said.contains(says) && said.contains("open the link yourself"), "{said}");
        let _ = served.sign_in();
    }
}
