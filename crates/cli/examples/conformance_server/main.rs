//! The server that the official MCP conformance suite tests (`crates/cli/tests/conformance`).
//!
//! The suite calls tools, resources and prompts by its own names. This program adds them to the tools of `mw mcp --http`
//! and serves both through the same routes, guard and engine: handlers, transport and tasks are those of `mw`.
//!
//! `conformance_server PORT` prints its address and token as JSON; port 0 = any free port.
#![forbid(unsafe_code)]

mod calls;
mod fixtures;
mod jobs;
mod questions;
mod specs;

use std::env;
use std::error::Error;
use std::net::{Ipv4Addr, SocketAddr};

use meanwhile::Meanwhile;
use meanwhile::model::EnvVar;
use meanwhile::policy::Mode;
use mw_agents::DeliveredWith;
use mw_agents::event_loop;
use mw_agents::hosts::SessionEvidence;
use mw_agents::mcp::{ConnectionReceipts, FlushListener, Server, ServerOptions, http_routes_through};
use mw_tools::call::CallSettings;
use mw_tools::{Dialect, Toolset};
use mw_web::{Guard, Listening, Token};

use crate::fixtures::Fixtures;

fn main() -> Result<(), Box<dyn Error>> {
    let port = env::args().nth(1).ok_or("usage: conformance_server PORT")?.parse()?;
    let server = Server::new(options()?);
    let token = Token::random()?;
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let listening = Listening::on_loopback(address)?;
    let url = format!("http://{}/mcp", listening.address().unwrap_or(address));
    let guard = Guard::new(token.clone(), listening.server_address());
    println!("{}", serde_json::json!({"url": url, "token": token.as_str()}));
    let fixtures = Fixtures::before(server.clone());
    let routes = http_routes_through(&server, move || fixtures.clone());
    Ok(event_loop::run(listening.serve::<ConnectionReceipts, _>(
        guard,
        routes,
        FlushListener,
        std::future::pending(),
    ))??)
}

fn options() -> Result<ServerOptions, Box<dyn Error>> {
    let directory = env::current_dir()?;
    let variables = env::vars().map(|(name, value)| EnvVar { name: name.into(), value: value.into() });
    let mut call_settings = CallSettings::new("", directory.clone(), variables.collect());
    call_settings.policy.mode = Mode::Dangerous;
    Ok(ServerOptions {
        home: Meanwhile::open_default()?,
        call_settings,
        toolset: specs::toolset(Toolset::of(Dialect::Canonical))?,
        dialect: Dialect::Canonical,
        evidence: SessionEvidence::from_environment(|name| env::var(name).ok(), &directory),
        tells: DeliveredWith::Replies,
        structured: false,
    })
}
