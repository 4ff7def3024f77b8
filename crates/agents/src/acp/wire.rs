//! Lines to and from an agent. Separate threads read and write, so an agent that blocks cannot block the protocol.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::pin::Pin;
use std::thread;

use agent_client_protocol::Lines;
use agent_client_protocol::v1::schema::{SessionNotification, SessionUpdate};
use futures::channel::mpsc::{self, Receiver, UnboundedReceiver};
use futures::{Sink, SinkExt, Stream, StreamExt};
use serde_json::{Map, Value};

/// Maximum size of a message, in bytes.
const LONGEST_LINE: u64 = 64 << 20;
/// How many received lines may wait. Then the agent must wait.
const WAITING_LINES: usize = 256;

/// A line of an agent that the protocol does not handle.
pub(crate) enum UnhandledLine {
    /// An update of the session.
    Update(Box<SessionUpdate>),
    /// A line that is not a message. Some agents print warnings or logs on standard output.
    Invalid,
}

/// Lines to and from an agent.
pub(crate) type Transport = Lines<
    Pin<Box<dyn Sink<String, Error = io::Error> + Send>>,
    Pin<Box<dyn Stream<Item = io::Result<String>> + Send>>,
>;

/// Creates a transport from an agent's streams. It passes updates to `hear` and not through the protocol, whose queue is
/// unbounded. Until `hear` has returned, nothing more is read, and the agent must wait.
pub(crate) fn lines(
    input: impl Write + Send + 'static,
    output: impl Read + Send + 'static,
    hear: impl Fn(UnhandledLine) + Send + 'static,
) -> Transport {
    let (outgoing, to_write) = mpsc::unbounded::<String>();
    write_lines(input, to_write);
    let gone = |_| io::Error::new(io::ErrorKind::BrokenPipe, "the agent has closed its input");
    Lines::new(Box::pin(outgoing.sink_map_err(gone)), Box::pin(read_lines(output, hear)))
}

fn read_lines(
    output: impl Read + Send + 'static,
    hear: impl Fn(UnhandledLine) + Send + 'static,
) -> Receiver<io::Result<String>> {
    let (mut sender, receiver) = mpsc::channel(WAITING_LINES);
    thread::spawn(move || {
        let mut reader = BufReader::new(output);
        loop {
            let mut line = Vec::new();
            match (&mut reader).take(LONGEST_LINE).read_until(b'\n', &mut line) {
                Ok(0) | Err(_) => return,
                Ok(_) if line.trim_ascii().is_empty() => continue,
                Ok(_) => {}
            }
            let message = str::from_utf8(&line).ok().map(str::trim);
            let parsed = message.and_then(|text| serde_json::from_str::<Map<String, Value>>(text).ok());
            match (parsed.map(update), message) {
                (Some(Some(update)), _) => hear(UnhandledLine::Update(Box::new(update))),
                (Some(None), Some(text)) => {
                    if futures::executor::block_on(sender.send(Ok(text.to_owned()))).is_err() {
                        return;
                    }
                }
                (_, _) => hear(UnhandledLine::Invalid),
            }
        }
    });
    receiver
}

/// Returns the update of a message, if it is one. The protocol handles all other messages.
fn update(mut message: Map<String, Value>) -> Option<SessionUpdate> {
    let is_update =
        message.get("method")? == "session/update" && message.get("id").is_none_or(Value::is_null);
    let params = message.get_mut("params").filter(|_| is_update)?.take();
    serde_json::from_value::<SessionNotification>(params).ok().map(|notification| notification.update)
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
        let (sender, heard) = std::sync::mpsc::channel();
        let hear = move |heard| sender.send(matches!(heard, UnhandledLine::Invalid)).unwrap();
        let text = b"hello\n{\"a\":1}\n\n[1]\n{broken\n\xff\xfe\n {\"b\":2} \n".as_slice();
        let lines: Vec<_> =
            futures::executor::block_on_stream(read_lines(text, hear)).map(Result::unwrap).collect();
        assert_eq!(lines, ["{\"a\":1}", "{\"b\":2}"]);
        assert_eq!(heard.iter().collect::<Vec<_>>(), [true; 4]);
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
        let hear = move |heard| {
            assert!(matches!(heard, UnhandledLine::Update(_)));
            sender.send(()).unwrap();
        };
        let mut lines = read_lines(io::Cursor::new(text), hear);
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
