//! Numbers, names and words as people write them on the command line.

use std::str::FromStr;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use meanwhile::policy::Mode;
use mw_tools::Dialect;

/// Reads a whole number that is not negative.
pub(crate) fn parse_number<N: FromStr>(text: &str) -> Result<N, String> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    match (text.parse(), is_number) {
        (Ok(number), _) => Ok(number),
        (Err(_), true) => Err("it is too large".to_owned()),
        (Err(_), false) => Err("it is not a whole number such as 20".to_owned()),
    }
}

/// Reads a port that can be listened on.
pub(crate) fn parse_port(text: &str) -> Result<u16, String> {
    let port = text.parse().ok().filter(|port| *port > 0);
    port.ok_or_else(|| format!("{text:?} is not a port from 1 to 65535"))
}

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

/// Reads one of these words as its value.
pub(crate) fn one_of<T: Copy + Send + Sync>(
    words: &'static [(&'static str, T)],
) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(words.iter().map(|(word, _)| *word)).try_map(|given| {
        let found = words.iter().find(|(word, _)| *word == given);
        found.map(|(_, value)| *value).ok_or("unknown word")
    })
}
