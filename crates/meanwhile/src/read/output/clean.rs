//! Converts terminal output to text that is safe to show and cheap to read.

use std::num::NonZero;

/// Removes control sequences and text that a carriage return has overwritten.
#[must_use]
pub fn clean_text(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let (body, end) = line.strip_suffix('\n').map_or((line, ""), |body| (body, "\n"));
        let body = body.trim_end_matches('\r');
        let visible = body.rsplit('\r').find(|part| !part.is_empty()).unwrap_or("");
        for (position, cell) in visible.split('\t').enumerate() {
            if position > 0 {
                clean.push('\t');
            }
            let plain = strip_ansi_escapes::strip_str(cell);
            clean.extend(plain.chars().filter(|c| !c.is_control()));
        }
        clean.push_str(end);
    }
    clean
}

/// Returns what a terminal of this size would show after these bytes, without trailing blank lines.
#[must_use]
pub fn render_screen(bytes: &[u8], rows: u16, cols: u16) -> String {
    let size = |cells: u16| NonZero::new(cells).unwrap_or(NonZero::<u16>::MIN);
    let mut parser = vt100::Parser::new(size(rows), size(cols), 0);
    parser.process(bytes);
    let text = parser.screen().contents();
    text.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_control_characters_and_overwritten_text_are_removed() {
        assert_eq!(clean_text("\x1b[31mred\x1b[0m\tx\n"), "red\tx\n");
        assert_eq!(clean_text("10%\r50%\r100%\r\ndone"), "100%\ndone");
        assert_eq!(clean_text("a\x07b\x00c"), "abc");
        assert_eq!(clean_text("\x1b]0;title\x07text"), "text");
    }

    #[test]
    fn a_rendered_screen_shows_its_final_content() {
        assert_eq!(render_screen(b"one\r\ntwo\x1b[1;1HONE", 24, 80), "ONE\ntwo");
        assert_eq!(render_screen(b"\x1b[2J\x1b[H", 24, 80), "");
    }
}
