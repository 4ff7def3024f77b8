//! Text in `$'…'`.

/// Decodes the escapes of `$'…'`; none if shells read an escape differently.
pub(crate) fn decode(chars: &[char]) -> Option<String> {
    let mut out = String::new();
    let mut rest = chars.iter().copied().peekable();
    while let Some(c) = rest.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        let code = match rest.next()? {
            'n' => 10,
            't' => 9,
            'r' => 13,
            'a' => 7,
            'b' => 8,
            'f' => 12,
            'v' => 11,
            'e' | 'E' => 27,
            c @ ('\\' | '\'' | '"' | '?') => u32::from(c),
            'x' => number(&mut rest, 16, 2, 0)?,
            'u' => number(&mut rest, 16, 4, 0)?,
            'U' => number(&mut rest, 16, 8, 0)?,
            c @ '0'..='7' => number(&mut rest, 8, 2, c.to_digit(8)?)?,
            _ => return None,
        };
        out.push(char::from_u32(code).filter(|c| *c != '\0')?);
    }
    Some(out)
}

fn number(
    rest: &mut std::iter::Peekable<impl Iterator<Item = char>>,
    radix: u32,
    most: usize,
    start: u32,
) -> Option<u32> {
    let mut value = start;
    let mut taken = 0;
    while taken < most
        && let Some(digit) = rest.peek().and_then(|c| c.to_digit(radix))
    {
        value = value.checked_mul(radix)?.checked_add(digit)?;
        taken += 1;
        rest.next();
    }
    (taken > 0 || radix == 8).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(text: &str) -> Option<String> {
        decode(&text.chars().collect::<Vec<_>>())
    }

    #[test]
    fn known_escapes_are_decoded_and_others_are_rejected() {
        assert_eq!(decoded(r"\x72m").as_deref(), Some("rm"));
        assert_eq!(decoded(r"\162\155").as_deref(), Some("rm"));
        assert_eq!(decoded(r"\u0072m\n").as_deref(), Some("rm\n"));
        assert_eq!(decoded(r"\x00"), None);
        assert_eq!(decoded(r"\q"), None);
        assert_eq!(decoded("\\"), None);
    }
}
