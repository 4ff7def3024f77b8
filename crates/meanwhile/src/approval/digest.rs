//! The digest that binds an approval to command, directory, environment, limits and repetition. None of them can change between
//! the request and the start.

use mw_model::approval::Digest;
use mw_model::{
    CommandSpec, EnvVar, Io, Lifetime, Limits, Place, RawText, Repeat, RestartPolicy, TRACEPARENT_VARIABLE,
    TaskGrant, TaskKind, TaskSpec, TraceParent,
};
use serde::Serialize;
use sha2::{Digest as _, Sha256};

use crate::request::TaskRequest;
use crate::variables::is_reserved;

/// Returns whether an approval binds a variable. All variables are bound except reserved ones, which every start sets
/// anew, and a valid name of the caller's span, which differs from call to call only in its digits.
fn is_bound(var: &EnvVar) -> bool {
    let is_parent = || var.name.as_bytes() == TRACEPARENT_VARIABLE.as_bytes();
    let is_span = || is_parent() && var.value.to_lossy().parse::<TraceParent>().is_ok();
    !is_reserved(var) && !is_span()
}

/// Everything that an approval binds. The session is not bound, because a queued task may be reassigned; a proposal
/// has its own.
#[derive(Serialize)]
struct Bound<'a> {
    kind: TaskKind,
    command: &'a CommandSpec,
    cwd: &'a RawText,
    env: Vec<&'a EnvVar>,
    umask: u32,
    io: Io,
    limits: &'a Limits,
    lifetime: Lifetime,
    /// A back-end of the configuration; absent for other places, as in digests of earlier builds.
    #[serde(skip_serializing_if = "Option::is_none")]
    place: Option<&'a Place>,
    #[serde(skip_serializing_if = "Option::is_none")]
    grant: Option<&'a TaskGrant>,
    /// That it runs again. When it starts is not bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    restart: Option<RestartPolicy>,
    #[serde(skip_serializing_if = "Option::is_none")]
    repeat: Option<&'a Repeat>,
}

impl Bound<'_> {
    fn digest(mut self) -> Digest {
        self.env.retain(|var| is_bound(var));
        // An approval only distinguishes detached tasks from all others.
        if self.lifetime != Lifetime::Detached {
            self.lifetime = Lifetime::Session;
        }
        self.env.sort_by(|a, b| a.name.as_bytes().cmp(b.name.as_bytes()));
        digest_of(&self)
    }
}

/// Returns the digest of a serialisable value.
pub(super) fn digest_of(bound: &impl Serialize) -> Digest {
    // Only maps with unusual keys cannot be serialised, and there are none.
    let written = serde_json::to_vec(bound).unwrap_or_default();
    Digest(Sha256::digest(&written).iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Returns the place if the approval is for it. The others are this machine, with nothing but the grant.
fn bound_place(place: &Place) -> Option<&Place> {
    match place {
        Place::Process | Place::Mock => None,
        Place::Sandbox | Place::Backend(_) => Some(place),
    }
}

/// Returns the digest of a request.
pub(crate) fn digest_of_request(request: &TaskRequest) -> Digest {
    let cwd = RawText::from(std::os::unix::ffi::OsStrExt::as_bytes(request.cwd.as_os_str()));
    let bound = Bound {
        kind: request.kind,
        command: &request.command,
        cwd: &cwd,
        env: request.env.iter().collect(),
        umask: request.umask,
        io: request.io,
        limits: &request.limits,
        lifetime: request.lifetime,
        place: bound_place(&request.place),
        grant: request.grant.as_ref(),
        restart: request.schedule.restart,
        repeat: request.schedule.repeat.as_ref(),
    };
    bound.digest()
}

/// Returns the digest of a stored spec.
pub(crate) fn digest_of_spec(spec: &TaskSpec) -> Digest {
    let bound = Bound {
        kind: spec.kind,
        command: &spec.command,
        cwd: &spec.cwd,
        env: spec.env.iter().collect(),
        umask: spec.umask,
        io: spec.io,
        limits: &spec.limits,
        lifetime: spec.lifetime,
        place: bound_place(&spec.place),
        grant: spec.grant.as_deref(),
        restart: spec.schedule.as_ref().and_then(|schedule| schedule.restart),
        repeat: spec.schedule.as_ref().and_then(|schedule| schedule.repeat.as_ref()),
    };
    bound.digest()
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use mw_model::{Due, RestartWhen, Timestamp};

    use super::*;

    fn var(name: &str, value: &str) -> EnvVar {
        EnvVar { name: name.into(), value: value.into() }
    }

    fn request() -> TaskRequest {
        let command = CommandSpec::Shell { program: "/bin/sh".into(), script: "rm x".into() };
        TaskRequest::new("s", command, PathBuf::from("/p"), vec![var("A", "1"), var("B", "2")])
    }

    #[test]
    fn every_bound_field_and_variable_changes_the_digest() {
        type Edit = fn(&mut TaskRequest);
        let original = digest_of_request(&request());
        let edits: [Edit; 16] = [
            |it| it.command = CommandSpec::Argv(vec!["rm".into(), "x".into()]),
            |it| it.cwd = PathBuf::from("/q"),
            |it| it.env[0].value = "3".into(),
            |it| it.env.push(var("LD_PRELOAD", "x")),
            |it| it.limits.run_timeout_ms = Some(1),
            |it| it.umask = 0,
            |it| it.grant = Some(TaskGrant::default()),
            |it| it.io = Io::Stdin,
            |it| it.schedule.restart = Some(RestartPolicy { when: RestartWhen::Always, retries: None }),
            |it| {
                let due = Due::Every { every_ms: 1000 };
                it.schedule.repeat = Some(Repeat { due, notify_each: false });
            },
            |it| it.lifetime = Lifetime::Detached,
            |it| it.env.push(var("OLDPWD", "/tmp")),
            |it| it.env.push(var("_", "/tmp")),
            |it| it.env.push(var("SHLVL", "/tmp")),
            |it| it.env.push(var("TRACEPARENT", "/tmp")),
            |it| it.env.push(var("TRACESTATE", "/tmp")),
        ];
        for (at, edit) in edits.into_iter().enumerate() {
            let mut changed = request();
            edit(&mut changed);
            assert_ne!(digest_of_request(&changed), original, "edit {at}");
        }
    }

    #[test]
    fn order_reserved_variables_and_description_do_not_change_the_digest() {
        let mut same = request();
        same.env.reverse();
        same.schedule.not_before = Some(Timestamp::default());
        same.env.push(var("MEANWHILE_TASK_ID", "bash-00000000"));
        same.env.push(var("TRACEPARENT", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"));
        same.description = Some("for people".to_owned());
        assert_eq!(digest_of_request(&same), digest_of_request(&request()));
    }
}
