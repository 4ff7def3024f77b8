//! Batches against a model: wherever one is cut short, nothing is missing and nothing is there twice.

use std::io::Write;
use std::path::Path;

use proptest::prelude::*;

use super::*;
use crate::output::log::{CHUNK, Moved, Stream};
use crate::spawn::pipe::OutputPipe;
use crate::sys::Board;

/// How far a batch came before its supervisors died.
#[derive(Clone, Copy, Debug)]
enum Death {
    Noted,
    /// So many thousandths of it were copied.
    Copying(u64),
    Copied,
    Taken,
    Forgotten,
}

fn death() -> impl Strategy<Value = Death> {
    prop_oneof![
        Just(Death::Noted),
        (0_u64..1000).prop_map(Death::Copying),
        Just(Death::Copied),
        Just(Death::Taken),
        Just(Death::Forgotten),
    ]
}

/// Output that repeats itself every so many bytes, which is the hard case.
fn repeating() -> impl Strategy<Value = Vec<u8>> {
    let period = prop_oneof![Just(1_usize), 2..100_usize, Just(4096), Just(65_536), Just(MOST)];
    (period, 0..300_000_usize, any::<u8>()).prop_map(|(period, more, salt)| {
        let line = (0..period).map(|at| (at * 31 / 7) as u8 ^ salt);
        line.collect::<Vec<_>>().into_iter().cycle().take(LEAST + more).collect()
    })
}

fn pipe() -> OutputPipe {
    OutputPipe::new().unwrap()
}

fn open(dir: &Path) -> Log {
    Log::create(dir, Board::new().unwrap()).unwrap()
}

fn drain(log: &mut Log, pipe: &OutputPipe) {
    loop {
        let waiting = rustix::io::ioctl_fionread(&pipe.read).unwrap();
        if waiting == 0 {
            return;
        }
        assert!(matches!(log.append_from(Stream::Stdout, &pipe.read, waiting, 0), Moved::Bytes(1..)));
    }
}

/// Goes through the steps of [`Log::keep_much`] and stops where the death is; says whether there was a batch.
fn die_in_batch(log: &mut Log, source: &OwnedFd, death: Death) -> bool {
    let waiting = rustix::io::ioctl_fionread(source).unwrap() as usize;
    let mut stage = Stage::open(&log.dir).unwrap();
    let most = (waiting - WINDOW).min(MOST);
    let Made::Bytes(len) = stage.make_batch(Stream::Stdout, source, most, &log.null).unwrap() else {
        return false;
    };
    let (log_inode, pipe_inode) = (log.file.metadata().unwrap().ino(), fstat(source).unwrap().st_ino);
    let batch = Batch { log_inode, pipe_inode, start: log.size, len: len as u64 };
    stage.notes.begin(&batch).unwrap();
    let copied = match death {
        Death::Noted => 0,
        Death::Copying(thousandths) => len * thousandths as usize / 1000,
        Death::Copied | Death::Taken | Death::Forgotten => len,
    };
    assert!(stage.pipes.copy_to(&log.file, copied));
    match death {
        Death::Noted | Death::Copying(_) | Death::Copied => {}
        Death::Taken => take_away(source, len, &log.null),
        Death::Forgotten => {
            take_away(source, len, &log.null);
            stage.notes.end().unwrap();
        }
    }
    true
}

fn recovered(dir: &Path, pipe: &OutputPipe) -> Log {
    let mut log = Log::recover(dir, Board::new().unwrap()).unwrap();
    log.finish_batch([&pipe.read, &pipe.read]).unwrap();
    assert!(batch::left_behind(dir).is_none());
    log
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn a_batch_cut_short_is_neither_missing_nor_doubled(
        before in 0..9000_usize,
        bytes in repeating(),
        later in proptest::collection::vec(any::<u8>(), 0..300),
        death in death(),
        deaths in proptest::collection::vec(death(), 0..3),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let (mut log, pipe) = (open(dir.path()), pipe());
        let mut writer = File::from(pipe.write.try_clone().unwrap());
        let mut written = vec![b'-'; before];
        writer.write_all(&written).unwrap();
        drain(&mut log, &pipe);
        writer.write_all(&bytes).unwrap();
        written.extend(&bytes);
        for death in std::iter::once(death).chain(deaths) {
            if rustix::io::ioctl_fionread(&pipe.read).unwrap() as usize >= LEAST {
                die_in_batch(&mut log, &pipe.read, death);
            }
            // The task prints on, whoever is dead.
            writer.write_all(&later).unwrap();
            written.extend(&later);
            log = recovered(dir.path(), &pipe);
        }
        drain(&mut log, &pipe);
        prop_assert_eq!(log.end(), written.len() as u64);
        let found = std::fs::read(dir.path().join("output.log")).unwrap();
        prop_assert!(found == written, "{} of {} bytes", found.len(), written.len());
    }

    #[test]
    fn a_successor_that_dies_at_its_work_changes_nothing(bytes in repeating(), death in death()) {
        let dir = tempfile::tempdir().unwrap();
        let (mut log, pipe) = (open(dir.path()), pipe());
        File::from(pipe.write.try_clone().unwrap()).write_all(&bytes).unwrap();
        die_in_batch(&mut log, &pipe.read, death);
        let note = std::fs::read(dir.path().join("output.batch")).unwrap();
        drop(recovered(dir.path(), &pipe));
        // It had put things right, but not forgotten the batch.
        std::fs::write(dir.path().join("output.batch"), note).unwrap();
        drain(&mut recovered(dir.path(), &pipe), &pipe);
        let found = std::fs::read(dir.path().join("output.log")).unwrap();
        prop_assert!(found == bytes, "{} of {} bytes", found.len(), bytes.len());
    }
}

#[test]
fn much_output_goes_through_the_stage() {
    let dir = tempfile::tempdir().unwrap();
    let (mut log, pipe) = (open(dir.path()), pipe());
    let mut writer = File::from(pipe.write.try_clone().unwrap());
    let bytes: Vec<u8> = (0..CHUNK as u32 / 8).flat_map(|number| u64::from(number).to_be_bytes()).collect();
    writer.write_all(&bytes).unwrap();
    let waiting = rustix::io::ioctl_fionread(&pipe.read).unwrap();
    assert_eq!(log.append_from(Stream::Stdout, &pipe.read, waiting, 0), Moved::Bytes(MOST as u64));
    drain(&mut log, &pipe);
    assert!(std::fs::read(dir.path().join("output.log")).unwrap() == bytes);
    log.tidy();
    assert!(!dir.path().join("output.batch").exists());
}

#[test]
fn output_that_repeats_itself_goes_there_after_one_refusal() {
    let dir = tempfile::tempdir().unwrap();
    let (mut log, pipe) = (open(dir.path()), pipe());
    let mut writer = File::from(pipe.write.try_clone().unwrap());
    let mut took = || {
        writer.write_all(&b"y\n".repeat(CHUNK / 2)).unwrap();
        let waiting = rustix::io::ioctl_fionread(&pipe.read).unwrap();
        let moved = log.append_from(Stream::Stdout, &pipe.read, waiting, 0);
        drain(&mut log, &pipe);
        moved
    };
    assert_eq!([took(), took()], [Moved::Bytes(CHUNK as u64), Moved::Bytes(MOST as u64 - 1)]);
}
