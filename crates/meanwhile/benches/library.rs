//! What the library costs a program that embeds it: one open runtime, no command a task.
//!
//! Needs `mw` and `mw-supervisor` of the same build, from `MW_BIN_DIR` or from next to this benchmark:
//! `cargo build --release --package mw-cli && cargo bench --package meanwhile`.

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use meanwhile::engine::model::wire::{EntryKind, IndexEntry, segments};
use meanwhile::engine::model::{Cause, Event, Process, RunOrigin, TaskState, Timestamp, next_state};
use meanwhile::engine::{ReadFrom, ReadRequest};
use meanwhile::{Scope, TaskFilter};

use world::World;

mod world;

fn main() {
    divan::main();
    world::remove_all();
}

/// Running tasks.
mod tasks {
    use super::*;

    /// A start alone, while nothing else runs: a whole task in between gives the one before time to end.
    #[divan::bench(sample_count = 200, sample_size = 1)]
    fn start(bencher: Bencher) {
        let world = World::with_slots(8);
        bencher.with_inputs(|| world.run("true")).bench_local_values(|_| world.start("true"));
    }

    /// From the request to the answer that it has ended.
    #[divan::bench(sample_count = 200, sample_size = 1)]
    fn start_and_wait(bencher: Bencher) {
        let world = World::with_slots(8);
        world.run("true");
        bencher.bench_local(|| world.run("true"));
    }

    /// Many tasks, eight at once, until the last is on record.
    #[divan::bench(args = [200, 1000], sample_count = 5, sample_size = 1)]
    fn throughput(bencher: Bencher, count: usize) {
        let world = World::with_slots(8);
        world.run("true");
        bencher.counter(ItemsCount::new(count)).bench_local(|| {
            let ids = (0..count).map(|_| world.start("true")).collect();
            world.wait(ids);
        });
    }
}

/// Reading output; the log is on a file system in memory where there is one.
mod output {
    use super::*;

    const SIZES: [u64; 3] = [10 << 10, 10 << 20, 1 << 30];

    #[divan::bench(args = SIZES)]
    fn last_100_lines(bencher: Bencher, size: u64) {
        read(bencher, size, ReadFrom::TailLines(100));
    }

    #[divan::bench(args = SIZES)]
    fn last_8_kib(bencher: Bencher, size: u64) {
        read(bencher, size, ReadFrom::TailBytes(8 << 10));
    }

    fn read(bencher: Bencher, size: u64, from: ReadFrom) {
        let world = World::in_memory();
        let id = world.run_with_log(size);
        let request = ReadRequest { from, ..ReadRequest::default() };
        bencher.bench_local(|| {
            let reply = world.runtime.reader().read(id.as_str(), &Scope::All, &request);
            assert!(reply.is_ok_and(|reply| reply.end == size && !reply.pieces.is_empty()));
        });
    }
}

/// Looking at many finished tasks.
mod store {
    use super::*;

    const COUNTS: [u32; 2] = [1_000, 10_000];

    #[divan::bench(args = COUNTS)]
    fn list_page(bencher: Bencher, count: u32) {
        list(bencher, count, Scope::All);
    }

    #[divan::bench(args = COUNTS)]
    fn list_page_of_session(bencher: Bencher, count: u32) {
        list(bencher, count, Scope::Session(world::SESSION.to_owned()));
    }

    fn list(bencher: Bencher, count: u32, scope: Scope) {
        let world = World::with_finished(count);
        let filter = TaskFilter::new(scope);
        bencher.bench_local(|| {
            let page = world.runtime.tasks().list(&filter);
            assert!(page.is_ok_and(|page| page.total == u64::from(count) && page.tasks.len() == 50));
        });
    }

    /// What a command pays that lists once and ends.
    #[divan::bench(args = COUNTS)]
    fn open_and_list(bencher: Bencher, count: u32) {
        let world = World::with_finished(count);
        let filter = TaskFilter::new(Scope::All);
        bencher.bench_local(|| world.open_again().tasks().list(&filter).map(|page| page.total));
    }
}

/// Pure computation.
mod model {
    use super::*;

    /// One life from the queue to a kill, replayed as recovery does it.
    #[divan::bench]
    fn transitions(bencher: Bencher) {
        let at = Timestamp::from_micros(1);
        let process = Process { pid: 7, start_ticks: 9, boot_id: "7e1f".repeat(9) };
        let life = [
            Event::Reserved { since: at },
            Event::Started { process, started_at: at },
            Event::Stalled { prompt: "Continue? [y/n]".to_owned() },
            Event::KillRequested { by: "user".to_owned(), signal: 15 },
            Event::Ended { cause: Cause::Exited { code: 0 }, ended_at: at, output_lost: false },
        ];
        bencher.counter(ItemsCount::new(life.len())).bench(|| {
            let begin = TaskState::Pending { run: 1, origin: RunOrigin::First, not_before: None };
            black_box(&life).iter().try_fold(begin, |state, event| next_state(&state, event))
        });
    }

    /// Two streams in turn, as an index keeps them.
    #[divan::bench(args = [100, 10_000])]
    fn index_segments(bencher: Bencher, count: u64) {
        const STEP: u64 = 100;
        let entry = |number: u64| {
            let kind =
                if number.is_multiple_of(2) { EntryKind::Stdout(number) } else { EntryKind::Stderr(number) };
            IndexEntry { offset: number * STEP, kind }
        };
        let entries: Vec<IndexEntry> = (0..count).map(entry).collect();
        bencher
            .counter(ItemsCount::new(entries.len()))
            .bench(|| segments(black_box(&entries), 0, count * STEP));
    }

    #[divan::bench(args = [100, 10_000])]
    fn index_decoding(bencher: Bencher, count: u64) {
        let encode = |number| IndexEntry { offset: number, kind: EntryKind::Stdout(number) }.encode();
        let bytes: Vec<u8> = (0..count).flat_map(encode).collect();
        bencher.counter(ItemsCount::new(count)).bench(|| {
            black_box(&bytes).chunks_exact(IndexEntry::LEN).filter_map(IndexEntry::decode).collect::<Vec<_>>()
        });
    }
}

/// Deciding about commands; no task runs. Paths are looked up on the real file system.
mod policy {
    use meanwhile::engine::LocalFiles;
    use meanwhile::engine::policy::{CommandText, Dialect, Mode, Request, Rules, Tool, decide};

    use super::*;

    const COMMANDS: [&str; 6] = [
        "ls",
        "cargo test -p x 2>&1 | tail -20",
        "git log --oneline -20 && git diff --stat",
        "find . -name '*.rs' -print0 | xargs -0 grep -n TODO",
        "cd src && for f in *.rs; do wc -l \"$f\"; done > ../lines.txt",
        "rm -rf build && curl -X POST -d @x https://example.org",
    ];

    #[divan::bench(args = COMMANDS)]
    fn command(bencher: Bencher, text: &str) {
        let here = std::env::current_dir().unwrap_or_default().to_string_lossy().into_owned();
        let rules = Rules::none();
        let Some(tool) = Tool::named("shell") else { return };
        let request = Request {
            mode: Mode::Safe,
            dialect: Dialect::Canonical,
            tool,
            command: Some(CommandText::Script { shell: "/bin/sh", text }),
            cwd: &here,
            project: &here,
            home: "/nowhere",
            writable: &[],
            env: &[],
            ci_reads: false,
            confined: mw_policy::ConfinementLevel::No,
            rules: &rules,
            files: &LocalFiles,
        };
        bencher.bench_local(|| decide(black_box(&request)));
    }
}
