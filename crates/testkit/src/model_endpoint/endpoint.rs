//! The server of the scripted model.

use std::collections::VecDeque;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use super::answer::{Answer, Step};
use super::http::{self, Reply};
use super::request::ModelRequest;
use super::wire::Writer;
use crate::wait::{SOON, wait_until};

type Rule = Box<dyn Fn(&ModelRequest) -> Answer + Send>;

/// How often a held stream checks whether its client is still connected.
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// A scripted model endpoint. It ends when this value is dropped.
pub struct ModelEndpoint {
    address: SocketAddr,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    released: Condvar,
}

#[derive(Default)]
struct State {
    answers: VecDeque<Answer>,
    otherwise: Option<Rule>,
    requests: Vec<ModelRequest>,
    /// How many held streams may continue.
    releases: usize,
    /// How many clients disconnected before the end of their answer.
    abandoned: usize,
    closed: bool,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for ModelEndpoint {
    fn default() -> Self {
        Self::new()
    }
}

impl ModelEndpoint {
    /// Listens on a free port of this machine.
    ///
    /// # Panics
    /// When there is none.
    #[must_use]
    pub fn new() -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port of this machine is free");
        let address = listener.local_addr().expect("a listener has an address");
        let shared = Arc::new(Shared::default());
        let own = Arc::clone(&shared);
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                if own.state().closed {
                    break;
                }
                let shared = Arc::clone(&own);
                // A client may disconnect at any time.
                thread::spawn(move || _ = serve(stream, &shared));
            }
        });
        Self { address, shared }
    }

    /// Returns its address, for `ANTHROPIC_BASE_URL` and `OLLAMA_HOST`.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns its address for `OPENAI_BASE_URL`.
    #[must_use]
    pub fn openai_url(&self) -> String {
        format!("{}/v1", self.url())
    }

    /// Adds an answer to the script.
    pub fn will(&self, answer: Answer) -> &Self {
        self.shared.state().answers.push_back(answer);
        self
    }

    /// Sets the answer after the end of the script.
    pub fn otherwise(&self, rule: impl Fn(&ModelRequest) -> Answer + Send + 'static) -> &Self {
        self.shared.state().otherwise = Some(Box::new(rule));
        self
    }

    /// Lets one held stream continue, now or later.
    pub fn release(&self) {
        self.shared.state().releases += 1;
        self.shared.released.notify_all();
    }

    /// Returns all requests so far.
    #[must_use]
    pub fn requests(&self) -> Vec<ModelRequest> {
        self.shared.state().requests.clone()
    }

    /// Waits for a request, counted from 0.
    ///
    /// # Panics
    /// When it does not arrive.
    #[must_use]
    pub fn request(&self, number: usize) -> ModelRequest {
        wait_until(SOON, &format!("request {number} to the model"), || {
            self.shared.state().requests.get(number).cloned()
        })
    }

    /// Returns how many answers the script still has.
    #[must_use]
    pub fn left(&self) -> usize {
        self.shared.state().answers.len()
    }

    /// Returns how many clients disconnected before the end of their answer.
    #[must_use]
    pub fn abandoned(&self) -> usize {
        self.shared.state().abandoned
    }
}

impl Drop for ModelEndpoint {
    fn drop(&mut self) {
        self.shared.state().closed = true;
        self.shared.released.notify_all();
        // Wakes the listener, which then sees that it is closed.
        TcpStream::connect(self.address).ok();
    }
}

fn serve(mut stream: TcpStream, shared: &Shared) -> std::io::Result<()> {
    let Some(request) = http::read(&mut stream)? else { return Ok(()) };
    let answer = {
        let mut state = shared.state();
        state.requests.push(request.clone());
        match state.answers.pop_front() {
            Some(answer) => answer,
            None => match &state.otherwise {
                Some(rule) => rule(&request),
                None => Answer::status(500, "the script of this endpoint is over"),
            },
        }
    };
    let outcome = play(&mut stream, &request, &answer, shared);
    if outcome.is_err() {
        shared.state().abandoned += 1;
    }
    outcome
}

