//! Checks that dependencies between crates point only downwards.

use super::manifest::{self, Dependency, Kind};
use super::violation::Violation;
use crate::workspace::TextFile;

/// The allowed dependencies of a crate.
struct Layer {
    manifest: &'static str,
    package: &'static str,
    /// The workspace crates that it may depend on.
    below: &'static [&'static str],
    /// The complete list of allowed dependencies, if it is fixed.
    complete: Option<&'static [&'static str]>,
}

const LAYERS: [Layer; 13] = [
    Layer {
        manifest: "crates/model/Cargo.toml",
        package: "mw-model",
        below: &[],
        complete: Some(&["serde", "thiserror"]),
    },
    Layer {
        manifest: "crates/policy/Cargo.toml",
        package: "mw-policy",
        below: &["mw-model"],
        complete: Some(&["brush-parser", "mw-model", "serde", "thiserror"]),
    },
    Layer {
        manifest: "crates/supervisor/Cargo.toml",
        package: "mw-supervisor",
        below: &["mw-model"],
        complete: Some(&["mw-model", "serde", "serde_json", "rustix", "libc"]),
    },
    Layer {
        manifest: "crates/meanwhile/Cargo.toml",
        package: "meanwhile",
        below: &["mw-model", "mw-policy"],
        complete: None,
    },
    Layer {
        manifest: "crates/tools/Cargo.toml",
        package: "mw-tools",
        below: &["meanwhile", "mw-desk", "mw-model", "mw-policy"],
        complete: None,
    },
    Layer {
        manifest: "crates/desk/Cargo.toml",
        package: "mw-desk",
        below: &["meanwhile", "mw-model"],
        complete: None,
    },
    Layer {
        manifest: "crates/agents/Cargo.toml",
        package: "mw-agents",
        below: &["meanwhile", "mw-desk", "mw-model", "mw-policy", "mw-tools"],
        complete: None,
    },
    Layer {
        manifest: "crates/ui/Cargo.toml",
        package: "mw-ui",
        below: &["meanwhile", "mw-desk", "mw-model"],
        complete: None,
    },
    Layer {
        manifest: "crates/web/Cargo.toml",
        package: "mw-web",
        below: &["meanwhile", "mw-desk", "mw-model"],
        complete: None,
    },
    Layer {
        manifest: "crates/backends/Cargo.toml",
        package: "mw-backends",
        below: &["mw-model"],
        complete: None,
    },
    Layer {
        manifest: "crates/cli/Cargo.toml",
        package: "mw-cli",
        // The same package installs the supervisor's executable next to `mw`.
        below: &[
            "meanwhile",
            "mw-agents",
            "mw-backends",
            "mw-desk",
            "mw-tools",
            "mw-ui",
            "mw-web",
            "mw-model",
            "mw-supervisor",
        ],
        complete: None,
    },
    Layer {
        manifest: "crates/testkit/Cargo.toml",
        package: "mw-testkit",
        below: &["mw-model"],
        complete: None,
    },
    Layer { manifest: "xtask/Cargo.toml", package: "xtask", below: &[], complete: None },
];

/// Reports the dependencies of a manifest that its layer does not allow.
///
/// Development dependencies are not restricted.
pub(super) fn check(file: &TextFile) -> Vec<Violation> {
    if !file.path.ends_with("/Cargo.toml") {
        return Vec::new();
    }
    let Some(layer) = LAYERS.iter().find(|layer| layer.manifest == file.path) else {
        let remedy = "say what it may depend on in xtask/src/tidy/layers.rs";
        return vec![Violation::new(&file.path, 1, "crate without a layer", remedy)];
    };
    manifest::dependencies(&file.text)
        .into_iter()
        .filter(|dependency| dependency.kind != Kind::Dev)
        .filter_map(|dependency| judge(file, layer, &dependency))
        .collect()
}

fn judge(file: &TextFile, layer: &Layer, dependency: &Dependency) -> Option<Violation> {
    let name = dependency.package.as_str();
    let what = format!("{} depends on {name}", layer.package);
    let is_ours = LAYERS.iter().any(|layer| layer.package == name);
    let remedy = if is_ours && !layer.below.contains(&name) {
        "it points up or sideways; move the shared part to a crate below both"
    } else if layer.complete.is_some_and(|complete| !complete.contains(&name)) {
        "its list of dependencies is fixed (xtask/src/tidy/layers.rs); do without"
    } else {
        return None;
    };
    Some(Violation::new(&file.path, dependency.line, what, remedy))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> Vec<String> {
        let file = TextFile { path: path.to_owned(), text: text.to_owned() };
        check(&file).into_iter().map(|violation| violation.what).collect()
    }

    #[test]
    fn only_dependencies_on_lower_layers_are_allowed() {
        let down = "[dependencies]\nmeanwhile.workspace = true\nratatui = \"1\"\n";
        assert_eq!(found("crates/ui/Cargo.toml", down), [""; 0]);
        let sideways = "[dependencies]\nmw-agents.workspace = true\n";
        assert_eq!(found("crates/ui/Cargo.toml", sideways), ["mw-ui depends on mw-agents"]);
        assert_eq!(found("crates/web/Cargo.toml", sideways), ["mw-web depends on mw-agents"]);
        let up = "[dependencies]\nmeanwhile.workspace = true\n";
        assert_eq!(found("crates/supervisor/Cargo.toml", up), ["mw-supervisor depends on meanwhile"]);
    }

    #[test]
    fn a_crate_with_a_fixed_list_may_not_add_dependencies() {
        let text = "[dependencies]\nlibc.workspace = true\ntokio = \"1\"\n";
        assert_eq!(found("crates/supervisor/Cargo.toml", text), ["mw-supervisor depends on tokio"]);
        let model = "[dependencies]\nserde_json = \"1\"\n[dev-dependencies]\nserde_json = \"1\"\n";
        assert_eq!(found("crates/model/Cargo.toml", model), ["mw-model depends on serde_json"]);
    }

    #[test]
    fn testkit_is_allowed_only_as_a_dev_dependency() {
        let test = "[dev-dependencies]\nmw-testkit.workspace = true\n";
        assert_eq!(found("crates/cli/Cargo.toml", test), [""; 0]);
        let product = "[dependencies]\nmw-testkit.workspace = true\n";
        assert_eq!(found("crates/cli/Cargo.toml", product).len(), 1);
    }

    #[test]
    fn a_new_crate_needs_a_layer() {
        assert_eq!(found("crates/core/Cargo.toml", ""), ["crate without a layer"]);
    }
}
