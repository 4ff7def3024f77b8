//! Whether an agent may do what it wants to: one question, one answer.

use std::fmt;
use std::path::PathBuf;

use agent_client_protocol::v1::schema::{RequestPermissionRequest, ToolCallContent, ToolKind};
use meanwhile::{Error, Nobody, Passage, Policy, Runtime, Settings, TaskRequest};
use mw_model::approval::{ApprovalState, ProposalId};
use mw_model::{CommandSpec, EnvVar};
use mw_policy::{Decision, Mode, Reason, Tool, ToolClass, Verdict};

use super::quirks;
use super::quirks::Quirks;

/// What an agent wants to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Asked {
    /// Run a script in a shell.
    Script {
        /// The script.
        text: String,
        /// Where, if that is known.
        cwd: Option<PathBuf>,
        /// What it adds to the environment.
        env: Vec<(String, String)>,
    },
    /// Run a program without a shell.
    Program {
        /// The program and its arguments.
        words: Vec<String>,
        /// Where, if that is known.
        cwd: Option<PathBuf>,
        /// What it adds to the environment.
        env: Vec<(String, String)>,
    },
    /// Only look.
    Read,
    /// Change files; empty when it is not known which.
    Edit {
        /// Which.
        paths: Vec<PathBuf>,
    },
    /// Call a tool of ours that runs nothing.
    Tool {
        /// Which.
        name: &'static str,
    },
    /// Something that is not understood.
    Other {
        /// What the agent calls it.
        title: String,
    },
}

/// What is answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It may, this time.
    Allow,
    /// It may not.
    Reject {
        /// Why, in words for people and models.
        reason: String,
    },
}

/// Decides about an agent's wishes. It may take its time: it is asked on a thread of its own.
pub trait Permissions: Send + Sync {
    /// Answers. Should somebody have to be asked, `asking` is called before that.
    fn ask(&self, asked: &Asked, asking: &dyn Fn() -> Asking) -> Answer;

    /// Waits for the answer to a question that the agent has put itself, where a person has to be asked: `asking` is called
    /// before that. It decides nothing: the agent reads the answer where it asked. False where there is nothing to wait
    /// for.
    fn await_own(&self, asked: &Asked, question: &ProposalId, asking: &dyn Fn()) -> bool;

    /// Tells whether what a command adds to the environment changes what is thought of it.
    fn minds_environment(&self, asked: &Asked) -> bool;
}

/// What is done where somebody would have to be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asking {
    /// Somebody is.
    Ask,
    /// Somebody was, about the same, and it may.
    Answered,
}

impl Asked {
    /// What it would add to the environment.
    fn env(&self) -> &[(String, String)] {
        match self {
            Self::Script { env, .. } | Self::Program { env, .. } => env,
            Self::Read | Self::Edit { .. } | Self::Tool { .. } | Self::Other { .. } => &[],
        }
    }
}

/// Answers by the policy, and asks a person where that says so.
pub struct PolicyPermissions {
    /// The home, where questions are asked.
    pub settings: Settings,
    /// On whose behalf the agent works.
    pub session: String,
    /// What is decided by, and for how long a question stays open.
    pub policy: Policy,
    /// The shell that runs scripts.
    pub shell: String,
    /// Where the agent works.
    pub cwd: PathBuf,
    /// The project's directory.
    pub project: PathBuf,
}

/// A verdict of our own, on what is no command.
fn ruled(decision: Decision, why: String) -> Verdict {
    let reasons = match decision {
        Decision::Allow => Vec::new(),
        Decision::Ask | Decision::Deny => vec![Reason { part: String::new(), why }],
    };
    Verdict { decision, reasons, effects: Vec::new(), rules: Vec::new(), parsed: true }
}

impl PolicyPermissions {
    fn command(&self, asked: &Asked) -> Option<(CommandSpec, PathBuf)> {
        let place = |cwd: &Option<PathBuf>| cwd.clone().unwrap_or_else(|| self.cwd.clone());
        match asked {
            Asked::Script { text, cwd, .. } => {
                let program = self.shell.as_str().into();
                Some((CommandSpec::Shell { program, script: text.as_str().into() }, place(cwd)))
            }
            Asked::Program { words, cwd, .. } => {
                let words = words.iter().map(|word| word.as_str().into()).collect();
                Some((CommandSpec::Argv(words), place(cwd)))
            }
            Asked::Read | Asked::Edit { .. } | Asked::Tool { .. } | Asked::Other { .. } => None,
        }
    }

