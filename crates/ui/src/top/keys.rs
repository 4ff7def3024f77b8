//! All key bindings. The help screen, the footer and the documentation are made from this table.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

pub use super::action::Action;

/// Where a key belongs on the help screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// Moving about.
    Moving,
    /// Which tasks are listed.
    Listing,
    /// The log.
    Log,
    /// Actions on a task.
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
            Self::Moving => "Navigation",
            Self::Listing => "List",
            Self::Log => "Log",
            Self::Acting => "Selected task",
            Self::Program => "General",
        }
    }
}

/// Keys for one action.
pub struct Binding {
    /// What it does.
    pub action: Action,
    /// Where it is shown.
    pub group: Group,
    /// What it does, in words; none where the words of the one before say it.
    pub words: &'static str,
    keys: &'static [(KeyCode, KeyModifiers)],
}

impl Binding {
    /// Returns the keys, as they are shown.
    #[must_use]
    pub fn shown(&self) -> String {
        self.keys.iter().map(name).collect::<Vec<_>>().join(" ")
    }
}

/// Returns the lines of the help screen that belong to a group: keys, and what they do.
pub fn lines(group: Group) -> impl Iterator<Item = (String, &'static str)> {
    let of_group: Vec<_> = BINDINGS.iter().filter(|binding| binding.group == group).collect();
    let mut lines: Vec<(String, &str)> = Vec::new();
    for binding in of_group {
        match lines.last_mut() {
            Some((keys, _)) if binding.words.is_empty() => *keys += &format!(" {}", binding.shown()),
            Some(_) | None => lines.push((binding.shown(), binding.words)),
        }
    }
    lines.into_iter()
}

/// Returns the name of the first key for an action.
#[must_use]
pub fn key_of(action: Action) -> String {
    let binding = BINDINGS.iter().find(|binding| binding.action == action);
    binding.and_then(|binding| binding.keys.first()).map(name).unwrap_or_default()
}

fn name((code, modifiers): &(KeyCode, KeyModifiers)) -> String {
    let name = match code {
        KeyCode::Up => "↑".to_owned(),
        KeyCode::Down => "↓".to_owned(),
        KeyCode::Left => "←".to_owned(),
        KeyCode::Right => "→".to_owned(),
        KeyCode::PageUp => "PgUp".to_owned(),
        KeyCode::PageDown => "PgDn".to_owned(),
        KeyCode::Enter => "Enter".to_owned(),
        KeyCode::BackTab => "⇧Tab".to_owned(),
        KeyCode::Char(' ') => "Space".to_owned(),
        KeyCode::Char(letter) => letter.to_string(),
        code => code.to_string(),
    };
    if modifiers.contains(CTRL) { format!("^{name}") } else { name }
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
    ($($action:ident $group:ident $words:literal [$($key:expr),+];)+) => {
        /// Every key, in the order of the help screen.
        pub const BINDINGS: &[Binding] = &[$(Binding {
            action: Action::$action,
            group: Group::$group,
            words: $words,
            keys: &[$($key),+],
        }),+];
    };
}

bindings! {
    Up Moving "up, down" [k(KeyCode::Up), c('k')];
    Down Moving "" [k(KeyCode::Down), c('j')];
    PageUp Moving "page up" [k(KeyCode::PageUp), ctrl('u')];
    PageDown Moving "page down" [k(KeyCode::PageDown), ctrl('d')];
    First Moving "first row" [c('g'), k(KeyCode::Home)];
    Last Moving "last row" [c('G'), k(KeyCode::End)];
    OtherPane Moving "switch pane" [k(KeyCode::Tab), k(KeyCode::BackTab)];
    Open Moving "full screen" [k(KeyCode::Enter)];
    Back Moving "back; unmark; clear filter" [k(KeyCode::Esc)];
    ShowLog Moving "log, facts, timeline" [c('1')];
    ShowFacts Moving "" [c('2')];
    ShowTimeline Moving "" [c('3'), c('t')];
    Mark Acting "mark: x r c act on all marked" [c(' ')];
    Kill Acting "kill the process tree" [c('x'), k(KeyCode::F(9))];
    Restart Acting "restart" [c('r')];
    Clear Acting "remove, if finished" [c('c')];
    Input Acting "send a line of input" [c('i')];
    Attach Acting "attach (ctrl+] detaches)" [c('a')];
    Editor Acting "open log in $EDITOR" [c('e')];
    Pager Acting "open log in $PAGER" [c('p')];
    CopyId Acting "copy the id" [c('y')];
    CopyPath Acting "copy the log path" [c('Y')];
    Answer Acting "answer approval requests" [c('A')];
    Find Listing "filter; in the log: search" [c('/')];
    States Listing "filter by state" [c('f')];
    Sessions Listing "filter by session" [c('S')];
    Batch Listing "filter by its batch, or all" [c('b')];
    Sort Listing "change sort order" [c('s')];
    Reverse Listing "reverse sort order" [c('I')];
    ClearEnded Listing "remove all finished in list" [c('C')];
    NextMatch Log "next, previous match" [c('n')];
    PreviousMatch Log "" [c('N')];
    Follow Log "toggle follow" [c('F')];
    Streams Log "stream: both, stdout, stderr" [c('o')];
    Wrap Log "wrap long lines" [c('w')];
    Left Log "scroll left, right" [k(KeyCode::Left), c('h')];
    Right Log "" [k(KeyCode::Right), c('l')];
    Help Program "this help" [c('?'), k(KeyCode::F(1))];
    Said Program "earlier messages" [c('M')];
    Mouse Program "mouse: mw top or terminal" [c('m')];
    Redraw Program "redraw" [ctrl('l')];
    Suspend Program "suspend (fg resumes)" [ctrl('z')];
    Close Program "close the log, or quit" [c('q')];
    Quit Program "quit; tasks keep running" [ctrl('c')];
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

    #[test]
    fn keys_have_names_that_people_know() {
        let shown = |action| BINDINGS.iter().find(|binding| binding.action == action).unwrap().shown();
        assert_eq!(shown(Action::PageDown), "PgDn ^d");
        assert_eq!(shown(Action::OtherPane), "Tab ⇧Tab");
        assert_eq!(shown(Action::Kill), "x F9");
        assert_eq!((key_of(Action::Mark), key_of(Action::Back)), ("Space".to_owned(), "Esc".to_owned()));
    }

    /// Two columns of the help screen share eighty of the terminal.
    #[test]
    fn every_line_of_the_help_screen_can_be_read_in_eighty_columns() {
        for (keys, words) in Group::ALL.into_iter().flat_map(lines) {
            assert!(keys.chars().count() < 9 && words.len() <= 30, "{keys} {words}");
        }
    }

    /// The manual has the same tables; this says which line is missing, and which has no key any more.
    #[test]
    fn the_manual_names_every_key_and_no_other() {
        let manual = include_str!("../../../../docs/tui.md");
        let wanted = Group::ALL.into_iter().map(|group| {
            let lines = lines(group).map(|(keys, words)| format!("| `{keys}` | {words} |\n"));
            format!("**{}**\n\n| key | |\n|---|---|\n{}", group.word(), lines.collect::<String>())
        });
        let wanted = wanted.collect::<Vec<_>>().join("\n");
        assert!(manual.contains(&wanted), "docs/tui.md lacks\n{wanted}");
    }
}
