//! A word and what is known of its value.

/// A piece of a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    /// A character; a quoted one has no special meaning.
    Char { c: char, quoted: bool },
    /// The result of an arithmetic expression.
    Number,
    /// One of several texts.
    Choice(Vec<String>),
    /// A value that is known only at run time; unquoted, it may become several words, or none.
    Unknown { splits: bool, in_project: bool },
}

/// A word of a command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Word {
    /// The word as it is written.
    pub(crate) text: String,
    /// The possible values; none if they are known only at run time. A pattern for file names is not expanded.
    pub(crate) known: Option<Vec<String>>,
    /// Whether it is a pattern for file names.
    pub(crate) glob: bool,
    /// Whether it may become several words, or none.
    pub(crate) splits: bool,
    /// Whether shells differ in how they expand it.
    pub(crate) ambiguous: bool,
    /// Whether it is only the result of an arithmetic expression.
    pub(crate) number: bool,
    /// For an unknown value: whether it names a file in the project.
    pub(crate) in_project: bool,
    /// Whether such a name begins with a directory, so that it cannot be an option.
    pub(crate) rooted: bool,
}

impl Word {
    /// Makes a word with this value.
    pub(crate) fn plain(text: &str) -> Self {
        Self { text: text.to_owned(), known: Some(vec![text.to_owned()]), ..Self::default() }
    }

    /// Makes a word whose value is known only at run time.
    pub(crate) fn unknown(text: &str) -> Self {
        Self { text: text.to_owned(), splits: true, ..Self::default() }
    }

    /// Makes a word for a file of the project whose name is known only at run time.
    pub(crate) fn project_file(text: &str) -> Self {
        Self { text: text.to_owned(), splits: true, in_project: true, ..Self::default() }
    }

    /// Makes such a word for a name that begins with a directory.
    pub(crate) fn project_path(text: &str) -> Self {
        Self { rooted: true, ..Self::project_file(text) }
    }

    /// Returns the value, if there is only one and all shells agree on it.
    pub(crate) fn lit(&self) -> Option<&str> {
        match self.known.as_deref() {
            Some([one]) if !self.glob && !self.ambiguous => Some(one),
            _ => None,
        }
    }

    /// Returns the possible values, including patterns.
    pub(crate) fn values(&self) -> Option<&[String]> {
        self.known.as_deref()
    }

    /// Returns whether it may be an option, although that is not certain.
    pub(crate) fn may_be_option(&self) -> bool {
        match self.values() {
            None => !self.rooted,
            Some(values) => {
                let hidden = |value: &String| value.starts_with(['*', '?', '[', '-']);
                (self.glob || values.len() > 1 || self.ambiguous) && values.iter().any(hidden)
            }
        }
    }

    /// Returns whether its value may contain a text.
    pub(crate) fn may_hold(&self, text: &str) -> bool {
        self.values().is_none_or(|values| values.iter().any(|value| value.contains(text)))
    }

    /// Returns whether it is an option.
    pub(crate) fn is_option(&self) -> bool {
        self.lit().is_some_and(|text| text.starts_with('-') && text.len() > 1)
    }
}
