//! Whether paths and directories belong to the project.

use super::judge::Judge;
use super::places::{Place, glob_or_same, is_below};
use super::word::Word;

impl Judge<'_> {
    /// Returns whether every path that a word can mean lies in the project.
    pub(super) fn is_inside(&self, word: &Word) -> bool {
        let inside = |value: &String| matches!(self.place(value), Place::Inside | Place::Obeyed);
        self.is_project_file(word) || word.values().is_some_and(|values| values.iter().all(inside))
    }

    /// Returns whether a name that is not known is that of a file in the project: a relative one would be another file
    /// in another place.
    pub(super) fn is_project_file(&self, word: &Word) -> bool {
        word.in_project && self.is_at_home()
    }

    /// The same, whichever directory of the project the paths are used in later: none goes up.
    pub(super) fn stays_inside(&self, word: &Word) -> bool {
        let goes_up = |value: &String| value.split('/').any(|part| glob_or_same(part, ".."));
        self.is_inside(word) && !word.values().is_some_and(|values| values.iter().any(goes_up))
    }

    /// Returns whether the command runs inside the project, wherever it is by now.
    pub(super) fn is_at_home(&self) -> bool {
        !self.cwd.is_empty() && self.is_in_project(&Word::plain("."))
    }

    /// Returns whether a directory is the project's own, not merely one that may be written to.
    pub(super) fn is_in_project(&self, directory: &Word) -> bool {
        let project = self.request.project;
        let real = |path: &String| self.request.files.real(path);
        let own = |value: &String| {
            self.place(value) == Place::Inside
                && self.absolutes(value).is_some_and(|paths| {
                    paths.iter().all(|path| real(path).is_some_and(|real| is_below(&real, project)))
                })
        };
        directory.values().is_some_and(|values| values.iter().all(own))
    }
}
