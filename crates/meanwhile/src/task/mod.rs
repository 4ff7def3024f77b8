//! A task as front ends see it, and its place in the queue.

mod agent_view;
mod confined;
mod last_run;
mod limits;
mod place_state;
pub(crate) mod queue_place;
mod scope;
mod task_view;

pub use agent_view::AgentView;
pub(crate) use confined::ASK_MARK;
pub use confined::TaskConfinement;
pub use last_run::LastRun;
pub use limits::TaskLimits;
pub use place_state::PlaceState;
pub use scope::Scope;
pub use task_view::Task;
pub(crate) use task_view::{Change, ended_by};
