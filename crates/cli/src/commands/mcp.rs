//! `mw mcp`: serve the tools to an agent.

use std::env;
use std::io::{self, IsTerminal};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::Arc;

use clap::Args;
use meanwhile::{Runtime, Settings};
use mw_agents::hosts::Clues;
use mw_agents::mcp::{HttpOptions, Offer, Server, conformance, listen, listen_for_conformance, serve_stdio};
use mw_tools::call::Premises;
use mw_tools::{Dialect, Toolset};

use super::tools::parse_dialect;
use crate::arguments::environment::current_umask;
use crate::config::Config;
use crate::config::premises::premises;
use crate::context::Context;
use crate::error::{CommandError, CommandResult};
use crate::render;

#[derive(Args)]
pub(crate) struct Arguments {
    /// Whose names, parameters, replies and figures
    #[arg(long, default_value = "canonical", value_parser = parse_dialect)]
    dialect: Dialect,
    /// Give replies as data beside the text, and schemas of them: for programs, models read the text
    #[arg(long)]
    structured: bool,
    /// Serve over HTTP on this port of this machine instead, 0 = any
    #[arg(long, value_name = "PORT")]
    http: Option<u16>,
    /// What every HTTP request must bear; made up and printed when absent
    #[arg(long, env = "MEANWHILE_TOKEN", hide_env_values = true, requires = "http")]
    token: Option<String>,
    /// Also serve what the official conformance suite looks for by name
    #[arg(long, hide = true, requires = "http")]
    conformance: bool,
}

impl Arguments {
    pub(crate) fn run(self, context: &Context) -> CommandResult {
        let offer = self.offer(context)?;
        purge(&offer.settings);
        let server = Server::new(offer);
        match self.http {
            None => {
                if io::stdin().is_terminal() {
                    render::note("this speaks MCP on stdin and stdout, for agents; ctrl+d or ctrl+c ends it");
                    render::note("mw setup tells an agent of it; mw mcp --http PORT serves over HTTP");
                }
                serve_stdio(server)?;
            }
            Some(port) => {
                let made_up = self.token.is_none();
                let token = match self.token {
                    Some(token) if token.trim().is_empty() => {
                        return Err(CommandError::usage(
                            "the token is empty",
                            "leave it out to have one made up",
                        ));
                    }
                    Some(token) => token,
                    None => made_up_token()?,
                };
                let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
                let options = HttpOptions { address, token: token.clone() };
                let begin = if self.conformance { listen_for_conformance } else { listen };
                let listening = begin(&server, &options).map_err(|error| unbound(port, &error))?;
                let url = format!("http://{}/mcp", listening.address()?);
                if context.json {
                    render::out(&format!("{}\n", serde_json::json!({"url": url, "token": token})))?;
                } else {
                    let shown =
                        if made_up { format!("Authorization: Bearer {token}\n") } else { String::new() };
                    render::out(&format!("{url}\n{shown}"))?;
                }
                listening.serve()?;
            }
        }
        Ok(0)
    }

    fn offer(&self, context: &Context) -> Result<Offer, CommandError> {
        let config = Config::load_for(self.dialect.name())?;
        let directory = env::current_dir()?;
        let mut clues = Clues::from_environment(|name| env::var(name).ok(), &directory);
        clues.meanwhile_session = context.acts_for().map(str::to_owned);
        // A hook of the same host may be started below a link.
        clues.project = std::fs::canonicalize(&clues.project).unwrap_or(clues.project);
        let cwd = if Path::new(&clues.project).is_dir() { clues.project.clone() } else { directory };
        let premises = premises(&config, cwd, None, current_umask())?;
        let premises = Premises { agents: Some(Arc::new(config.agent_settings()?)), ..premises };
        let toolset = Toolset::of(self.dialect).waiting(config.tools.wait_ms);
        let toolset =
            if self.conformance { conformance::toolset(toolset).map_err(io::Error::other)? } else { toolset };
        Ok(Offer {
            settings: config.settings,
            premises,
            toolset,
            dialect: self.dialect,
            clues,
            tells: config.tools.tells(),
            structured: self.structured,
        })
    }
}

/// Says which port cannot be listened on.
fn unbound(port: u16, error: &io::Error) -> CommandError {
    let message = match error.kind() {
        io::ErrorKind::AddrInUse => format!("port {port} is in use by another process"),
        io::ErrorKind::PermissionDenied => format!("port {port} may not be listened on: {error}"),
        _ => format!("cannot listen on port {port}: {error}"),
    };
    CommandError::conflict(
        message,
        format!("choose another port, or 0 for any; mw list --port {port} shows who listens"),
    )
}

/// Removes what is too old, beside the server's own work: nobody waits for it, and what fails is tried again at the next
/// ending.
pub(super) fn purge(settings: &Settings) {
    let settings = settings.clone();
    std::thread::spawn(move || Runtime::open(settings).and_then(|runtime| runtime.purge_at_startup()));
}

/// A token that nobody can guess.
fn made_up_token() -> Result<String, CommandError> {
    let mut bytes = [0; 24];
    let mut filled = 0;
    while filled < bytes.len() {
        filled += rustix::rand::getrandom(&mut bytes[filled..], rustix::rand::GetRandomFlags::empty())
            .map_err(io::Error::from)?;
    }
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