    fn about_files(&self, mode: Mode, paths: &[PathBuf]) -> Verdict {
        let inside = |path: &PathBuf| super::files::within(&self.project, path).is_ok();
        match mode {
            Mode::Plan | Mode::Ci => {
                ruled(Decision::Deny, format!("changing files is not for mode {}", mode.name()))
            }
            Mode::Dangerous => ruled(Decision::Allow, String::new()),
            Mode::Safe | Mode::Auto if !paths.is_empty() && paths.iter().all(inside) => {
                ruled(Decision::Allow, String::new())
            }
            Mode::Safe | Mode::Auto => {
                ruled(Decision::Ask, format!("it would change files outside of {}", self.project.display()))
            }
        }
    }

    /// Returns what is decided by now: the host of the session may have laid down how much is asked about, and may
    /// change its mind. What it laid down and cannot be read lets nothing pass.
    fn policy(&self) -> Policy {
        let runtime = Runtime::open(self.settings.clone());
        let mode = match runtime.and_then(|runtime| runtime.house_rules(&self.session)) {
            Ok(Some(house)) => house.mode_beside(self.policy.mode),
            Ok(None) => self.policy.mode,
            Err(_) => Mode::Ci,
        };
        Policy { mode, ..self.policy.clone() }
    }

    fn verdict(&self, asked: &Asked) -> Verdict {
        let policy = self.policy();
        if let Some((command, cwd)) = self.command(asked) {
            return policy.verdict(runs(), Some(&command), &cwd, asked.env());
        }
        match asked {
            Asked::Edit { paths } => self.about_files(policy.mode, paths),
            Asked::Tool { name } => match Tool::named(name) {
                Some(tool) => policy.verdict(tool, None, &self.cwd, &[]),
                None => ruled(Decision::Ask, "the tool is not known".to_owned()),
            },
            Asked::Other { title } => match policy.mode {
                Mode::Dangerous => ruled(Decision::Allow, String::new()),
                Mode::Plan | Mode::Ci | Mode::Safe | Mode::Auto => {
                    ruled(Decision::Ask, format!("it is not known what {title:?} does"))
                }
            },
            Asked::Read => ruled(Decision::Allow, String::new()),
            // Commands were judged above; what reaches this arm was not.
            Asked::Script { .. } | Asked::Program { .. } => {
                ruled(Decision::Ask, "the command was not judged".to_owned())
            }
        }
    }

    /// Asks whoever can be asked, and waits for the answer as long as a question stays open.
    fn propose(&self, asked: &Asked, verdict: &Verdict) -> Result<(), Error> {
        let runtime = Runtime::open(self.settings.clone())?;
        let passage = Passage { tool: runs(), policy: &self.policy(), asker: &Nobody };
        match self.command(asked) {
            Some((command, cwd)) => {
                let var = |(name, value): &(String, String)| EnvVar {
                    name: name.as_str().into(),
                    value: value.as_str().into(),
                };
                let env = asked.env().iter().map(var).collect();
                let request = TaskRequest::new(&self.session, command, cwd, env);
                runtime.pass_foreign(&request, verdict, &passage)
            }
            None => runtime.pass_judged(&self.session, &asked.to_string(), verdict, &passage),
        }
    }
}

/// The tool that stands for whatever a subagent does by itself.
fn runs() -> Tool {
    let unknown = Tool { name: "shell", class: ToolClass::Awaits };
    Tool::named("shell").map_or(unknown, Tool::awaited)
}

impl fmt::Display for Asked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Script { text, .. } => f.write_str(text),
            Self::Program { words, .. } => f.write_str(&words.join(" ")),
            Self::Read => f.write_str("look at files"),
            Self::Edit { paths } if paths.is_empty() => f.write_str("change files; which is not said"),
            Self::Edit { paths } => {
                let paths: Vec<_> = paths.iter().map(|path| path.display().to_string()).collect();
                write!(f, "change {}", paths.join(", "))
            }
            Self::Tool { name } => write!(f, "call {name}"),
            Self::Other { title } => f.write_str(title),
        }
    }
}

