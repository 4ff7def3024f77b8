//! Every key and what it does, once: the help screen, the footer and the documentation are made from this.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// What a key asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// One line up.
    Up,
    /// One line down.
    Down,
    /// One page up.
    PageUp,
    /// One page down.
    PageDown,
    /// To the first line.
    First,
    /// To the last line.
    Last,
    /// To the left, in a log.
    Left,
    /// To the right, in a log.
    Right,
    /// The selected task over the whole screen.
    Open,
    /// Back: out of a search, a filter, a pane.
    Back,
    /// The focus to the other pane.
    OtherPane,
    /// The log below or beside the list.
    ShowLog,
    /// What is known about the task.
    ShowFacts,
    /// When tasks ran.
    ShowTimeline,
    /// A text: filters the list, or is searched for in the log.
    Find,
    /// To the next line that has the text.
    NextMatch,
    /// To the one before.
    PreviousMatch,
    /// A choice of states.
    States,
    /// A choice of sessions.
    Sessions,
    /// Only the batch of the selected task, and back.
    Batch,
    /// Another order.
    Sort,
    /// Ends the task.
    Kill,
    /// Runs it once more.
    Restart,
    /// Types a line into it.
    Input,
    /// Joins the terminal to it.
    Attach,
    /// Opens its log in the editor.
    Editor,
    /// Opens its log in the pager.
    Pager,
    /// Answers the oldest question that waits for a person.
    Answer,
    /// Removes it.
    Clear,
    /// Removes all that have ended and fit the filter.
    ClearEnded,
    /// Follows the end of the log, or stays.
    Follow,
    /// Both streams, stdout, stderr.
    Streams,
    /// Wraps long lines, or cuts them.
    Wrap,
    /// Gives the mouse to the terminal, and back.
    Mouse,
    /// What was said so far.
    Said,
    /// This list of keys.
    Help,
    /// Draws everything anew.
    Redraw,
    /// Stops the program, as in a shell.
    Suspend,
    /// Leaves what has the whole screen, else the program.
    Close,
    /// Leaves; tasks go on.
    Quit,
}

/// Where a key belongs on the help screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// Moving about.
    Moving,
    /// Which tasks are listed.
    Listing,
    /// The log.
    Log,
    /// What is done to a task.
    Acting,
    /// The program itself.
    Program,
}

impl Group {
    /// All, as they are shown.
    pub const ALL: [Self; 5] = [Self::Moving, Self::Acting, Self::Listing, Self::Log, Self::Program];

    /// Returns its heading.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Moving => "Moving",
            Self::Listing => "The list",
            Self::Log => "The log",
            Self::Acting => "The selected task",
            Self::Program => "The program",
        }
    }
}

/// Keys for one action.
pub struct Binding {
    /// What it does.
    pub action: Action,
    /// Where it is shown.
    pub group: Group,
    /// The keys, as they are shown.
    pub shown: &'static str,
    /// What it does, in words.
    pub words: &'static str,
    keys: &'static [(KeyCode, KeyModifiers)],
}

const NONE: KeyModifiers = KeyModifiers::NONE;
const CTRL: KeyModifiers = KeyModifiers::CONTROL;

const fn c(letter: char) -> (KeyCode, KeyModifiers) {
    (KeyCode::Char(letter), NONE)
}

const fn ctrl(letter: char) -> (KeyCode, KeyModifiers) {
    (KeyCode::Char(letter), CTRL)
}

const fn k(code: KeyCode) -> (KeyCode, KeyModifiers) {
    (code, NONE)
}

macro_rules! bindings {
    ($($action:ident $group:ident $shown:literal $words:literal [$($key:expr),+];)+) => {
        /// Every key, in the order of the help screen.
        pub const BINDINGS: &[Binding] = &[$(Binding {
            action: Action::$action,
            group: Group::$group,
            shown: $shown,
            words: $words,
            keys: &[$($key),+],
        }),+];
    };
}

