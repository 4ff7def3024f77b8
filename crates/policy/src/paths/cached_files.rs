//! A cache of resolved paths for one decision.

use std::cell::RefCell;
use std::collections::BTreeMap;

use crate::request::Files;

/// Resolves each path once. The directory of a command is resolved for every word of it, and a file system that changes
/// must not give two answers in one decision.
pub(crate) struct CachedFiles<'a> {
    files: &'a dyn Files,
    real: RefCell<BTreeMap<String, Option<String>>>,
}

impl<'a> CachedFiles<'a> {
    pub(crate) const fn new(files: &'a dyn Files) -> Self {
        Self { files, real: RefCell::new(BTreeMap::new()) }
    }
}

impl Files for CachedFiles<'_> {
    fn real(&self, absolute: &str) -> Option<String> {
        if let Some(real) = self.real.borrow().get(absolute) {
            return real.clone();
        }
        let real = self.files.real(absolute);
        self.real.borrow_mut().insert(absolute.to_owned(), real.clone());
        real
    }

    fn text(&self, absolute: &str) -> Option<String> {
        self.files.text(absolute)
    }

    fn exists(&self, absolute: &str) -> bool {
        self.files.exists(absolute)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::{CommandText, ConfinementLevel, Dialect, Mode, Request, Rules, Tool, decide};

    struct Counting(Cell<usize>);

    impl Files for Counting {
        fn real(&self, absolute: &str) -> Option<String> {
            if absolute == "/project" {
                self.0.set(self.0.get() + 1);
            }
            Some(absolute.to_owned())
        }

        fn text(&self, _: &str) -> Option<String> {
            None
        }
    }

    #[test]
    fn the_directory_of_a_command_is_resolved_once() {
        let (files, rules) = (Counting(Cell::new(0)), Rules::none());
        let text = "cargo test -p x 2>&1 | tail -20; git diff --stat && ls . && find . -name x";
        let request = Request {
            mode: Mode::Safe,
            dialect: Dialect::Canonical,
            tool: Tool::named("shell").unwrap(),
            command: Some(CommandText::Script { shell: "/bin/sh", text }),
            cwd: "/project",
            project: "/project",
            home: "/nowhere",
            writable: &[],
            env: &[],
            ci_reads: false,
            confined: ConfinementLevel::No,
            rules: &rules,
            files: &files,
        };
        let _ = decide(&request);
        assert_eq!(files.0.get(), 1);
    }
}
