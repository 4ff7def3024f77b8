//! The API of Docker and Podman.

use std::env;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use mw_model::ContainerPlace;
use serde_json::{Value, json};

use super::http::{HttpResponse, Request, send};
use crate::error::{PlaceError, Result};

/// The version of the API that both engines have.
const VERSION: &str = "/v1.41";
/// How long a short request may take.
const TIMEOUT: Duration = Duration::from_secs(60);
/// The usual sockets.
const SOCKETS: [&str; 3] = ["/var/run/docker.sock", "/run/podman/podman.sock", "/run/docker.sock"];

/// An engine.
#[derive(Clone)]
pub(super) struct Engine {
    socket: PathBuf,
}

/// The state of a container.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ContainerState {
    pub(super) status: String,
    pub(super) exit_code: i32,
    pub(super) oom_killed: bool,
    /// The memory limit that it was made with.
    pub(super) memory: Option<u64>,
}

impl Engine {
    /// The engine of a place: that of its socket, of `DOCKER_HOST`, or the one at a usual socket.
    pub(super) fn of(place: &ContainerPlace) -> Self {
        let strip = |path: String| path.strip_prefix("unix://").map_or(path.clone(), str::to_owned);
        let chosen = place.socket.clone().or_else(|| env::var("DOCKER_HOST").ok()).map(strip);
        let own = env::var("XDG_RUNTIME_DIR").ok().map(|dir| format!("{dir}/podman/podman.sock"));
        let usual =
            || own.into_iter().chain(SOCKETS.map(str::to_owned)).find(|path| Path::new(path).exists());
        let socket = chosen.or_else(usual).unwrap_or_else(|| SOCKETS[0].to_owned());
        Self { socket: socket.into() }
    }

    fn unreachable(&self, error: &io::Error) -> PlaceError {
        PlaceError::Unreachable(format!("the container engine at {}: {error}", self.socket.display()))
    }

    fn send(&self, method: &str, path: &str, body: Option<&Value>) -> Result<HttpResponse> {
        let path = format!("{VERSION}{path}");
        let request = Request { method, path: &path, body, upgrade: false, timeout: Some(TIMEOUT) };
        send(&self.socket, &request).map_err(|error| self.unreachable(&error))
    }

    /// Sends a request and reads the answer as JSON.
    fn ask(&self, method: &str, path: &str, body: Option<&Value>) -> Result<(u16, Value)> {
        let answer = self.send(method, path, body)?;
        let status = answer.status;
        let body = answer.body().map_err(|error| self.unreachable(&error))?;
        Ok((status, serde_json::from_slice(&body).unwrap_or(Value::Null)))
    }

    /// Returns the name and version of the engine.
    pub(super) fn version(&self) -> Result<String> {
        let (_, version) = self.ask("GET", "/version", None)?;
        let name = if is_podman(&version) { "Podman" } else { "Docker" };
        Ok(format!("{name} {}", version["Version"].as_str().unwrap_or("of unknown version")))
    }

    /// Returns whether the engine is Podman; false if it does not answer.
    pub(super) fn is_podman(&self) -> bool {
        self.ask("GET", "/version", None).is_ok_and(|(_, version)| is_podman(&version))
    }

    pub(super) fn has_image(&self, image: &str) -> Result<bool> {
        Ok(self.ask("GET", &format!("/images/{image}/json"), None)?.0 == 200)
    }

    /// Pulls an image.
    pub(super) fn pull(&self, image: &str) -> Result<()> {
        let path = format!("{VERSION}/images/create?fromImage={}", encoded(&with_tag(image)));
        let request = Request { method: "POST", path: &path, body: None, upgrade: false, timeout: None };
        let answer = send(&self.socket, &request).map_err(|error| self.unreachable(&error))?;
        let status = answer.status;
        let mut report = String::new();
        answer.into_body().read_to_string(&mut report).map_err(|error| self.unreachable(&error))?;
        // Failures are in the report, too.
        let failure = report.lines().find_map(|line| {
            let line: Value = serde_json::from_str(line).ok()?;
            Some(line["error"].as_str().or_else(|| line["message"].as_str())?.to_owned())
        });
        match failure {
            None if status < 300 => Ok(()),
            failure => {
                let why = failure.unwrap_or_else(|| format!("status {status}"));
                Err(PlaceError::Refused(format!("cannot pull the image {image}: {why}")))
            }
        }
    }

    /// Makes a container, or finds the one that has this name. Returns its id.
    pub(super) fn create(&self, name: &str, container: &Value) -> Result<std::result::Result<String, u16>> {
        let (status, answer) =
            self.ask("POST", &format!("/containers/create?name={name}"), Some(container))?;
        let id = |answer: &Value| answer["Id"].as_str().map(str::to_owned);
        match status {
            201 => id(&answer).map(Ok).ok_or_else(|| refused("a container", status, &answer)),
            404 => Ok(Err(404)),
            // Podman answers 500 for a name that is taken.
            _ => match self.ask("GET", &format!("/containers/{name}/json"), None)? {
                (200, known) => id(&known).map(Ok).ok_or_else(|| refused("a container", status, &answer)),
                _ if is_missing_image(&answer) => Ok(Err(404)),
                // The request of a driver that was killed is still being carried out.
                _ if status == 409 => Err(PlaceError::Unreachable(failure("a container", status, &answer))),
                _ => Err(refused("a container", status, &answer)),
            },
        }
    }