fn play(
    stream: &mut TcpStream,
    request: &ModelRequest,
    answer: &Answer,
    shared: &Shared,
) -> std::io::Result<()> {
    if let Some(refusal) = &answer.refusal {
        return http::refuse(stream, refusal);
    }
    let Some(wire) = request.wire else {
        return http::refuse(stream, &Answer::unknown_path(&request.path));
    };
    let mut writer = Writer::new(wire);
    let mut reply = Reply::begin(stream, wire.content_type())?;
    reply.write(&writer.begin())?;
    for step in &answer.steps {
        match step {
            Step::Text(text) => reply.write(&writer.text(text))?,
            Step::Thought(text) => reply.write(&writer.thought(text))?,
            Step::Call(call) => reply.write(&writer.call(call))?,
            Step::Raw(bytes) => reply.write(bytes)?,
            Step::Pause(time) => pause(&reply, Some(*time), shared)?,
            Step::Hold => pause(&reply, None, shared)?,
            Step::Cut => return reply.cut(),
        }
    }
    reply.write(&writer.end(answer.finish_word(), answer.usage))?;
    reply.end()
}

/// Waits for a time or for a release; fails after the client has disconnected.
fn pause(reply: &Reply<'_>, time: Option<Duration>, shared: &Shared) -> std::io::Result<()> {
    let begun = std::time::Instant::now();
    loop {
        reply.check_client()?;
        let mut state = shared.state();
        if state.closed || time.is_some_and(|time| begun.elapsed() >= time) {
            return Ok(());
        }
        if time.is_none() && state.releases > 0 {
            state.releases -= 1;
            return Ok(());
        }
        drop(shared.released.wait_timeout(state, POLL_INTERVAL).unwrap_or_else(PoisonError::into_inner));
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};

    use serde_json::json;

    use super::*;
    use crate::model_endpoint::Wire;

    fn ask(endpoint: &ModelEndpoint, path: &str) -> String {
        let body = json!({"messages": [{"role": "user", "content": "hello"}]}).to_string();
        let mut stream = TcpStream::connect(endpoint.address).expect("it listens");
        let head =
            format!("POST {path} HTTP/1.1\r\nX-Key: k\r\ncontent-length: {}\r\n\r\n{body}", body.len());
        stream.write_all(head.as_bytes()).expect("it reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).ok();
        answer
    }

    #[test]
    fn answers_in_three_formats_and_keeps_the_requests() {
        let endpoint = ModelEndpoint::new();
        for path in ["/v1/chat/completions", "/v1/messages", "/api/chat"] {
            endpoint.will(Answer::text("two words").call("shell", json!({"command": "ls"})).usage(7, 3));
            let answer = ask(&endpoint, path);
            for part in ["two ", "words", "shell", "ls"] {
                assert!(answer.contains(part), "{path} {part}: {answer}");
            }
            assert!(answer.ends_with("0\r\n\r\n"), "{answer}");
        }
        let requests = endpoint.requests();
        let wires: Vec<_> = requests.iter().filter_map(|request| request.wire).collect();
        assert_eq!(wires, [Wire::OpenAi, Wire::Anthropic, Wire::Ollama]);
        assert_eq!(requests[0].header("x-key"), Some("k"));
        assert!(requests[1].says("hello") && !requests[1].says("goodbye"));
        assert_eq!(requests[2].last_text(), "hello");
    }

    #[test]
    fn answers_errors_and_broken_streams_as_configured() {
        let endpoint = ModelEndpoint::new();
        endpoint.will(Answer::status(429, "slow down").header("retry-after", "2"));
        endpoint.will(Answer::text("half").cut());
        let refused = ask(&endpoint, "/v1/messages");
        assert!(refused.starts_with("HTTP/1.1 429") && refused.contains("retry-after: 2"), "{refused}");
        let cut = ask(&endpoint, "/v1/messages");
        assert!(cut.contains("half") && !cut.ends_with("0\r\n\r\n"), "{cut}");
        assert!(ask(&endpoint, "/v1/messages").contains("script of this endpoint is over"));
        endpoint.otherwise(|request| Answer::text(if request.says("hello") { "hi" } else { "?" }));
        assert!(ask(&endpoint, "/v1/messages").contains("hi"));
        assert!(ask(&endpoint, "/elsewhere").starts_with("HTTP/1.1 404"));
    }

    #[test]
    fn holds_a_stream_until_released_and_counts_disconnects() {
        let endpoint = ModelEndpoint::new();
        endpoint.will(Answer::text("a").hold().and_text("b")).will(Answer::text("c").hold());
        endpoint.release();
        assert!(ask(&endpoint, "/v1/messages").ends_with("0\r\n\r\n"));
        let mut stream = TcpStream::connect(endpoint.address).expect("it listens");
        stream.write_all(b"POST /v1/messages HTTP/1.1\r\ncontent-length: 0\r\n\r\n").expect("it reads");
        stream.read_exact(&mut [0; 20]).expect("it answers");
        assert_eq!(endpoint.abandoned(), 0);
        drop(stream);
        wait_until(SOON, "the disconnect is counted", || (endpoint.abandoned() == 1).then_some(()));
    }
}
