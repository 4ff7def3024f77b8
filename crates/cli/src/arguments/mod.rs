//! Arguments that several commands share.

mod colours;
pub(crate) mod command_line;
pub(crate) mod environment;
pub(crate) mod names;
pub(crate) mod numbers;
pub(crate) mod resources;
pub(crate) mod screen;
pub(crate) mod streams;
pub(crate) mod task;
