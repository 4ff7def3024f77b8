//! Files and the database, the lowest layer.
//!
//! `home` is the layout of the home, `task_dir` one task's files, `session_dir` one session's files. `slots` are the
//! locks of running tasks, `settle_turn` lets one process settle at a time, `arrivals` lists tasks that are not in the
//! database yet, `wake_up` wakes other processes, and `log_names` gives logs a second name. `names` are the
//! names of files that only clients use. `optional_file` reads files
//! that may be absent, `replace_file` writes atomically, and `file_lock` takes locks. `store` is the database, the only
//! module with SQL, and `platform` contains what differs between systems. This layer uses only plain data: errors, tasks,
//! requests, spans.

pub(crate) mod alarm;
pub(crate) mod arrivals;
pub(crate) mod file_lock;
pub(crate) mod home;
pub(crate) mod log_names;
pub(crate) mod names;
pub(crate) mod optional_file;
pub(crate) mod platform;
pub(crate) mod replace_file;
pub(crate) mod session_dir;
pub(crate) mod settle_turn;
pub(crate) mod slots;
pub(crate) mod store;
pub(crate) mod task_dir;
pub(crate) mod wake_up;
