//! What a caller asks for, as plain data. `start` checks a request before anything is changed.

mod approval;
mod session_name;
mod task_request;

pub use approval::Approval;
pub(crate) use approval::Consent;
pub use session_name::check_session_name;
pub use task_request::{Holder, IfRunning, TaskRequest};
