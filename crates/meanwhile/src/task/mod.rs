//! A task as front ends see it.

mod agent_view;
mod limits;
mod record;
mod scope;

pub use agent_view::AgentView;
pub use limits::TaskLimits;
pub use record::Task;
pub(crate) use record::ended_by;
pub use scope::Scope;
