//! The back-end of one run, over `ssh`.

use mw_model::SshPlace;
use mw_model::wire::PlaceEnd;

use super::client::SshClient;
use crate::driver::{Job, Output, Signals};
use crate::error::Result;
use crate::far::FarSide;

/// The back-end of one run.
pub(crate) struct SshBackend {
    client: SshClient,
    place: SshPlace,
}

impl SshBackend {
    pub(crate) fn new(place: &SshPlace, job: &Job) -> Self {
        Self { client: SshClient::new(place, Some(job.spec.id.as_str())), place: place.clone() }
    }

    fn far_side(&self) -> FarSide<'_, SshClient> {
        FarSide {
            transport: &self.client,
            state: self.place.state.as_deref().unwrap_or_default(),
            directory: self.place.directory.as_deref(),
        }
    }
}

impl crate::driver::Attempt for SshBackend {
    fn attempt(&mut self, job: &mut Job, output: &mut Output, signals: &Signals) -> Result<PlaceEnd> {
        self.far_side().attempt(job, output, signals)
    }

    fn clean_up(&mut self, job: &mut Job) {
        self.far_side().clean_up(job);
    }
}

/// Checks whether a shell on the machine can be reached.
pub(crate) fn probe(place: &SshPlace) -> Result<()> {
    let client = SshClient::new(place, None);
    let far_side = FarSide { transport: &client, state: "", directory: None };
    far_side.probe()
}
