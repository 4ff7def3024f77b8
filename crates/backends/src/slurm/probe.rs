//! Whether tasks can run on the cluster now.

use std::collections::BTreeSet;
use std::fs;
use std::process::Stdio;

use mw_model::SlurmPlace;

use super::shared::state_of;
use super::tools;
use crate::error::{PlaceError, Result};

/// Checks whether the cluster answers, has the partition, and this machine can write to the shared directory.
pub(crate) fn probe(place: &SlurmPlace) -> Result<String> {
    let run = |program: &str, words: &[String]| tools::run(program, words, Stdio::null());
    let version = run("sbatch", &["--version".to_owned()])?;
    let mut words = vec!["--noheader".to_owned(), "--Node".to_owned(), "--format=%N|%a".to_owned()];
    words.extend(place.partition.iter().map(|name| format!("--partition={name}")));
    let listed = run("sinfo", &words)?;
    let parts: Vec<_> = listed.lines().filter_map(|line| line.trim().split_once('|')).collect();
    // A node may be in several partitions.
    let nodes = parts.iter().map(|(node, _)| node).collect::<BTreeSet<_>>().len();
    let what =
        place.partition.as_ref().map_or_else(|| "the cluster".to_owned(), |name| format!("partition {name}"));
    if parts.is_empty() {
        return Err(PlaceError::Refused(format!("the cluster has no {what}")));
    }
    if parts.iter().all(|(_, state)| *state != "up") {
        return Err(PlaceError::Refused(format!("{what} is not up")));
    }
    let state = state_of(place)?;
    fs::create_dir_all(&state).map_err(|error| {
        PlaceError::Refused(format!(
            "cannot write to {}, which the nodes must share: {error}",
            state.display()
        ))
    })?;
    let version = version.trim().replace("slurm-wlm", "slurm").replace("slurm", "Slurm");
    Ok(format!("{version}, {nodes} nodes in {what}"))
}
