//! Parses colours in output. All other control sequences are removed.

use ratatui::style::{Color, Modifier, Style};
use unicode_width::UnicodeWidthChar;

const TAB: usize = 8;

/// A line of output with its styles.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Painted {
    /// The text without control characters.
    pub(crate) text: String,
    /// Byte offsets into the text in ascending order, each with the style that begins there.
    pub(crate) styles: Vec<(usize, Style)>,
}

/// Parses a line. `style` is the style at the start of the line, and is updated to the style at its end.
///
/// Text that a carriage return has overwritten is left out, tabs become spaces, and other control characters are
/// removed.
pub(crate) fn paint(line: &str, style: &mut Style) -> Painted {
    let mut painted = Painted::default();
    let body = line.trim_end_matches('\r');
    let last = body.rfind('\r').map_or(0, |at| at + 1);
    let mut rest = body;
    let mut place = 0;
    painted.styles.push((0, *style));
    let mut columns = 0;
    while let Some(c) = rest.chars().next() {
        let taken = if let Some(sequence) = rest.strip_prefix("\x1b[") {
            let end = sequence.find(|c: char| ('\u{40}'..='\u{7e}').contains(&c));
            let (values, len) = end.map_or((sequence, rest.len()), |end| (&sequence[..end], end + 3));
            if end.is_some_and(|end| sequence[end..].starts_with('m')) {
                apply(values, style);
                painted.styles.push((painted.text.len(), *style));
            }
            len
        } else {
            if c == '\t' && place >= last {
                let blanks = TAB - columns % TAB;
                painted.text.extend(std::iter::repeat_n(' ', blanks));
                columns += blanks;
            } else if !c.is_control() && place >= last {
                painted.text.push(c);
                columns += c.width().unwrap_or(0);
            }
            c.len_utf8()
        };
        rest = &rest[taken..];
        place += taken;
    }
    painted.styles.dedup_by(|later, earlier| {
        let same = later.0 == earlier.0 || later.1 == earlier.1;
        if later.0 == earlier.0 {
            earlier.1 = later.1;
        }
        same
    });
    painted
}

fn apply(values: &str, style: &mut Style) {
    let number = |value: &str| value.parse::<u16>().unwrap_or(0);
    let mut values = values.split(';');
    while let Some(value) = values.next() {
        *style = match value.split_once(':') {
            Some((first, rest)) => with_colons(number(first), rest, *style),
            None => match number(value) {
                38 => extended(&mut values.by_ref().map(number)).map_or(*style, |colour| style.fg(colour)),
                48 => extended(&mut values.by_ref().map(number)).map_or(*style, |colour| style.bg(colour)),
                plain => with(plain, *style),
            },
        };
    }
}

/// Applies one SGR parameter to a style.
fn with(number: u16, style: Style) -> Style {
    match number {
        0 => Style::new(),
        1 => style.add_modifier(Modifier::BOLD),
        2 => style.add_modifier(Modifier::DIM),
        3 => style.add_modifier(Modifier::ITALIC),
        4 => style.add_modifier(Modifier::UNDERLINED),
        7 => style.add_modifier(Modifier::REVERSED),
        9 => style.add_modifier(Modifier::CROSSED_OUT),
        22 => style.remove_modifier(Modifier::BOLD | Modifier::DIM),
        23 => style.remove_modifier(Modifier::ITALIC),
        24 => style.remove_modifier(Modifier::UNDERLINED),
        27 => style.remove_modifier(Modifier::REVERSED),
        29 => style.remove_modifier(Modifier::CROSSED_OUT),
        30..=37 => style.fg(Color::Indexed((number - 30) as u8)),
        40..=47 => style.bg(Color::Indexed((number - 40) as u8)),
        90..=97 => style.fg(Color::Indexed((number - 90 + 8) as u8)),
        100..=107 => style.bg(Color::Indexed((number - 100 + 8) as u8)),
        39 => Style { fg: None, ..style },
        49 => Style { bg: None, ..style },
        // Blinking, fonts and similar parameters are ignored.
        _ => style,
    }
}

/// Applies an SGR parameter with colon-separated parts: a kind of underline, or a colour with its colour space.
fn with_colons(first: u16, rest: &str, style: Style) -> Style {
    let parts: Vec<_> = rest.split(':').collect();
    // The colour space is optional and usually empty.
    let parts = match *parts {
        ["2", _, red, green, blue, ..] => vec!["2", red, green, blue],
        _ => parts,
    };
    let mut numbers = parts.iter().map(|part| part.parse::<u16>().unwrap_or(0));
    match (first, rest) {
        (4, "0") => style.remove_modifier(Modifier::UNDERLINED),
        (4, _) => style.add_modifier(Modifier::UNDERLINED),
        (38, _) => extended(&mut numbers).map_or(style, |colour| style.fg(colour)),
        (48, _) => extended(&mut numbers).map_or(style, |colour| style.bg(colour)),
        (_, _) => style,
    }
}

fn extended(numbers: &mut impl Iterator<Item = u16>) -> Option<Color> {
    let mut byte = || numbers.next().map(|number| number.min(255) as u8);
    match byte()? {
        5 => byte().map(Color::Indexed),
        2 => Some(Color::Rgb(byte()?, byte()?, byte()?)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn painted(line: &str) -> Painted {
        paint(line, &mut Style::new())
    }

    #[test]
    fn colours_are_kept_and_continue_on_the_next_line() {
        let mut style = Style::new();
        let first = paint("ok \x1b[1;31mbad", &mut style);
        assert_eq!(first.text, "ok bad");
        let red = Style::new().fg(Color::Indexed(1)).add_modifier(Modifier::BOLD);
        assert_eq!(first.styles, [(0, Style::new()), (3, red)]);
        assert_eq!(paint("still\x1b[0m", &mut style).styles[0], (0, red));
        assert_eq!(style, Style::new());
        assert_eq!(painted("\x1b[38;5;208mx").styles, [(0, Style::new().fg(Color::Indexed(208)))]);
        assert_eq!(painted("\x1b[48;2;1;2;3mx").styles, [(0, Style::new().bg(Color::Rgb(1, 2, 3)))]);
    }

    #[test]
    fn colon_separated_parameters_are_parsed() {
        let style = |text: &str| painted(text).styles[0].1;
        let fg = |colour| Style::new().fg(colour);
        assert_eq!(style("\x1b[38:2::1:2:3mx"), fg(Color::Rgb(1, 2, 3)));
        assert_eq!(style("\x1b[38:2:1:2:3mx"), fg(Color::Rgb(1, 2, 3)));
        assert_eq!(style("\x1b[38:5:208mx"), fg(Color::Indexed(208)));
        assert_eq!(style("\x1b[4:3mx"), Style::new().add_modifier(Modifier::UNDERLINED));
        assert_eq!(style("\x1b[4;4:0;31mx").fg, Some(Color::Indexed(1)));
        assert!(!style("\x1b[4:0mx").add_modifier.contains(Modifier::UNDERLINED));
        assert_eq!(style("\x1b[58:2::9:9:9;1mx"), Style::new().add_modifier(Modifier::BOLD));
    }

    #[test]
    fn tabs_advance_by_display_columns() {
        assert_eq!(painted("日本\tx").text, "日本    x");
    }

    #[test]
    fn all_other_control_sequences_are_removed() {
        assert_eq!(painted("10%\r50%\r\r").text, "50%");
        assert_eq!(painted("a\tb").text, "a       b");
        assert_eq!(painted("a\u{7}b\u{8}c\u{9b}31m").text, "abc31m");
        assert_eq!(painted("x\x1b[2Jy\x1b[").text, "xy");
    }
}