impl Permissions for PolicyPermissions {
    fn ask(&self, asked: &Asked, asking: &dyn Fn() -> Asking) -> Answer {
        let verdict = self.verdict(asked);
        match verdict.decision {
            Decision::Allow => Answer::Allow,
            Decision::Deny => {
                let reasons: Vec<_> = verdict.reasons.iter().map(ToString::to_string).collect();
                Answer::Reject { reason: format!("denied: {}", reasons.join("; ")) }
            }
            Decision::Ask => match asking() {
                Asking::Answered => Answer::Allow,
                Asking::Ask => match self.propose(asked, &verdict) {
                    Ok(()) => Answer::Allow,
                    Err(error) => Answer::Reject { reason: error.to_string() },
                },
            },
        }
    }

    fn await_own(&self, asked: &Asked, question: &ProposalId, asking: &dyn Fn()) -> bool {
        if self.verdict(asked).decision != Decision::Ask {
            return false;
        }
        let Ok(runtime) = Runtime::open(self.settings.clone()) else { return false };
        // Only what stands open in the store has a way to a person.
        let open = runtime.find_approval(question.as_str());
        if !open.is_ok_and(|entry| matches!(entry.state, ApprovalState::Open)) {
            return false;
        }
        asking();
        // The agent looks for itself; where the store fails, it finds out.
        let _ = runtime.await_answer(question, &self.policy());
        true
    }

    fn minds_environment(&self, asked: &Asked) -> bool {
        let Some((command, cwd)) = self.command(asked).filter(|_| !asked.env().is_empty()) else {
            return false;
        };
        let bare = self.policy().verdict(runs(), Some(&command), &cwd, &[]);
        self.verdict(asked).reasons != bare.reasons
    }
}

/// Where agents say in which directory something runs.
pub(super) const PLACES: [&str; 3] = ["cwd", "workdir", "directory"];

/// Understands what a permission is asked for, as far as agents tell.
pub(super) fn understand(request: &RequestPermissionRequest, quirks: Quirks) -> Asked {
    let fields = &request.tool_call.fields;
    let title = fields.title.clone().unwrap_or_else(|| request.tool_call.tool_call_id.0.to_string());
    let input = fields.raw_input.as_ref();
    let cwd = PLACES
        .iter()
        .find_map(|name| Some(PathBuf::from(input?.get(name)?.as_str()?)))
        .filter(|cwd| cwd.is_absolute());
    match input.and_then(|input| input.get("command").or_else(|| input.get("cmd"))) {
        Some(serde_json::Value::String(text)) => {
            return Asked::Script { text: text.clone(), cwd, env: Vec::new() };
        }
        Some(serde_json::Value::Array(words)) => {
            let words: Option<Vec<_>> = words.iter().map(|word| Some(word.as_str()?.to_owned())).collect();
            if let Some(words) = words.filter(|words| !words.is_empty()) {
                return Asked::Program { words, cwd, env: Vec::new() };
            }
        }
        _ => {}
    }
    let name = fields.name.as_deref().unwrap_or(&title);
    if name.contains("meanwhile")
        && let Some(tool) =
            Tool::named(name.rsplit("__").next().unwrap_or(name).trim_start_matches("meanwhile_"))
    {
        return Asked::Tool { name: tool.name };
    }
    match fields.kind {
        Some(ToolKind::Read | ToolKind::Search | ToolKind::Think) => Asked::Read,
        Some(ToolKind::Edit) => {
            let places = fields.locations.iter().flatten().map(|place| place.path.clone());
            let diffs = fields.content.iter().flatten().filter_map(|content| match content {
                ToolCallContent::Diff(diff) => Some(diff.path.clone()),
                _ => None,
            });
            Asked::Edit { paths: places.chain(diffs).collect() }
        }
        Some(ToolKind::Execute) if input.is_none() && quirks.titles_are_commands => {
            let (text, cwd) = quirks::command_in(&title);
            Asked::Script { text, cwd, env: Vec::new() }
        }
        _ => Asked::Other { title },
    }
}
