//! The question at the terminal when approval is required.

use std::io::{IsTerminal, Write};

use meanwhile::engine::{AskOutcome, Asker, Runtime};
use meanwhile::model::approval::{Answer, Proposal, Remember};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::gated_call::around;
use crate::foreground::terminal::{Keys, RawMode};

/// How often to check whether the request was answered elsewhere.
const POLL_INTERVAL: Timespec = Timespec { tv_sec: 0, tv_nsec: 300_000_000 };
const CTRL_C: u8 = 3;
const CTRL_D: u8 = 4;
const BACKSPACE: u8 = 8;
const DELETE: u8 = 127;

/// Asks at the user's terminal, if there is one.
pub(super) struct Prompt {
    is_there: bool,
}

impl Prompt {
    /// A task may have a terminal, too, but that is not the user's.
    pub(super) fn new(json: bool, runtime: &Runtime) -> Self {
        let terminal = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
        Self { is_there: terminal && !json && around(runtime).is_none() }
    }
}

impl Asker for Prompt {
    fn ask(&self, proposal: &Proposal, answered: &mut dyn FnMut() -> bool) -> AskOutcome {
        if !self.is_there {
            return AskOutcome::Elsewhere;
        }
        // In raw mode, Ctrl-C is read as a key. It denies the request, and the denial is recorded.
        let raw = RawMode::enter(Keys::All);
        let question = proposal.question().replace('\n', "\r\n");
        let _ = write!(std::io::stderr(), "{question} ");
        let said = read_answer(answered);
        drop(raw);
        let _ = writeln!(std::io::stderr());
        said.map_or(AskOutcome::Elsewhere, |answer| AskOutcome::Answered { answer, by: "the terminal" })
    }
}

/// Reads an answer; none if the request was answered elsewhere.
fn read_answer(answered: &mut dyn FnMut() -> bool) -> Option<Answer> {
    let mut line = Vec::new();
    loop {
        let stdin = std::io::stdin();
        let ready = poll(&mut [PollFd::new(&stdin, PollFlags::IN)], Some(&POLL_INTERVAL));
        if !matches!(ready, Ok(found) if found > 0) {
            if answered() {
                return None;
            }
            continue;
        }
        let mut key = [0];
        // Without a buffer, because poll does not see buffered input.
        if !matches!(rustix::io::read(&stdin, &mut key), Ok(1)) {
            return Some(Answer::Deny("the terminal was closed".to_owned()));
        }
        match key[0] {
            CTRL_C | CTRL_D => return Some(Answer::Deny("aborted at the terminal".to_owned())),
            b'\r' | b'\n' => match understood(&line) {
                Some(answer) => return Some(answer),
                None => {
                    line.clear();
                    let _ = write!(std::io::stderr(), "\r\ny (yes), n (no) or s (yes, for this session): ");
                }
            },
            BACKSPACE | DELETE => {
                let rubbed_out = line.pop().map_or("", |_| "\x08 \x08");
                let _ = write!(std::io::stderr(), "{rubbed_out}");
            }
            letter @ b' '..=b'~' => {
                line.push(letter);
                let _ = write!(std::io::stderr(), "{}", char::from(letter));
            }
            _ => {}
        }
    }
}

fn understood(line: &[u8]) -> Option<Answer> {
    match line.trim_ascii().to_ascii_lowercase().as_slice() {
        b"y" | b"yes" => Some(Answer::Approve(Remember::Once)),
        b"s" => Some(Answer::Approve(Remember::Session)),
        b"n" | b"no" => Some(Answer::Deny(String::new())),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_clear_yes_is_one() {
        assert_eq!(understood(b"y"), Some(Answer::Approve(Remember::Once)));
        assert_eq!(understood(b" YES "), Some(Answer::Approve(Remember::Once)));
        assert_eq!(understood(b"s"), Some(Answer::Approve(Remember::Session)));
        assert_eq!(understood(b"no"), Some(Answer::Deny(String::new())));
        for unclear in ["", "yn", "ja", "1", "yess"] {
            assert_eq!(understood(unclear.as_bytes()), None, "{unclear}");
        }
    }
}
