//! Tests of when a session is over.

use super::*;
use mw_model::RawText;

fn hosts(directory: &Path) -> Holders {
    let directory = RawText::from(directory.as_os_str().as_bytes());
    Holders::new(&SessionWatch { directory, grace_ms: 100, hosted: false, servers: false })
}

/// Starts a process and a lease file with its pid. The lock is held by the test.
fn hold(directory: &Path, name: &str) -> (std::process::Child, File) {
    let child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
    let mut file = File::create(directory.join(format!("{HOST_PREFIX}{name}"))).unwrap();
    file.lock().unwrap();
    file.write_all(format!("{}\n", child.id()).as_bytes()).unwrap();
    (child, file)
}

fn end((mut child, file): (std::process::Child, File)) {
    drop(file);
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn a_session_that_never_had_a_host_is_not_over() {
    let dir = tempfile::tempdir().unwrap();
    let mut hosts = hosts(dir.path());
    assert!(!hosts.search());
    assert!(!hosts.look(1_000_000));
    assert_eq!(hosts.due_ms(), None);
}

#[test]
fn a_session_is_over_once_the_grace_period_after_its_last_host_has_passed() {
    let dir = tempfile::tempdir().unwrap();
    let mut hosts = hosts(dir.path());
    let (one, two) = (hold(dir.path(), "a"), hold(dir.path(), "b"));
    assert!(hosts.search());
    end(one);
    assert!(!hosts.look(1000));
    assert_eq!(hosts.due_ms(), None, "another host is alive");
    end(two);
    while hosts.due_ms().is_none() {
        assert!(!hosts.look(1000));
    }
    assert_eq!(hosts.due_ms(), Some(1100));
    assert!(!hosts.look(1099));
    assert!(hosts.look(1100));
}

#[test]
fn a_successor_waits_for_a_new_host_no_longer_than_the_grace_period() {
    let dir = tempfile::tempdir().unwrap();
    let directory = RawText::from(dir.path().as_os_str().as_bytes());
    let watch = SessionWatch { directory, grace_ms: 100, hosted: false, servers: false };
    let mut alone = Holders::of_hosted(&watch, 1000);
    assert!(!alone.search_first(1000));
    assert!(!alone.look(1099));
    assert!(alone.look(1100));
    let host = hold(dir.path(), "a");
    let mut hosted = Holders::of_hosted(&watch, 1000);
    assert!(!hosted.search_first(1000), "it is not the first host");
    assert!(!hosted.look(1100));
    assert!(hosts(dir.path()).search_first(1000));
    end(host);
}

#[test]
fn a_session_ends_even_if_its_host_dies_before_the_first_check() {
    let dir = tempfile::tempdir().unwrap();
    let directory = RawText::from(dir.path().as_os_str().as_bytes());
    let watch = SessionWatch { directory, grace_ms: 100, hosted: true, servers: false };
    let mut hosts = Holders::at_start(&watch, 1000);
    assert!(!hosts.search_first(1000));
    assert_eq!(hosts.due_ms(), Some(1100));
    assert!(!hosts.look(1099));
    assert!(hosts.look(1100));
    let host = hold(dir.path(), "a");
    let mut hosts = Holders::at_start(&watch, 1000);
    assert!(hosts.search_first(1000), "it is the first host that was seen");
    assert!(!hosts.look(1100));
    end(host);
}

#[test]
fn a_server_counts_as_a_host_only_if_requested_and_may_leave_before_it_exits() {
    let dir = tempfile::tempdir().unwrap();
    let directory = RawText::from(dir.path().as_os_str().as_bytes());
    let (child, file) = hold(dir.path(), "a");
    fs::rename(dir.path().join("host-a"), dir.path().join(format!("{SERVER_PREFIX}a"))).unwrap();
    let mut hosts = hosts(dir.path());
    assert!(!hosts.search_first(1000), "a server does not count as a host by default");
    let mut hosts = Holders::new(&SessionWatch { directory, grace_ms: 100, hosted: true, servers: true });
    assert!(hosts.search_first(1000));
    assert!(!dir.path().join(NO_SERVER_FILE).exists());
    file.unlock().unwrap();
    assert!(!hosts.look(1000), "the process is still alive");
    assert!(!hosts.search_first(1000));
    assert_eq!(hosts.due_ms(), Some(1100));
    assert!(dir.path().join(NO_SERVER_FILE).exists(), "the time without a server is recorded");
    assert!(hosts.look(1100));
    end((child, file));
}

#[test]
fn a_new_host_within_the_grace_period_keeps_the_session() {
    let dir = tempfile::tempdir().unwrap();
    let mut hosts = hosts(dir.path());
    let first = hold(dir.path(), "a");
    assert!(hosts.search());
    end(first);
    while hosts.due_ms().is_none() {
        assert!(!hosts.look(1000));
    }
    let next = hold(dir.path(), "b");
    assert!(!hosts.look(1100));
    assert!(hosts.descriptor().is_some());
    end(next);
}
