//! A home with a desk.

use std::time::Duration;

use meanwhile::Settings;
use meanwhile::settings::Executables;
use mw_desk::query::{Query, RowRange, Window};
use mw_desk::{Access, Desk};
use mw_testkit::{Home, beside, settle_command};

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
    let supervisor = beside("mw-supervisor");
    let executables = Executables { supervisor, settle: settle_command(home, &[]), starter_exits: false };
    Access {
        settings: Settings::new(home.state().to_owned(), executables),
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
