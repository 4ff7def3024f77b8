//! What a word is once quotes, braces, tildes and variables are seen through.
//!
//! ```text
//! raw text ──▶ scan ──▶ units ──▶ braces ──▶ words
//!                └──▶ scripts of substitutions, to be judged on their own
//! ```

mod ansi;
mod braces;
mod expansions;
mod extent;
mod finish;
mod scan;

pub(super) use expansions::is_calculation;
pub(super) use scan::{Context, Read, Variable, read_here, read_value, read_word};

/// A piece of a word.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Unit {
    /// A character; quoted ones stand for themselves.
    Char { c: char, quoted: bool },
    /// What a calculation gives.
    Number,
    /// One of several texts.
    Choice(Vec<String>),
    /// Something that is known only once it runs; unquoted, it may become several words, or none.
    Open { splits: bool, in_project: bool },
}

/// A word of a command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Word {
    /// The word as it is written.
    pub(super) text: String,
    /// What it can be; none when that is known only once it runs. A pattern for file names is kept as it is.
    pub(super) known: Option<Vec<String>>,
    /// Whether it is a pattern for file names.
    pub(super) glob: bool,
    /// Whether it may become several words, or none.
    pub(super) splits: bool,
    /// Whether shells differ in what they make of it.
    pub(super) odd: bool,
    /// Whether it is just what a calculation gives.
    pub(super) number: bool,
    /// For a word that is not known: whether it names a file that lies in the project.
    pub(super) in_project: bool,
    /// Whether such a name begins with its directory, so that it cannot be an option.
    pub(super) rooted: bool,
}

impl Word {
    /// Makes a word that is just this text.
    pub(super) fn plain(text: &str) -> Self {
        Self { text: text.to_owned(), known: Some(vec![text.to_owned()]), ..Self::default() }
    }

    /// Makes a word that is known only once it runs.
    pub(super) fn open(text: &str) -> Self {
        Self { text: text.to_owned(), splits: true, ..Self::default() }
    }

    /// Makes a word for a file of the project whose name is known only once it runs.
    pub(super) fn project_file(text: &str) -> Self {
        Self { text: text.to_owned(), splits: true, in_project: true, ..Self::default() }
    }

    /// The same for a name that begins with its directory.
    pub(super) fn project_path(text: &str) -> Self {
        Self { rooted: true, ..Self::project_file(text) }
    }

    /// Returns the one text that it is, when every shell agrees on it.
    pub(super) fn lit(&self) -> Option<&str> {
        match self.known.as_deref() {
            Some([one]) if !self.glob && !self.odd => Some(one),
            _ => None,
        }
    }

    /// Returns the texts that it can be, patterns included.
    pub(super) fn values(&self) -> Option<&[String]> {
        self.known.as_deref()
    }

    /// Returns whether it could be an option that was not seen.
    pub(super) fn may_be_option(&self) -> bool {
        match self.values() {
            None => !self.rooted,
            Some(values) => {
                let hidden = |value: &String| value.starts_with(['*', '?', '[', '-']);
                (self.glob || values.len() > 1 || self.odd) && values.iter().any(hidden)
            }
        }
    }

    /// Returns whether it could hold a text.
    pub(super) fn may_hold(&self, text: &str) -> bool {
        self.values().is_none_or(|values| values.iter().any(|value| value.contains(text)))
    }

    /// Returns whether it is an option.
    pub(super) fn is_option(&self) -> bool {
        self.lit().is_some_and(|text| text.starts_with('-') && text.len() > 1)
    }
}
