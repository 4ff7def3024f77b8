//! `mw mcp`: serve the tools to an agent.

use std::env;
use std::io::{self, IsTerminal};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;

use clap::Args;
use meanwhile::engine::Runtime;
use meanwhile::{Meanwhile, Settings};
use mw_agents::event_loop;
use mw_agents::hosts::SessionEvidence;
use mw_agents::mcp::{ConnectionReceipts, FlushListener, Server, ServerOptions, http_routes, serve_stdio};
use mw_tools::{Dialect, Toolset};
use mw_web::{Guard, Listening, Token};

use crate::arguments::environment::current_umask;
use crate::arguments::values::parse_dialect;
use crate::config::Config;
use crate::config::call_settings::call_settings;
use crate::context::Context;
use crate::error::{CommandError, CommandResult};
use crate::render;

#[derive(Args)]
pub(crate) struct Arguments {
    /// The dialect of tool names, parameters, replies and defaults
    #[arg(long, default_value = "canonical", value_parser = parse_dialect)]
    dialect: Dialect,
    /// Also send replies as structured data with schemas, for programs; models read the text
    #[arg(long)]
    structured: bool,
    /// Serve over HTTP on this local port instead; 0 = any free port
    #[arg(long, value_name = "PORT")]
    http: Option<u16>,
    /// Token that every HTTP request must carry [default: generated and printed] [env: MEANWHILE_TOKEN]
    // Without `--http` the variable, which may be set for `mw serve`, has no meaning. So clap does not read it.
    #[arg(long, requires = "http")]
    token: Option<String>,
}

impl Arguments {
    pub(crate) fn run(self, context: &Context) -> CommandResult {
        let options = self.options(context)?;
        purge(options.home.settings());
        let server = Server::new(options);
        match self.http {
            None => {
                if io::stdin().is_terminal() {
                    render::note("serving MCP on stdin and stdout; press Ctrl-D or Ctrl-C to quit");
                    render::note(
                        "mw setup adds it to an agent's settings; mw mcp --http PORT serves over HTTP",
                    );
                }
                serve_stdio(server)?;
            }
            Some(port) => self.serve_http(port, &server, context)?,
        }
        Ok(0)
    }

    fn serve_http(&self, port: u16, server: &Server, context: &Context) -> Result<(), CommandError> {
        let given = self.token.clone().or_else(|| env::var("MEANWHILE_TOKEN").ok());
        let token = match &given {
            Some(token) => Token::new(token)
                .ok_or_else(|| CommandError::usage("the token is empty", "omit it to generate one"))?,
            None => Token::random()?,
        };
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let listening = Listening::on_loopback(address).map_err(|error| unbound(port, &error))?;
        let address = listening.address().unwrap_or(address);
        let guard = Guard::new(token.clone(), listening.server_address());
        let (url, token) = (format!("http://{address}/mcp"), token.as_str());
        if context.json {
            render::json(&serde_json::json!({"url": url, "token": token}))?;
        } else if given.is_some() {
            render::out(&format!("{url}\n"))?;
        } else {
            render::out(&format!("{url}\nAuthorization: Bearer {token}\n"))?;
        }
        let serve = async {
            let end_signal = event_loop::end_signal()?;
            let end = async {
                end_signal.await;
                server.last_words().await;
            };
            listening.serve::<ConnectionReceipts, _>(guard, http_routes(server), FlushListener, end).await
        };
        event_loop::run(serve)??;
        Ok(())
    }

    fn options(&self, context: &Context) -> Result<ServerOptions, CommandError> {
        server_options(context, self.dialect, self.structured)
    }
}

/// Returns the options of a server of tools.
pub(super) fn server_options(
    context: &Context,
    dialect: Dialect,
    structured: bool,
) -> Result<ServerOptions, CommandError> {
    let config = Config::load_for(dialect)?;
    let directory = env::current_dir()?;
    let mut evidence = SessionEvidence::from_environment(|name| env::var(name).ok(), &directory);
    evidence.meanwhile_session = context.acts_for().map(str::to_owned);
    evidence.is_bound = context.is_inside_task();
    // A hook of the same host may be started below a link.
    evidence.project = std::fs::canonicalize(&evidence.project).unwrap_or(evidence.project);
    let cwd = if Path::new(&evidence.project).is_dir() { evidence.project.clone() } else { directory };
    let enclosing = context.enclosing_policy()?;
    let call_settings = call_settings(&config, cwd, None, current_umask(), enclosing.as_ref())?;
    let toolset = Toolset::of(dialect).waiting(config.tools.wait_ms);
    Ok(ServerOptions {
        home: Meanwhile::open_lazy(config.settings),
        call_settings,
        toolset,
        dialect,
        evidence,
        tells: config.tools.tells(),
        structured,
    })
}

/// Says which port cannot be listened on.
pub(super) fn unbound(port: u16, error: &io::Error) -> CommandError {
    let message = match error.kind() {
        io::ErrorKind::AddrInUse => format!("port {port} is in use by another process"),
        io::ErrorKind::PermissionDenied => format!("not allowed to listen on port {port}: {error}"),
        _ => format!("cannot listen on port {port}: {error}"),
    };
    CommandError::conflict(
        message,
        format!(
            "choose another port, or 0 for any free port; mw list --port {port} shows which process uses it"
        ),
    )
}

/// Removes expired tasks in a separate thread. The server does not wait for it, and the next end of a task repeats what
/// fails.
pub(super) fn purge(settings: &Settings) {
    let settings = settings.clone();
    std::thread::spawn(move || {
        Runtime::open(settings).and_then(|runtime| runtime.retention().purge_at_startup())
    });
}
