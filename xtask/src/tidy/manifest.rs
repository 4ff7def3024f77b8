//! Parses the dependency tables of a manifest.

/// The kind of a dependency.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// The product needs it, on some or all platforms.
    Normal,
    /// Tests, examples and benchmarks need it.
    Dev,
    /// The build script needs it.
    Build,
}

/// An entry of a dependency table.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Dependency {
    /// The name of the package, even if the manifest renames it.
    pub(super) package: String,
    /// The kind of the table.
    pub(super) kind: Kind,
    /// The line number, from 1.
    pub(super) line: usize,
}

/// Lists the dependencies of a manifest, in order.
pub(super) fn dependencies(text: &str) -> Vec<Dependency> {
    let mut found = Vec::new();
    let mut table = None;
    for (index, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default().trim();
        let number = index + 1;
        if let Some(header) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            table = dependency_table(header);
            // `[dependencies.name]` declares one dependency. The lines below it are its settings.
            if let Some((kind, Some(name))) = table {
                found.push(Dependency { package: name.to_owned(), kind, line: number });
            }
        } else if let Some((kind, None)) = table
            && let Some((key, value)) = line.split_once('=')
        {
            let name = key.split('.').next().unwrap_or(key).trim().trim_matches('"');
            let package = renamed(value).unwrap_or(name);
            found.push(Dependency { package: package.to_owned(), kind, line: number });
        }
    }
    found
}

fn dependency_table(header: &str) -> Option<(Kind, Option<&str>)> {
    let (before, after) = header.rsplit_once("dependencies")?;
    let kind = match before.rsplit('.').next().unwrap_or(before) {
        "" => Kind::Normal,
        "dev-" => Kind::Dev,
        "build-" => Kind::Build,
        _ => return None,
    };
    match after.strip_prefix('.') {
        Some(name) => Some((kind, Some(name.trim_matches('"')))),
        None if after.is_empty() => Some((kind, None)),
        None => None,
    }
}

fn renamed(value: &str) -> Option<&str> {
    let (_, rest) = value.split_once("package")?;
    rest.trim_start().strip_prefix('=')?.trim_start().strip_prefix('"')?.split('"').next()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(text: &str) -> Vec<(String, Kind, usize)> {
        dependencies(text).into_iter().map(|found| (found.package, found.kind, found.line)).collect()
    }

    #[test]
    fn every_form_of_dependency_is_parsed() {
        let text = "[package]\nname = \"x\"\n[dependencies]\nserde.workspace = true # words\n\
                    db = { package = \"rusqlite\", version = \"1\" }\n\
                    [target.'cfg(unix)'.dependencies]\nlibc = \"0.2\"\n\
                    [dependencies.toml]\nversion = \"1\"\n\
                    [dev-dependencies]\nproptest = { workspace = true }\n[lints]\nworkspace = true\n";
        let expected = [
            ("serde", Kind::Normal, 4),
            ("rusqlite", Kind::Normal, 5),
            ("libc", Kind::Normal, 7),
            ("toml", Kind::Normal, 8),
            ("proptest", Kind::Dev, 11),
        ];
        assert_eq!(listed(text), expected.map(|(name, kind, line)| (name.to_owned(), kind, line)));
    }
}