    pub(super) fn start(&self, id: &str) -> Result<()> {
        match self.ask("POST", &format!("/containers/{id}/start"), None)? {
            (204 | 304 | 200, _) => Ok(()),
            (status, answer) => Err(refused("the start of the container", status, &answer)),
        }
    }

    /// Returns the state of a container; nothing if it does not exist.
    pub(super) fn inspect(&self, id: &str) -> Result<Option<ContainerState>> {
        let (status, found) = self.ask("GET", &format!("/containers/{id}/json"), None)?;
        match status {
            200 => {
                let state = &found["State"];
                let code = state["ExitCode"].as_i64().and_then(|code| i32::try_from(code).ok());
                Ok(Some(ContainerState {
                    status: state["Status"].as_str().unwrap_or_default().to_owned(),
                    exit_code: code.unwrap_or(-1),
                    oom_killed: state["OOMKilled"].as_bool().unwrap_or(false),
                    memory: found["HostConfig"]["Memory"].as_u64().filter(|limit| *limit > 0),
                }))
            }
            404 => Ok(None),
            _ => Err(PlaceError::Unreachable(failure("the container", status, &found))),
        }
    }

    /// Sends a signal to the first process of a container. One that does not run needs none.
    pub(super) fn kill(&self, id: &str, signal: i32) -> Result<()> {
        match self.ask("POST", &format!("/containers/{id}/kill?signal={signal}"), None)? {
            (204 | 200 | 404 | 409, _) => Ok(()),
            (status, answer) => Err(PlaceError::Unreachable(failure("the signal", status, &answer))),
        }
    }

    pub(super) fn remove(&self, id: &str) -> Result<()> {
        self.ask("DELETE", &format!("/containers/{id}?force=true&v=true"), None).map(|_| ())
    }

    /// Returns the ids and labels of the containers with a label that do not run.
    pub(super) fn ended_with_label(&self, label: &str) -> Result<Vec<(String, Value)>> {
        let filters = json!({"label": [label], "status": ["exited", "created", "dead"]}).to_string();
        let path = format!("/containers/json?all=true&filters={}", encoded(&filters));
        let (_, found) = self.ask("GET", &path, None)?;
        let listed = found.as_array().cloned().unwrap_or_default().into_iter();
        Ok(listed.filter_map(|it| Some((it["Id"].as_str()?.to_owned(), it["Labels"].clone()))).collect())
    }

    /// Waits until a container does not run any more. A broken connection ends the wait, too.
    pub(super) fn wait(&self, id: &str) {
        let path = format!("{VERSION}/containers/{id}/wait");
        let request = Request { method: "POST", path: &path, body: None, upgrade: false, timeout: None };
        let _ = send(&self.socket, &request).and_then(HttpResponse::body);
    }

    /// Executes a shell in a container. Returns the connection to it.
    pub(super) fn shell_in(&self, container: &str, user: Option<&str>) -> Result<HttpResponse> {
        let mut exec = json!({
            "AttachStdin": true, "AttachStdout": true, "AttachStderr": true, "Cmd": ["/bin/sh", "-s"],
        });
        if let Some(user) = user {
            exec["User"] = json!(user);
        }
        let (status, answer) = self.ask("POST", &format!("/containers/{container}/exec"), Some(&exec))?;
        let Some(id) = answer["Id"].as_str().filter(|_| status == 201) else {
            return Err(PlaceError::Unreachable(failure(
                &format!("the container {container}"),
                status,
                &answer,
            )));
        };
        let (path, body) = (format!("{VERSION}/exec/{id}/start"), json!({"Detach": false, "Tty": false}));
        let request =
            Request { method: "POST", path: &path, body: Some(&body), upgrade: true, timeout: None };
        let answer = send(&self.socket, &request).map_err(|error| self.unreachable(&error))?;
        match answer.status {
            101 | 200 => Ok(answer),
            status => {
                let body = answer.body().map_err(|error| self.unreachable(&error))?;
                let answer = serde_json::from_slice(&body).unwrap_or(Value::Null);
                Err(PlaceError::Unreachable(failure("the shell in the container", status, &answer)))
            }
        }
    }
}

/// Returns an image with a tag: without one, the engine would pull all of them.
fn with_tag(image: &str) -> String {
    let name = image.rsplit('/').next().unwrap_or(image);
    if name.contains([':', '@']) { image.to_owned() } else { format!("{image}:latest") }
}

fn is_podman(version: &Value) -> bool {
    version["Components"][0]["Name"].as_str().is_some_and(|name| name.starts_with("Podman"))
}

fn is_missing_image(answer: &Value) -> bool {
    let message = answer["message"].as_str().unwrap_or_default();
    message.contains("no such image")
        || message.contains("No such image")
        || message.contains("image not known")
}

fn failure(what: &str, status: u16, answer: &Value) -> String {
    match answer["message"].as_str() {
        Some(message) => format!("{what}: {}", message.trim()),
        None => format!("{what}: the engine answered with status {status}"),
    }
}

fn refused(what: &str, status: u16, answer: &Value) -> PlaceError {
    PlaceError::Refused(failure(what, status, answer))
}

/// Encodes a value of a query.
fn encoded(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'/');
    let one = |byte: u8| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    text.bytes().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_tag_is_pulled() {
        assert_eq!(with_tag("node"), "node:latest");
        assert_eq!(with_tag("box:5000/me/node"), "box:5000/me/node:latest");
        for whole in ["node:22", "box:5000/node:22", "node@sha256:0123"] {
            assert_eq!(with_tag(whole), whole);
        }
    }
}
