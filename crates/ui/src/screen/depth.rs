//! The number of colours of a terminal, and conversion to the nearest available colour.

use ratatui::style::{Color, Style};

/// The number of colours that may be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Depth {
    /// No colours.
    None,
    /// The terminal's 16 colours.
    Basic,
    /// 256 colours.
    Indexed,
    /// All 24-bit colours.
    True,
}

/// Typical values of the first 16 colours. Terminals differ in them.
const SIXTEEN: [(Color, (u8, u8, u8)); 16] = [
    (Color::Black, (0, 0, 0)),
    (Color::Red, (205, 0, 0)),
    (Color::Green, (0, 205, 0)),
    (Color::Yellow, (205, 205, 0)),
    (Color::Blue, (0, 0, 238)),
    (Color::Magenta, (205, 0, 205)),
    (Color::Cyan, (0, 205, 205)),
    (Color::Gray, (229, 229, 229)),
    (Color::DarkGray, (127, 127, 127)),
    (Color::LightRed, (255, 0, 0)),
    (Color::LightGreen, (0, 255, 0)),
    (Color::LightYellow, (255, 255, 0)),
    (Color::LightBlue, (92, 92, 255)),
    (Color::LightMagenta, (255, 0, 255)),
    (Color::LightCyan, (0, 255, 255)),
    (Color::White, (255, 255, 255)),
];

impl Depth {
    /// Replaces the colours of a style by the nearest ones that may be used.
    pub(crate) fn style(self, style: Style) -> Style {
        let nearest = |colour: Option<Color>| colour.and_then(|colour| self.nearest(colour));
        Style { fg: nearest(style.fg), bg: nearest(style.bg), ..style }
    }

    fn nearest(self, colour: Color) -> Option<Color> {
        match (self, colour) {
            (Self::None, _) => None,
            (Self::Basic, Color::Rgb(r, g, b)) => Some(of_sixteen((r, g, b))),
            (Self::Basic, Color::Indexed(16..)) => Some(of_sixteen(looks(colour))),
            (Self::Indexed, Color::Rgb(r, g, b)) => Some(Color::Indexed(of_256((r, g, b)))),
            (Self::Basic | Self::Indexed | Self::True, colour) => Some(colour),
        }
    }
}

/// The six levels of each channel in the 256-colour cube.
const STEPS: [u8; 6] = [0, 95, 135, 175, 215, 255];

/// Returns the value of an indexed colour from 16 on.
fn looks(colour: Color) -> (u8, u8, u8) {
    let step = |at: u8| STEPS[usize::from(at % 6)];
    match colour {
        Color::Indexed(grey @ 232..) => {
            let level = 8 + 10 * (grey - 232);
            (level, level, level)
        }
        Color::Indexed(cube @ 16..) => (step((cube - 16) / 36), step((cube - 16) / 6), step(cube - 16)),
        _ => (0, 0, 0),
    }
}

fn of_sixteen(wanted: (u8, u8, u8)) -> Color {
    let nearest = SIXTEEN.iter().min_by_key(|(_, looks)| distance(*looks, wanted));
    nearest.map_or(Color::Reset, |(colour, _)| *colour)
}

fn of_256(wanted: (u8, u8, u8)) -> u8 {
    (16..=255).min_by_key(|at| distance(looks(Color::Indexed(*at)), wanted)).unwrap_or(16)
}

fn distance(a: (u8, u8, u8), b: (u8, u8, u8)) -> u32 {
    [(a.0, b.0), (a.1, b.1), (a.2, b.2)].iter().map(|(a, b)| u32::from(a.abs_diff(*b)).pow(2)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_converted_to_the_nearest_available_ones() {
        let fg = |depth: Depth, colour| depth.style(Style::new().fg(colour)).fg;
        assert_eq!(fg(Depth::Indexed, Color::Rgb(255, 0, 0)), Some(Color::Indexed(196)));
        assert_eq!(fg(Depth::Indexed, Color::Rgb(128, 128, 128)), Some(Color::Indexed(244)));
        assert_eq!(fg(Depth::Indexed, Color::Red), Some(Color::Red));
        assert_eq!(fg(Depth::Basic, Color::Rgb(250, 10, 10)), Some(Color::LightRed));
        assert_eq!(fg(Depth::Basic, Color::Indexed(28)), Some(Color::Green));
        assert_eq!(fg(Depth::Basic, Color::Indexed(3)), Some(Color::Indexed(3)));
        assert_eq!(fg(Depth::True, Color::Rgb(1, 2, 3)), Some(Color::Rgb(1, 2, 3)));
        assert_eq!(fg(Depth::None, Color::Red), None);
    }
}
