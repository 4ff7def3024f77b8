//! Files and the database below everything else.
//!
//! `home` is the layout, `task_dir` and `look` say what a task's directory holds, `shelf` keeps earlier runs, `store` is
//! the only module with SQL, and `platform` holds what differs between systems.

pub(crate) mod database;
pub(crate) mod home;
pub(crate) mod inspect;
pub(crate) mod look;
pub(crate) mod metadata;
pub(crate) mod platform;
pub(crate) mod shelf;
pub(crate) mod store;
pub(crate) mod task_dir;
