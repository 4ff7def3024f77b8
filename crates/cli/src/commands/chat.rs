//! `mw chat`: talk with an agent while its work goes on.

use std::env;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use clap::Args;
use meanwhile::HouseRules;
use meanwhile::model::policy::Mode;
use mw_agents::acp::AgentEntry;
use mw_agents::chat::{Chat, ChatOptions, Transcript, TranscriptError, Wake, new_session};
use mw_agents::dialects::screens::Layout;
use mw_agents::tools::{Background, Premises};
use mw_ui::chat::{self, Ending, Options};

use super::policy::parse_mode;
use super::premises::premises;
use super::start::current_umask;
use super::top::Colours;
use crate::config::Config;
use crate::context::Context;
use crate::error::{CommandError, CommandResult};
use crate::{exit_code, gate};

/// Our own agent.
const OWN: &str = "mw";

#[derive(Args)]
pub(crate) struct Arguments {
    /// The agent; mw agent --list shows who there is [default: the built-in one]
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// Take an earlier chat up again: the last one, unless another is named
    #[arg(long, value_name = "ID", num_args = 0..=1, default_missing_value = "")]
    resume: Option<String>,
    /// How much is asked about: safe, auto, plan, ci or dangerous
    #[arg(long, value_parser = parse_mode)]
    mode: Option<Mode>,
    /// Colours: by what the terminal says of itself, for a dark or a light background, the terminal's own
    /// sixteen, or none
    #[arg(long, value_enum, default_value_t = Colours::Auto)]
    theme: Colours,
    /// Panic as soon as something was drawn
    #[cfg(debug_assertions)]
    #[arg(long, hide = true)]
    panic: bool,
}

impl Arguments {
    pub(crate) fn run(self, context: &Context) -> CommandResult {
        if context.json || !std::io::stdin().is_terminal() || !std::io::stdout().is_terminal() {
            return Err(CommandError::usage(
                "mw chat needs a terminal for its input and output",
                "mw agent asks an agent without one; mw acp serves one to a program",
            ));
        }
        // What is wrong with the home is said on a screen that stays.
        let runtime = context.runtime()?;
        runtime.last_event()?;
        if let Some(task) = gate::around(&runtime) {
            return Err(CommandError::usage(
                format!("mw chat cannot run inside task {task}"),
                "whoever answers in a chat must be a person: open it in a terminal of your own",
            ));
        }
        let home = &context.config.settings.home;
        let transcript = match &self.resume {
            Some(id) => Transcript::open(home, Some(id.as_str()).filter(|id| !id.is_empty()))
                .map_err(|error| unusable(&error))?,
            None => Transcript::create(home, &new_session()?).map_err(|error| unusable(&error))?,
        };
        let agent = self.agent(&context.config, &transcript)?;
        let cwd = match transcript.opened() {
            Some((_, cwd)) if Path::new(cwd).is_dir() => PathBuf::from(cwd),
            _ => env::current_dir()?,
        };
        let premises = self.premises(&context.config, &transcript.session, cwd)?;
        // What runs in the session can change its environment, and must not loosen anything by that.
        let (mode, directory) = (premises.policy.mode.name().to_owned(), premises.cwd.clone());
        let house = HouseRules { mode, directory, ..context.config.house_rules()? };
        runtime.set_house_rules(&transcript.session, &house)?;
        let options = Options {
            theme: self.theme.theme(),
            session: transcript.session.clone(),
            agent: agent.name.clone(),
            #[cfg(debug_assertions)]
            panics: self.panic,
            #[cfg(not(debug_assertions))]
            panics: false,
        };
        let (post, door) = chat::door()?;
        let chat = Chat::open(
            ChatOptions {
                settings: context.config.settings.clone(),
                premises,
                mode: self.mode.map(|mode| mode.name().to_owned()).or_else(|| agent.mode.clone()),
                agent,
                mw: context.config.mw(),
                layout: layout(&context.config),
                wake: if context.config.chat.auto_wake { Wake::Idle } else { Wake::NextTurn },
                transcript,
            },
            move |news| post.tell(news),
        );
        let ending = chat::run(&options, door, |order| chat.order(order));
        // Whatever happened to the screen, what the chat has started ends with it.
        chat.close();
        eprintln!("mw chat --resume {} goes on with this", options.session);
        Ok(match ending? {
            Ending::Quit => 0,
            Ending::Signal(signal) => u8::try_from(exit_code::SIGNAL_BASE + signal).unwrap_or(u8::MAX),
            Ending::Crashed => exit_code::FAILURE,
        })
    }

    fn agent(&self, config: &Config, transcript: &Transcript) -> Result<AgentEntry, CommandError> {
        let registry = config.agent_settings()?.registry;
        let before = transcript.opened().map(|(agent, _)| agent.to_owned());
        let name = self.agent.clone().or(before).unwrap_or_else(|| OWN.to_owned());
        registry.get(&name).cloned().ok_or_else(|| {
            let names = registry.names().join(", ");
            CommandError::usage(
                format!("there is no agent {name:?}"),
                format!("there are {names}; docs/agents.md says how to add one"),
            )
        })
    }

    fn premises(&self, config: &Config, session: &str, cwd: PathBuf) -> Result<Premises, CommandError> {
        let premises = premises(config, cwd, self.mode, current_umask())?;
        Ok(Premises { session: session.to_owned(), background: Background::On, ..premises })
    }
}

fn unusable(error: &TranscriptError) -> CommandError {
    let hint = match error {
        TranscriptError::NotFound(_) | TranscriptError::None => {
            "mw chat begins one; mw session list shows sessions"
        }
        TranscriptError::InUse(_) => "close it there, or begin another with mw chat",
        TranscriptError::Io { .. } => "check the disk and the rights of MEANWHILE_HOME",
    };
    CommandError::usage(error.to_string(), hint)
}

fn layout(config: &Config) -> Layout {
    match (config.chat.layout.as_str(), config.profile_name()) {
        ("boxed", _) => Layout::Boxed,
        ("table", _) | ("auto", "co-cli") => Layout::Table,
        _ => Layout::Plain,
    }
}
