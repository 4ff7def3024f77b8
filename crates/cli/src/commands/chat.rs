//! `mw chat`: chats with an agent while its tasks run in the background.

use std::env;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use clap::Args;
use meanwhile::engine::{Runtime, SessionPolicy};
use meanwhile::policy::Mode;
use meanwhile::{Meanwhile, Scope, Settings, TaskFilter};
use mw_agents::chat_host::{Chat, ChatOptions, ChatTranscript, TranscriptError, Wake, new_session};
use mw_tools::Dialect;
use mw_tools::call::{Background, CallSettings};
use mw_tools::delegation::AgentEntry;
use mw_tools::dialects::DialectTools;
use mw_tools::screens::Layout;
use mw_ui::chat::{self, Options};
use signal_hook::consts::{SIGINT, SIGTERM};

use crate::arguments::environment::current_umask;
use crate::arguments::screen::{self, ScreenArguments};
use crate::arguments::values::{parse_dialect, parse_mode};
use crate::config::Config;
use crate::config::call_settings::call_settings;
use crate::context::Context;
use crate::error::{CommandError, CommandResult};
use crate::render;
use crate::{approval, exit_code};

/// Our own agent.
const OWN: &str = "mw";

#[derive(Args)]
pub(crate) struct Arguments {
    /// The agent to use; see mw agent --list [default: the built-in agent]
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// Resume an earlier chat; without an ID, the last one
    #[arg(long, value_name = "ID", num_args = 0..=1, default_missing_value = "")]
    resume: Option<String>,
    /// The dialect of the agent's tools and of task names; see mw tools --dialect [default: the profile's]
    #[arg(long, value_parser = parse_dialect)]
    dialect: Option<Dialect>,
    /// Approval mode: safe, auto, plan, ci or dangerous
    #[arg(long, value_parser = parse_mode)]
    mode: Option<Mode>,
    #[command(flatten)]
    screen: ScreenArguments,
}

impl Arguments {
    pub(crate) fn run(self, context: &Context) -> CommandResult {
        let runtime = checked(context)?;
        let home = &context.config.settings.home;
        let before = self.resumed(home)?;
        // Tasks keep their names when the chat is resumed.
        let kept = before.as_ref().and_then(ChatTranscript::dialect);
        let dialect = self.dialect.or(kept).unwrap_or(context.config.dialect());
        let config = &Config::load_for(dialect)?;
        let agent = self.agent(config, before.as_ref())?;
        // A chat without a model is useless; an earlier chat can at least be read.
        if before.is_none() && agent.command == own_command(config) {
            has_model(config)?;
        }
        let (cwd, remark) = place(before.as_ref())?;
        let chosen = self.chosen_mode(before.as_ref(), &agent);
        let session = before.as_ref().map_or_else(new_session, |before| Ok(before.session.clone()))?;
        let mode = chosen.as_deref().and_then(Mode::named);
        let (call_settings, session_policy) = settings_of(config, &session, cwd, mode)?;
        // The session's tasks can change their environment. That must not loosen the policy.
        runtime.approvals().set_session_policy(&session, &session_policy)?;
        // Last, because a failure before must not leave a chat behind.
        let transcript = match before {
            Some(before) => before,
            None => ChatTranscript::create(home, &session).map_err(|error| unusable(&error))?,
        };
        transcript.keep_dialect(dialect);
        // The numbers of its tasks continue.
        let context_stamp = transcript.context(&call_settings.context_stamp);
        let call_settings = CallSettings { context_stamp, ..call_settings };
        let options = Options {
            theme: self.screen.theme(&context.config),
            session: session.clone(),
            agent: agent.name.clone(),
            model: model(config, &agent),
            editor: screen::editor(),
            panics: self.screen.panics(),
        };
        super::mcp::purge(&config.settings);
        let (post, door) = chat::door()?;
        let chat = Chat::open(
            ChatOptions {
                // Messages would appear in the middle of the screen.
                home: Meanwhile::open_lazy(Settings { tell: |_| {}, ..config.settings.clone() }),
                call_settings,
                mode: chosen.or_else(|| agent.mode.clone()),
                agent,
                session_policy,
                remark,
                mw: config.mw(),
                cancel_after: Duration::from_millis(config.agents.cancel_ms),
                layout: layout(config, dialect),
                dialect,
                wake: if config.chat.auto_wake { Wake::Idle } else { Wake::NextTurn },
                transcript,
            },
            move |update| post.tell(update),
        );
        let ending = chat::run(&options, door, |order| chat.order(order));
        say_what_ends(&runtime, &session)?;
        // Whatever happened to the screen, the chat's tasks end with it.
        let kept = chat.close();
        render::aside(&format!("to continue this chat: mw chat --resume {session}"));
        kept.map_err(|error| CommandError { exit: exit_code::FAILURE, ..unusable(&error) })?;
        Ok(screen::code(ending?))
    }

    /// Opens the chat to resume.
    fn resumed(&self, home: &Path) -> Result<Option<ChatTranscript>, CommandError> {
        let earlier = |id: &String| ChatTranscript::open(home, Some(id.as_str()).filter(|id| !id.is_empty()));
        self.resume.as_ref().map(earlier).transpose().map_err(|error| unusable(&error))
    }

