//! Files and the database below everything else.
//!
//! `home` is the layout of the home, `task_dir` one task's files, `session_dir` one session's. `slots` are the locks of
//! running tasks, `arrivals` lists tasks that are not in the database yet, `bell` wakes other processes, and `damage` guards
//! the database file against being replaced while it is used. `store` is the only module with SQL, and `platform` holds what
//! differs between systems. Nothing here knows any other room.

pub(crate) mod arrivals;
pub(crate) mod bell;
pub(crate) mod damage;
pub(crate) mod home;
pub(crate) mod inspect;
pub(crate) mod look;
pub(crate) mod platform;
pub(crate) mod session_dir;
pub(crate) mod slots;
pub(crate) mod store;
pub(crate) mod task_dir;
