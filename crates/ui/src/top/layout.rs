//! Computes the position of every part from the size of the screen. Drawing, scrolling and clicking share the result.

use ratatui::layout::Rect;

use super::state::{Focus, State, Zoom};

/// The minimum columns and rows of the screen. A smaller screen shows only a message.
pub(crate) const MIN_SIZE: (u16, u16) = (30, 6);
/// The minimum width for list and detail side by side.
const WIDE: u16 = 150;
/// The minimum height for list and detail one above the other.
const TALL: u16 = 14;

/// The parts of the screen. A part that is not shown has no height.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Areas {
    pub(crate) header: Rect,
    /// The line that announces open approval requests.
    pub(crate) alarm: Rect,
    /// The rows, without their heading.
    pub(crate) list: Rect,
    /// The heading over the rows.
    pub(crate) columns: Rect,
    /// The line over the detail.
    pub(crate) title: Rect,
    pub(crate) detail: Rect,
    pub(crate) footer: Rect,
}

impl Areas {
    pub(crate) fn of(state: &State) -> Self {
        Self::within(state, state.size)
    }

    /// Computes the layout for another size than that of the state. The terminal may have been resized before the event
    /// arrived.
    pub(crate) fn within(state: &State, (width, height): (u16, u16)) -> Self {
        if width < MIN_SIZE.0 || height < MIN_SIZE.1 {
            return Self::default();
        }
        let header = Rect::new(0, 0, width, 1);
        let footer = Rect::new(0, height - 1, width, 1);
        let has_alarm = !state.proposed.is_empty() && height > MIN_SIZE.1;
        let alarm = Rect::new(0, 1, width, u16::from(has_alarm));
        let body = Rect::new(0, 1 + alarm.height, width, height - 2 - alarm.height);
        let none = Rect::default();
        let (list, detail) = match state.zoom {
            Zoom::Detail => (none, body),
            Zoom::Split if width >= WIDE => {
                let left = moved((width / 2).clamp(90, 110), state.split.columns, (40, width - 40));
                (Rect { width: left, ..body }, Rect { x: left + 1, width: width - left - 1, ..body })
            }
            Zoom::Split if height >= TALL => {
                // A short list leaves more rows to the log.
                let wanted = u16::try_from(state.list.total).unwrap_or(u16::MAX).saturating_add(2).max(8);
                let list =
                    moved((body.height / 2).min(wanted).clamp(5, 24), state.split.rows, (3, body.height - 3));
                (Rect { height: list, ..body }, Rect { y: body.y + list, height: body.height - list, ..body })
            }
            Zoom::Split => match state.focus {
                Focus::List => (body, none),
                Focus::Detail => (none, body),
            },
        };
        let (columns, list) = cut_first(list);
        let (title, detail) = cut_first(detail);
        Self { header, alarm, list, columns, title, detail, footer }
    }

    /// Returns whether the screen is too small for anything but a message.
    pub(crate) const fn is_too_small(&self) -> bool {
        self.header.height == 0
    }

    /// Returns whether list and detail are side by side.
    pub(crate) const fn side_by_side(&self) -> bool {
        self.detail.height > 0 && self.list.height > 0 && self.detail.x > 0
    }
}

/// How far the user has moved the border between list and detail from its usual place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Split {
    pub(crate) columns: i16,
    pub(crate) rows: i16,
}

/// Returns a size that was changed by the user, within limits.
fn moved(size: u16, by: i16, (least, most): (u16, u16)) -> u16 {
    size.saturating_add_signed(by).clamp(least, most.max(least))
}

fn cut_first(area: Rect) -> (Rect, Rect) {
    if area.height == 0 {
        return (area, area);
    }
    (Rect { height: 1, ..area }, Rect { y: area.y + 1, height: area.height - 1, ..area })
}
