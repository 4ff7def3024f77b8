//! Numbers as people write them on the command line.

use std::str::FromStr;

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
