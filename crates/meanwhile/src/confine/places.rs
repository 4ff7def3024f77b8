//! Directories and devices that confined commands may change.

use std::path::{Path, PathBuf};

use mw_model::NetworkGrant;

use super::list::real;
use crate::approval::{TEMPORARY, is_temporary};

/// Devices that any program may use: those that hold nothing, terminals, and processors for computing.
const DEVICES: [&str; 22] = [
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
    "/dev/tty",
    "/dev/ptmx",
    "/dev/pts",
    "/dev/kvm",
    "/dev/kfd",
    "/dev/dri",
    "/dev/nvidiactl",
    "/dev/nvidia-uvm",
    "/dev/nvidia-uvm-tools",
    "/dev/nvidia0",
    "/dev/nvidia1",
    "/dev/nvidia2",
    "/dev/nvidia3",
    "/dev/nvidia4",
    "/dev/nvidia5",
    "/dev/nvidia6",
    "/dev/nvidia7",
];

/// Caches in the home directory that builds write to even if they fetch nothing. They hold what can be made again.
const BUILD_CACHES: [&str; 6] = [".cache", ".gradle", ".sbt", ".ivy2", ".ccache", ".npm"];

/// Stores of fetched packages in the home directory. They can be changed only by commands with the network, which fetch.
const PACKAGE_STORES: [&str; 18] = [
    ".cargo/registry",
    ".cargo/git",
    ".cargo/.package-cache",
    ".cargo/.package-cache-mutate",
    ".cargo/.global-cache",
    ".m2/repository",
    "go/pkg",
    ".nuget/packages",
    ".local/share/pnpm/store",
    ".local/share/NuGet",
    ".pnpm-store",
    ".yarn/berry",
    ".bun/install/cache",
    ".deno",
    ".composer/cache",
    ".pub-cache",
    ".hex",
    ".conda/pkgs",
];

/// Stores that a first fetch makes, if their parent exists. Empty ones are made before, so that they can be granted.
const MADE: [&str; 2] = [".cargo/registry", ".cargo/git"];

pub(super) fn temporary(variable: Option<&Path>, home: Option<&Path>) -> Vec<PathBuf> {
    let own = variable.and_then(real).filter(|path| is_temporary(path, home));
    TEMPORARY.iter().filter_map(|path| real(Path::new(path))).chain(own).collect()
}

pub(super) fn devices() -> Vec<PathBuf> {
    DEVICES.iter().map(Path::new).filter(|path| path.exists()).map(Path::to_owned).collect()
}

/// Returns the caches that a build in a project writes to.
pub(super) fn caches(home: &Path, network: NetworkGrant) -> Vec<PathBuf> {
    let fetches = network == NetworkGrant::Full;
    // Many tools fail if they cannot make it.
    let _ = std::fs::create_dir(home.join(".cache"));
    if fetches {
        for made in MADE {
            // If its parent is missing, so is the program that would use it.
            let _ = std::fs::create_dir(home.join(made));
        }
    }
    let stores: &[&str] = if fetches { &PACKAGE_STORES } else { &[] };
    BUILD_CACHES.iter().chain(stores).filter_map(|inside| real(&home.join(inside))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_temporary_directory_of_a_command_is_only_used_if_it_looks_like_one() {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| {
            let path = place.path().join(name);
            std::fs::create_dir_all(&path).unwrap();
            std::fs::canonicalize(path).unwrap()
        };
        let home = at("home");
        assert!(temporary(Some(&at("scratch")), Some(&home)).contains(&at("scratch")));
        for wrong in [at("home/tmp"), home.clone(), PathBuf::from("/etc"), PathBuf::from("/")] {
            assert!(!temporary(Some(&wrong), Some(&home)).contains(&wrong), "{}", wrong.display());
        }
    }

    #[test]
    fn stores_of_packages_are_for_commands_that_fetch() {
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir(home.path().join(".cargo")).unwrap();
        let names = |network| {
            let home = std::fs::canonicalize(home.path()).unwrap();
            let found = caches(&home, network);
            found
                .iter()
                .map(|path| path.strip_prefix(&home).unwrap().display().to_string())
                .collect::<Vec<_>>()
        };
        assert_eq!(names(NetworkGrant::None), [".cache"]);
        assert_eq!(names(NetworkGrant::Full), [".cache", ".cargo/registry", ".cargo/git"]);
    }
}
