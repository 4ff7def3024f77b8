//! Takes over the terminal, and always restores it.

use std::io::{self, Stdout, stdout};
use std::mem::ManuallyDrop;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

use crossterm::clipboard::CopyToClipboard;
use crossterm::cursor::{MoveTo, RestorePosition, SavePosition, Show};
use crossterm::event::{
    DisableBracketedPaste, DisableMouseCapture, EnableBracketedPaste, EnableMouseCapture,
};
use crossterm::style::{Attribute, Print, ResetColor, SetAttribute, SetStyle, force_color_output};
use crossterm::terminal::{
    BeginSynchronizedUpdate, Clear, ClearType, EndSynchronizedUpdate, EnterAlternateScreen,
    LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use crossterm::{execute, queue};
use meanwhile::engine::policy;
use ratatui::backend::{CrosstermBackend, IntoCrossterm};
use ratatui::style::Style;
use ratatui::{Frame, Terminal};

use super::file_url::address_path;
use super::keyboard;

/// Whether the terminal is taken over. The panic hook reads it before it restores the terminal.
static TAKEN: AtomicBool = AtomicBool::new(false);
static HOOK: Once = Once::new();

/// The owner of the mouse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MouseUse {
    /// This program receives clicks and the wheel.
    Captured,
    /// The terminal handles the mouse, so text can be selected.
    Released,
}

/// A text on the screen that links to a file, for terminals that support OSC 8.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Link {
    pub(crate) x: u16,
    pub(crate) y: u16,
    pub(crate) text: String,
    pub(crate) style: Style,
    pub(crate) path: String,
}

/// The terminal while it is taken over. Dropping it restores the terminal.
pub(super) struct Screen {
    /// Never dropped. `Terminal::drop` shows the cursor, and on a closed terminal it prints an error, which panics.
    /// `give_back` shows the cursor instead.
    terminal: ManuallyDrop<Terminal<CrosstermBackend<Stdout>>>,
    mouse: MouseUse,
}

impl Screen {
    /// Takes the terminal over. A panic in any thread restores it before the message is printed.
    pub(super) fn take() -> io::Result<Self> {
        HOOK.call_once(|| {
            let before = std::panic::take_hook();
            std::panic::set_hook(Box::new(move |info| {
                if !policy::is_judging() {
                    give_back();
                }
                before(info);
            }));
        });
        // The theme has already decided about colours, including `NO_COLOR`.
        force_color_output(true);
        let terminal = ManuallyDrop::new(Terminal::new(CrosstermBackend::new(stdout()))?);
        let mut screen = Self { terminal, mouse: MouseUse::Captured };
        screen.enter()?;
        Ok(screen)
    }

    /// Takes the terminal again after [`Screen::leave`].
    pub(super) fn enter(&mut self) -> io::Result<()> {
        TAKEN.store(true, Ordering::SeqCst);
        keyboard::take();
        enable_raw_mode()?;
        execute!(stdout(), EnterAlternateScreen, EnableBracketedPaste)?;
        self.set_mouse(self.mouse)?;
        self.redraw()
    }

    /// Restores the terminal for another program.
    pub(super) fn leave(&self) {
        give_back();
    }

    pub(super) fn set_mouse(&mut self, mouse: MouseUse) -> io::Result<()> {
        self.mouse = mouse;
        match mouse {
            MouseUse::Captured => execute!(stdout(), EnableMouseCapture),
            MouseUse::Released => execute!(stdout(), DisableMouseCapture),
        }
    }

    /// Copies a text to the terminal's clipboard (OSC 52). The terminal does not confirm it.
    pub(super) fn copy(text: &str) -> io::Result<()> {
        execute!(stdout(), CopyToClipboard::to_clipboard_from(text))
    }

    /// Clears both buffers. The next draw writes every cell.
    pub(super) fn redraw(&mut self) -> io::Result<()> {
        // `Terminal::clear` asks for the position of the cursor, and not every terminal answers. Each of the two
        // buffers is cleared when it is swapped out.
        self.terminal.swap_buffers();
        self.terminal.swap_buffers();
        execute!(stdout(), Clear(ClearType::All))
    }

    /// Draws the changed cells, as one synchronized update if the terminal supports it. Links are written over the
    /// drawn text, because a cell cannot hold a link.
    pub(super) fn draw(&mut self, view: impl FnOnce(&mut Frame<'_>) -> Vec<Link>) -> io::Result<()> {
        let mut links = Vec::new();
        execute!(stdout(), BeginSynchronizedUpdate)?;
        self.terminal.draw(|frame| links = view(frame))?;
        if !links.is_empty() {
            let mut out = stdout();
            queue!(out, SavePosition)?;
            for Link { x, y, text, style, path } in &links {
                queue!(out, MoveTo(*x, *y), SetStyle((*style).into_crossterm()))?;
                let address = address_path(path);
                queue!(out, Print(format!("\x1b]8;;file://{address}\x1b\\{text}\x1b]8;;\x1b\\")))?;
                queue!(out, ResetColor, SetAttribute(Attribute::Reset))?;
            }
            queue!(out, RestorePosition)?;
        }
        execute!(stdout(), EndSynchronizedUpdate)
    }

    pub(super) fn size(&self) -> io::Result<(u16, u16)> {
        let size = self.terminal.size()?;
        Ok((size.width, size.height))
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        give_back();
    }
}

/// Restores the terminal. Further calls do nothing.
fn give_back() {
    if TAKEN.swap(false, Ordering::SeqCst) {
        // Errors are ignored, because the terminal may be closed.
        let _ = execute!(stdout(), EndSynchronizedUpdate, DisableMouseCapture, DisableBracketedPaste);
        let _ = execute!(stdout(), LeaveAlternateScreen, Show);
        let _ = disable_raw_mode();
        keyboard::give_back();
    }
}
