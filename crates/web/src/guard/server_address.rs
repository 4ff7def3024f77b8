//! The names under which a server is reached.

use axum::http::uri::Authority;
use axum::http::{HeaderValue, Uri};

/// The names of this machine in the `Host` of a request to loopback.
const HOSTS: [&str; 3] = ["127.0.0.1", "localhost", "[::1]"];

/// The names in the `Origin` of the pages of a server on loopback. `::1` is not one: another program may listen on its
/// port.
const ORIGINS: [&str; 2] = ["127.0.0.1", "localhost"];

/// The address on which a server listens. It decides the names that requests may use for the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerAddress {
    /// A port on loopback.
    Loopback {
        /// The port.
        port: u16,
    },
    /// A socket in the file system. Programs may use any `Host`, because no browser can connect.
    Socket,
    /// A port that other machines reach, over TLS.
    Remote {
        /// The names and addresses of this machine, without the port.
        names: Vec<String>,
        /// The port.
        port: u16,
    },
}

impl ServerAddress {
    /// Returns whether a `Host` names this server, without a user.
    pub(super) fn is_host(&self, host: &Authority) -> bool {
        !host.as_str().contains('@')
            && match self {
                Self::Loopback { .. } => is_one_of(&HOSTS, host.host()),
                Self::Socket => true,
                Self::Remote { names, .. } => is_one_of(names, host.host()),
            }
    }

    /// Returns whether an origin is that of this server's own pages: scheme, name and port.
    pub(super) fn is_own_origin(&self, origin: &HeaderValue) -> bool {
        let Some(origin) = origin.to_str().ok().and_then(|text| text.trim().parse::<Uri>().ok()) else {
            return false;
        };
        let is_at = |scheme: &str, usual: u16, port: u16| {
            origin.scheme_str() == Some(scheme) && origin.port_u16().unwrap_or(usual) == port
        };
        origin.host().is_some_and(|host| match self {
            Self::Loopback { port } => is_at("http", 80, *port) && is_one_of(&ORIGINS, host),
            Self::Socket => false,
            Self::Remote { names, port } => is_at("https", 443, *port) && is_one_of(names, host),
        })
    }

    /// Returns whether connections are encrypted, so that cookies must be sent over TLS only.
    pub(super) const fn is_encrypted(&self) -> bool {
        matches!(self, Self::Remote { .. })
    }

    /// Returns what distinguishes the cookies of this server from those of others on this machine: browsers send a
    /// cookie to every port of a host.
    pub(super) fn label(&self) -> String {
        match self {
            Self::Loopback { port } | Self::Remote { port, .. } => port.to_string(),
            Self::Socket => "socket".to_owned(),
        }
    }
}

fn is_one_of(names: &[impl AsRef<str>], host: &str) -> bool {
    names.iter().any(|name| name.as_ref().eq_ignore_ascii_case(host))
}
