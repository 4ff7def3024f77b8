//! Applies every rule to the workspace.

use std::fs;
use std::path::Path;

use super::violation::Violation;
use super::{
    drawing, fail_points, layers, ledger, length, library_layers, mod_files, module_docs, one_form,
    page_facts, page_paths, platform, purity, sqlite, test_habits, test_names, unsafety,
};
use crate::error::Failure;
use crate::source::Source;
use crate::workspace::{self, TextFile};

/// Prints every violation, one per line. Fails if there are any.
pub(crate) fn run(root: &Path) -> Result<(), Failure> {
    let files = workspace::code_files(root)?;
    let sources: Vec<Source<'_>> = files.iter().filter_map(Source::of).collect();
    let ledger_text = workspace::read(&root.join(ledger::PATH))?;

    let mut violations: Vec<Violation> = Vec::new();
    for file in &files {
        violations.extend(length::check(file));
        violations.extend(layers::check(file));
        violations.extend(sqlite::check_manifest(file));
    }
    let modules = module_docs::Modules::of(&sources);
    for source in &sources {
        violations.extend(unsafety::check(source));
        violations.extend(sqlite::check(source));
        violations.extend(platform::check(source));
        violations.extend(purity::check(source));
        violations.extend(library_layers::check(source));
        violations.extend(mod_files::check(source));
        violations.extend(modules.check(source));
        violations.extend(test_habits::check(source));
    }
    violations.extend(fail_points::check(&sources));
    let tests = test_names::collect(&sources);
    violations.extend(ledger::check(&ledger_text, &tests));

    let code = page_paths::CodePaths::of(sources.iter().map(|source| source.path));
    for page in pages(root)? {
        violations.extend(page_paths::check(&page, &code, &|path| root.join(path).exists()));
        if page.path == page_facts::PAGE {
            violations.extend(page_facts::check(&page.text, &files));
        }
    }

    violations.extend(one_form::check(sources.iter().map(|source| source.path)));
    violations.extend(drawing::check(&workspace::read(&root.join(drawing::PATH))?, &files));

    for violation in &violations {
        println!("{violation}");
    }
    if violations.is_empty() { Ok(()) } else { Err(Failure::Untidy(violations.len())) }
}

/// Reads the pages of the documentation.
fn pages(root: &Path) -> Result<Vec<TextFile>, Failure> {
    let mut paths = vec!["README.md".to_owned()];
    for folder in ["docs", "docs/design"] {
        let path = root.join(folder);
        let entries = fs::read_dir(&path).map_err(|source| Failure::File { path, source })?;
        let names = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
        paths.extend(names.filter(|name| name.ends_with(".md")).map(|name| format!("{folder}/{name}")));
    }
    paths.sort();
    paths.into_iter().map(|path| Ok(TextFile { text: workspace::read(&root.join(&path))?, path })).collect()
}
