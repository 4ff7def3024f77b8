//! Checks that platform-specific code is only in files for it.

use super::violation::Violation;
use crate::source::{Source, has_start, has_word};

const NAMES: [&str; 5] = ["linux.rs", "macos.rs", "platform.rs", "unix.rs", "windows.rs"];
const FOLDERS: [&str; 2] = ["platform", "sys"];
const CONDITIONS: [&str; 5] = ["target_arch", "target_env", "target_family", "target_os", "target_vendor"];

/// Reports platform conditions outside of `sys/`, `platform` modules and files named after a platform.
pub(super) fn check(source: &Source<'_>) -> Vec<Violation> {
    if !source.path.starts_with("crates/") || is_platform_file(source.path) {
        return Vec::new();
    }
    source
        .lines()
        .filter(|line| is_condition(line.code))
        .map(|line| {
            let remedy = "put each side in linux.rs or macos.rs and choose in a `platform` or `sys` module";
            Violation::new(source.path, line.number, "condition on the platform", remedy)
        })
        .collect()
}

fn is_platform_file(path: &str) -> bool {
    let mut parts: Vec<&str> = path.split('/').collect();
    let name = parts.pop().unwrap_or(path);
    NAMES.contains(&name) || parts.iter().any(|part| FOLDERS.contains(part))
}

fn is_condition(code: &str) -> bool {
    CONDITIONS.iter().any(|condition| has_word(code, condition))
        || (["cfg(", "cfg!(", "cfg_attr("].iter().any(|opening| has_start(code, opening))
            && (has_word(code, "unix") || has_word(code, "windows")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> Vec<usize> {
        check(&Source::new(path, text)).iter().map(|violation| violation.line).collect()
    }

    #[test]
    fn platform_conditions_are_allowed_only_in_platform_files() {
        let text = "#[cfg(target_os = \"linux\")]\nmod linux;\nif cfg!(unix) {}\n#[cfg(any(\n    target_os = \"macos\",\n))]\n";
        assert_eq!(found("crates/meanwhile/src/launch.rs", text), [1, 3, 5]);
        for path in
            ["supervisor/src/sys/mod.rs", "cli/src/platform.rs", "cli/src/platform/mod.rs", "ui/src/linux.rs"]
        {
            assert_eq!(found(&format!("crates/{path}"), text), []);
        }
    }

    #[test]
    fn std_os_unix_is_not_a_platform_condition() {
        let text = "use std::os::unix::fs::OpenOptionsExt;\n#[cfg(test)]\n// cfg(unix)\n";
        assert_eq!(found("crates/meanwhile/src/launch.rs", text), []);
    }
}
