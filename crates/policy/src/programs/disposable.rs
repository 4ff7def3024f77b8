//! Files that can be deleted unasked where the kernel confines: a build or a test makes them again.

use crate::judge::Judge;
use crate::names::Names;
use crate::paths::destination::Destination;
use crate::script::word::Word;

/// Names of files and directories that only tools write.
const ALWAYS: Names<'_> = Names(
    "
    node_modules target __pycache__ .pytest_cache .mypy_cache .ruff_cache .tox .nox .hypothesis .next .nuxt
    .svelte-kit .turbo .parcel-cache .vite .angular .gradle .dart_tool .nyc_output .coverage coverage htmlcov
    .eggs *.egg-info *.pyc *.pyo *.o *.obj *.class *.gcda *.gcno *.tsbuildinfo .eslintcache .stylelintcache
    *.log *.tmp *.swp *.bak *.orig *.rej .ds_store coverage.out coverage.xml coverage.lcov nohup.out *.pid *.prof
    cmakefiles cmakecache.txt cmake-build-* test-results playwright-report
",
);

/// Names of directories with build output, if the project's `.gitignore` lists them.
const IF_IGNORED: Names<'_> = Names(
    "
    build dist out bin obj tmp temp .cache cache logs log lib-cov public/build site _site vendor/bundle .output
    venv .venv env storybook-static generated gen release debug .serverless .terraform
",
);

impl Judge<'_> {
    /// Returns whether a word names only files that can be made again: temporary files, and output of builds.
    pub(crate) fn is_disposable(&self, word: &Word) -> bool {
        let Some(values) = word.values().filter(|_| !word.ambiguous) else { return false };
        !values.is_empty() && values.iter().all(|value| self.can_be_made_again(value))
    }

    fn can_be_made_again(&self, value: &str) -> bool {
        let value = value.trim_end_matches('/');
        let Some(paths) = self.absolutes(value) else { return false };
        let goes_up = value.split('/').any(|part| part == "..");
        !goes_up && !paths.is_empty() && paths.iter().all(|path| self.is_output(path, value))
    }

    fn is_output(&self, path: &str, value: &str) -> bool {
        let files = self.request.files;
        let fixed = path.split(['*', '?', '[']).next().unwrap_or_default();
        let Some(real) = files.real(fixed) else { return false };
        let project = self.request.project;
        match self.destination(value) {
            // One file, named exactly; other programs keep theirs there, too.
            Destination::Temporary => {
                fixed == path
                    && real.split('/').filter(|part| !part.is_empty()).count() >= 2
                    && !is_shared(&real)
            }
            Destination::Inside => {
                let Some(inside) = real.strip_prefix(project) else { return false };
                let pattern = path[fixed.len()..].to_owned();
                let inside = format!("{inside}{pattern}").to_lowercase();
                let parts: Vec<&str> = inside.split('/').filter(|part| !part.is_empty()).collect();
                let Some((last, above)) = parts.split_last() else { return false };
                // Everything in such a directory was made by a tool, too.
                above.iter().any(|part| !part.contains('*') && ALWAYS.matches(part) || self.is_ignored(part))
                    || is_output_name(last)
                    || self.is_ignored(last)
            }
            Destination::Harmless
            | Destination::Control
            | Destination::Outside
            | Destination::Unknown
            | Destination::Network
            | Destination::Device => false,
        }
    }

    /// Returns whether a directory has a usual name for output, and the project says that it is not its content.
    fn is_ignored(&self, name: &str) -> bool {
        let listed = || {
            let text =
                self.request.files.text(&format!("{}/.gitignore", self.request.project)).unwrap_or_default();
            text.lines().any(|line| {
                let line = line.trim().trim_start_matches("**/").trim_matches('/');
                let line = line.strip_suffix("/*").or_else(|| line.strip_suffix("/**")).unwrap_or(line);
                line.eq_ignore_ascii_case(name)
            })
        };
        IF_IGNORED.contains(name) && listed()
    }
}

/// Returns whether every file that has this name, or matches this pattern, is output of a tool.
fn is_output_name(name: &str) -> bool {
    ALWAYS.iter().any(|output| output == name)
        || !name.starts_with('*') && !name.contains(['?', '[']) && ALWAYS.matches(name)
}

/// Returns whether a file for temporary files belongs to a session of the user: sockets and locks.
fn is_shared(real: &str) -> bool {
    let name = real.split('/').nth(2).unwrap_or_default();
    ["tmux-", "ssh-", ".X", ".ICE", "systemd-", "snap", "dbus-", "meanwhile"]
        .iter()
        .any(|begin| name.starts_with(begin))
}

/// Returns whether a pattern of `find -name` matches only output of tools.
pub(super) fn is_output_pattern(pattern: &str) -> bool {
    ALWAYS.iter().any(|output| output.eq_ignore_ascii_case(pattern))
}
