//! Files and the database, the lowest layer.
//!
//! `home` is the layout of the home, `task_dir` one task's files, `session_dir` one session's files. `slots` are the
//! locks of running tasks, `arrivals` lists tasks that are not in the database yet, `bell` wakes other processes, and
//! `damage` replaces a damaged database safely. `store` is the only module with SQL, and `platform` contains what
//! differs between systems. Nothing here depends on another module of the library.

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
