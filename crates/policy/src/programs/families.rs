//! The families of programs. A new family is a file next to this one and a row here.

use super::{
    Call, always_ask, archives, awk, builds, builtins, curl, find, git, interpreters, network, packages,
    reads, searches, sed, services, wrappers, writes,
};
use crate::judge::Judge;

/// Analyses a call if the program belongs to the family; returns whether it does.
pub(super) type Family = fn(&mut Judge<'_>, &Call<'_>) -> bool;

/// Every family, the most frequent first.
pub(super) const FAMILIES: [Family; 17] = [
    reads::judge,
    searches::judge,
    builtins::judge,
    git::judge,
    builds::judge,
    writes::judge,
    find::judge,
    sed::judge,
    awk::judge,
    wrappers::judge,
    interpreters::judge,
    curl::judge,
    network::judge,
    archives::judge,
    packages::judge,
    services::judge,
    always_ask::judge,
];
