//! Checks that the library does not print, exit or read the environment, and that the model and the policy do no I/O.

use super::violation::Violation;
use crate::source::{Source, has_start};

/// A banned name, and the remedy.
struct Ban {
    start: &'static str,
    remedy: &'static str,
}

const PRINT: &str = "return data and let a front end print it";
const PURE: &str = "the model and the policy are pure; pass the result in";

const LIBRARY: [Ban; 6] = [
    Ban { start: "env::var", remedy: "take a setting; only mw-cli reads the environment" },
    Ban { start: "println!", remedy: PRINT },
    Ban { start: "eprintln!", remedy: PRINT },
    Ban { start: "print!", remedy: PRINT },
    Ban { start: "eprint!", remedy: PRINT },
    Ban { start: "process::exit", remedy: "return an error; only mw-cli chooses exit codes" },
];

const MODEL: [Ban; 6] = [
    Ban { start: "std::fs", remedy: PURE },
    Ban { start: "std::net", remedy: PURE },
    Ban { start: "std::process", remedy: PURE },
    Ban { start: "std::thread", remedy: PURE },
    Ban { start: "Instant::now", remedy: PURE },
    Ban { start: "SystemTime::now", remedy: PURE },
];

/// Reports what the library, the model or the policy may not do. Their tests are excluded.
pub(super) fn check(source: &Source<'_>) -> Vec<Violation> {
    let is_pure =
        ["crates/model/src/", "crates/policy/src/"].iter().any(|root| source.path.starts_with(root));
    if !is_pure && !source.path.starts_with("crates/meanwhile/src/") {
        return Vec::new();
    }
    // This file provides defaults from the environment for callers that request them.
    if source.path == "crates/meanwhile/src/handle/surroundings.rs" {
        return Vec::new();
    }
    let bans = || LIBRARY.iter().chain(MODEL.iter().filter(|_| is_pure));
    let mut found = Vec::new();
    for line in source.lines().filter(|line| !line.test) {
        for ban in bans().filter(|ban| has_start(line.code, ban.start)) {
            let what = format!("`{}` in a library", ban.start);
            found.push(Violation::new(source.path, line.number, what, ban.remedy));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> Vec<usize> {
        check(&Source::new(path, text)).iter().map(|violation| violation.line).collect()
    }

    #[test]
    fn the_library_may_not_print_exit_or_read_the_environment() {
        let text = "std::env::var_os(X);\neprintln!();\nstd::process::exit(1);\nwriteln!(f);\n// println!\n";
        assert_eq!(found("crates/meanwhile/src/queue.rs", text), [1, 2, 3]);
        assert_eq!(found("crates/cli/src/main.rs", text), []);
    }

    #[test]
    fn the_model_may_not_read_the_clock() {
        let text = "let now = Instant::now();\n#[cfg(test)]\nmod tests {\n    use std::fs;\n}\n";
        assert_eq!(found("crates/model/src/state.rs", text), [1]);
        assert_eq!(found("crates/meanwhile/src/queue.rs", text), []);
    }
}
