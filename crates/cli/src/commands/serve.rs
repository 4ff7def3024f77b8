//! `mw serve`: serves the web dashboard, the HTTP API and MCP.

use std::env;
use std::fs;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use meanwhile::Settings;
use meanwhile::engine::{SERVE_KEY_FILE, own_environment};
use meanwhile::model::approval::Proposal;
use mw_agents::event_loop;
use mw_agents::mcp::{ConnectionReceipts, FlushListener, Server, http_routes};
use mw_desk::Access;
use mw_desk::action::StartDefaults;
use mw_tools::Dialect;
use mw_web::page::{protected, sign_in_page};
use mw_web::serve::secure;
use mw_web::{AgentInfo, Api, Browsers, Guard, Key, Listening, NewRule, Options, ServerAddress, Token};
use serde_json::json;

use super::mcp;
use crate::approval;
use crate::arguments::environment::current_umask;
use crate::browser;
use crate::config::Config;
use crate::context::Context;
use crate::error::{CommandError, CommandResult};
use crate::render;

/// The port, unless another is given.
const PORT: u16 = 7117;

#[derive(Args)]
pub(crate) struct Arguments {
    /// Listen on this local port; 0 = any free port
    #[arg(long, value_name = "PORT", default_value_t = PORT, conflicts_with_all = ["socket", "allow_remote"])]
    port: u16,
    /// Listen on a socket in the file system instead
    #[arg(long, value_name = "PATH", conflicts_with = "allow_remote")]
    socket: Option<PathBuf>,
    /// Open the page in the browser, with $BROWSER or xdg-open
    #[arg(long, conflicts_with = "socket")]
    open: bool,
    /// Token that programs must send [default: generated and printed]
    #[arg(long, env = "MEANWHILE_TOKEN", hide_env_values = true)]
    token: Option<String>,
    /// Listen on this address for other machines; needs a certificate and a password
    #[arg(long, value_name = "ADDRESS:PORT", requires_all = ["tls_cert", "tls_key", "password_file"])]
    allow_remote: Option<SocketAddr>,
    /// Certificate with its chain, as PEM
    #[arg(long, value_name = "FILE", requires = "allow_remote")]
    tls_cert: Option<PathBuf>,
    /// Key of the certificate, as PEM
    #[arg(long, value_name = "FILE", requires = "allow_remote")]
    tls_key: Option<PathBuf>,
    /// File with the password for browsers
    #[arg(long, value_name = "FILE", requires = "allow_remote")]
    password_file: Option<PathBuf>,
    /// Name by which other machines call this one; may be repeated; needed with 0.0.0.0
    #[arg(long, value_name = "NAME", requires = "allow_remote")]
    host: Vec<String>,
}

impl Arguments {
    pub(crate) fn run(self, context: &Context) -> CommandResult {
        if context.gated_session().is_some() || context.is_inside_task() {
            return Err(CommandError::usage(
                "mw serve acts for the user, so it cannot run inside a session",
                "run it in a shell of your own",
            ));
        }
        let token = match &self.token {
            Some(token) => Token::new(token)
                .ok_or_else(|| CommandError::usage("the token is empty", "omit it to generate one"))?,
            None => Token::random()?,
        };
        // Problems with the home are reported before anything listens.
        let runtime = context.runtime()?;
        runtime.tasks().last_event()?;
        let key = runtime.home().root().join(SERVE_KEY_FILE);
        let listening = self.listen()?;
        let site = Site::of(&listening, self.socket.as_deref());
        let (announced, as_json) = (site.clone(), context.json);
        let mut browsers = Browsers::new(
            &listening.server_address(),
            &Key::kept_in(&key).map_err(|error| unreadable(&key, &error))?,
            sign_in_page,
            move |next| announced.announce_next(next, as_json),
        )?;
        if let Some(path) = &self.password_file {
            browsers = browsers.with_password(password(path)?);
        }
        let server = Server::new(mcp::server_options(context, Dialect::Canonical, false)?);
        let api = Api::new(options(context)?, Token::random()?.as_str()[..12].to_owned());
        site.announce(&browsers.link_token(), &token, self.token.is_some(), context.json)?;
        if self.open {
            browser::open(&site.link(&browsers.link_token()));
        }
        mcp::purge(&context.config.settings);
        let guard = Guard::new(token, listening.server_address()).with_browsers(Arc::new(browsers));
        let serve = async {
            let end_signal = event_loop::end_signal()?;
            let end = async {
                end_signal.await;
                api.changes_complete().await;
                server.last_words().await;
            };
            let pages = protected(mw_web::page::routes().merge(mw_web::api::routes(Arc::clone(&api))));
            let routes = pages.merge(http_routes(&server));
            listening.serve::<ConnectionReceipts, _>(guard, routes, FlushListener, end).await
        };
        event_loop::run(serve)??;
        Ok(0)
    }

