//! Recognises names of secret values.

/// Minimum length of a secret value that is redacted wherever it occurs.
const LEAST: usize = 6;

/// What a name implies about its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Name {
    /// It is a password, regardless of its form.
    Password,
    /// It is a key or a token, if its form fits.
    Token,
    /// A header that begins with a scheme, such as `Bearer`.
    Authorization,
}

impl Name {
    pub(super) const fn kind(self) -> &'static str {
        match self {
            Self::Password => "password",
            Self::Token => "secret",
            Self::Authorization => "authorization",
        }
    }
}

/// The words of a name in lower case: `apiKey`, `API_KEY` and `api-key` are the same.
struct Words {
    text: [u8; 64],
    len: usize,
}

impl Words {
    fn of(name: &[u8]) -> Self {
        let mut words = Self { text: [0; 64], len: 0 };
        let mut before = b'_';
        for byte in name {
            let begins = byte.is_ascii_uppercase() && before.is_ascii_lowercase();
            if begins {
                words.add(b'_');
            }
            let is_part = byte.is_ascii_alphanumeric();
            words.add(if is_part { byte.to_ascii_lowercase() } else { b'_' });
            before = *byte;
        }
        words
    }

    fn add(&mut self, byte: u8) {
        if let Some(place) = self.text.get_mut(self.len) {
            *place = byte;
            self.len += 1;
        }
    }

    /// Returns the last word and the one before it.
    fn last_two(&self) -> (&[u8], &[u8]) {
        let mut words = self.text[..self.len].rsplit(|byte| *byte == b'_').filter(|word| !word.is_empty());
        (words.next().unwrap_or_default(), words.next().unwrap_or_default())
    }
}

/// A quick check by the last letter, which excludes most names.
fn may_be_secret(name: &[u8]) -> bool {
    name.len() <= 64 && name.last().is_some_and(|last| b"denstyl".contains(&last.to_ascii_lowercase()))
}

/// Returns what a name implies about its value; `None` for ordinary names.
pub(super) fn look(name: &[u8]) -> Option<Name> {
    // `SECRET_KEY_BASE` is the secret that keys are derived from.
    let name = name.strip_suffix(b"_BASE").or_else(|| name.strip_suffix(b"_base")).unwrap_or(name);
    if !may_be_secret(name) {
        return None;
    }
    let words = Words::of(name);
    let (word, before) = words.last_two();
    let ends = |suffixes: &[&[u8]]| suffixes.iter().any(|suffix| word.ends_with(suffix));
    if ends(&[b"password", b"passwd", b"passphrase"]) {
        return Some(Name::Password);
    }
    if word == b"pwd" && !before.is_empty() && before != b"old" {
        return Some(Name::Password);
    }
    if word == b"pass" && !before.is_empty() {
        return Some(Name::Token);
    }
    if ends(&[b"secret", b"apikey", b"secretkey", b"accesskey", b"privatekey", b"accesstoken", b"authtoken"])
        || matches!(word, b"credential" | b"credentials")
    {
        return Some(Name::Token);
    }
    if word == b"token" && !is_listed(before, PLACES) {
        return Some(Name::Token);
    }
    if word == b"key" && is_listed(before, SECRET_KEYS) {
        return Some(Name::Token);
    }
    (word == b"authorization").then_some(Name::Authorization)
}

/// Words before `token` that make it a position, or otherwise not a secret.
const PLACES: &str = "next page continuation cancellation sync max pad eos bos";
/// Words before `key` that make it a secret, unlike the key of a cache or a table.
const SECRET_KEYS: &str = "
    api secret access private auth signing encryption service master app subscription deploy webhook
";

/// Returns whether a variable of that name holds a secret.
#[must_use]
pub fn is_secret_name(name: &[u8]) -> bool {
    if !may_be_secret(name) {
        return false;
    }
    let words = Words::of(name);
    let (word, before) = words.last_two();
    word == b"key" || (word == b"pass" && !before.is_empty()) || look(name).is_some()
}

/// Returns whether a variable's value is redacted wherever it occurs: it is long enough and not a path.
#[must_use]
pub fn is_secret_value(value: &[u8]) -> bool {
    value.len() >= LEAST && !is_path(value) && !is_ordinary(value) && !super::find::MARK.starts_with(value)
}

/// Returns whether a text is an absolute path with a readable first part.
pub(super) fn is_path(text: &[u8]) -> bool {
    let Some(rest) = text.strip_prefix(b"/").or_else(|| text.strip_prefix(b"~/")) else { return false };
    let first = rest.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    text[0] == b'~' || (first >= 2 && rest.get(first) == Some(&b'/'))
}

/// Words that appear in place of a secret and are not secret.
const ORDINARY: &str = "
    true false null none nil undefined yes no on off required optional string str value option options
    argument flag parameter instead token password secret key default enabled disabled missing invalid expired
    incorrect wrong empty set unset is to or and for in with from as not was has must be if can will are
";

/// Returns whether a text is a word that appears in place of a secret and is not secret.
pub(super) fn is_ordinary(text: &[u8]) -> bool {
    let text = text.strip_suffix(b".").unwrap_or(text);
    is_listed(text, ORDINARY)
}

/// Returns whether a list, with blanks between its words, has this word in upper or lower case.
fn is_listed(word: &[u8], list: &str) -> bool {
    list.split_ascii_whitespace().any(|listed| word.eq_ignore_ascii_case(listed.as_bytes()))
}
