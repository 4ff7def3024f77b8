//! Text from the operating system, which may not be UTF-8.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// Bytes of a path, an argument or an environment entry.
///
/// In JSON this is a plain string if the bytes are UTF-8, and `{"hex": "…"}` otherwise, so that no information is lost
/// and ordinary values stay readable.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RawText(Vec<u8>);

impl RawText {
    /// Returns the bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Returns the text for display, with replacement characters for invalid UTF-8.
    #[must_use]
    pub fn to_lossy(&self) -> String {
        String::from_utf8_lossy(&self.0).into_owned()
    }
}

impl From<Vec<u8>> for RawText {
    fn from(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }
}

impl From<&[u8]> for RawText {
    fn from(bytes: &[u8]) -> Self {
        Self(bytes.to_vec())
    }
}

impl From<&str> for RawText {
    fn from(text: &str) -> Self {
        Self(text.as_bytes().to_vec())
    }
}

impl From<String> for RawText {
    fn from(text: String) -> Self {
        Self(text.into_bytes())
    }
}

impl fmt::Debug for RawText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.to_lossy())
    }
}

/// Bytes that are not UTF-8, in JSON.
#[derive(Serialize, Deserialize)]
struct Hex {
    hex: String,
}

impl Serialize for RawText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match std::str::from_utf8(&self.0) {
            Ok(text) => serializer.serialize_str(text),
            Err(_) => Hex { hex: self.0.iter().map(|b| format!("{b:02x}")).collect() }.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for RawText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextOrHex)
    }
}

/// Reads both forms without a copy in between: a start message has a hundred of them.
struct TextOrHex;

impl<'de> de::Visitor<'de> for TextOrHex {
    type Value = RawText;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string, or an object with hex digits")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<RawText, E> {
        Ok(RawText::from(text))
    }

    fn visit_string<E: de::Error>(self, text: String) -> Result<RawText, E> {
        Ok(RawText::from(text))
    }

    fn visit_map<A: de::MapAccess<'de>>(self, map: A) -> Result<RawText, A::Error> {
        let Hex { hex } = Hex::deserialize(de::value::MapAccessDeserializer::new(map))?;
        decode_hex(&hex).map(RawText).ok_or_else(|| de::Error::custom("hex digits expected"))
    }
}

fn decode_hex(hex: &str) -> Option<Vec<u8>> {
    let digits = hex.as_bytes();
    if !digits.len().is_multiple_of(2) {
        return None;
    }
    digits.chunks(2).map(|pair| Some(nibble(pair[0])? << 4 | nibble(pair[1])?)).collect()
}

fn nibble(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).map(|value| value as u8)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn utf8_is_written_as_text_and_other_bytes_as_hex() {
        assert_eq!(serde_json::to_string(&RawText::from("héllo")).unwrap(), "\"héllo\"");
        assert_eq!(serde_json::to_string(&RawText::from(&[0xff_u8][..])).unwrap(), r#"{"hex":"ff"}"#);
    }

    #[test]
    fn refuses_invalid_hex() {
        assert!(serde_json::from_str::<RawText>(r#"{"hex":"f"}"#).is_err());
        assert!(serde_json::from_str::<RawText>(r#"{"hex":"zz"}"#).is_err());
    }

    proptest! {
        #[test]
        fn any_bytes_survive_json(bytes: Vec<u8>) {
            let text = RawText::from(bytes);
            let json = serde_json::to_string(&text).unwrap();
            prop_assert_eq!(serde_json::from_str::<RawText>(&json).unwrap(), text);
        }
    }
}
