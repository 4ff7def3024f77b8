//! The secret that every request must carry.

use std::fmt;
use std::io;

use meanwhile::engine::random_bytes;

/// A secret that every request must carry. It does not appear in debug output.
#[derive(Clone)]
pub struct Token(String);

impl Token {
    /// Returns a token with this text. Returns `None` if the text is blank.
    pub fn new(text: impl Into<String>) -> Option<Self> {
        Some(Self(text.into())).filter(|token| !token.0.trim().is_empty())
    }

    /// Returns a token with a text that is known not to be blank.
    pub(super) const fn of(text: String) -> Self {
        Self(text)
    }

    /// Returns a random token.
    ///
    /// # Errors
    /// When the system has no random numbers.
    pub fn random() -> io::Result<Self> {
        let bytes: [u8; 24] = random_bytes()?;
        Ok(Self(bytes.iter().map(|byte| format!("{byte:02x}")).collect()))
    }

    /// Returns the text of the token.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns whether a text is this token.
    ///
    /// Every byte is compared, so the duration does not reveal how many are right.
    pub(super) fn is(&self, given: &str) -> bool {
        let differing = given.bytes().zip(self.0.bytes()).fold(0, |sum, (a, b)| sum | (a ^ b));
        given.len() == self.0.len() && differing == 0
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Token(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_blank_token_is_refused() {
        assert!(Token::new(" \t").is_none());
        assert_eq!(Token::new("a").unwrap().as_str(), "a");
    }

    #[test]
    fn random_tokens_differ_and_are_not_printed() {
        let (one, other) = (Token::random().unwrap(), Token::random().unwrap());
        assert_eq!(one.as_str().len(), 48);
        assert_ne!(one.as_str(), other.as_str());
        assert!(!format!("{one:?}").contains(one.as_str()));
    }

    #[test]
    fn only_the_exact_token_matches() {
        let token = Token::new("secret").unwrap();
        assert!(token.is("secret"));
        for other in ["", "s", "secre", "secret ", "secretsecret", "SECRET"] {
            assert!(!token.is(other), "{other}");
        }
    }
}
