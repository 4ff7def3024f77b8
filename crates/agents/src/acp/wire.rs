//! Lines to and from an agent. Separate threads read and write, so an agent that blocks cannot block the protocol.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use agent_client_protocol::Lines;
use agent_client_protocol::v1::schema::SessionNotification;
use futures::channel::mpsc::{self, Receiver, UnboundedReceiver};
use futures::{Sink, SinkExt, Stream, StreamExt};
use serde::Deserialize;
use serde::de::IgnoredAny;

/// Maximum size of a message, in bytes.
const LONGEST_LINE: u64 = 64 << 20;
/// How many received lines may wait. Then the agent must wait.
const WAITING_LINES: usize = 256;

/// Counts the lines of an agent that are not messages.
#[derive(Clone, Debug, Default)]
pub(crate) struct Garbage(Arc<AtomicU64>);

impl Garbage {
    pub(crate) fn count(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Lines to and from an agent.
pub(crate) type Transport = Lines<
    Pin<Box<dyn Sink<String, Error = io::Error> + Send>>,
    Pin<Box<dyn Stream<Item = io::Result<String>> + Send>>,
>;

/// Creates a transport from an agent's streams. Lines that are not JSON objects are counted and skipped, because some
/// agents print warnings or logs on standard output.
pub(crate) fn lines(
    input: impl Write + Send + 'static,
    output: impl Read + Send + 'static,
) -> (Transport, Garbage) {
    let garbage = Garbage::default();
    let incoming = read_lines(output, garbage.clone(), Some);
    (transport(input, incoming), garbage)
}

/// Creates a transport that passes updates to `heard` and not through the protocol, whose queue is unbounded. Until
/// `heard` has returned, nothing more is read, and the agent must wait.
pub(crate) fn lines_heard(
    input: impl Write + Send + 'static,
    output: impl Read + Send + 'static,
    heard: impl Fn(SessionNotification) + Send + 'static,
) -> Transport {
    let rest = move |line: String| match update(&line) {
        Some(update) => {
            heard(update);
            None
        }
        None => Some(line),
    };
    transport(input, read_lines(output, Garbage::default(), rest))
}

fn transport(input: impl Write + Send + 'static, incoming: Receiver<io::Result<String>>) -> Transport {
    let (outgoing, to_write) = mpsc::unbounded::<String>();
    write_lines(input, to_write);
    let gone = |_| io::Error::new(io::ErrorKind::BrokenPipe, "the agent has closed its input");
    Lines::new(Box::pin(outgoing.sink_map_err(gone)), Box::pin(incoming))
}

/// Parses a line that is an update. The protocol handles all other lines.
fn update(line: &str) -> Option<SessionNotification> {
    const METHOD: &str = "session/update";
    #[derive(Deserialize)]
    struct Message {
        method: String,
        id: Option<IgnoredAny>,
        params: SessionNotification,
    }
    // This avoids parsing most other lines twice.
    let message: Message = line.contains(METHOD).then(|| serde_json::from_str(line).ok())??;
    (message.method == METHOD && message.id.is_none()).then_some(message.params)
}

/// Reads lines. `rest` returns what is passed on of a line.
fn read_lines(
    output: impl Read + Send + 'static,
    garbage: Garbage,
    rest: impl Fn(String) -> Option<String> + Send + 'static,
) -> Receiver<io::Result<String>> {
    let (mut sender, receiver) = mpsc::channel(WAITING_LINES);
    thread::spawn(move || {
        let mut reader = BufReader::new(output);
        loop {
            let mut line = Vec::new();
            match (&mut reader).take(LONGEST_LINE).read_until(b'\n', &mut line) {
                Ok(0) | Err(_) => return,
                Ok(_) => {}
            }
            match message(&line) {
                Some(text) => {
                    let Some(text) = rest(text) else { continue };
                    if futures::executor::block_on(sender.send(Ok(text))).is_err() {
                        return;
                    }
                }
                None if line.iter().all(u8::is_ascii_whitespace) => {}
                None => _ = garbage.0.fetch_add(1, Ordering::Relaxed),
            }
        }
    });
    receiver
}

/// Returns a line if it can be a message.
fn message(line: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(line).ok()?.trim();
    let is_object = text.starts_with('{') && serde_json::from_str::<serde_json::Value>(text).is_ok();
    is_object.then(|| text.to_owned())
}

fn write_lines(mut input: impl Write + Send + 'static, mut lines: UnboundedReceiver<String>) {
    thread::spawn(move || {
        while let Some(mut line) = futures::executor::block_on(lines.next()) {
            line.push('\n');
            if input.write_all(line.as_bytes()).and_then(|()| input.flush()).is_err() {
                return;
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_is_not_a_message_is_counted_and_skipped() {
        let garbage = Garbage::default();
        let text = b"hello\n{\"a\":1}\n\n[1]\n{broken\n\xff\xfe\n {\"b\":2} \n".as_slice();
        let lines: Vec<_> = futures::executor::block_on_stream(read_lines(text, garbage.clone(), Some))
            .map(Result::unwrap)
            .collect();
        assert_eq!(lines, ["{\"a\":1}", "{\"b\":2}"]);
        assert_eq!(garbage.count(), 4);
    }

    #[test]
    fn reading_waits_until_an_update_is_handled_and_other_lines_pass_through() {
        let update_line = |text: &str| {
            format!(
                r#"{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"s","update":{{
                "sessionUpdate":"agent_message_chunk","content":{{"type":"text","text":"{text}"}}}}}}}}"#
            )
            .replace('\n', "")
        };
        let request =
            r#"{"jsonrpc":"2.0","id":1,"method":"fs/read_text_file","params":{"path":"session/update"}}"#;
        let malformed =
            r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{}}}"#;
        let text = [&update_line("a"), request, malformed, &update_line("b")].join("\n");
        let (sender, handled) = std::sync::mpsc::sync_channel(0);
        let rest = move |line: String| match update(&line) {
            Some(_) => sender.send(()).err().map(|_| line),
            None => Some(line),
        };
        let mut lines = read_lines(io::Cursor::new(text), Garbage::default(), rest);
        assert!(lines.try_recv().is_err(), "the first update is not handled yet");
        handled.recv().unwrap();
        let next = |lines: &mut Receiver<io::Result<String>>| futures::executor::block_on(lines.next());
        assert_eq!(next(&mut lines).unwrap().unwrap(), request);
        assert_eq!(
            next(&mut lines).unwrap().unwrap(),
            malformed,
            "the protocol reports the malformed update"
        );
        handled.recv().unwrap();
        assert!(next(&mut lines).is_none());
    }
}
