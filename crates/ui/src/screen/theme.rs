//! Colours of the screens. No information depends on colour alone: states have words and signs, and the selection has a
//! mark.

use meanwhile::model::Status;
use ratatui::style::{Color, Modifier, Style};

use super::depth::Depth;
use mw_desk::rows::TaskRow;

/// The colour scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThemeChoice {
    /// 24-bit colours for a dark background.
    Dark,
    /// 24-bit colours for a light background.
    Light,
    /// 256 colours for a dark background.
    Dark256,
    /// 256 colours for a light background.
    Light256,
    /// The terminal's 16 colours.
    Basic,
    /// No colours.
    Plain,
}

impl ThemeChoice {
    /// Detects the scheme from `NO_COLOR`, `TERM`, `COLORTERM` and `COLORFGBG`.
    #[must_use]
    pub fn detect(variable: impl Fn(&str) -> Option<String>) -> Self {
        let value = |name: &str| variable(name).filter(|value| !value.is_empty());
        let term = value("TERM").unwrap_or_default();
        if value("NO_COLOR").is_some() || term == "dumb" {
            return Self::Plain;
        }
        let is_true = Self::knows_all_colours(&variable);
        if !is_true && value("COLORTERM").is_none() && !term.contains("256color") {
            return Self::Basic;
        }
        // The last number is the background. 7 and 9 to 15 are light.
        let background = value("COLORFGBG").and_then(|value| value.rsplit(';').next()?.parse::<u8>().ok());
        let choice = match background {
            Some(7 | 9..=15) => Self::Light,
            Some(_) | None => Self::Dark,
        };
        choice.within(variable)
    }

    /// Limits the scheme to 256 colours if the terminal does not announce more.
    #[must_use]
    pub fn within(self, variable: impl Fn(&str) -> Option<String>) -> Self {
        match self {
            Self::Dark if !Self::knows_all_colours(&variable) => Self::Dark256,
            Self::Light if !Self::knows_all_colours(&variable) => Self::Light256,
            choice => choice,
        }
    }

    fn knows_all_colours(variable: &impl Fn(&str) -> Option<String>) -> bool {
        let says = variable("COLORTERM").unwrap_or_default();
        says == "truecolor" || says == "24bit" || variable("TERM").unwrap_or_default().contains("direct")
    }
}

/// The styles of a screen.
#[derive(Clone, Debug)]
pub(crate) struct Theme {
    /// The first line.
    pub(crate) header: Style,
    /// Titles of columns and panes.
    pub(crate) title: Style,
    /// Less important text.
    pub(crate) dim: Style,
    /// The selected row.
    pub(crate) selected: Style,
    /// Names of keys, and the focused pane.
    pub(crate) accent: Style,
    /// Search matches.
    pub(crate) found: Style,
    /// The current search match.
    pub(crate) current: Style,
    /// A line that a person must not overlook.
    pub(crate) alarm: Style,
    /// Errors.
    pub(crate) error: Style,
    busy: Style,
    good: Style,
    bad: Style,
    stopped: Style,
    odd: Style,
    /// The number of colours in which a task's output is shown.
    pub(crate) depth: Depth,
}

impl Theme {
    /// Creates the theme of a scheme.
    pub(crate) fn of(choice: ThemeChoice) -> Self {
        match choice {
            ThemeChoice::Dark => Self::coloured(&DARK, Depth::True),
            ThemeChoice::Light => Self::coloured(&LIGHT, Depth::True),
            ThemeChoice::Dark256 => Self::coloured(&DARK, Depth::Indexed),
            ThemeChoice::Light256 => Self::coloured(&LIGHT, Depth::Indexed),
            ThemeChoice::Basic => Self::basic(),
            ThemeChoice::Plain => Self::plain(),
        }
    }

    fn coloured(palette: &Palette, depth: Depth) -> Self {
        let fg = |colour| depth.style(Style::new().fg(colour));
        let on = |colour, background| depth.style(Style::new().fg(colour).bg(background));
        let (text, bar) = palette.bar;
        Self {
            header: on(text, bar),
            title: fg(palette.dim).add_modifier(Modifier::BOLD),
            dim: fg(palette.dim),
            // Both colours are set, because the terminal's default foreground may be as dark as this background.
            selected: on(text, palette.selected).add_modifier(Modifier::BOLD),
            accent: fg(palette.accent).add_modifier(Modifier::BOLD),
            found: on(palette.found.0, palette.found.1),
            current: on(Color::Black, Color::Rgb(0xff, 0xd3, 0x3d)).add_modifier(Modifier::BOLD),
            alarm: on(Color::Black, Color::Rgb(0xff, 0xc1, 0x4d)).add_modifier(Modifier::BOLD),
            error: fg(palette.bad).add_modifier(Modifier::BOLD),
            busy: fg(palette.busy),
            good: fg(palette.good),
            bad: fg(palette.bad),
            stopped: fg(palette.stopped),
            odd: fg(palette.odd),
            depth,
        }
    }

