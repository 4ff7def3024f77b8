//! Joins the units of a word.

use super::scan::Context;
use super::{Unit, Word};

/// Maximum number of possible values of a word.
const MAX_CHOICES: usize = 32;

/// Joins the units of a word.
pub(crate) fn finish(raw: &str, units: &[Unit], context: &Context<'_>) -> Word {
    let mut word = Word { text: raw.to_owned(), ..Word::default() };
    let mut texts = vec![String::new()];
    let mut known = true;
    let mut rest = units;
    if let Some(Unit::Char { c: '~', quoted: false }) = units.first() {
        let end = units.iter().position(|unit| matches!(unit, Unit::Char { c: '/', quoted: false }));
        let name = &units[1..end.unwrap_or(units.len())];
        let place = match name {
            [] if !context.home.is_empty() => Some(context.home),
            [Unit::Char { c: '+', quoted: false }] => context.cwd,
            _ => None,
        };
        match place {
            Some(place) => texts[0].push_str(place),
            None => known = false,
        }
        rest = &units[1 + name.len()..];
    }
    for unit in rest {
        match unit {
            Unit::Char { c, quoted } => {
                // A bracket alone is the name of a program.
                word.glob |= !quoted && (matches!(c, '*' | '?') || *c == '[' && raw.contains(']'));
                texts.iter_mut().for_each(|text| text.push(*c));
            }
            Unit::Number => {
                word.ambiguous = true;
                texts.iter_mut().for_each(|text| text.push('0'));
            }
            Unit::Choice(choices) if choices.is_empty() => {}
            Unit::Choice(choices) => {
                let one = |text: &String| choices.iter().map(|choice| format!("{text}{choice}")).collect();
                let longer: Vec<Vec<String>> = texts.iter().map(one).collect();
                texts = longer.concat();
                if texts.len() > MAX_CHOICES {
                    known = false;
                    texts.truncate(1);
                }
            }
            Unit::Unknown { splits, .. } => {
                known = false;
                word.splits |= splits;
            }
        }
    }
    // The name of a file in the project, perhaps with a suffix.
    let is_file = |unit: &Unit| {
        matches!(unit, Unit::Unknown { in_project: true, .. } | Unit::Char { .. } | Unit::Choice(_))
    };
    let first = units.iter().find(|unit| !matches!(unit, Unit::Choice(choices) if choices.is_empty()));
    word.in_project = matches!(first, Some(Unit::Unknown { in_project: true, .. }))
        && units.iter().all(is_file)
        && !texts[0].contains("..")
        // An empty name would leave a path from the root.
        && !texts[0].contains('/');
    word.number = units == [Unit::Number];
    word.known = known.then_some(texts);
    word
}
