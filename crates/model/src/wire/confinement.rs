//! What a supervisor makes the kernel enforce for a task.

use serde::{Deserialize, Serialize};

use crate::task::grant::NetworkGrant;
use crate::text::raw_text::RawText;

/// Sockets, or directories of them, of services that answer questions about users, names and the like, or write logs.
pub const SERVICE_SOCKETS: [&str; 9] = [
    "/run/nscd",
    "/run/nslcd",
    "/run/samba/winbindd",
    "/var/lib/sss/pipes/nss",
    "/run/systemd/journal",
    "/run/systemd/resolve",
    "/run/systemd/userdb",
    "/run/avahi-daemon",
    "/dev/log",
];

/// Directories with sockets of servers on this machine. Only commands with a network may reach them.
pub const SERVER_SOCKETS: [&str; 4] = ["/run/postgresql", "/run/mysqld", "/run/redis", "/run/memcached"];

/// The confinement of a task, as concrete paths. All paths are absolute and have no links.
///
/// A path that no longer exists is ignored, except in `writable`, where it could not be changed anyway.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Confinement {
    /// Files and directories that may be changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub writable: Vec<RawText>,
    /// Whether everything may be changed that is not in another list.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub writes_all: bool,
    /// Files and directories inside writable ones that may not be changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub read_only: Vec<RawText>,
    /// Files and directories inside read-only ones that may be changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub writable_again: Vec<RawText>,
    /// Directories that may not be renamed, because they contain read-only files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pinned: Vec<RawText>,
    /// Files, directories and sockets that may be neither read nor changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hidden: Vec<RawText>,
    /// Devices that may be used.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub devices: Vec<RawText>,
    /// Files that do not exist, and that other programs would obey. They are removed when the command ends. Their directories
    /// must be pinned.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub absent: Vec<RawText>,
    /// A socket that may be connected to although its directory may not be changed: that on which the session answers calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calls: Option<RawText>,
    /// The addresses that may be reached.
    #[serde(default)]
    pub network: NetworkGrant,
    /// What must enforce it. Without one of these the command is not executed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<Enforcer>,
}

/// A feature of the kernel that enforces a confinement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Enforcer {
    /// Landlock: files that may be changed, other processes.
    Landlock,
    /// A mount namespace: hidden and read-only files.
    Namespaces,
    /// A seccomp filter: sockets, set-uid files.
    Seccomp,
    /// A process namespace, if the confinement needs it: other processes cannot be seen, and all of them end with the first.
    Pids,
}

impl Enforcer {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Landlock, Self::Namespaces, Self::Seccomp, Self::Pids];
    /// Those that hold a command to its grant.
    pub const OF_GRANTS: [Self; 3] = [Self::Landlock, Self::Namespaces, Self::Seccomp];

    /// Returns the word used in records.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Landlock => "landlock",
            Self::Namespaces => "namespaces",
            Self::Seccomp => "seccomp",
            Self::Pids => "pids",
        }
    }

    /// Returns its bit in a set.
    #[must_use]
    pub const fn bit(self) -> u64 {
        match self {
            Self::Landlock => 1,
            Self::Namespaces => 2,
            Self::Seccomp => 4,
            Self::Pids => 8,
        }
    }

    /// Returns those whose bits are set.
    #[must_use]
    pub fn of_bits(bits: u64) -> Vec<Self> {
        Self::ALL.into_iter().filter(|enforcer| bits & enforcer.bit() != 0).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_of_enforcers_is_read_back_from_its_bits() {
        assert_eq!(Enforcer::of_bits(0), []);
        assert_eq!(Enforcer::of_bits(5), [Enforcer::Landlock, Enforcer::Seccomp]);
        let all = Enforcer::ALL.iter().fold(0, |bits, enforcer| bits | enforcer.bit());
        assert_eq!(Enforcer::of_bits(all), Enforcer::ALL);
        for enforcer in Enforcer::ALL {
            assert_eq!(serde_json::to_value(enforcer).unwrap(), enforcer.word());
        }
    }
}