    fn basic() -> Self {
        let fg = |colour| Style::new().fg(colour);
        let reversed = Style::new().add_modifier(Modifier::REVERSED);
        Self {
            header: reversed,
            title: Style::new().add_modifier(Modifier::BOLD),
            dim: Style::new().add_modifier(Modifier::DIM),
            selected: reversed,
            accent: fg(Color::Blue).add_modifier(Modifier::BOLD),
            found: Style::new().fg(Color::Yellow).add_modifier(Modifier::UNDERLINED),
            // Bold would turn black into grey on some terminals.
            current: Style::new().fg(Color::Black).bg(Color::Yellow),
            alarm: Style::new().fg(Color::Black).bg(Color::Yellow),
            error: fg(Color::Red).add_modifier(Modifier::BOLD),
            busy: fg(Color::Cyan),
            good: fg(Color::Green),
            bad: fg(Color::Red),
            stopped: fg(Color::Yellow),
            odd: fg(Color::Magenta),
            depth: Depth::Basic,
        }
    }

    const fn plain() -> Self {
        let bold = Style::new().add_modifier(Modifier::BOLD);
        let reversed = Style::new().add_modifier(Modifier::REVERSED);
        Self {
            header: reversed,
            title: bold,
            dim: Style::new(),
            selected: reversed,
            accent: bold,
            found: Style::new().add_modifier(Modifier::UNDERLINED),
            current: reversed,
            alarm: Style::new().add_modifier(Modifier::REVERSED.union(Modifier::BOLD)),
            error: bold,
            busy: Style::new(),
            good: Style::new(),
            bad: bold,
            stopped: Style::new(),
            odd: bold,
            depth: Depth::None,
        }
    }

    /// Returns the style of something that waits for a person.
    pub(crate) fn waits(&self) -> Style {
        self.stopped.add_modifier(Modifier::BOLD)
    }

    /// Returns a style for a part of the first line.
    pub(crate) fn on_header(&self, style: Style) -> Style {
        on(self.header, style)
    }

    /// Returns a style for a part of the selected row.
    pub(crate) fn on_selected(&self, style: Style) -> Style {
        on(self.selected, style)
    }

    /// Returns the style of the state of a listed task.
    pub(crate) fn of_task(&self, row: &TaskRow) -> Style {
        if row.waits.is_some() { self.waits() } else { self.status(row.status) }
    }

    /// Returns the style of a state.
    pub(crate) const fn status(&self, status: Status) -> Style {
        match status {
            Status::Pending => self.dim,
            Status::Running | Status::Resumed => self.busy,
            Status::Completed => self.good,
            Status::Failed | Status::TimedOut => self.bad,
            Status::Cancelling | Status::Cancelled => self.stopped,
            Status::Lost => self.odd,
        }
    }
}

/// Returns a style for a part of a line that has another style. On a reversed line a colour would be the background.
fn on(line: Style, part: Style) -> Style {
    if line.add_modifier.contains(Modifier::REVERSED) {
        Style::new().add_modifier(part.add_modifier - Modifier::DIM)
    } else {
        part
    }
}

struct Palette {
    bar: (Color, Color),
    selected: Color,
    accent: Color,
    dim: Color,
    busy: Color,
    good: Color,
    bad: Color,
    stopped: Color,
    odd: Color,
    /// The text and the background of a search match.
    found: (Color, Color),
}

