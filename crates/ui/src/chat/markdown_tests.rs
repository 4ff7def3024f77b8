//! Tests how texts of agents are drawn.

use super::*;
use crate::screen::ThemeChoice;

fn drawn(text: &str, width: usize) -> Vec<String> {
    let theme = Theme::of(ThemeChoice::Dark);
    let mut lines = Vec::new();
    draw(text, ResumePoint::default(), width, &theme, &mut lines);
    lines.iter().map(ToString::to_string).collect()
}

const TABLE: &str = "Results:\n| name | `n` |\n|:--|--:|\n| one \\| two | 1 |\n| 日本 | 22 | more\nend";

#[test]
fn markdown_of_agents_is_drawn() {
    let text = "# Title\n\ntext with `code` and **bold** _it_\n- one\n  - two\n1. first\n> quote\n```rust\nlet a = \"b\";\n```\nend";
    assert_eq!(
        drawn(text, 40),
        [
            "Title",
            "",
            "text with code and bold it",
            "• one",
            "  • two",
            "1. first",
            "│ quote",
            "  rust",
            "  let a = \"b\";",
            "end"
        ]
    );
}

#[test]
fn a_table_is_drawn_with_aligned_columns() {
    assert_eq!(
        drawn(TABLE, 40),
        [
            "Results:",
            "name      │         n",
            "──────────┼──────────",
            "one | two │         1",
            "日本      │ 22 | more",
            "end"
        ]
    );
}

#[test]
fn a_wide_table_is_wrapped_and_one_that_cannot_fit_stays_as_written() {
    let text = "| a | b |\n|---|---|\n| one two three four | five six seven |";
    let lines = drawn(text, 20);
    assert!(lines.iter().all(|line| mw_desk::text::columns(line) <= 20), "{lines:?}");
    let words: Vec<_> = lines.iter().flat_map(|line| line.split([' ', '│'])).collect();
    for word in ["one", "two", "three", "four", "five", "six", "seven"] {
        assert!(words.contains(&word), "{word} in {lines:?}");
    }
    let narrow: String = drawn(text, 6).concat();
    assert!(narrow.starts_with('|'), "{narrow}");
    for text in ["a | b\nc | d", "| a |\n| b |", "|---|", "a | b\n---"] {
        assert_eq!(drawn(text, 40)[0], text.lines().next().unwrap(), "this is no table");
    }
}

#[test]
fn text_in_pieces_is_drawn_like_the_whole_text() {
    let theme = Theme::of(ThemeChoice::Dark);
    let text =
        format!("# Title\n\n- one\n```sh\na | b\n# no title\n~~~\n```\n{TABLE}\n\n```\nopen\n\n| a | b |\n");
    let (mut lines, mut resume) = (Vec::new(), ResumePoint::default());
    for (end, c) in text.char_indices() {
        let so_far = text[..end + c.len_utf8()].trim_end();
        resume = draw(so_far, resume, 30, &theme, &mut lines);
        let pieces: Vec<_> = lines.iter().map(ToString::to_string).collect();
        assert_eq!(pieces, drawn(so_far, 30), "{so_far}");
    }
}

#[test]
fn a_long_answer_is_not_redrawn_for_each_piece() {
    let theme = Theme::of(ThemeChoice::Dark);
    let (mut text, mut lines, mut resume) = (String::new(), Vec::new(), ResumePoint::default());
    for _ in 0..1000 {
        text.push_str("some words of an answer\n");
        resume = draw(text.trim_end(), resume, 30, &theme, &mut lines);
        assert!(text.len() - resume.bytes < 50, "only the last line may change");
    }
    assert_eq!(lines.len(), 1000);
}

#[test]
fn endless_lines_and_tables_are_not_redrawn_for_each_piece() {
    let theme = Theme::of(ThemeChoice::Dark);
    let table = "| name | number |\n|---|---|\n";
    for (begin, piece, most) in [
        ("", "word ", MAX_PIECE + 100),
        ("```\n", "no_blank_at_all", MAX_PIECE + 100),
        ("- ", "x", MAX_PIECE + 100),
        ("", "no | table\n", 100),
        (table, "| one | 1 |\n", 12 * 600),
    ] {
        let (mut text, mut lines, mut resume) = (begin.to_owned(), Vec::new(), ResumePoint::default());
        for _ in 0..60 {
            text.push_str(&piece.repeat(1000 / piece.len()));
            resume = draw(text.trim_end(), resume, 30, &theme, &mut lines);
            assert!(text.len() - resume.bytes < most, "{piece}: {} of {}", resume.bytes, text.len());
        }
        let pieces: Vec<_> = lines.iter().map(ToString::to_string).collect();
        assert!(pieces == drawn(text.trim_end(), 30), "{piece}: it differs from the whole text");
        let all = |text: &str| text.replace([' ', '\n', '|', '│', '─', '┼', '-', '`', '•'], "");
        assert!(all(&pieces.concat()) == all(&text), "{piece}: text is lost");
    }
}

#[test]
fn deep_indents_leave_room_for_the_text() {
    for text in ["            - deep down", "            deep down", "            1. deep down"] {
        let lines = drawn(text, 12);
        assert!(lines.iter().all(|line| mw_desk::text::columns(line) <= 12), "{lines:?}");
        assert_eq!(lines.concat().replace([' ', '•', '1', '.'], ""), "deepdown");
    }
}

#[test]
fn text_that_only_looks_like_emphasis_is_kept() {
    for text in ["a * b * c", "snake_case_name", "2 ** 3", "`open", "**open", "a_b", "\u{1f600} _"] {
        assert_eq!(drawn(text, 40), [text]);
    }
    assert_eq!(drawn("\\*not\\*", 40), ["*not*"]);
}

#[test]
fn wrapped_list_items_are_indented() {
    assert_eq!(drawn("- aaa bbb ccc", 8), ["• aaa", "  bbb", "  ccc"]);
    assert_eq!(drawn("aaaaaaaaaa", 4), ["aaaa", "aaaa", "aa"]);
}
