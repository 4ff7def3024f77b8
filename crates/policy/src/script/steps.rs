//! The steps of a script, for people.

use brush_parser::ast::{CompoundList, CompoundListItem, Pipeline, SourceLocation};

use crate::panics::catching_panics;
use crate::script::syntax::parse;

/// Separators of steps; longer ones come first.
const SEPARATORS: [&str; 5] = ["&&", "||", ";", "&", "\n"];

/// Maximum number of separators that are tried for the end of a step.
const MAX_TRIES: usize = 16;

/// Returns the steps of a script, each a pipeline as it is written. Together with their separators they are the whole
/// script. The result is empty if there is only one step, or if the script cannot be split with certainty.
#[must_use]
pub fn steps(script: &str) -> Vec<String> {
    catching_panics(|| steps_of(script)).flatten().filter(|steps| steps.len() > 1).unwrap_or_default()
}

fn steps_of(script: &str) -> Option<Vec<String>> {
    let program = parse(script).ok()?;
    let pipelines: Vec<&Pipeline> = program
        .complete_commands
        .iter()
        .flat_map(|CompoundList(items)| items)
        .flat_map(|CompoundListItem(list, _)| list.into_iter().map(|(_, pipeline)| pipeline))
        .collect();
    // The parser counts positions in characters.
    let bytes: Vec<usize> = script.char_indices().map(|(at, _)| at).chain([script.len()]).collect();
    let mut steps = Vec::new();
    let mut begin = 0;
    for (at, pipeline) in pipelines.iter().enumerate() {
        let (step, next) = match pipelines.get(at + 1) {
            // Positions of the parser leave out redirections, so a step ends between two positions.
            Some(next) => cut(script, begin, between(&bytes, pipeline, next)?, pipeline)?,
            None => (whole(&script[begin..], pipeline)?, script.len()),
        };
        steps.push(step);
        begin = next;
    }
    Some(steps)
}

/// Returns where the known part of a pipeline ends and that of the next begins, in bytes.
fn between(bytes: &[usize], one: &Pipeline, next: &Pipeline) -> Option<(usize, usize)> {
    let end = *bytes.get(one.location()?.end.index)?;
    let start = *bytes.get(next.location()?.start.index)?;
    (end <= start).then_some((end, start))
}

/// Cuts a script at the last separator before the next pipeline that leaves exactly this one; returns it and where
/// the rest begins.
fn cut(
    script: &str,
    begin: usize,
    (from, until): (usize, usize),
    pipeline: &Pipeline,
) -> Option<(String, usize)> {
    let mut separators = Vec::new();
    let mut at = from.max(begin);
    while let Some(letter) = script.get(at..until)?.chars().next() {
        let separator = SEPARATORS.iter().find(|separator| script[at..until].starts_with(**separator));
        separators.extend(separator.map(|separator| (at, *separator)));
        at += separator.map_or(letter.len_utf8(), |separator| separator.len());
    }
    separators.into_iter().rev().take(MAX_TRIES).find_map(|(at, separator)| {
        let next = at + separator.len();
        let end = if separator == "&" { next } else { at };
        Some((whole(&script[begin..end], pipeline)?, next))
    })
}

/// Returns the text if it parses to exactly this pipeline.
fn whole(text: &str, pipeline: &Pipeline) -> Option<String> {
    let is_it = |text: &&str| {
        let read = parse(text).ok();
        let commands = read.iter().flat_map(|program| &program.complete_commands);
        let mut items = commands.flat_map(|CompoundList(items)| items);
        let (first, second) = (items.next(), items.next());
        second.is_none()
            && first.is_some_and(|CompoundListItem(list, _)| {
                let read: Vec<_> = list.into_iter().map(|(_, pipeline)| pipeline.to_string()).collect();
                read == [pipeline.to_string()]
            })
    };
    let text = text.trim();
    let bare = text.trim_end_matches([';', ' ', '\t', '\n']);
    [bare, text].into_iter().find(is_it).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_is_split_into_steps() {
        assert_eq!(
            steps("make -j4 && make test | tail; rm -r build"),
            ["make -j4", "make test | tail", "rm -r build"]
        );
        assert_eq!(steps("cd a\nls"), ["cd a", "ls"]);
        assert_eq!(steps("make 'a b'"), [""; 0]);
        assert_eq!(steps("echo 'open"), [""; 0]);
    }

    #[test]
    fn a_step_includes_its_redirections_and_is_returned_as_written() {
        for expected in [
            &["ls", "rm -rf src >> log"][..],
            &["rm -rf src >> log", "ls"],
            &["> log rm -rf src", "2>&1 rm x > 'a;b&&c'"],
            &["make &> log", "make 2>&1 | tee log", "rm x 2>/dev/null >&2"],
            &["{ rm a; rm b; } > log", "(cd x; rm y) 2> log", "if true; then rm z; fi >> log"],
            &["! rm a > x", "time rm b < y"],
            &["cat <<< 'a; b'", "rm x"],
            &["diff <(sort a; rm b) c > d", "rm e"],
            &["find . -name x -exec rm {} \\; > log", "ls"],
            &["X=1 Y='a b' rm é > ü", "f() { rm x; } > log", "case a in b) rm c;; esac < d"],
        ] {
            for separator in ["; ", ";", " && ", "||", "\n", ";\n\n  "] {
                assert_eq!(steps(&expected.join(separator)), expected, "{separator:?}");
            }
        }
        assert_eq!(steps("sleep 9 > log & rm x"), ["sleep 9 > log &", "rm x"]);
        assert_eq!(steps("ls # a; b\nrm x > y"), ["ls # a; b", "rm x > y"]);
        assert_eq!(steps("cat <<E > f\na; b\nE\nrm x"), ["cat <<E > f\na; b\nE", "rm x"]);
    }
}
