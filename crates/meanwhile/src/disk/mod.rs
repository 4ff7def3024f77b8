//! Files and the database, the lowest layer.
//!
//! `home` is the layout of the home, `task_dir` one task's files, `session_dir` one session's files. `slots` are the
//! locks of running tasks, `settle_turn` lets one process settle at a time, `arrivals` lists tasks that are not in the
//! database yet, `wake_up` wakes other processes, and `damage` replaces a damaged database safely. `look` reads files
//! that may be absent, `file_lock` takes locks, and `inspect` describes a home for `mw doctor`. `store` is the only
//! module with SQL, and `platform` contains what differs between systems. Only plain data stands below: errors, tasks,
//! requests, spans.

pub(crate) mod arrivals;
pub(crate) mod damage;
pub(crate) mod file_lock;
pub(crate) mod home;
pub(crate) mod inspect;
pub(crate) mod optional_file;
pub(crate) mod platform;
pub(crate) mod session_dir;
pub(crate) mod settle_turn;
pub(crate) mod slots;
pub(crate) mod store;
pub(crate) mod task_dir;
pub(crate) mod wake_up;
