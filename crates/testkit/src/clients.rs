//! Clients of protocols that nobody here wrote. `cargo xtask clients` fetches them.

use std::path::PathBuf;

/// Where they are, if not beside what cargo builds.
const PLACE: &str = "MW_TEST_CLIENTS";

/// The clients that were fetched.
pub struct Clients {
    place: PathBuf,
}

/// Finds the clients; says that `what` is not tested where there are none. `cargo xtask check` says it, too.
#[must_use]
pub fn found(what: &str) -> Option<Clients> {
    let built = || {
        let here = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../target");
        std::env::var_os("CARGO_TARGET_DIR").map_or(here, PathBuf::from).join("clients")
    };
    let place = std::env::var_os(PLACE).map_or_else(built, PathBuf::from);
    if place.join("ready").is_file() {
        return Some(Clients { place });
    }
    eprintln!("NOT TESTED: {what}; `cargo xtask clients` fetches what it needs");
    None
}

impl Clients {
    /// Returns the Python that has the clients' libraries.
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
