//! What a script does one after the other, for people.

use brush_parser::ast::{CompoundList, CompoundListItem, Pipeline, SourceLocation};

use super::guard::guarded;
use super::walk::parse;

/// Returns the steps of a script, each a pipeline as a person would write it; none where there is only one, or where
/// the script could not be read.
#[must_use]
pub fn steps(script: &str) -> Vec<String> {
    guarded(|| steps_of(script)).unwrap_or_default()
}

fn steps_of(script: &str) -> Vec<String> {
    let Ok(program) = parse(script) else { return Vec::new() };
    let mut steps = Vec::new();
    for CompoundList(items) in &program.complete_commands {
        for CompoundListItem(list, _) in items {
            steps.extend(list.into_iter().map(|(_, pipeline)| as_written(pipeline, script)));
        }
    }
    if steps.len() > 1 { steps } else { Vec::new() }
}

/// Returns a pipeline as it stands in its script.
fn as_written(pipeline: &Pipeline, script: &str) -> String {
    let Some(span) = pipeline.location() else { return pipeline.to_string() };
    let written: String = script.chars().take(span.end.index).skip(span.start.index).collect();
    written.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_is_taken_apart_into_its_steps() {
        assert_eq!(
            steps("make -j4 && make test | tail; rm -r build"),
            ["make -j4", "make test | tail", "rm -r build"]
        );
        assert_eq!(steps("cd a\nls"), ["cd a", "ls"]);
        assert_eq!(steps("make 'a b'"), [""; 0]);
        assert_eq!(steps("echo 'open"), [""; 0]);
    }
}