    /// Returns the mode of the options, else that which the resumed chat had with this agent.
    fn chosen_mode(&self, before: Option<&ChatTranscript>, agent: &AgentEntry) -> Option<String> {
        let same = before.filter(|before| before.opened().is_some_and(|(name, _)| name == agent.name));
        self.mode.map(|mode| mode.name().to_owned()).or_else(|| same?.mode())
    }

    fn agent(&self, config: &Config, before: Option<&ChatTranscript>) -> Result<AgentEntry, CommandError> {
        let registry = config.agent_settings()?.registry;
        let before = before.and_then(ChatTranscript::opened).map(|(agent, _)| agent.to_owned());
        let name = self.agent.clone().or(before).unwrap_or_else(|| OWN.to_owned());
        registry.get(&name).cloned().ok_or_else(|| {
            let names = registry.names().join(", ");
            CommandError::usage(
                format!("no agent {name:?}"),
                format!("available agents: {names}; see docs/agents.md to add one"),
            )
        })
    }
}

/// Checks that a chat can run here, and opens the home: its problems are reported before the screen changes.
fn checked(context: &Context) -> Result<Runtime, CommandError> {
    let instead = "without a terminal use mw agent; programs can use mw acp";
    screen::check_terminal(context, "mw chat", instead)?;
    let runtime = context.runtime()?;
    runtime.tasks().last_event()?;
    match approval::around(&runtime) {
        None => Ok(runtime),
        Some(task) => Err(CommandError::usage(
            format!("mw chat cannot run inside task {task}"),
            "open the chat in a terminal outside the task: only a person may answer in it",
        )),
    }
}

/// Returns the settings of a chat's tool calls, and the policy to store for its session.
fn settings_of(
    config: &Config,
    session: &str,
    cwd: PathBuf,
    mode: Option<Mode>,
) -> Result<(CallSettings, SessionPolicy), CommandError> {
    let call_settings = CallSettings {
        session: session.to_owned(),
        background: Background::On,
        ..call_settings(config, cwd, mode, current_umask(), None)?
    };
    let session_policy = SessionPolicy {
        mode: call_settings.policy.mode,
        is_chosen: mode.is_some(),
        directory: call_settings.cwd.clone(),
        ..config.session_policy()?
    };
    Ok((call_settings, session_policy))
}

/// Returns the command of our own agent, unless the settings replace it.
fn own_command(config: &Config) -> [String; 2] {
    [config.mw().to_string_lossy().into_owned(), "acp".to_owned()]
}

/// Returns the name of our own agent's model. Other agents do not tell theirs.
fn model(config: &Config, agent: &AgentEntry) -> Option<String> {
    let is_own = agent.command == own_command(config);
    is_own.then(|| config.agent.model.clone()).flatten()
}

/// Checks that our own agent has a model.
fn has_model(config: &Config) -> Result<(), CommandError> {
    config.model(None)?.map(drop).map_err(|error| {
        let hint = error.hint.trim_end_matches('.');
        CommandError::usage(
            error.message.clone(),
            format!("{hint}; or use another agent: mw chat --agent NAME (mw agent --list shows them)"),
        )
    })
}

/// Returns the directory of the chat, and a remark if it is not the expected one.
fn place(before: Option<&ChatTranscript>) -> Result<(PathBuf, Option<String>), CommandError> {
    let here = env::current_dir()?;
    Ok(match before.and_then(ChatTranscript::opened) {
        None => (here, None),
        Some((_, cwd)) if Path::new(cwd).is_dir() => (PathBuf::from(cwd), None),
        Some((_, cwd)) => {
            let remark = format!("{cwd} no longer exists; the chat continues in {}", here.display());
            (here, Some(remark))
        }
    })
}

/// Reports that tasks are ending, which may take seconds, and lets a signal end the wait from now on. SIGHUP does not: it
/// arrives twice when a terminal closes, and nobody is waiting then.
fn say_what_ends(runtime: &Runtime, session: &str) -> Result<(), CommandError> {
    for signal in [SIGINT, SIGTERM] {
        signal_hook::flag::register_conditional_default(signal, Arc::new(AtomicBool::new(true)))?;
    }
    let page = runtime.tasks().list(&TaskFilter::new(Scope::Session(session.to_owned())));
    let live = page.map_or(0, |page| page.tasks.iter().filter(|task| !task.status.is_terminal()).count());
    if live > 0 {
        render::aside(&format!("ending {}…", mw_desk::text::count(live, "task", "tasks")));
    }
    Ok(())
}

fn unusable(error: &TranscriptError) -> CommandError {
    let hint = match error {
        TranscriptError::NotFound(_) | TranscriptError::None => {
            "start one with mw chat; mw session list shows sessions"
        }
        TranscriptError::InUse(_) => "close it there, or begin another with mw chat",
        TranscriptError::Io { .. } | TranscriptError::Unwritten { .. } => {
            "check free space and permissions of MEANWHILE_HOME"
        }
    };
    CommandError::usage(error.to_string(), hint)
}

fn layout(config: &Config, dialect: Dialect) -> Layout {
    match config.chat.layout.as_str() {
        "boxed" => Layout::Boxed,
        "table" => Layout::Table,
        "plain" => Layout::Plain,
        _ => DialectTools::of(dialect).layout,
    }
}
