//! Searches a log in place and returns a bounded reply.

use memchr::memmem;
use mw_model::{Edge, redaction_mark};
use regex::bytes::Regex;
use serde::Serialize;

use super::clean::clean_text;
use super::read::check_run;
use super::shown::before;
use crate::disk::task_dir::log_view::StreamChoice;
use crate::error::{Error, Result};
use crate::read::Reader;
use crate::redact::{Redaction, Redactor, UNREADABLE_NOTE};
use crate::task::Scope;

/// Number of bytes read at once.
const STEP: usize = 256 << 10;
/// Longer lines are searched in parts of this size.
const LONGEST_LINE: usize = 64 << 10;
/// How many bytes of one part are searched again with the next.
const CUT: usize = 4 << 10;
/// How much of a matching line is shown.
const SHOWN: usize = 500;

/// A matching line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OutputMatch {
    /// Its number, from 1.
    pub line: u64,
    /// Logical offset of its first byte.
    pub offset: u64,
    /// Its text, shortened and without control sequences.
    pub text: String,
    /// Whether it is only context of a matching line.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub context: bool,
}

/// What to search for.
#[derive(Clone, Debug, Default)]
pub struct GrepRequest {
    /// A regular expression.
    pub pattern: String,
    /// The streams to search.
    pub stream: StreamChoice,
    /// The logical offset to start from.
    pub from: u64,
    /// Number of context lines around each match.
    pub context: usize,
    /// Maximum number of matches.
    pub most: usize,
    /// The run to search; absent = the current or last one.
    pub run: Option<u32>,
}

/// The result of a search.
#[derive(Clone, Debug, Serialize)]
pub struct GrepReply {
    /// The lines, in order.
    pub matches: Vec<OutputMatch>,
    /// Whether there may be more matches.
    pub truncated: bool,
    /// The offset to continue from.
    pub next_offset: u64,
}

impl GrepReply {
    /// Keeps as many lines as fit into that many bytes, each with its number and newline. The first line is cut to
    /// fit, so that a caller that continues from `next_offset` reaches the end.
    pub fn limit(&mut self, max_bytes: u64) {
        let most = usize::try_from(max_bytes).unwrap_or(usize::MAX);
        let frame = |line: &OutputMatch| line.line.to_string().len() + ":\n".len();
        let mut used = 0;
        let over = self.matches.iter().position(|line| {
            used += frame(line) + line.text.len();
            used > most
        });
        let Some(over) = over else { return };
        if let Some(left_out) = self.matches.get(over.max(1)) {
            (self.next_offset, self.truncated) = (left_out.offset, true);
        }
        self.matches.truncate(over.max(1));
        if let (0, Some(line)) = (over, self.matches.first_mut()) {
            let room = most.saturating_sub(frame(line));
            line.text.truncate(line.text.floor_char_boundary(room));
        }
    }
}

struct SearchState<'a> {
    pattern: &'a Regex,
    redactor: &'a Redactor,
    /// Whether the current lines belong to a private key.
    in_key: bool,
    /// The end of the previous part of a line that is searched in parts.
    cut: Vec<u8>,
    context: usize,
    most: usize,
    found: usize,
    lines: Vec<OutputMatch>,
    /// Lines before the current one, kept in case it matches.
    before: std::collections::VecDeque<OutputMatch>,
    /// How many lines after a match are still to be shown.
    after: usize,
    number: u64,
}

