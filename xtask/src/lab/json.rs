//! Reads the JSON that `mw` prints, and writes strings.

use std::collections::BTreeMap;
use std::ops::Index;

/// A JSON value. Numbers that the lab reads are whole.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Json {
    Null,
    Bool(bool),
    Number(f64),
    Text(String),
    List(Vec<Json>),
    Object(BTreeMap<String, Json>),
}

static NULL: Json = Json::Null;

impl Json {
    /// Reads one value. Anything that is not JSON, such as the first half of an answer, is `Null`.
    pub(super) fn parse(text: &str) -> Self {
        let mut reader = Reader { rest: text.trim() };
        reader.value().filter(|_| reader.rest.trim().is_empty()).unwrap_or(Self::Null)
    }

    pub(super) fn text(&self) -> Option<&str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }

    pub(super) fn number(&self) -> Option<u64> {
        if let Self::Number(number) = self { Some(*number as u64) } else { None }
    }

    pub(super) fn bool(&self) -> Option<bool> {
        if let Self::Bool(is) = self { Some(*is) } else { None }
    }

    pub(super) fn is_null(&self) -> bool {
        *self == Self::Null
    }

    /// Returns the items of a list; of any other value, none.
    pub(super) fn items(&self) -> &[Self] {
        if let Self::List(items) = self { items } else { &[] }
    }
}

impl Index<&str> for Json {
    type Output = Self;

    fn index(&self, name: &str) -> &Self {
        if let Self::Object(fields) = self { fields.get(name).unwrap_or(&NULL) } else { &NULL }
    }
}

/// Returns a text as a JSON string.
pub(super) fn quoted(text: &str) -> String {
    let mut quoted = String::from('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c < ' ' => quoted += &format!("\\u{:04x}", c as u32),
            c => quoted.push(c),
        }
    }
    quoted + "\""
}

struct Reader<'a> {
    rest: &'a str,
}

impl Reader<'_> {
    fn eat(&mut self, word: &str) -> Option<()> {
        self.rest = self.rest.trim_start().strip_prefix(word)?;
        Some(())
    }

    fn value(&mut self) -> Option<Json> {
        self.rest = self.rest.trim_start();
        match self.rest.chars().next()? {
            '{' => self.object(),
            '[' => self.list(),
            '"' => self.string().map(Json::Text),
            't' => self.eat("true").map(|()| Json::Bool(true)),
            'f' => self.eat("false").map(|()| Json::Bool(false)),
            'n' => self.eat("null").map(|()| Json::Null),
            _ => {
                let end = self.rest.find(|c: char| !matches!(c, '0'..='9' | '-' | '+' | '.' | 'e' | 'E'));
                let (number, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
                self.rest = rest;
                number.parse().ok().map(Json::Number)
            }
        }
    }

    fn list(&mut self) -> Option<Json> {
        self.eat("[")?;
        let mut items = Vec::new();
        while self.eat("]").is_none() {
            if !items.is_empty() {
                self.eat(",")?;
            }
            items.push(self.value()?);
        }
        Some(Json::List(items))
    }

    fn object(&mut self) -> Option<Json> {
        self.eat("{")?;
        let mut fields = BTreeMap::new();
        while self.eat("}").is_none() {
            if !fields.is_empty() {
                self.eat(",")?;
            }
            let name = self.string()?;
            self.eat(":")?;
            fields.insert(name, self.value()?);
        }
        Some(Json::Object(fields))
    }

    fn string(&mut self) -> Option<String> {
        self.eat("\"")?;
        let mut text = String::new();
        loop {
            let at = self.rest.find(['"', '\\'])?;
            text += &self.rest[..at];
            let mark = self.rest.as_bytes()[at];
            self.rest = &self.rest[at + 1..];
            if mark == b'"' {
                return Some(text);
            }
            let escape = self.rest.chars().next()?;
            self.rest = &self.rest[escape.len_utf8()..];
            match escape {
                'n' => text.push('\n'),
                't' => text.push('\t'),
                'r' => text.push('\r'),
                'b' | 'f' => text.push(' '),
                'u' => {
                    let code = u32::from_str_radix(self.rest.get(..4)?, 16).ok()?;
                    // Half a pair is shown as unknown. The lab does not compare such texts.
                    text.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
                    self.rest = &self.rest[4..];
                }
                other => text.push(other),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_and_halves_are_nothing() {
        let json = Json::parse(r#" {"a": [1, {"b": "x\"\u0041\n"}, null, true], "c": -2.5} "#);
        assert_eq!(json["a"].items()[0].number(), Some(1));
        assert_eq!(json["a"].items()[1]["b"].text(), Some("x\"A\n"));
        assert_eq!(json["a"].items()[3].bool(), Some(true));
        assert!(json["no"]["such"].is_null());
        for half in [r#"{"a": 1"#, "[1, ", r#""abc"#, "{} {}", ""] {
            assert!(Json::parse(half).is_null(), "{half}");
        }
        assert_eq!(Json::parse(&quoted("a\"\\\n")).text(), Some("a\"\\\n"));
    }
}
