//! Decides to which session a process belongs. It is decided only here, so that a host's MCP server and its hooks agree.
//!
//! 1. `MEANWHILE_SESSION`, if it is set: a host that runs inside a session belongs to that one.
//! 2. The host's own session, if the host reports it: Claude Code by `CLAUDE_CODE_SESSION_ID` (its server) and
//!    `session_id` (its hooks), Codex by `sessionId` in the `_meta` of a call (its server) and `session_id` (its
//!    hooks).
//! 3. The project: as reported by the host, else the directory in which the host started us. Gemini CLI and OpenCode
//!    report nothing else to their servers, so two of them in one project share a session. Each server then reports
//!    the ends of the tasks that it started itself, see [`meanwhile::engine::is_shared`].
//!
//! A server keeps the session it was started with. Claude Code's hooks name another after `/clear`; they find the
//! server's by `Sessions::served_beside`.

use std::path::{Path, PathBuf};

use meanwhile::engine::PROJECT_SESSION;
use mw_model::{LONGEST_SESSION_NAME, fnv1a, is_session_name};

use super::list::HOSTS;

/// The session of a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostSession {
    /// The host's name, as in `mw setup`.
    pub host: &'static str,
    /// The host's id of the session.
    pub id: String,
}

/// How a host identifies its session.
pub(super) struct Identity {
    /// The variable with the session, for its server.
    pub(super) session_variable: Option<&'static str>,
    /// The variable with the project's directory.
    pub(super) project_variable: Option<&'static str>,
    /// The fields of a call's `_meta` that name the session. The first one present is used.
    pub(super) call_fields: &'static [&'static str],
}

impl Identity {
    /// No identification.
    pub(super) const NONE: Self = Self { session_variable: None, project_variable: None, call_fields: &[] };
}

/// What is known about the session of a process or message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionEvidence {
    /// `MEANWHILE_SESSION`.
    pub meanwhile_session: Option<String>,
    /// The host's own session.
    pub host_session: Option<HostSession>,
    /// The project's directory, absolute and without links.
    pub project: PathBuf,
    /// Whether messages cannot change `meanwhile_session`: a server inside a task acts for the task's session.
    pub is_bound: bool,
}

impl SessionEvidence {
    /// Reads the environment. If a message names the host's session, set [`SessionEvidence::host_session`].
    pub fn from_environment(variable: impl Fn(&str) -> Option<String>, directory: &Path) -> Self {
        let variable = |name| variable(name).filter(|value| !value.is_empty());
        let host_session = HOSTS.iter().find_map(|host| {
            let id = host.identity.session_variable.and_then(variable)?;
            Some(HostSession { host: host.id, id })
        });
        let project = HOSTS.iter().find_map(|host| host.identity.project_variable.and_then(variable));
        Self {
            meanwhile_session: variable("MEANWHILE_SESSION"),
            host_session,
            project: project.map_or_else(|| directory.to_owned(), PathBuf::from),
            is_bound: false,
        }
    }

    /// Adds what a call says; `field` returns a field of its `_meta`.
    pub(crate) fn of_call(mut self, field: impl Fn(&str) -> Option<String>) -> Self {
        let named = HOSTS.iter().find_map(|host| {
            let id = host.identity.call_fields.iter().find_map(|name| field(name))?;
            Some(HostSession { host: host.id, id })
        });
        self.host_session = named.or(self.host_session);
        self
    }
}

/// Returns the name of the session.
#[must_use]
pub fn session_of(evidence: &SessionEvidence) -> String {
    if let Some(session) = &evidence.meanwhile_session {
        return session.clone();
    }
    match &evidence.host_session {
        Some(session) => usable(&format!("{}:{}", session.host, session.id)),
        None => usable(&format!("{PROJECT_SESSION}{}", evidence.project.display())),
    }
}

/// Makes a name short and printable, and keeps it unique.
fn usable(name: &str) -> String {
    if is_session_name(name) {
        return name.to_owned();
    }
    let hash = fnv1a(name.as_bytes());
    let printable = name.chars().map(|c| if c.is_control() { '?' } else { c });
    let mut short = String::new();
    for c in printable {
        if short.len() + c.len_utf8() + 17 > LONGEST_SESSION_NAME {
            break;
        }
        short.push(c);
    }
    format!("{short}-{hash:016x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(variables: &[(&str, &str)], directory: &str) -> String {
        let variable = |name: &str| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        };
        session_of(&SessionEvidence::from_environment(variable, Path::new(directory)))
    }

    #[test]
    fn the_session_of_the_user_takes_precedence_over_host_and_project() {
        let all = [
            ("MEANWHILE_SESSION", "mine"),
            ("CLAUDE_CODE_SESSION_ID", "4f2"),
            ("CLAUDE_PROJECT_DIR", "/shop"),
        ];
        assert_eq!(named(&all, "/"), "mine");
        assert_eq!(named(&all[1..], "/"), "claude-code:4f2");
        assert_eq!(named(&all[2..], "/"), "project:/shop");
        assert_eq!(named(&[], "/elsewhere"), "project:/elsewhere");
        assert_eq!(named(&[("MEANWHILE_SESSION", ""), ("CLAUDE_CODE_SESSION_ID", "")], "/x"), "project:/x");
    }

    #[test]
    fn a_hook_and_a_server_of_one_host_have_the_same_session() {
        let server = named(&[("CLAUDE_CODE_SESSION_ID", "4f2")], "/shop");
        let host_session = HostSession { host: "claude-code", id: "4f2".to_owned() };
        let hook = SessionEvidence {
            host_session: Some(host_session),
            project: "/shop/deep".into(),
            ..SessionEvidence::default()
        };
        assert_eq!(session_of(&hook), server);
    }

    #[test]
    fn every_project_has_a_distinct_valid_session_name() {
        let long = |end: &str| named(&[], &format!("/{}{end}", "ä".repeat(150)));
        for name in [long("a"), long("b"), named(&[], "/line\nend")] {
            assert!(is_session_name(&name), "{name}");
        }
        assert_ne!(long("a"), long("b"));
        assert_ne!(named(&[], "/line\nend"), named(&[], "/line\rend"));
    }
}
