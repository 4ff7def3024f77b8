//! The executables of the workspace, for tests that use the library.

use std::path::{Path, PathBuf};

use mw_model::RawText;

use crate::Home;
use crate::home::TAG;

/// Returns the path of an executable of the same build as the running test.
///
/// # Panics
/// When it was not built.
#[must_use]
pub fn beside(name: &str) -> PathBuf {
    let here = std::env::current_exe().expect("a test is an executable");
    let folder = here.parent().and_then(Path::parent).expect("a test is in a folder of the target folder");
    let file = folder.join(name);
    assert!(file.is_file(), "{} is missing: build it with `cargo build -p mw-cli`", file.display());
    file
}

/// Returns a command line of `mw settle` whose processes belong to a home, with these settings as variables.
#[must_use]
pub fn settle_command(home: &Home, settings: &[(&str, &str)]) -> Vec<RawText> {
    let state = home.state().to_string_lossy().into_owned();
    let variables = [("MEANWHILE_HOME", state.as_str()), (TAG, home.tag())];
    let variables = variables.iter().chain(settings).map(|(name, value)| format!("{name}={value}"));
    let mw = beside("mw").to_string_lossy().into_owned();
    let program = ["/usr/bin/env".to_owned(), "-i".to_owned()];
    let call = [mw, "settle".to_owned(), "--home".to_owned(), state.clone()];
    program.into_iter().chain(variables).chain(call).map(|word| RawText::from(word.as_str())).collect()
}