    fn listen(&self) -> Result<Listening, CommandError> {
        if let Some(path) = &self.socket {
            return Listening::on_socket(path).map_err(|error| {
                CommandError::conflict(
                    format!("cannot listen on {}: {error}", path.display()),
                    "choose a path that does not exist, in a directory that you may write",
                )
            });
        }
        if let (Some(address), Some(certificate), Some(key)) =
            (self.allow_remote, &self.tls_cert, &self.tls_key)
        {
            if address.ip().is_unspecified() && self.host.is_empty() {
                return Err(CommandError::usage(
                    format!("no name by which other machines call this one is known, and {address} is none"),
                    "add --host NAME, once for each name",
                ));
            }
            let tls = secure(certificate, key).map_err(|error| {
                CommandError::usage(
                    format!("cannot use the certificate: {error}"),
                    "give PEM files that belong together",
                )
            })?;
            return Listening::on_network(address, self.host.clone(), tls)
                .map_err(|error| mcp::unbound(address.port(), &error));
        }
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, self.port));
        Listening::on_loopback(address).map_err(|error| mcp::unbound(self.port, &error))
    }
}

/// Where the server is reached, in words.
#[derive(Clone)]
struct Site(String);

impl Site {
    fn of(listening: &Listening, socket: Option<&Path>) -> Self {
        Self(match (listening.server_address(), listening.address(), socket) {
            (_, _, Some(path)) => format!("unix:{}", path.display()),
            (ServerAddress::Remote { names, port }, _, None) => {
                format!("https://{}:{port}", names.first().map_or("localhost", String::as_str))
            }
            (_, Some(address), None) => format!("http://{address}"),
            (_, None, None) => String::new(),
        })
    }

    fn is_socket(&self) -> bool {
        self.0.starts_with("unix:")
    }

    fn link(&self, token: &Token) -> String {
        format!("{}/login?token={}", self.0, token.as_str())
    }

    /// Prints the link and the token. A token that the user has chosen is not printed.
    fn announce(
        &self,
        link: &Token,
        token: &Token,
        is_known: bool,
        as_json: bool,
    ) -> Result<(), CommandError> {
        let link = self.link(link);
        if as_json {
            let link = (!self.is_socket()).then_some(link);
            render::json(&json!({"url": self.0, "link": link, "token": token.as_str()}))?;
            return Ok(());
        }
        let page = if self.is_socket() { format!("{}\n", self.0) } else { format!("{link}\n") };
        let token =
            if is_known { String::new() } else { format!("Authorization: Bearer {}\n", token.as_str()) };
        render::out(&(page + &token))?;
        if !self.is_socket() {
            render::note(
                "the link works once; the token is for programs; press Ctrl-C to quit, tasks keep running",
            );
        }
        Ok(())
    }

    /// Prints the next link after one was used.
    fn announce_next(&self, next: &Token, as_json: bool) {
        let link = self.link(next);
        if as_json {
            let _ = render::json(&json!({ "link": link }));
        } else {
            render::note(&format!("a browser has signed in; the next link is {link}"));
        }
    }
}

fn options(context: &Context) -> Result<Options, CommandError> {
    let config = &context.config;
    let registry = &config.agent_settings()?.registry;
    let agent =
        |name: &str, command: &[String]| AgentInfo { name: name.to_owned(), command: command.join(" ") };
    let runtime = context.runtime()?;
    Ok(Options {
        access: Access {
            // Messages of the engine would appear among the links.
            settings: Settings { tell: |_| {}, ..config.settings.clone() },
            session: None,
            requester: context.requester(),
            screen: "the web page".to_owned(),
            inside: approval::around(&runtime),
            keep: config.policy.timeouts.keep,
        },
        start: StartDefaults {
            shell: config.shell.clone(),
            cwd: env::current_dir()?,
            env: own_environment(),
            umask: current_umask(),
            lifetime: config.lifetime(),
        },
        rule_for: Arc::new(|proposal: &Proposal| {
            let failed = |error: CommandError| error.message;
            // The rules may have changed since the start.
            let config = Config::load_tolerantly().map_err(failed)?;
            let rule = config.permanent_rule(proposal).map_err(failed)?;
            let (path, text) = (rule.place(), rule.text().to_owned());
            Ok(NewRule { path, text, add: Box::new(move || rule.add().map_err(failed)) })
        }),
        agents: registry.entries().map(|entry| agent(&entry.name, &entry.command)).collect(),
    })
}

fn password(path: &Path) -> Result<Token, CommandError> {
    let text = fs::read_to_string(path).map_err(|error| unreadable(path, &error))?;
    let password = text.lines().next().unwrap_or_default();
    Token::new(password).filter(|_| password.len() >= 12).ok_or_else(|| {
        CommandError::usage(
            format!("the password in {} is too short", path.display()),
            "write at least 12 characters into its first line",
        )
    })
}

fn unreadable(path: &Path, error: &io::Error) -> CommandError {
    CommandError::usage(
        format!("cannot read {}: {error}", path.display()),
        "check the file and its permissions",
    )
}
