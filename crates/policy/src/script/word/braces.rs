//! `{a,b}` and `{1..3}`.

use super::Unit;

/// Maximum number of words that one word may become.
const MAX: usize = 64;

/// Returns the words that result from braces; none if they are too many.
pub(crate) fn expand(units: &[Unit]) -> Option<Vec<Vec<Unit>>> {
    let Some((open, close)) = first_group(units) else { return Some(vec![units.to_vec()]) };
    let inside = &units[open + 1..close];
    let middles = match sequence(inside) {
        Some(texts) => texts?,
        None => {
            let mut all = Vec::new();
            for part in split(inside) {
                all.extend(expand(part)?);
            }
            all
        }
    };
    let tails = expand(&units[close + 1..])?;
    if middles.len().saturating_mul(tails.len()) > MAX {
        return None;
    }
    let mut words = Vec::new();
    for middle in &middles {
        for tail in &tails {
            words.push([&units[..open], middle, tail].concat());
        }
    }
    Some(words)
}

fn is(unit: &Unit, wanted: char) -> bool {
    matches!(unit, Unit::Char { c, quoted: false } if *c == wanted)
}

/// Finds the first braces with a comma or a range in them; others have no meaning.
fn first_group(units: &[Unit]) -> Option<(usize, usize)> {
    let opens = units.iter().enumerate().filter(|(_, unit)| is(unit, '{')).map(|(at, _)| at);
    for open in opens.take(MAX) {
        let (mut depth, mut comma) = (0, false);
        for (at, unit) in units.iter().enumerate().skip(open) {
            if is(unit, '{') {
                depth += 1;
            } else if is(unit, ',') && depth == 1 {
                comma = true;
            } else if is(unit, '}') {
                depth -= 1;
                if depth == 0 {
                    if comma || sequence(&units[open + 1..at]).is_some() {
                        return Some((open, at));
                    }
                    break;
                }
            }
        }
    }
    None
}

fn split(inside: &[Unit]) -> Vec<&[Unit]> {
    let (mut parts, mut start, mut depth) = (Vec::new(), 0, 0);
    for (at, unit) in inside.iter().enumerate() {
        if is(unit, '{') {
            depth += 1;
        } else if is(unit, '}') {
            depth -= 1;
        } else if is(unit, ',') && depth == 0 {
            parts.push(&inside[start..at]);
            start = at + 1;
        }
    }
    parts.push(&inside[start..]);
    parts
}

/// Reads `1..9`; the inner result is none when it has too many members.
fn sequence(inside: &[Unit]) -> Option<Option<Vec<Vec<Unit>>>> {
    let mut text = String::new();
    for unit in inside {
        match unit {
            Unit::Char { c, quoted: false } => text.push(*c),
            Unit::Char { .. } | Unit::Number | Unit::Choice(_) | Unit::Unknown { .. } => return None,
        }
    }
    let (first, rest) = text.split_once("..")?;
    let (last, step) = rest.split_once("..").map_or((rest, None), |(last, step)| (last, Some(step)));
    if let Some(step) = step {
        step.parse::<i64>().ok()?;
    }
    let letters = |text: &str| text.len() == 1 && text.chars().all(|c| c.is_ascii_alphabetic());
    if letters(first) && letters(last) {
        // A range of letters may include other characters, so it counts as unknown.
        return Some(None);
    }
    // A shell pads all numbers to the width of a bound that begins with a zero.
    let is_padded = |bound: &str| {
        let digits = bound.trim_start_matches(['-', '+']);
        digits.len() > 1 && digits.starts_with('0')
    };
    let pads = is_padded(first) || is_padded(last);
    let (first, last): (i64, i64) = (first.parse().ok()?, last.parse().ok()?);
    if step.is_some() || first.abs_diff(last) >= MAX as u64 || pads {
        return Some(None);
    }
    let range: Vec<i64> =
        if first <= last { (first..=last).collect() } else { (last..=first).rev().collect() };
    let units = |n: i64| n.to_string().chars().map(|c| Unit::Char { c, quoted: true }).collect();
    Some(Some(range.into_iter().map(units).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn members(inside: &str) -> Option<Option<usize>> {
        let units: Vec<_> = inside.chars().map(|c| Unit::Char { c, quoted: false }).collect();
        sequence(&units).map(|words| words.map(|words| words.len()))
    }

    #[test]
    fn numbers_that_a_shell_would_pad_are_unknown() {
        for (inside, expected) in [
            ("1..3", Some(Some(3))),
            ("0..3", Some(Some(4))),
            ("-2..0", Some(Some(3))),
            ("01..3", Some(None)),
            ("1..03", Some(None)),
            ("-03..1", Some(None)),
            ("1..-03", Some(None)),
            ("a..c", Some(None)),
            ("1..x", None),
        ] {
            assert_eq!(members(inside), expected, "{inside}");
        }
    }
}
