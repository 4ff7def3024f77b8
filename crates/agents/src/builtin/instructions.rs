//! Builds the system prompt.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::delivery::instructions::{AtEnd, instructions};
use mw_tools::call::Background;
use mw_tools::dialects::Dialect;

/// The files with instructions for agents. The first existing one is used.
const NAMES: [&str; 3] = ["AGENTS.md", "CLAUDE.md", "GEMINI.md"];
/// The maximum size of the instructions, in bytes.
const MAX_BYTES: u64 = 32 << 10;

/// Returns the system prompt.
pub(super) fn system_prompt(root: &Path, dialect: Dialect, background: Background, at_end: AtEnd) -> String {
    let mut prompt = format!(
        "You are a coding agent. You work in the project directory {} with the tools you are given; relative paths \
         start there. Look before you change anything, change only what was requested, and run your changes to check \
         them. At the end, say briefly what you did and what remains. The user or the policy may refuse a tool call. \
         Do not try to work around a refusal; say what you need instead.\n\n{}",
        root.display(),
        instructions(dialect, background, at_end)
    );
    if let Some((name, text)) = project_instructions(root) {
        prompt.push_str(&format!("\n\n# Instructions of the project ({name})\n\n{text}"));
    }
    prompt
}

/// Reads the project's instructions up to the maximum size.
fn project_instructions(root: &Path) -> Option<(&'static str, String)> {
    NAMES.into_iter().find_map(|name| {
        let path = root.join(name);
        // A link may point out of the project, and reading a special file may block forever.
        let real = path.canonicalize().ok().filter(|real| real.starts_with(root) && real.is_file())?;
        let size = real.metadata().ok()?.len();
        let mut bytes = Vec::new();
        File::open(real).ok()?.take(MAX_BYTES).read_to_end(&mut bytes).ok()?;
        let mut text = String::from_utf8_lossy(&bytes).into_owned();
        if size > MAX_BYTES {
            text.push_str(&format!("\n[{} more bytes omitted: read_file {name}]", size - MAX_BYTES));
        }
        Some((name, text)).filter(|(_, text)| !text.trim().is_empty())
    })
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn the_first_known_instruction_file_is_used_up_to_a_size_limit() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        assert_eq!(project_instructions(&root), None);
        fs::write(root.join("GEMINI.md"), "g").unwrap();
        fs::write(root.join("CLAUDE.md"), "c").unwrap();
        assert_eq!(project_instructions(&root), Some(("CLAUDE.md", "c".to_owned())));
        fs::write(root.join("AGENTS.md"), "x".repeat(40_000)).unwrap();
        let (name, text) = project_instructions(&root).unwrap();
        assert_eq!(name, "AGENTS.md");
        assert!(text.ends_with("[7232 more bytes omitted: read_file AGENTS.md]"), "{}", text.len());
    }

    #[test]
    fn instruction_files_outside_the_project_are_ignored() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap().join("project");
        fs::create_dir(&root).unwrap();
        fs::write(dir.path().join("secret"), "s").unwrap();
        symlink("../secret", root.join("AGENTS.md")).unwrap();
        symlink("/dev/zero", root.join("CLAUDE.md")).unwrap();
        assert_eq!(project_instructions(&root), None);
    }
}
