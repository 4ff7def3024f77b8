//! The way to a shell at the far side.

use std::io::{Read, Write};

use crate::error::Result;

/// Opens shells at the far side.
pub(crate) trait Transport {
    /// Executes `/bin/sh -s` there.
    fn open(&self) -> Result<Connection>;
}

/// A shell at the far side, and its streams. It is closed when this is dropped.
pub(crate) struct Connection {
    pub(crate) input: Box<dyn Write + Send>,
    pub(crate) output: Box<dyn Read + Send>,
    /// Says why the connection has ended, if that is known.
    pub(crate) diagnosis: Box<dyn Fn() -> Option<String> + Send>,
    /// Closes the connection when it is dropped.
    pub(crate) _guard: Box<dyn Send>,
}
