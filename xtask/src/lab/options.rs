//! The options of `cargo xtask lab`.

use std::path::PathBuf;
use std::time::Duration;

use crate::error::Failure;

const USAGE: &str = "usage: cargo xtask lab [--seed N] [--faults N] [--minutes M] [--mw DIR] [--root DIR] [--report]

  --seed N     the seed of the first round; each further round takes the next number. Otherwise it is drawn from the clock
  --faults N   stop after the round in which this many faults were injected; 1000 if no time is given either
  --minutes M  stop after the round in which this time has passed
  --mw DIR     the folder with the executables; otherwise a debug build of this workspace
  --root DIR   where rounds run; otherwise a folder in the directory for temporary files
  --report     write docs/reliability.md";

/// When to stop without an option.
const FAULTS: u64 = 1000;

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Options {
    pub(super) seed: Option<u64>,
    pub(super) faults: Option<u64>,
    pub(super) longest: Option<Duration>,
    pub(super) programs: Option<PathBuf>,
    pub(super) root: Option<PathBuf>,
    pub(super) has_report: bool,
}

impl Options {
    pub(super) fn parse(words: &[&str]) -> Result<Self, Failure> {
        let mut options = Self::default();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            if *word == "--report" {
                options.has_report = true;
                continue;
            }
            let value = words.next().ok_or(Failure::Usage(USAGE))?;
            let number = || value.parse::<u64>().map_err(|_| Failure::Usage(USAGE));
            match *word {
                "--seed" => options.seed = Some(number()?),
                "--faults" => options.faults = Some(number()?),
                "--minutes" => {
                    let minutes: f64 = value.parse().map_err(|_| Failure::Usage(USAGE))?;
                    let seconds = Duration::try_from_secs_f64(minutes * 60.0);
                    options.longest = Some(seconds.map_err(|_| Failure::Usage(USAGE))?);
                }
                "--mw" => options.programs = Some(PathBuf::from(value)),
                "--root" => options.root = Some(PathBuf::from(value)),
                _ => return Err(Failure::Usage(USAGE)),
            }
        }
        if options.faults.is_none() && options.longest.is_none() {
            options.faults = Some(FAULTS);
        }
        Ok(options)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read_and_others_refused() {
        let options = Options::parse(&["--seed", "7", "--minutes", "1.5", "--report"]).unwrap();
        assert_eq!((options.seed, options.faults, options.has_report), (Some(7), None, true));
        assert_eq!(options.longest, Some(Duration::from_secs(90)));
        assert_eq!(Options::parse(&[]).unwrap().faults, Some(FAULTS));
        for bad in [&["--seed"][..], &["--seed", "x"], &["--minutes", "-1"], &["--fast", "1"]] {
            assert!(Options::parse(bad).is_err(), "{bad:?}");
        }
    }
}
