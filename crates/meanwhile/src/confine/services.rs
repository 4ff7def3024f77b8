//! Sockets of services that act for the user. A command that can connect to one can escape its confinement.

use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use mw_model::wire::{SERVER_SOCKETS, SERVICE_SOCKETS};

use super::list::real;

/// Sockets and directories of sockets of services of the system.
const OF_SYSTEM: [&str; 14] = [
    "/run/docker.sock",
    "/run/docker",
    "/run/containerd",
    "/run/podman",
    "/run/crio",
    "/run/buildkit",
    "/run/dbus",
    "/run/systemd/private",
    "/run/snapd.socket",
    "/run/snapd-snap.socket",
    "/run/libvirt",
    "/run/screen",
    "/run/tmux",
    "/run/cups",
];

/// Beginnings of names of directories with sockets among the temporary files: terminal multiplexers, key agents, screens.
const IN_TEMPORARY: [&str; 5] = ["tmux-", "ssh-", ".X11-unix", ".ICE-unix", "gpg-"];

/// The most entries of a temporary directory that are looked at.
const MOST_ENTRIES: usize = 4000;

/// Returns the sockets that must not be reached.
pub(super) fn found(agent: Option<&Path>) -> Vec<PathBuf> {
    let of_user = PathBuf::from(format!("/run/user/{}", rustix::process::geteuid().as_raw()));
    let known = OF_SYSTEM
        .iter()
        .map(PathBuf::from)
        .chain([of_user])
        .chain(agent.filter(|it| is_socket(it)).map(Path::to_owned));
    known.filter_map(|path| real(&path)).chain(in_temporary(Path::new("/tmp"))).collect()
}

/// Returns the sockets of all programs that can be connected to now, but for those of services and servers, and those in these directories.
/// A command with the network could reach them: its connections are not checked.
pub(super) fn of_other_programs(own: &[&Path]) -> Vec<PathBuf> {
    let table = fs::read("/proc/net/unix").unwrap_or_default();
    let known = SERVICE_SOCKETS.iter().chain(&SERVER_SOCKETS).filter_map(|path| real(Path::new(path)));
    let kept: Vec<PathBuf> = known.chain(own.iter().map(|path| path.to_path_buf())).collect();
    let mut found: Vec<PathBuf> = String::from_utf8_lossy(&table)
        .lines()
        .filter_map(|line| line.split_once('/'))
        .filter_map(|(_, path)| real(&Path::new("/").join(path)))
        .filter(|path| is_socket(path) && !kept.iter().any(|kept| path.starts_with(kept)))
        .collect();
    found.sort();
    found.dedup();
    found
}

fn is_socket(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|about| about.file_type().is_socket())
}

/// Only those that exist before the task: those that it makes itself are its own.
fn in_temporary(directory: &Path) -> Vec<PathBuf> {
    let own = rustix::process::geteuid().as_raw();
    let entries = fs::read_dir(directory).into_iter().flatten().flatten().take(MOST_ENTRIES);
    let holds_sockets = |entry: &fs::DirEntry| match entry.file_type() {
        Ok(kind) if kind.is_socket() => true,
        Ok(kind) if kind.is_dir() => {
            let name = entry.file_name();
            let known = IN_TEMPORARY.iter().any(|begin| name.to_string_lossy().starts_with(begin));
            known && entry.metadata().is_ok_and(|about| about.uid() == own || about.uid() == 0)
        }
        Ok(_) | Err(_) => false,
    };
    entries.filter(holds_sockets).map(|entry| entry.path()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sockets_of_other_programs_are_found_but_for_those_of_the_project() {
        let place = tempfile::tempdir().unwrap();
        let top = fs::canonicalize(place.path()).unwrap();
        let project = top.join("project");
        fs::create_dir(&project).unwrap();
        let bound = [top.join("with space"), project.join("s")].map(|path| {
            let socket = std::os::unix::net::UnixListener::bind(&path).unwrap();
            (path, socket)
        });
        let found = of_other_programs(&[&project]);
        assert!(found.contains(&bound[0].0) && !found.contains(&bound[1].0), "{found:?}");
    }

    #[test]
    fn sockets_among_temporary_files_are_found() {
        let place = tempfile::tempdir().unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(place.path().join("s")).unwrap();
        for name in ["tmux-1000", "other"] {
            fs::create_dir(place.path().join(name)).unwrap();
        }
        let mut found = in_temporary(place.path());
        found.sort();
        assert_eq!(found, [place.path().join("s"), place.path().join("tmux-1000")]);
    }
}
