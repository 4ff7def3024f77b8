//! Tests of `mw acp`: the real process over standard input and output, a scripted model behind it, and clients that
//! behave well or badly.
#![forbid(unsafe_code)]
#![expect(clippy::unwrap_used, reason = "helpers run in tests only, where a broken assumption ends the test")]

mod cancels;
mod clients;
mod context;
mod editor;
mod failures;
mod files;
mod notices;
mod permissions;
mod providers;
mod servers;
mod sessions;
mod settings;
mod spans;
mod task_calls;
mod turns;

use mw_testkit::Home;
use mw_testkit::model_endpoint::ModelEndpoint;

const KEY: &str = "sk-test-0123456789";

/// Returns a sealed home for the `mw` under test, whose agent asks this endpoint.
fn home(endpoint: &ModelEndpoint) -> Home {
    Home::new(env!("CARGO_BIN_EXE_mw"))
        .gated()
        .with_env("OPENAI_BASE_URL", endpoint.openai_url())
        .with_env("OPENAI_API_KEY", KEY)
        .with_env("MEANWHILE_AGENT_MODEL", "openai/scripted")
}
