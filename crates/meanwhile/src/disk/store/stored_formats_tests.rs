//! Tests of homes of earlier and later builds. Each released schema is a fixture that never changes.

use std::fs::{self, DirBuilder};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use mw_model::{TurnEvent, events_from_turns};
use tempfile::TempDir;

use super::{Opened, Store, TaskFilter};
use crate::engine::{DeliveryPolicy, Moment, Runtime};
use crate::settings::Executables;
use crate::{Scope, Settings};

const SCHEMA_1: &str = include_str!("../../../../testkit/fixtures/schema-1.sql");
const SCHEMA_2: &str = include_str!("../../../../testkit/fixtures/schema-2.sql");
const SCHEMA_3: &str = include_str!("../../../../testkit/fixtures/schema-3.sql");
const EVENTS: &str = include_str!("../../../../testkit/fixtures/schema-2-events.json");
const TASK: [(&str, &str); 4] = [
    ("spec.json", include_str!("../../../../testkit/fixtures/v1/spec.json")),
    ("journal.jsonl", include_str!("../../../../testkit/fixtures/v1/journal.jsonl")),
    ("result.json", include_str!("../../../../testkit/fixtures/v1/result.json")),
    ("output.log", include_str!("../../../../testkit/fixtures/v1/output.log")),
];

/// Creates a home with this database and the directories of its two tasks.
fn stored(database: &str) -> TempDir {
    let home = tempfile::tempdir().unwrap();
    let private = |path: PathBuf| DirBuilder::new().recursive(true).mode(0o700).create(path).unwrap();
    for number in ["1", "2"] {
        let directory = home.path().join("tasks").join(format!("bash-oldtask{number}"));
        private(directory.clone());
        for (name, text) in TASK {
            let own = text.replace("bash-oldtask1", &format!("bash-oldtask{number}"));
            let own = own.replace("\"number\":1", &format!("\"number\":{number}"));
            let own = if number == "1" { own } else { own.replace("veteran", "second") };
            fs::write(directory.join(name), own).unwrap();
        }
    }
    // An empty list: the database has all tasks.
    fs::write(home.path().join("arrivals"), "").unwrap();
    let Ok(Opened::Behind(store, _)) = Store::open(&home.path().join("meanwhile.db")) else {
        panic!("expected a new database that needs migration");
    };
    store.connection.execute_batch(database).unwrap();
    home
}

fn open(home: &Path) -> Runtime {
    let programs =
        Executables { supervisor: PathBuf::from("/nonexistent"), settle: Vec::new(), starter_exits: false };
    let mut settings = Settings::new(home.to_owned(), programs);
    settings.retention.automatic = false;
    Runtime::open(settings).unwrap()
}

fn replayed(home: &Path) -> Vec<TurnEvent> {
    let runtime = open(home);
    let host = runtime.notifications().host("old", DeliveryPolicy::NextRun).unwrap();
    events_from_turns(&host.turns().unwrap())
}

#[test]
fn a_conversation_stored_under_schema_2_or_3_is_replayed() {
    let expected: Vec<TurnEvent> = serde_json::from_str(EVENTS).unwrap();
    for schema in [SCHEMA_2, SCHEMA_3] {
        let home = stored(schema);
        assert_eq!(replayed(home.path()), expected);
        assert!(matches!(Store::open(&home.path().join("meanwhile.db")), Ok(Opened::Ready(_))));
    }
}

#[test]
fn a_home_of_schema_3_keeps_its_export_counts() {
    let home = stored(SCHEMA_3);
    let runtime = open(home.path());
    let tasks = runtime.tasks().list(&TaskFilter::new(Scope::All)).unwrap().tasks;
    assert_eq!(tasks.iter().map(|task| task.exit_code).collect::<Vec<_>>(), [Some(3), Some(3)]);
    let store = runtime.base.database.store().unwrap();
    let exports = "SELECT delivered + rejected + given_up + failures FROM exports";
    let exports: i64 = store.connection.query_row(exports, [], |row| row.get(0)).unwrap();
    let approvals = "SELECT count(*) FROM approvals";
    let approvals: i64 = store.connection.query_row(approvals, [], |row| row.get(0)).unwrap();
    assert_eq!((exports, approvals), (13, 0));
}

#[test]
fn a_home_of_schema_2_delivers_only_undelivered_notifications() {
    let home = stored(SCHEMA_2);
    let before = replayed(home.path());
    {
        let runtime = open(home.path());
        let host = runtime.notifications().host("old", DeliveryPolicy::NextRun).unwrap();
        let delivery = host.drain(Moment::RunStart).unwrap();
        let delivered: Vec<_> =
            delivery.notices().iter().map(|notice| (notice.number, notice.task.as_str())).collect();
        assert_eq!(delivered, [(4, "bash-oldtask2")]);
        delivery.store("next").unwrap();
    }
    let after = replayed(home.path());
    assert_eq!(after[..before.len()], before);
    assert_eq!(after.len(), before.len() + 2, "a notification and a text");
    let store = open(home.path());
    let store = store.base.database.store().unwrap();
    assert_eq!([store.mark("hooks").unwrap(), store.mark("a_mark_nobody_knows").unwrap()], [6, 1]);
}

#[test]
fn a_home_of_schema_1_without_a_ledger_is_migrated() {
    let home = stored(SCHEMA_1);
    let runtime = open(home.path());
    let tasks = runtime.tasks().list(&TaskFilter::new(Scope::All)).unwrap().tasks;
    let shown: Vec<_> = tasks.iter().map(|task| (task.id.as_str(), task.exit_code)).collect();
    assert_eq!(shown, [("bash-oldtask2", Some(3)), ("bash-oldtask1", Some(3))]);
    let read = runtime.reader().read("second", &Scope::All, &crate::engine::ReadRequest::default()).unwrap();
    assert_eq!(read.bytes(), b"one\ntwo\n");
    assert_eq!(replayed(home.path()), [], "there were no conversations");
    // A task that ended before the ledger existed gets no notification. A task that was running then does.
    let host = runtime.notifications().host("old", DeliveryPolicy::NextRun).unwrap();
    let delivery = host.drain(Moment::RunStart).unwrap();
    assert_eq!(delivery.notices().len(), 1);
    let turn = delivery.store("go on").unwrap();
    assert_eq!(replayed(home.path()), turn.events());
    assert!(host.drain(Moment::RunStart).unwrap().notices().is_empty());
}

#[test]
fn a_database_of_a_later_schema_is_refused_and_not_changed() {
    let home = stored(&SCHEMA_2.replace("user_version = 2", "user_version = 99"));
    let stored = || fs::read(home.path().join("meanwhile.db")).unwrap();
    let before = stored();
    let runtime = open(home.path());
    let refused = runtime.tasks().list(&TaskFilter::new(Scope::All)).unwrap_err().to_string();
    assert!(refused.contains("99"), "{refused}");
    drop(runtime);
    assert!(stored() == before, "the file was changed");
}
