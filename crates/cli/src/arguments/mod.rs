//! Arguments that several commands share.

pub(crate) mod environment;
pub(crate) mod limits;
pub(crate) mod numbers;