bindings! {
    Up Moving "↑ k" "up" [k(KeyCode::Up), c('k')];
    Down Moving "↓ j" "down" [k(KeyCode::Down), c('j')];
    PageUp Moving "PgUp ^u" "a page up" [k(KeyCode::PageUp), ctrl('u')];
    PageDown Moving "PgDn ^d" "a page down" [k(KeyCode::PageDown), ctrl('d'), c(' ')];
    First Moving "g Home" "to the first" [k(KeyCode::Home), c('g')];
    Last Moving "G End" "to the last" [k(KeyCode::End), c('G')];
    OtherPane Moving "Tab" "to the other pane" [k(KeyCode::Tab), k(KeyCode::BackTab)];
    Open Moving "Enter" "over the whole screen" [k(KeyCode::Enter)];
    Back Moving "Esc" "back, out of search or filter" [k(KeyCode::Esc)];
    ShowLog Moving "1" "log" [c('1')];
    ShowFacts Moving "2" "facts" [c('2')];
    ShowTimeline Moving "3 t" "timeline of runs" [c('3'), c('t')];
    Kill Acting "x F9" "kill it and all it started" [c('x'), k(KeyCode::F(9))];
    Restart Acting "r" "run it once more" [c('r')];
    Input Acting "i" "type a line into it" [c('i')];
    Attach Acting "a" "attach: ctrl+] comes back" [c('a')];
    Editor Acting "e" "log in $EDITOR" [c('e')];
    Pager Acting "p" "log in $PAGER" [c('p')];
    Clear Acting "c" "remove it, if it has ended" [c('c')];
    Answer Acting "A" "answer what asks for approval" [c('A')];
    ClearEnded Listing "C" "remove all listed that ended" [c('C')];
    Find Listing "/" "filter; in the log: search" [c('/')];
    States Listing "f" "by state" [c('f')];
    Sessions Listing "S" "by session" [c('S')];
    Batch Listing "b" "only its batch, and back" [c('b')];
    Sort Listing "s" "another order" [c('s')];
    NextMatch Log "n" "next match" [c('n')];
    PreviousMatch Log "N" "previous match" [c('N')];
    Follow Log "F" "follow the end, or stay" [c('F')];
    Streams Log "o" "both, stdout, stderr" [c('o')];
    Wrap Log "w" "wrap long lines" [c('w')];
    Left Log "← h" "to the left" [k(KeyCode::Left), c('h')];
    Right Log "→ l" "to the right" [k(KeyCode::Right), c('l')];
    Help Program "?" "this help" [c('?'), k(KeyCode::F(1))];
    Said Program "M" "what was said so far" [c('M')];
    Mouse Program "m" "mouse: ours or the terminal's" [c('m')];
    Redraw Program "^l" "draw anew" [ctrl('l')];
    Suspend Program "^z" "to the shell; fg comes back" [ctrl('z')];
    Close Program "q" "close the log, or leave" [c('q')];
    Quit Program "^c" "leave; tasks go on" [ctrl('c')];
}

/// Returns what a key asks for.
#[must_use]
pub fn action_of(key: KeyEvent) -> Option<Action> {
    // Capital letters come with the shift key; the letter says it already.
    let modifiers = key.modifiers - KeyModifiers::SHIFT;
    let is = |binding: &&Binding| binding.keys.contains(&(key.code, modifiers));
    BINDINGS.iter().find(is).map(|binding| binding.action)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_key_means_two_things() {
        let mut keys: Vec<_> = BINDINGS.iter().flat_map(|binding| binding.keys).collect();
        let count = keys.len();
        keys.sort_by_key(|key| format!("{key:?}"));
        keys.dedup();
        assert_eq!(keys.len(), count);
    }

    #[test]
    fn capital_letters_are_keys_of_their_own() {
        let pressed = |code, modifiers| action_of(KeyEvent::new(code, modifiers));
        assert_eq!(pressed(KeyCode::Char('G'), KeyModifiers::SHIFT), Some(Action::Last));
        assert_eq!(pressed(KeyCode::Char('g'), NONE), Some(Action::First));
        assert_eq!(pressed(KeyCode::Char('x'), CTRL), None);
    }

    /// The manual has the same table; this says which line is missing.
    #[test]
    fn the_manual_names_every_key() {
        let manual = include_str!("../../../../docs/tui.md");
        for binding in BINDINGS {
            let line = format!("| `{}` | {} |", binding.shown, binding.words);
            assert!(manual.contains(&line), "docs/tui.md lacks {line}");
        }
    }
}
