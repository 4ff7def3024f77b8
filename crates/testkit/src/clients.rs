//! Third-party clients of protocols. `cargo xtask clients` installs them.

use std::path::PathBuf;

use crate::needs::{Need, skip};

/// The variable with their directory, if that is not in the target directory.
const PLACE: &str = "MW_TEST_CLIENTS";

/// The installed clients.
pub struct Clients {
    place: PathBuf,
}

/// Finds the clients; without them the test is skipped.
#[must_use]
pub fn found() -> Clients {
    let built = || {
        let here = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../target");
        std::env::var_os("CARGO_TARGET_DIR").map_or(here, PathBuf::from).join("clients")
    };
    let place = std::env::var_os(PLACE).map_or_else(built, PathBuf::from);
    if place.join("ready").is_file() {
        return Clients { place };
    }
    skip(Need::Clients, &format!("{} is not complete", place.display()))
}

impl Clients {
    /// Returns the Python interpreter with the libraries of the clients.
    #[must_use]
    pub fn python(&self) -> PathBuf {
        self.place.join("venv/bin/python3")
    }

    /// Returns Node.js.
    #[must_use]
    pub fn node(&self) -> PathBuf {
        self.place.join("venv/bin/node")
    }

    /// Returns a file of a package.
    #[must_use]
    pub fn package(&self, path: &str) -> PathBuf {
        self.place.join("node_modules").join(path)
    }
}
