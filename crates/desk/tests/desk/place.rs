//! A home with a desk.

use std::path::{Path, PathBuf};
use std::time::Duration;

use meanwhile::Settings;
use meanwhile::model::RawText;
use meanwhile::settings::Executables;
use mw_desk::query::{Query, RowRange, Window};
use mw_desk::{Access, Desk};
use mw_testkit::Home;

pub struct Place {
    pub desk: Desk,
    // Dropped last: running tasks are killed with it.
    pub home: Home,
}

impl Place {
    pub fn new() -> Self {
        let home = Home::new(beside("mw"));
        let desk = Desk::new(access(&home));
        Self { desk, home }
    }

    /// Lists these rows without sampling their usage.
    pub fn list(&self, query: &Query, start: usize, count: usize) -> Window {
        let range = RowRange { start, count, keep: None, measure: None };
        self.desk.list(query.clone(), &range).unwrap().window
    }

    /// Does the same around an anchor task.
    pub fn list_with(&self, query: &Query, count: usize, keep: &str) -> Window {
        let range = RowRange { start: 0, count, keep: Some(keep.to_owned()), measure: None };
        self.desk.list(query.clone(), &range).unwrap().window
    }

    /// Starts a task and waits for its end.
    pub fn ended(&self, script: &str) -> String {
        let id = self.home.start(script);
        self.home.ended(&id);
        id
    }
}

/// A viewer of all tasks.
pub fn access(home: &Home) -> Access {
    Access {
        settings: Settings::new(home.state().to_owned(), programs(home)),
        session: None,
        requester: "a test".to_owned(),
        screen: "a test's screen".to_owned(),
        inside: None,
        keep: Duration::from_secs(600),
    }
}

pub fn ids(window: &Window) -> Vec<&str> {
    window.rows.iter().map(|row| row.id.as_str()).collect()
}

fn beside(name: &str) -> PathBuf {
    let here = std::env::current_exe().unwrap();
    let file = here.parent().and_then(Path::parent).unwrap().join(name);
    assert!(file.is_file(), "{} is missing: build it with `cargo build -p mw-cli`", file.display());
    file
}

/// Finds the executables; processes of `mw settle` belong to the home too.
fn programs(home: &Home) -> Executables {
    let (state, work) = (home.state().to_str().unwrap().to_owned(), home.work());
    let words = [
        "/usr/bin/env".to_owned(),
        "-i".to_owned(),
        format!("MEANWHILE_HOME={state}"),
        format!("MW_TEST_TAG={}", work.parent().unwrap().display()),
        beside("mw").to_str().unwrap().to_owned(),
        "settle".to_owned(),
        "--home".to_owned(),
        state,
    ];
    let settle = words.iter().map(|word| RawText::from(word.as_str())).collect();
    Executables { supervisor: beside("mw-supervisor"), settle, starter_exits: false }
}
