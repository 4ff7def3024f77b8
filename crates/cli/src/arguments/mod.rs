//! Arguments that several commands share.

pub(crate) mod command_line;
pub(crate) mod confine;
pub(crate) mod environment;
pub(crate) mod quick;
pub(crate) mod resources;
pub(crate) mod schedule;
pub(crate) mod screen;
pub(crate) mod task;
pub(crate) mod values;
