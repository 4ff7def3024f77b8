//! The options of `cargo xtask peers`.

use std::path::PathBuf;

use crate::error::Failure;

const USAGE: &str = "usage: cargo xtask peers [OPTIONS]

  --peers A,B    only these of bare, mw, tsp, nq, pueue, pm2, node, python (default: all that are installed)
  --axes A,B     only these of start, wait, kill, many, output, memory, store (default: all)
  --quick        few samples and small stores, to see that it runs
  --huge         also stores of 100,000 finished tasks
  --json FILE    write every sample there
  --plot FILE    draw the ratios there, as SVG
  --mw DIR       take mw and the executables next to it from DIR instead of building them
  --root DIR     where state is kept meanwhile (default: the system's temporary directory)
  --big DIR      where the 1 GiB logs are kept meanwhile (default: /dev/shm)";

/// The names of all axes, in the order in which they are measured.
pub(super) const AXES: [&str; 7] = ["start", "wait", "kill", "many", "output", "memory", "store"];

/// The parsed command line.
#[derive(Debug)]
pub(super) struct Options {
    /// The names of the peers to measure. If absent, all are measured.
    pub(super) peers: Option<Vec<String>>,
    /// The names of the axes to measure.
    pub(super) axes: Vec<String>,
    /// Whether to take few samples.
    pub(super) quick: bool,
    /// Whether to include very large stores.
    pub(super) huge: bool,
    /// The file for the samples.
    pub(super) json: Option<PathBuf>,
    /// The file for the drawing.
    pub(super) plot: Option<PathBuf>,
    /// The directory of the executables. If absent, they are built.
    pub(super) mw: Option<PathBuf>,
    /// The directory for state.
    pub(super) root: PathBuf,
    /// The directory for large logs.
    pub(super) big: PathBuf,
}

impl Options {
    /// Parses the words after `peers`.
    pub(super) fn parse(words: &[&str]) -> Result<Self, Failure> {
        let mut options = Self {
            peers: None,
            axes: AXES.map(str::to_owned).to_vec(),
            quick: false,
            huge: false,
            json: None,
            plot: None,
            mw: None,
            root: std::env::temp_dir(),
            big: PathBuf::from("/dev/shm"),
        };
        let mut rest = words.iter();
        while let Some(word) = rest.next() {
            let mut value = || rest.next().ok_or(Failure::Usage(USAGE));
            match *word {
                "--peers" => options.peers = Some(names(value()?)),
                "--axes" => options.axes = names(value()?),
                "--quick" => options.quick = true,
                "--huge" => options.huge = true,
                "--json" => options.json = Some(PathBuf::from(value()?)),
                "--plot" => options.plot = Some(PathBuf::from(value()?)),
                "--mw" => options.mw = Some(PathBuf::from(value()?)),
                "--root" => options.root = PathBuf::from(value()?),
                "--big" => options.big = PathBuf::from(value()?),
                _ => return Err(Failure::Usage(USAGE)),
            }
        }
        let known = |axis: &String| AXES.contains(&axis.as_str());
        if options.axes.iter().all(known) { Ok(options) } else { Err(Failure::Usage(USAGE)) }
    }

    /// Returns the full number, or the smaller one for a quick run.
    pub(super) fn amount(&self, full: u32, quick: u32) -> u32 {
        if self.quick { quick } else { full }
    }
}

fn names(list: &str) -> Vec<String> {
    list.split(',').map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_and_flags_are_read() {
        let options = Options::parse(&["--peers", "mw, bare", "--quick", "--axes", "kill"]).unwrap();
        assert_eq!(options.peers.as_deref(), Some(["mw".to_owned(), "bare".to_owned()].as_slice()));
        assert_eq!((options.axes.as_slice(), options.amount(9, 1)), (["kill".to_owned()].as_slice(), 1));
    }

    #[test]
    fn unknown_words_and_missing_values_are_refused() {
        for words in [["--fast"].as_slice(), &["--json"], &["--axes", "speed"]] {
            assert!(matches!(Options::parse(words), Err(Failure::Usage(_))), "{words:?}");
        }
    }
}
