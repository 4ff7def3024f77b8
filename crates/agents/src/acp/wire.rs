//! Lines between us and an agent. Reading and writing happen on threads of their own, so that nothing an agent does
//! or does not do can hold the protocol up.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use agent_client_protocol::Lines;
use futures::channel::mpsc::{self, Receiver, UnboundedReceiver};
use futures::{Sink, SinkExt, Stream, StreamExt};

/// Longest line that is taken for a message.
const LONGEST_LINE: u64 = 64 << 20;
/// How many lines may wait to be understood before the agent has to.
const WAITING_LINES: usize = 256;

/// How many lines an agent sent that were no messages.
#[derive(Clone, Debug, Default)]
pub(super) struct Garbage(Arc<AtomicU64>);

impl Garbage {
    pub(super) fn count(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Lines to and from an agent.
pub(super) type Transport = Lines<
    Pin<Box<dyn Sink<String, Error = io::Error> + Send>>,
    Pin<Box<dyn Stream<Item = io::Result<String>> + Send>>,
>;

/// Makes a transport of an agent's streams. Lines that are no JSON object are counted and left out: some agents
/// greet, warn or log on their standard output.
pub(super) fn lines(
    input: impl Write + Send + 'static,
    output: impl Read + Send + 'static,
) -> (Transport, Garbage) {
    let garbage = Garbage::default();
    let incoming = read_lines(output, garbage.clone());
    let (outgoing, to_write) = mpsc::unbounded::<String>();
    write_lines(input, to_write);
    let gone = |_| io::Error::new(io::ErrorKind::BrokenPipe, "the agent no longer listens");
    (Lines::new(Box::pin(outgoing.sink_map_err(gone)), Box::pin(incoming)), garbage)
}

fn read_lines(output: impl Read + Send + 'static, garbage: Garbage) -> Receiver<io::Result<String>> {
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

/// Returns a line that can be a message.
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
    fn what_is_no_message_is_counted_and_left_out() {
        let garbage = Garbage::default();
        let text = b"hello\n{\"a\":1}\n\n[1]\n{broken\n\xff\xfe\n {\"b\":2} \n".as_slice();
        let lines: Vec<_> = futures::executor::block_on_stream(read_lines(text, garbage.clone()))
            .map(Result::unwrap)
            .collect();
        assert_eq!(lines, ["{\"a\":1}", "{\"b\":2}"]);
        assert_eq!(garbage.count(), 4);
    }
}
