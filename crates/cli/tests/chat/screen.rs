//! Parts of the chat screen that only the whole program can test.

use super::*;

#[test]
fn a_log_opens_in_the_editor_and_the_chat_is_restored() {
    let endpoint = ModelEndpoint::new();
    let home = home(&endpoint);
    // An editor that copies its input file.
    let editor = format!("cp -t {}", home.work().display());
    let home = home.with_env("EDITOR", editor);
    let mut terminal = chat(&home);
    say(&mut terminal, "/background echo printed so far; sleep 600");
    until_shown(&terminal, "⌁ 1 task");
    terminal.press(CTRL_B);
    until_shown(&terminal, "e  open log");
    let id = home.list()[0]["id"].as_str().unwrap().to_owned();
    home.until_logged(&id, "printed so far");
    terminal.press("e");
    wait_until(SOON, "the editor has the output", || {
        let read = |entry: std::fs::DirEntry| std::fs::read_to_string(entry.path()).ok();
        let mut files = std::fs::read_dir(home.work()).ok()?.flatten().filter_map(read);
        files.any(|text| text.contains("printed so far")).then_some(())
    });
    until_shown(&terminal, "e  open log");
    terminal.press("xy");
    until_shown(&terminal, "No background tasks.");
    terminal.press(ESC);
    until_gone(&terminal, "No background tasks.");
    until_shown(&terminal, " cancelled");
    until_shown(&terminal, "· ready");
    leave(terminal);
}

#[test]
fn a_long_script_can_be_approved_only_after_scrolling_to_its_end() {
    let endpoint = ModelEndpoint::new();
    let home = home(&endpoint).gated();
    let mut terminal = chat(&home);
    let steps: Vec<_> = (1..=30).map(|step| format!("echo step-{step}")).collect();
    // Pasted text keeps its lines.
    let script = format!("/background {}; rm -rf build", steps.join("\n"));
    terminal.press(&format!("\u{1b}[200~{script}\u{1b}[201~\r"));
    let screen = until_shown(&terminal, "allow?");
    assert!(!screen.text.contains("rm -rf build"), "the end of the script is not visible: {}", screen.text);
    terminal.press("y");
    until_shown(&terminal, "y  yes (read to the end first: PageDown)");
    assert_eq!(home.list().len(), 0, "nothing runs before the whole script was visible");
    // End moves on by what fits, so that no line is skipped.
    terminal.press(&"\u{1b}[F".repeat(10));
    until_shown(&terminal, "Start in background? [y/n]");
    terminal.press("y");
    until_shown(&terminal, "✓ allowed");
    until_shown(&terminal, " completed (0)");
    until_shown(&terminal, "· ready");
    leave(terminal);
}
