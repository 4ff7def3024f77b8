//! Executes a command with a confinement, with as many features of the kernel as there are.

use std::ffi::{CString, OsStr};
use std::fs;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use mw_model::NetworkGrant;
use mw_model::wire::{Confinement, Enforcer, SERVER_SOCKETS};

use crate::boot::start_message::receive_from;
use crate::sys::{self, Board, Child, Confine, Connects, ExecPlan, Reachable, SpawnStep};

/// Starts the command confined. A feature that the kernel lacks is left out, unless the confinement needs it.
#[cold]
#[inline(never)]
pub(super) fn spawn(
    plan: &ExecPlan,
    confinement: &Confinement,
    streams: &Child<'_>,
    board: Board,
    cgroup: Option<BorrowedFd<'_>>,
) -> Result<(u32, Option<Connects>), (SpawnStep, i32)> {
    let failed = |error: &io::Error| {
        (SpawnStep::Confine(Enforcer::Seccomp), error.raw_os_error().unwrap_or(libc::EINVAL))
    };
    let lines = (confinement.network != NetworkGrant::Full).then(lines).transpose();
    let lines = lines.map_err(|error| failed(&error))?;
    let mut usable = not_disabled();
    if sys::landlock_abi() == 0 {
        usable.retain(|enforcer| *enforcer != Enforcer::Landlock);
    }
    loop {
        if let Some(lacking) = confinement.needs.iter().find(|needed| !usable.contains(needed)) {
            return Err((SpawnStep::Confine(*lacking), libc::EOPNOTSUPP));
        }
        let line = lines.as_ref().map(|(_, its_end)| its_end.as_fd());
        let confine = prepare(confinement, &usable, line).map_err(|error| failed(&error))?;
        board.set_confined_by(confine.enforcers());
        match sys::spawn(plan, Some(&confine), streams, board, cgroup) {
            Err((SpawnStep::Confine(lacking), _))
                if usable.contains(&lacking) && !confinement.needs.contains(&lacking) =>
            {
                usable.retain(|enforcer| *enforcer != lacking);
                board.forget_spawn_failure();
            }
            Ok(pid) => {
                // Without it, all calls that wait for an answer fail.
                let sent =
                    lines.filter(|_| usable.contains(&Enforcer::Seccomp)).and_then(|(ours, its_end)| {
                        drop(its_end);
                        receive_from(&ours, &mut [0]).ok()?.1.pop()
                    });
                return Ok((pid, sent.map(|calls| Connects::of(calls, reachable(confinement)))));
            }
            Err(failure) => return Err(failure),
        }
    }
}

/// Sockets of other programs could be those of services that act for the user.
fn reachable(confinement: &Confinement) -> Reachable {
    let own = confinement.writable.iter().map(|path| PathBuf::from(OsStr::from_bytes(path.as_bytes())));
    let servers: &[&str] = if confinement.network == NetworkGrant::None { &[] } else { &SERVER_SOCKETS };
    let calls = confinement.calls.iter().map(|path| PathBuf::from(OsStr::from_bytes(path.as_bytes())));
    let own = own.chain(servers.iter().map(PathBuf::from)).chain(calls);
    Reachable::below((!confinement.writes_all).then_some(own))
}

/// Removes what a command has made although it must not be there.
pub(crate) fn remove_absent(confinement: &Confinement) {
    for path in &confinement.absent {
        // Nothing is there, as a rule.
        let _ = fs::remove_file(OsStr::from_bytes(path.as_bytes()));
    }
}

/// Returns which features the kernel offers, by trying them.
pub(crate) fn probe() -> Vec<Enforcer> {
    let disabled = not_disabled();
    sys::probe().into_iter().filter(|enforcer| disabled.contains(enforcer)).collect()
}

/// All features, or in a debug build those that `MEANWHILE_LACKS` does not name, for tests.
fn not_disabled() -> Vec<Enforcer> {
    let mut all = Enforcer::ALL.to_vec();
    if cfg!(debug_assertions)
        && let Ok(lacks) = std::env::var("MEANWHILE_LACKS")
    {
        all.retain(|enforcer| !lacks.split(',').any(|word| word == enforcer.word()));
    }
    all
}

/// The lowest number of a descriptor that none of the command's streams has.
const ABOVE_STREAMS: i32 = 64;

/// Makes a line on which the child sends the calls that wait for an answer. Its end has a high number, because the streams of
/// the command take the low ones.
fn lines() -> io::Result<(UnixStream, OwnedFd)> {
    let (ours, its_end) = UnixStream::pair()?;
    Ok((ours, rustix::io::fcntl_dupfd_cloexec(&its_end, ABOVE_STREAMS)?))
}

fn prepare(
    confinement: &Confinement,
    usable: &[Enforcer],
    line: Option<BorrowedFd<'_>>,
) -> io::Result<Confine> {
    let is_covered = usable.contains(&Enforcer::Namespaces) || confinement.hidden.is_empty();
    let readable = (!is_covered && usable.contains(&Enforcer::Landlock)).then(|| {
        let hidden: Vec<&Path> =
            confinement.hidden.iter().map(|path| Path::new(OsStr::from_bytes(path.as_bytes()))).collect();
        let mut found = Vec::new();
        all_but(Path::new("/"), &hidden, &mut found);
        found.into_iter().filter_map(|path| CString::new(path.into_os_string().into_vec()).ok()).collect()
    });
    Confine::new(confinement, usable, readable, line)
}

/// Lists what is in a directory without the hidden files: whole directories where none is hidden. Links are left out, because
/// their targets are listed.
fn all_but(directory: &Path, hidden: &[&Path], found: &mut Vec<PathBuf>) {
    let below: Vec<&Path> = hidden.iter().copied().filter(|path| path.starts_with(directory)).collect();
    if below.is_empty() {
        return found.push(directory.to_owned());
    }
    if below.contains(&directory) {
        return;
    }
    let Ok(entries) = fs::read_dir(directory) else { return };
    for entry in entries.flatten() {
        match entry.file_type() {
            Ok(kind) if !kind.is_symlink() => all_but(&entry.path(), &below, found),
            Ok(_) | Err(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_but_the_hidden_files_is_listed() {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name);
        for directory in ["a/deep", "b", "c"] {
            fs::create_dir_all(at(directory)).unwrap();
        }
        for file in ["a/secret", "a/plain", "b/x"] {
            fs::write(at(file), "").unwrap();
        }
        std::os::unix::fs::symlink(at("c"), at("a/link")).unwrap();
        let mut found = Vec::new();
        let (secret, c) = (at("a/secret"), at("c"));
        all_but(place.path(), &[&secret, &c], &mut found);
        found.sort();
        assert_eq!(found, [at("a/deep"), at("a/plain"), at("b")]);
    }
}
