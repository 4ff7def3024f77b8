//! Codes for why a supervisor did not execute a command.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Why a command was not executed, as a word in the supervisor's answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum RefusalCode {
    /// There is no such program.
    NotFound,
    /// The file exists but cannot be executed.
    NotExecutable,
    /// The working directory cannot be used.
    Directory,
    /// This run has a supervisor already, or was started already.
    Busy,
    /// The start message cannot be read, or is of an unknown version.
    Version,
    /// The disk is full.
    DiskFull,
    /// No descriptor, process or memory is left. A later attempt, or one of another process, may succeed.
    Lack,
    /// A limit needs a control group, and none can be created.
    NoControlGroup,
    /// The command cannot be confined.
    Confinement,
    /// Another system call failed.
    System,
    /// A word of another version.
    Other(String),
}

impl RefusalCode {
    /// All words of this version.
    const KNOWN: [Self; 10] = [
        Self::NotFound,
        Self::NotExecutable,
        Self::Directory,
        Self::Busy,
        Self::Version,
        Self::DiskFull,
        Self::Lack,
        Self::NoControlGroup,
        Self::Confinement,
        Self::System,
    ];

    /// Returns the word.
    #[must_use]
    pub fn word(&self) -> &str {
        match self {
            Self::NotFound => "not_found",
            Self::NotExecutable => "not_executable",
            Self::Directory => "cwd",
            Self::Busy => "busy",
            Self::Version => "version",
            Self::DiskFull => "no_room",
            Self::Lack => "lack",
            Self::NoControlGroup => "no_control_group",
            Self::Confinement => "confinement",
            Self::System => "system",
            Self::Other(word) => word,
        }
    }
}

impl fmt::Display for RefusalCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl From<String> for RefusalCode {
    fn from(word: String) -> Self {
        Self::KNOWN.into_iter().find(|known| known.word() == word).unwrap_or(Self::Other(word))
    }
}

impl From<RefusalCode> for String {
    fn from(code: RefusalCode) -> Self {
        match code {
            RefusalCode::Other(word) => word,
            known => known.word().to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusal_codes_are_read_back_and_unknown_codes_are_kept() {
        for code in RefusalCode::KNOWN {
            let written = serde_json::to_string(&code).unwrap();
            assert_eq!(written, format!("{:?}", code.word()));
            assert_eq!(serde_json::from_str::<RefusalCode>(&written).unwrap(), code);
        }
        let newer: RefusalCode = serde_json::from_str("\"no_gpu\"").unwrap();
        assert_eq!(newer, RefusalCode::Other("no_gpu".to_owned()));
        assert_eq!(serde_json::to_string(&newer).unwrap(), "\"no_gpu\"");
    }
}
