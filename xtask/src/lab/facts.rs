//! What really happened, as the witnesses wrote it down.

use std::collections::BTreeMap;

use super::witness::Stream;

/// A run of a witness.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Run {
    pub(super) key: String,
    pub(super) pid: u32,
    /// The numbers of its first and last line in the file.
    pub(super) first: usize,
    pub(super) last: usize,
    /// Seconds since the boot of the machine.
    pub(super) began: f64,
    pub(super) seen: f64,
    pub(super) announced: [u64; 2],
    pub(super) written: [u64; 2],
    /// The signal that it was about to send itself.
    pub(super) signal: Option<u8>,
    /// The code with which it was about to exit.
    pub(super) exit: Option<u8>,
}

/// The runs in the order in which they began.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Facts {
    pub(super) runs: Vec<Run>,
}

impl Facts {
    /// Reads the file of the witnesses. Returns a text about the first line that is not one.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let mut runs: Vec<Run> = Vec::new();
        let mut open = BTreeMap::new();
        for (number, line) in text.lines().enumerate() {
            let words: Vec<&str> = line.split(' ').collect();
            let bad = || format!("line {} of the witnesses is `{line}`", number + 1);
            let [what, key, pid, rest @ ..] = words.as_slice() else { return Err(bad()) };
            let pid: u32 = pid.parse().map_err(|_| bad())?;
            let name = ((*key).to_owned(), pid);
            if *what == "begin" {
                open.insert(name.clone(), runs.len());
                runs.push(Run { key: name.0.clone(), pid, first: number, ..Run::default() });
            }
            let run = open.get(&name).and_then(|at| runs.get_mut(*at)).ok_or_else(bad)?;
            run.last = number;
            run.apply(what, rest).ok_or_else(bad)?;
        }
        Ok(Self { runs })
    }

    /// Returns the runs of a request, in their order.
    pub(super) fn of<'a, 'k>(
        &'a self,
        key: &'k str,
    ) -> impl DoubleEndedIterator<Item = &'a Run> + use<'a, 'k> {
        self.runs.iter().filter(move |run| run.key == key)
    }
}

impl Run {
    fn apply(&mut self, what: &str, rest: &[&str]) -> Option<()> {
        let first = rest.first()?;
        match what {
            "begin" => {
                self.began = first.parse().ok()?;
                self.seen = self.began;
            }
            "tick" => self.seen = first.parse().ok()?,
            "announce" | "written" => {
                let stream = Stream::BOTH.iter().position(|stream| first.starts_with(stream.letter()))?;
                let bytes = rest.get(1)?.parse().ok()?;
                let counts = if what == "announce" { &mut self.announced } else { &mut self.written };
                counts[stream] = bytes;
            }
            "signal" => self.signal = Some(first.parse().ok()?),
            "end" => self.exit = Some(first.parse().ok()?),
            _ => return None,
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_one_key_are_kept_apart() {
        let text =
            "begin a 7 1.5\nannounce a 7 o 40\nbegin a 9 2.0\nwritten a 7 o 40\ntick a 7 3.25\nend a 7 4\n";
        let facts = Facts::parse(text).unwrap();
        let runs: Vec<_> = facts.of("a").collect();
        assert_eq!(runs.len(), 2);
        assert_eq!((runs[0].exit, runs[0].written, runs[0].seen), (Some(4), [40, 0], 3.25));
        assert_eq!((runs[1].exit, runs[1].first, runs[1].last), (None, 2, 2));
    }

    #[test]
    fn a_line_without_its_beginning_is_refused() {
        assert!(Facts::parse("end a 7 4\n").unwrap_err().contains("line 1"));
        assert!(Facts::parse("begin a 7 1\ndance a 7 1\n").unwrap_err().contains("dance"));
    }
}