impl Reader<'_> {
    /// Searches a task's output line by line.
    ///
    /// # Errors
    /// When the pattern is not a regular expression, the task is unknown or its log is gone.
    pub fn grep(&self, handle: &str, scope: &Scope, request: &GrepRequest) -> Result<GrepReply> {
        let GrepRequest { stream, from, context, most, .. } = *request;
        let pattern = compile(&request.pattern)?;
        let task = self.current(handle, scope)?;
        let run = request.run.unwrap_or_else(|| task.state.run());
        check_run(&task, run)?;
        if self.has_not_run(&task, run) {
            return Ok(GrepReply { matches: Vec::new(), truncated: false, next_offset: 0 });
        }
        let view = self.view(&task, run, stream)?;
        let redactor = Redaction::on(self.base).redactor(&task.id);
        let before = before(&view, stream, from).map_err(Error::io("cannot read the log"))?;
        let mut search = SearchState {
            pattern: &pattern,
            redactor: &redactor,
            in_key: redactor.goes_on_in_key(&before),
            cut: Vec::new(),
            context,
            most,
            found: 0,
            lines: Vec::new(),
            before: std::collections::VecDeque::new(),
            after: 0,
            number: 0,
        };
        if redactor.is_blind() {
            let text = UNREADABLE_NOTE.trim_end().to_owned();
            search.lines.push(OutputMatch { line: 0, offset: from, text, context: true });
        }
        let mut line = Vec::new();
        let mut line_start = 0;
        let mut next = from;
        for part in view.readable(stream).filter(|part| part.logical + part.len > from) {
            let mut at = part.logical.max(from);
            while at < part.logical + part.len {
                let bytes = view.bytes(part, at, STEP).map_err(Error::io("cannot read the log"))?;
                if bytes.is_empty() {
                    break;
                }
                for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
                    if line.is_empty() {
                        line_start = at;
                    }
                    line.extend_from_slice(piece);
                    at += piece.len() as u64;
                    if line.ends_with(b"\n") || line.len() > LONGEST_LINE {
                        if search.look(&line, line_start) {
                            return Ok(GrepReply { matches: search.lines, truncated: true, next_offset: at });
                        }
                        line.clear();
                    }
                }
                next = at;
            }
        }
        if !line.is_empty() {
            search.look(&line, line_start);
        }
        Ok(GrepReply { matches: search.lines, truncated: false, next_offset: next })
    }
}

impl SearchState<'_> {
    /// Returns a line as it may be shown. A private key is the only secret of several lines, and a line that is
    /// searched in parts may be cut in the middle of a secret.
    fn shown(&self, body: &[u8], was_in_key: bool, edge: Edge) -> String {
        if was_in_key || self.in_key {
            return redaction_mark("private-key");
        }
        let whole = [self.cut.as_slice(), body].concat();
        let own = self.cut.len()..whole.len();
        let shown = self.redactor.stretches(&whole, edge, std::slice::from_ref(&own)).concat();
        clean_text(&String::from_utf8_lossy(&shown)).chars().take(SHOWN).collect()
    }

    /// Returns whether the next line continues a private key.
    fn goes_on_in_key(&self, body: &[u8]) -> bool {
        match (self.in_key, memmem::find(body, b"-----").is_some()) {
            (true, dashes) => !dashes || memmem::find(body, b"-----END").is_none(),
            (false, true) => self.redactor.goes_on_in_key(body),
            (false, false) => false,
        }
    }

    /// Checks a line; returns whether the search is complete.
    fn look(&mut self, line: &[u8], offset: u64) -> bool {
        self.number += 1;
        let body = line.strip_suffix(b"\n").unwrap_or(line);
        let fits = self.pattern.is_match(body);
        let was_in_key = self.in_key;
        self.in_key = self.goes_on_in_key(body);
        let edge = if line.ends_with(b"\n") { Edge::Closed } else { Edge::Open };
        let is_wanted = fits || self.after > 0 || self.context > 0;
        let text = if is_wanted { self.shown(body, was_in_key, edge) } else { String::new() };
        self.cut.clear();
        if edge == Edge::Open {
            self.cut.extend_from_slice(&body[body.len().saturating_sub(CUT)..]);
        }
        let entry = OutputMatch { line: self.number, offset, text, context: !fits };
        if fits {
            self.lines.extend(self.before.drain(..));
            self.lines.push(entry);
            self.after = self.context;
            self.found += 1;
        } else if self.after > 0 {
            self.after -= 1;
            self.lines.push(entry);
        } else if self.context > 0 {
            self.before.push_back(entry);
            if self.before.len() > self.context {
                self.before.pop_front();
            }
        }
        self.found >= self.most && self.after == 0
    }
}

/// Extracts the reason from an error message of several lines that also shows the position.
fn reason(text: &str) -> &str {
    let last = text.lines().last().unwrap_or_default().trim();
    last.strip_prefix("error: ").unwrap_or(last)
}

/// Compiles a pattern; the error describes the problem in one line.
pub(crate) fn compile(pattern: &str) -> Result<Regex> {
    Regex::new(pattern).map_err(|error| {
        Error::invalid(
            format!("{pattern:?} is not a regular expression: {}", reason(&error.to_string())),
            "escape special characters with a backslash",
        )
    })
}