const DARK: Palette = Palette {
    bar: (Color::Rgb(0xe6, 0xe6, 0xe6), Color::Rgb(0x26, 0x32, 0x38)),
    selected: Color::Rgb(0x2f, 0x45, 0x52),
    accent: Color::Rgb(0x6c, 0xb6, 0xff),
    dim: Color::Rgb(0x8b, 0x94, 0x9e),
    busy: Color::Rgb(0x56, 0xd4, 0xdd),
    good: Color::Rgb(0x6b, 0xc4, 0x6d),
    bad: Color::Rgb(0xff, 0x7b, 0x72),
    stopped: Color::Rgb(0xe3, 0xb3, 0x41),
    odd: Color::Rgb(0xd2, 0x9b, 0xff),
    found: (Color::Rgb(0xff, 0xe0, 0x8a), Color::Rgb(0x5a, 0x46, 0x10)),
};

const LIGHT: Palette = Palette {
    bar: (Color::Rgb(0x1f, 0x23, 0x28), Color::Rgb(0xdd, 0xe6, 0xee)),
    selected: Color::Rgb(0xcf, 0xe3, 0xf5),
    accent: Color::Rgb(0x09, 0x55, 0xb5),
    dim: Color::Rgb(0x59, 0x63, 0x6e),
    busy: Color::Rgb(0x00, 0x6d, 0x77),
    good: Color::Rgb(0x1a, 0x7f, 0x37),
    bad: Color::Rgb(0xc2, 0x1f, 0x27),
    stopped: Color::Rgb(0x8a, 0x5a, 0x00),
    odd: Color::Rgb(0x7a, 0x3f, 0xc0),
    found: (Color::Rgb(0x4d, 0x36, 0x00), Color::Rgb(0xff, 0xee, 0xb5)),
};

#[cfg(test)]
mod tests {
    use super::*;

    fn detected(set: &[(&str, &str)]) -> ThemeChoice {
        ThemeChoice::detect(|name| {
            set.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn the_theme_depends_on_the_terminal() {
        let dark = [("TERM", "xterm-256color"), ("COLORTERM", "24bit"), ("COLORFGBG", "15;0")];
        assert_eq!(detected(&[("TERM", "xterm-256color")]), ThemeChoice::Dark256);
        assert_eq!(detected(&dark), ThemeChoice::Dark);
        assert_eq!(detected(&[("TERM", "xterm-direct")]), ThemeChoice::Dark);
        assert_eq!(detected(&[("TERM", "screen"), ("COLORTERM", "1")]), ThemeChoice::Dark256);
        assert_eq!(detected(&[("TERM", "xterm"), ("COLORTERM", "truecolor")]), ThemeChoice::Dark);
        assert_eq!(detected(&[("TERM", "xterm-256color"), ("COLORFGBG", "0;15")]), ThemeChoice::Light256);
        assert_eq!(detected(&[("TERM", "xterm-256color"), ("COLORFGBG", "15;0")]), ThemeChoice::Dark256);
        assert_eq!(detected(&[("TERM", "linux")]), ThemeChoice::Basic);
        assert_eq!(detected(&[("TERM", "dumb")]), ThemeChoice::Plain);
        assert_eq!(detected(&[("TERM", "xterm-256color"), ("NO_COLOR", "1")]), ThemeChoice::Plain);
        assert_eq!(detected(&[("TERM", "xterm-256color"), ("NO_COLOR", "")]), ThemeChoice::Dark256);
    }

    #[test]
    fn the_plain_theme_uses_no_colours() {
        let theme = Theme::of(ThemeChoice::Plain);
        let styles =
            [theme.header, theme.title, theme.dim, theme.selected, theme.accent, theme.found, theme.error];
        let states = Status::ALL.map(|status| theme.status(status));
        for style in styles.iter().chain(&states) {
            assert_eq!((style.fg, style.bg), (None, None));
        }
    }

    #[test]
    fn with_256_colours_only_indexed_colours_are_used_and_the_selection_is_readable() {
        for choice in [ThemeChoice::Dark256, ThemeChoice::Light256] {
            let theme = Theme::of(choice);
            let styles = [theme.header, theme.title, theme.dim, theme.selected, theme.accent, theme.found];
            let states = Status::ALL.map(|status| theme.status(status));
            for style in styles.iter().chain(&states) {
                let is_within = |colour: Option<Color>| !matches!(colour, Some(Color::Rgb(..)));
                assert!(is_within(style.fg) && is_within(style.bg), "{style:?}");
            }
        }
        let many = [ThemeChoice::Dark, ThemeChoice::Light, ThemeChoice::Dark256, ThemeChoice::Light256];
        for selected in many.map(|choice| Theme::of(choice).selected) {
            assert!(selected.fg.is_some() && selected.bg.is_some());
        }
    }
}
