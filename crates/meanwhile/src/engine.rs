//! Every operation of the engine, for the front ends of this workspace. This interface changes with them.
//!
//! A [`Runtime`] is an open home. Its methods return the parts of the engine, which are named after the library's
//! modules.

/// All formats and types of the workspace.
pub use mw_model as model;
/// The whole policy.
pub use mw_policy as policy;

pub use crate::agent::Agents;
pub use crate::agent::record::AgentMessage;
pub use crate::agent::updates::AgentUpdate;
pub use crate::approval::{
    ApprovalTimeouts, Approvals, AskOutcome, Asker, GatedCall, LocalFiles, Nobody, Policy, RuleText,
    SessionPolicy, project_of,
};
pub use crate::base::Directories;
pub use crate::clock::{Clock, SystemClock, shift_clock};
pub use crate::confine::kernel::confined_by_kernel;
pub use crate::database::Lookup;
pub use crate::disk::alarm::AlarmState;
pub use crate::disk::home::Home;
pub use crate::disk::names::{AGENT_SESSIONS_DIR, CHATS_DIR, HOOKS_LOG_FILE, SERVE_KEY_FILE};
pub use crate::disk::platform::random_bytes;
pub use crate::disk::session_dir::agent_sessions::{child_session, keeper_session};
pub use crate::disk::session_dir::call_socket::{CallSocket, connect as connect_for_calls};
pub use crate::disk::store::inspect::{Inspection, inspect};
pub use crate::disk::store::{ApprovalEntry, ExportState, SessionInfo, TaskEvent};
pub use crate::disk::task_dir::log_view::StreamChoice;
pub use crate::disk::wake_up::Listener;
pub use crate::due::first_match;
pub use crate::error::{KeepCause, Retained};
pub use crate::fail_point::{FAIL_POINTS, arm as arm_fail_point, fail_point};
pub use crate::handle::surroundings::{environment as own_environment, home_directory};
pub use crate::hooks::Hooks;
pub use crate::launch::backend::{BackendReport, Capabilities, backends, capabilities_of};
pub use crate::launch::program::{NoProgram, find_program};
pub use crate::live::Live;
pub use crate::live::kill::{KillFailure, KillReport, KillRequest};
pub use crate::live::ports::{PortHolder, PortHolders};
pub use crate::live::usage::TaskUsage;
pub use crate::notify::Notifications;
pub use crate::notify::delivery::Delivery;
pub use crate::notify::delivery_state::{DeliveryState, TaskNotice};
pub use crate::notify::session_holder::{DeliveryPolicy, Moment, SessionHolder};
pub use crate::notify::starters::{PROJECT_SESSION, is_shared};
pub use crate::notify::subscription::Subscription;
pub use crate::outcome::summarize;
pub use crate::queue::Queue;
pub use crate::queue::waiting::QueueReason;
pub use crate::read::condition::{Condition, WaitReply, WaitRequest};
pub use crate::read::output::{
    GrepReply, GrepRequest, OutputMatch, Piece, ReadFrom, ReadReply, ReadRequest, clean_text, render_screen,
};
pub use crate::read::runs::TaskRun;
pub use crate::read::{Reader, Tasks};
pub use crate::reconcile::Reconciler;
pub use crate::redact::{Redaction, Redactor};
pub use crate::request::{Approval, Holder, IfRunning, TaskRequest, check_session_name};
pub use crate::retain::Retention;
pub use crate::retain::clear::ClearReport;
pub use crate::retain::everything::EverythingReport;
pub use crate::runtime::Runtime;
pub use crate::session::Sessions;
pub use crate::settle::Settler;
pub use crate::span::{EXECUTE_SPAN, START_SPAN, Span};
pub use crate::start::Starts;
pub use crate::start::direct::DirectStart;
pub use crate::start::queued::MoveTo;
pub use crate::start::submit::Started;
pub use crate::trace::Traces;
pub use crate::trace::outbox::{ExportReceipt, Urgency};
pub use crate::trace::own_spans::{OwnSpan, SpanOutcome};
pub use crate::trace::traces::Trace;
pub use crate::variables::check_set_variables;
