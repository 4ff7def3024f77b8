//! The loop that changes inputs.

use std::fs;
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Bytes that readers often treat in a special way.
const INTERESTING: [&[u8]; 14] = [
    b"\0",
    b"\n",
    b"\r\n",
    b"\"",
    b"\\",
    b"{",
    b"}",
    b"[",
    b"-1",
    b"18446744073709551616",
    b"1e999",
    b"\xff\xfe",
    b"null",
    b"\\ud800",
];

/// The longest input.
const LONGEST: usize = 64 << 10;

/// Tries the corpus of a target as it is, then changes of it until the time is over.
pub(crate) fn run(target: &str, mut check: impl FnMut(&[u8])) {
    let corpus = corpus(target);
    assert!(!corpus.is_empty(), "no input for {target}");
    let (seconds, seed) = (number("MW_FUZZ_SECONDS", 1), number("MW_FUZZ_SEED", 1));
    let end = Instant::now() + Duration::from_secs(seconds);
    let mut random = Random(seed);
    let mut tries = 0_u64;
    let mut one = |input: &[u8]| {
        tries += 1;
        if let Err(failure) = panic::catch_unwind(AssertUnwindSafe(|| check(input))) {
            let kept = keep(target, input);
            eprintln!("{target}: the input {} fails (seed {seed})", kept.display());
            panic::resume_unwind(failure);
        }
    };
    corpus.iter().for_each(|input| one(input));
    while Instant::now() < end {
        one(&changed(&corpus, &mut random));
    }
    println!("{target}: {tries} inputs in {seconds} s");
}

fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

fn corpus(target: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuzz/corpus").join(target);
    let mut paths: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.iter().map(|path| fs::read(path).unwrap()).collect()
}

/// Keeps an input that fails, next to the executables.
fn keep(target: &str, input: &[u8]) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("fuzz").join(target);
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join(format!(
        "{:016x}",
        input.iter().fold(7_u64, |sum, byte| sum.wrapping_mul(31) ^ u64::from(*byte))
    ));
    fs::write(&path, input).unwrap();
    path
}

fn changed(corpus: &[Vec<u8>], random: &mut Random) -> Vec<u8> {
    let mut input = corpus[random.below(corpus.len())].clone();
    for _ in 0..=random.below(4) {
        change(&mut input, corpus, random);
    }
    input.truncate(LONGEST);
    input
}

fn change(input: &mut Vec<u8>, corpus: &[Vec<u8>], random: &mut Random) {
    let (from, to) = (random.below(input.len() + 1), random.below(input.len() + 1));
    let (from, to) = (from.min(to), from.max(to));
    match random.below(7) {
        0 => drop(input.drain(from..to)),
        1 => input.truncate(from),
        2 => {
            let part = input[from..to].to_vec();
            input.splice(to..to, part);
        }
        3 => {
            let bytes = INTERESTING[random.below(INTERESTING.len())];
            input.splice(from..from, bytes.iter().copied());
        }
        4 => {
            let other = &corpus[random.below(corpus.len())];
            let at = random.below(other.len() + 1);
            input.splice(from..to, other[at..].iter().copied());
        }
        5 => {
            if let Some(byte) = input.get_mut(from) {
                *byte ^= 1 << random.below(8);
            }
        }
        _ => {
            if let Some(byte) = input.get_mut(from) {
                *byte = random.below(256) as u8;
            }
        }
    }
}

struct Random(u64);

impl Random {
    /// Returns a number below `end`, which must not be 0.
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % end as u64) as usize
    }
}
