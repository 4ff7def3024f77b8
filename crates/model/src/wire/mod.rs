//! Formats that both executables share and that are stored on disk. Each has a version.
//!
//! A new library reads the records of an old supervisor, because tasks outlive upgrades. Fields are only added, with
//! defaults, and a version is raised if an old reader would misread the format.

mod confinement;
mod control;
mod exit_record;
mod index;
mod journal;
mod layout;
pub(crate) mod log_name;
mod metadata;
mod place_record;
mod refusal_code;
mod start;

pub use confinement::{Confinement, Enforcer, SERVER_SOCKETS, SERVICE_SOCKETS};
pub use control::{
    CONTROL_VERSION, ControlReply, ControlRequest, KillReceipt, Operation, SentSignal, Survivor,
};
pub use exit_record::{EndRequest, ExitRecord, RECORD_VERSION};
pub use index::{
    EntryKind, HEADER_LEN, INDEX_VERSION, IndexEntry, IndexHeader, Segment, drop_marker, segments,
};
pub use journal::{JOURNAL_VERSION, JournalEntry, JournalLine};
pub use layout::{
    ACTIVITY_FILE, AGENT_FILE, AGENT_SOCKET, ARRIVALS_FILE, BACKENDS_DIR, BELLS_DIR, CONTROL_SOCKET,
    DIFF_FILE, FOLLOW_UPS_DIR, HOST_PREFIX, INDEX_FILE, JOURNAL_FILE, LOG_FILE, METADATA_FILE, NEW_LOG,
    NO_HOST_FILE, NO_SERVER_FILE, PLACE_FILE, PLACE_LOCK_FILE, PLACE_SIGNALS_FILE, PROGRESS_FIFO,
    RESULT_FILE, RUNS_DIR, SERVER_PREFIX, SESSIONS_DIR, SETTLE_TIMEOUT, SETTLING_FILE, SPAN_FILE, SPEC_FILE,
    STDIN_FIFO, SUPERVISOR_NAME, TASKS_DIR, TOLD_FILE, TOLD_NEWS_FILE, TRANSCRIPT_FILE, UNSETTLED_FILE,
    WAITING_FILE,
};
pub use metadata::Metadata;
pub use place_record::{PLACE_VERSION, PlaceEnd, PlaceRecord, PlaceStep};
pub use refusal_code::RefusalCode;
pub use start::{
    DriverCommand, Launch, MAX_SLOTS, PLAIN_START_VERSION, SLOT_FREE, SLOT_HELD, START_VERSION, SessionWatch,
    StartAnswer, StartMessage,
};
