//! All key bindings. The help screen and the footer are generated from this table.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// A group of keys on the help screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Group {
    /// Keys that move the selection or scroll.
    Moving,
    /// Keys that select which tasks are listed.
    Listing,
    /// Keys of the log.
    Log,
    /// Keys that act on tasks.
    Acting,
    /// Keys of the program itself.
    Program,
}

impl Group {
    /// All groups in display order.
    pub(crate) const ALL: [Self; 5] = [Self::Moving, Self::Acting, Self::Listing, Self::Log, Self::Program];

    /// Returns the heading of the group.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Moving => "Navigation",
            Self::Listing => "List",
            Self::Log => "Log",
            Self::Acting => "Selected task",
            Self::Program => "General",
        }
    }
}

/// The keys of one action.
pub(crate) struct Binding {
    /// The action of the keys.
    pub(crate) action: Action,
    /// The group in which the keys are shown.
    pub(crate) group: Group,
    /// The description of the action. It is empty if the description of the previous binding covers this one.
    pub(crate) words: &'static str,
    keys: &'static [(KeyCode, KeyModifiers)],
}

impl Binding {
    /// Returns the names of the keys for display.
    pub(crate) fn shown(&self) -> String {
        self.keys.iter().map(name).collect::<Vec<_>>().join(" ")
    }
}

/// Returns the lines of a group on the help screen: the keys, and the description of their action.
pub(crate) fn lines(group: Group) -> impl Iterator<Item = (String, &'static str)> {
    let mut lines: Vec<(String, &str)> = Vec::new();
    for binding in BINDINGS.iter().filter(|binding| binding.group == group) {
        match lines.last_mut() {
            Some((keys, _)) if binding.words.is_empty() => *keys += &format!(" {}", binding.shown()),
            Some(_) | None => lines.push((binding.shown(), binding.words)),
        }
    }
    lines.into_iter()
}

/// Returns the name of the first key for an action.
pub(crate) fn key_of(action: Action) -> String {
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
        /// The action of a key.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Action {
            $($action),+
        }

        /// All key bindings in the order of the help screen.
        pub(crate) const BINDINGS: &[Binding] = &[$(Binding {
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
    Grow Moving "more, less room for the list" [c('+')];
    Shrink Moving "" [c('-')];
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
    Attach Acting "attach (Ctrl-] detaches)" [c('a')];
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

fn binding_of(key: KeyEvent) -> Option<&'static Binding> {
    // Capital letters are reported with the shift modifier, which adds no information.
    let modifiers = key.modifiers - KeyModifiers::SHIFT;
    BINDINGS.iter().find(|binding| binding.keys.contains(&(key.code, modifiers)))
}

/// Returns the action of a key.
pub(crate) fn action_of(key: KeyEvent) -> Option<Action> {
    binding_of(key).map(|binding| binding.action)
}

/// Returns whether the effect of a key depends on the selected task or on the list.
pub(crate) fn needs_selection(key: KeyEvent) -> bool {
    binding_of(key).is_some_and(|binding| binding.group != Group::Program)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_key_has_two_actions() {
        let mut keys: Vec<_> = BINDINGS.iter().flat_map(|binding| binding.keys).collect();
        let count = keys.len();
        keys.sort_by_key(|key| format!("{key:?}"));
        keys.dedup();
        assert_eq!(keys.len(), count);
    }

    #[test]
    fn capital_letters_are_separate_keys() {
        let pressed = |code, modifiers| action_of(KeyEvent::new(code, modifiers));
        assert_eq!(pressed(KeyCode::Char('G'), KeyModifiers::SHIFT), Some(Action::Last));
        assert_eq!(pressed(KeyCode::Char('g'), NONE), Some(Action::First));
        assert_eq!(pressed(KeyCode::Char('x'), CTRL), None);
    }

    #[test]
    fn keys_have_common_names() {
        let shown = |action| BINDINGS.iter().find(|binding| binding.action == action).unwrap().shown();
        assert_eq!(shown(Action::PageDown), "PgDn ^d");
        assert_eq!(shown(Action::OtherPane), "Tab ⇧Tab");
        assert_eq!(shown(Action::Kill), "x F9");
        assert_eq!((key_of(Action::Mark), key_of(Action::Back)), ("Space".to_owned(), "Esc".to_owned()));
    }

    /// Two columns of the help screen share 80 columns of the terminal.
    #[test]
    fn every_line_of_the_help_screen_can_be_read_in_eighty_columns() {
        for (keys, words) in Group::ALL.into_iter().flat_map(lines) {
            assert!(keys.chars().count() < 9 && words.len() <= 30, "{keys} {words}");
        }
    }

    /// The manual contains the same tables. This test fails if a key is missing there or no longer exists.
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
