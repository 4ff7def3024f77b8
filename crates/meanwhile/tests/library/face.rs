//! The public names at the root of the library.

use std::fmt::Debug;

use meanwhile::{
    Error, KillReport, Listener, Meanwhile, Notices, Output, OutputMatch, PendingNotice, Program, Session,
    Shell, Task, TaskDraft, TaskEvent, TaskHandle, Until, Waited, aio, policy,
};

/// The list stays short enough for a reader of the documentation.
#[test]
fn the_crate_root_exports_few_names() {
    let root = include_str!("../../src/lib.rs");
    let without_engine = root.replace("pub mod engine", "");
    let names = without_engine.split(';').filter_map(|item| {
        let (_, names) = item.split_once("\npub use ").or_else(|| item.split_once("\npub mod "))?;
        Some(names.split(',').filter(|name| !name.trim_matches([' ', '\n', '}']).is_empty()).count())
    });
    let count: usize = names.sum();
    assert!((30..=40).contains(&count), "{count} names");
}

#[test]
fn types_at_the_crate_root_implement_debug() {
    fn all<T: Debug>() {}
    all::<(
        Error,
        KillReport,
        Listener,
        Meanwhile,
        Notices,
        Output,
        OutputMatch,
        PendingNotice,
        Program,
        Session,
        Shell,
    )>();
    all::<(Task, TaskDraft, TaskEvent, TaskHandle, Until, Waited, aio::Pending<()>, policy::Policy)>();
}
