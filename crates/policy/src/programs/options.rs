//! Parses arguments into options and operands.

use crate::names::Names;
use crate::script::word::Word;

/// An option that was given.
pub(super) struct Given<'w> {
    /// `-x` or `--long`.
    pub(super) name: String,
    /// The value, if it is in the same word.
    pub(super) value: Option<String>,
    /// The next word, if it is the value.
    pub(super) next: Option<&'w Word>,
}

impl Given<'_> {
    /// Returns the value as a word.
    pub(super) fn word(&self) -> Option<Word> {
        match (&self.value, self.next) {
            (Some(value), _) => Some(Word::plain(value)),
            (None, Some(next)) => Some(next.clone()),
            (None, None) => None,
        }
    }
}

/// Parsed arguments.
pub(super) struct Options<'w> {
    pub(super) given: Vec<Given<'w>>,
    pub(super) operands: Vec<&'w Word>,
}

/// Parses arguments as most programs do. `valued` lists the options that take a value; like all lists of options here, it
/// is a text with blanks between the options.
pub(super) fn read<'w>(args: &'w [Word], valued: &str) -> Options<'w> {
    let mut options = Options { given: Vec::new(), operands: Vec::new() };
    let mut rest = args.iter();
    while let Some(word) = rest.next() {
        match word.lit() {
            Some("--") => {
                options.operands.extend(rest);
                break;
            }
            Some(text) if text.starts_with("--") => {
                let (name, value) = match text.split_once('=') {
                    Some((name, value)) => (name, Some(value.to_owned())),
                    None => (text, None),
                };
                let next = if value.is_none() && Names(valued).contains(name) { rest.next() } else { None };
                options.given.push(Given { name: name.to_owned(), value, next });
            }
            Some(text) if text.starts_with('-') && text.len() > 1 => {
                cluster(text, valued, &mut rest, &mut options.given);
            }
            Some(_) | None => options.operands.push(word),
        }
    }
    options
}

fn cluster<'w>(text: &str, valued: &str, rest: &mut std::slice::Iter<'w, Word>, given: &mut Vec<Given<'w>>) {
    let letters = &text[1..];
    for (at, letter) in letters.char_indices() {
        let name = format!("-{letter}");
        if Names(valued).contains(&name) {
            let tail = &letters[at + letter.len_utf8()..];
            let value = (!tail.is_empty()).then(|| tail.to_owned());
            let next = if value.is_none() { rest.next() } else { None };
            given.push(Given { name, value, next });
            return;
        }
        given.push(Given { name, value: None, next: None });
    }
}

impl<'w> Options<'w> {
    /// Returns the first option that is not in a list. An abbreviated long option is not in it.
    pub(super) fn other_than(&self, known: &str) -> Option<&Given<'w>> {
        self.given.iter().find(|given| !Names(known).contains(&given.name))
    }

    /// Returns the first option in a list; a long one may be abbreviated.
    pub(super) fn find(&self, names: &str) -> Option<&Given<'w>> {
        self.given.iter().find(|given| is_one_of(&given.name, names))
    }

    /// Returns all options in a list, because programs use the first, the last or all of them.
    pub(super) fn all(&self, names: &str) -> impl Iterator<Item = &Given<'w>> {
        self.given.iter().filter(move |given| is_one_of(&given.name, names))
    }

    /// Returns whether an option in a list was given.
    pub(super) fn has(&self, names: &str) -> bool {
        self.find(names).is_some()
    }
}

/// Returns whether an option is in a list, or abbreviates a long option in it.
fn is_one_of(given: &str, names: &str) -> bool {
    let long = given.len() > 2 && given.starts_with("--");
    Names(names).iter().any(|name| name == given || long && name.starts_with(given))
}
