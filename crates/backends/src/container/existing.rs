//! Tasks in a container that is there already.

use std::io;
use std::net::Shutdown;
use std::os::unix::net::UnixStream;

use mw_model::ContainerPlace;
use mw_model::wire::PlaceEnd;

use super::engine::Engine;
use super::stream::StdoutOf;
use crate::driver::{Attempt, Job, Output, Signals};
use crate::error::{PlaceError, Result};
use crate::far::{Connection, FarSide, Transport};

/// Where the files of tasks are in the container.
const STATE: &str = "/tmp/meanwhile-tasks";

/// An existing container.
pub(super) struct ExistingContainer {
    shells: Shells,
    place: ContainerPlace,
}

impl ExistingContainer {
    pub(super) fn new(place: &ContainerPlace, container: &str) -> Self {
        let (container, user) = (container.to_owned(), place.user.clone());
        Self { shells: Shells { engine: Engine::of(place), container, user }, place: place.clone() }
    }

    fn far_side(&self) -> FarSide<'_, Shells> {
        FarSide {
            transport: &self.shells,
            state: self.place.state.as_deref().unwrap_or(STATE),
            directory: self.place.directory.as_deref(),
        }
    }

    pub(super) fn probe(&self) -> Result<()> {
        self.far_side().probe()
    }
}

impl Attempt for ExistingContainer {
    fn attempt(&mut self, job: &mut Job, output: &mut Output, signals: &Signals) -> Result<PlaceEnd> {
        let error = match self.far_side().attempt(job, output, signals) {
            Err(PlaceError::Unreachable(why)) if job.is_resumed() => why,
            other => return other,
        };
        // All processes of a container end with it.
        let (engine, name) = (&self.shells.engine, &self.shells.container);
        match engine.inspect(name)? {
            None => Err(PlaceError::Lost(format!("the container {name} was removed"))),
            Some(state) if state.status != "running" && state.status != "paused" => Err(PlaceError::Lost(
                format!("the container {name} is not running any more ({})", state.status),
            )),
            Some(_) => Err(PlaceError::Unreachable(error)),
        }
    }

    fn clean_up(&mut self, job: &mut Job) {
        self.far_side().clean_up(job);
    }
}

/// Shells in the container.
struct Shells {
    engine: Engine,
    container: String,
    user: Option<String>,
}

impl Transport for Shells {
    fn open(&self) -> Result<Connection> {
        let answer = self.engine.shell_in(&self.container, self.user.as_deref())?;
        let failed =
            |error: io::Error| PlaceError::Unreachable(format!("the shell in the container: {error}"));
        let input = answer.reader.get_ref().try_clone().map_err(failed)?;
        let guard = Closing(input.try_clone().map_err(failed)?);
        Ok(Connection {
            input: Box::new(input),
            output: Box::new(StdoutOf::new(answer.reader)),
            diagnosis: Box::new(|| None),
            _guard: Box::new(guard),
        })
    }
}

/// A connection that is closed in both directions when this is dropped.
struct Closing(UnixStream);

impl Drop for Closing {
    fn drop(&mut self) {
        let _ = self.0.shutdown(Shutdown::Both);
    }
}
