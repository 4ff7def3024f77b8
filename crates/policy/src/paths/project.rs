//! Whether paths and directories belong to the project.

use crate::judge::Judge;
use crate::names::may_be_same;
use crate::paths::destination::{Destination, is_below};
use crate::script::word::Word;

impl Judge<'_> {
    /// Returns whether every path that a word can mean lies in the project.
    pub(crate) fn is_inside(&self, word: &Word) -> bool {
        let inside =
            |value: &String| matches!(self.destination(value), Destination::Inside | Destination::Control);
        self.is_project_file(word) || word.values().is_some_and(|values| values.iter().all(inside))
    }

    /// Returns whether a word whose value is unknown names a file in the project. The current directory must be in the
    /// project, because a relative name is another file elsewhere.
    pub(crate) fn is_project_file(&self, word: &Word) -> bool {
        word.in_project && self.runs_in_project()
    }

    /// Returns whether every path of a word lies in the project, even if it is used in another directory of the project
    /// later: none contains `..`.
    pub(crate) fn stays_inside(&self, word: &Word) -> bool {
        let goes_up = |value: &String| value.split('/').any(|part| may_be_same(part, ".."));
        self.is_inside(word) && !word.values().is_some_and(|values| values.iter().any(goes_up))
    }

    /// Returns whether the current directory is in the project.
    pub(crate) fn runs_in_project(&self) -> bool {
        !self.cwd.is_empty() && self.is_in_project(&Word::plain("."))
    }

    /// Returns whether a directory is in the project itself, not only in a further directory that may be written to.
    pub(crate) fn is_in_project(&self, directory: &Word) -> bool {
        let project = self.request.project;
        let real = |path: &String| self.request.files.real(path);
        let own = |value: &String| {
            self.destination(value) == Destination::Inside
                && self.absolutes(value).is_some_and(|paths| {
                    paths.iter().all(|path| real(path).is_some_and(|real| is_below(&real, project)))
                })
        };
        directory.values().is_some_and(|values| values.iter().all(own))
    }

    /// Returns whether a search in these places, or without any in the current directory, can find files that other
    /// programs obey: the top of the project, or such a directory.
    pub(crate) fn may_find_protected<'w>(&self, mut places: impl Iterator<Item = &'w Word>) -> bool {
        let below = |value: &String| {
            let name = value.trim_end_matches('/').trim_start_matches("./");
            !matches!(name, "" | ".") && self.destination(value) == Destination::Inside
        };
        let plain = |word: &Word| word.values().is_some_and(|values| values.iter().all(below));
        let first = places.next();
        first.is_none_or(|first| !plain(first)) || !places.all(plain)
    }
}
