//! The page in a real browser.
//!
//! Each test runs one scenario of `browser/scenarios`, which has the steps of a person and what must be seen.

use std::path::Path;
use std::time::Duration;

use mw_testkit::model_endpoint::{Answer, ModelEndpoint};
use mw_testkit::{Home, clients, need_program};
use serde_json::json;

use crate::home;
use crate::serve::Served;

/// Prepares a home, if there is a browser and what drives it.
fn prepared() -> Home {
    need_program("chromium");
    drop(clients::found());
    home().gated()
}

/// Returns the path of the browser.
fn chromium() -> std::path::PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).map(|folder| folder.join("chromium")).find(|file| file.exists()).unwrap()
}

/// Plays a scenario against a server.
fn play(home: &Home, link: &str, scenario: &str) {
    let clients = clients::found();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/web/browser/drive.js");
    let played = home
        .program(clients.node())
        .arg(script)
        .arg(scenario)
        .arg(link)
        .env("CHROMIUM", chromium())
        .env("MW", env!("CARGO_BIN_EXE_mw"))
        .env("PLAYWRIGHT", clients.package("playwright-core"))
        .env("AXE", clients.package("axe-core/axe.min.js"))
        .env("WORK", home.work())
        .limit(Duration::from_secs(240))
        .run();
    assert_eq!(played.code, Some(0), "{played}");
    assert!(played.text().ends_with("done\n"), "{played}");
}

fn scenario(name: &str) {
    let home = prepared();
    let served = Served::new(&home);
    play(&home, &served.link, name);
}

#[test]
fn the_board_updates_as_tasks_start_progress_and_end() {
    scenario("board");
}

#[test]
fn a_log_is_shown_live_with_colours_and_searched() {
    scenario("log");
}

#[test]
fn a_long_log_is_searched_and_scrolled_without_a_gap() {
    scenario("long");
}

#[test]
fn a_log_that_grows_fast_can_be_left_and_followed_again() {
    scenario("chatty");
}

#[test]
fn a_task_is_killed_after_a_question() {
    scenario("kill");
}

#[test]
fn requests_are_approved_and_denied_on_the_page() {
    scenario("approvals");
}

#[test]
fn what_needs_attention_is_in_the_title_the_icon_and_notifications() {
    scenario("attention");
}

#[test]
fn the_steps_of_an_agent_are_shown_as_a_transcript() {
    let endpoint = ModelEndpoint::new();
    let waits = "touch runs; until test -e go; do sleep 0.05; done; echo one test failed";
    endpoint.will(Answer::text("I look at the tests.").call("shell", json!({"command": waits})));
    endpoint.otherwise(|_| {
        Answer::text(
            "The rounding is wrong.\n\n```rust\nlet cents = 1;\n```\n\n<script>alert(1)</script> <b>x</b> sk-test-0123456789",
        )
    });
    let home = prepared()
        .with_env("OPENAI_BASE_URL", endpoint.openai_url())
        .with_env("OPENAI_API_KEY", "sk-test-0123456789")
        .with_env("MEANWHILE_AGENT_MODEL", "openai/scripted")
        .with_env("MEANWHILE_MODE", "dangerous");
    let served = Served::new(&home);
    play(&home, &served.link, "transcript");
}

#[test]
fn hostile_output_is_harmless() {
    scenario("hostile");
}

#[test]
fn the_page_has_no_serious_accessibility_fault_in_any_view_and_theme() {
    scenario("accessibility");
}

#[test]
fn ten_thousand_tasks_can_be_scrolled() {
    scenario("many");
}

#[test]
fn ten_open_pages_share_one_connection() {
    scenario("tabs");
}

#[test]
fn without_the_link_the_page_shows_nothing() {
    scenario("stranger");
}

#[test]
fn the_page_connects_again_after_a_restart_of_the_server() {
    let home = prepared();
    let served = Served::new(&home);
    let port = served.port().to_owned();
    let restart = home.work().join("restart");
    std::fs::create_dir_all(&restart).unwrap();
    std::thread::scope(|scope| {
        let link = served.link.clone();
        let home = &home;
        let playing = scope.spawn(move || play(home, &link, "reconnect"));
        let wait_for = |name: &str| {
            mw_testkit::wait_until(Duration::from_secs(120), name, || {
                (restart.join(name).exists() || playing.is_finished()).then_some(())
            });
        };
        wait_for("stop");
        served.running.signal(rustix::process::Signal::TERM);
        wait_for("start");
        let again = Served::on(home, &port);
        playing.join().unwrap();
        drop(again);
    });
}
