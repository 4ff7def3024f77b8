//! A scripted model: an HTTP server on this machine with the streaming wire formats of OpenAI (`/v1/chat/completions`),
//! Anthropic (`/v1/messages`) and Ollama (`/api/chat`).
//!
//! ```
//! use mw_testkit::model_endpoint::{Answer, ModelEndpoint};
//! use serde_json::json;
//!
//! let endpoint = ModelEndpoint::new();
//! endpoint.will(Answer::text("I look.").call("shell", json!({"command": "ls"})));
//! endpoint.will(Answer::text("Two files."));
//! // … run something with OPENAI_BASE_URL set to endpoint.openai_url() and any OPENAI_API_KEY, then:
//! assert!(endpoint.requests().iter().all(|request| request.says("ls")));
//! ```
//!
//! Each request gets the next answer in any format. After the last one it gets the answer of
//! [`ModelEndpoint::otherwise`], or else status 500. Failures are part of an answer: [`Answer::status`], [`Answer::cut`],
//! [`Answer::hold`], [`Answer::raw`].

mod answer;
mod endpoint;
mod http;
mod request;
mod wire;

pub use answer::{Answer, Finish};
pub use endpoint::ModelEndpoint;
pub use request::{ModelRequest, Wire};
