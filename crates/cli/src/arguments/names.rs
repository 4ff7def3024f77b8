//! Names of modes and dialects on the command line.

use meanwhile::policy::Mode;
use mw_tools::Dialect;

/// Reads the name of an approval mode.
pub(crate) fn parse_mode(name: &str) -> Result<Mode, String> {
    let names = Mode::ALL.map(Mode::name).join(", ");
    Mode::named(name).ok_or_else(|| format!("no mode {name:?}; choose one of {names}"))
}

/// Reads the name of a dialect.
pub(crate) fn parse_dialect(name: &str) -> Result<Dialect, String> {
    let names = Dialect::ALL.map(Dialect::name).join(", ");
    Dialect::named(name).ok_or_else(|| format!("no dialect {name:?}; choose one of {names}"))
}
