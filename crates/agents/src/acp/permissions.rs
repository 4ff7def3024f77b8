//! Whether an agent may do what it wants to: one question, one answer.

use std::path::{Path, PathBuf};

use agent_client_protocol::v1::schema::{RequestPermissionRequest, ToolCallContent, ToolKind};
use meanwhile::{Error, LocalFiles, Nobody, Passage, Policy, Runtime, Settings, TaskRequest};
use mw_model::CommandSpec;
use mw_model::policy::{
    CommandText, Decision, Mode, Profile, Request, Rules, Tool, ToolClass, Verdict, decide,
};

/// What an agent wants to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Asked {
    /// Run a script in a shell.
    Script {
        /// The script.
        text: String,
        /// Where, if that is known.
        cwd: Option<PathBuf>,
    },
    /// Run a program without a shell.
    Program {
        /// The program and its arguments.
        words: Vec<String>,
        /// Where, if that is known.
        cwd: Option<PathBuf>,
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
    /// Tells what would be answered without asking anybody; nothing when somebody has to be asked.
    fn at_once(&self, asked: &Asked) -> Option<Answer>;

    /// Answers, asking somebody if it must.
    fn ask(&self, asked: &Asked) -> Answer;
}

/// Where what has to be asked is asked.
pub struct Desk {
    /// The home.
    pub settings: Settings,
    /// On whose behalf the agent works.
    pub session: String,
    /// What is decided by, and for how long a question stays open.
    pub policy: Policy,
}

/// Answers by the policy. What that asks about becomes a proposal if it is a command; nothing else can be asked yet.
pub struct PolicyPermissions {
    /// Where commands are asked about.
    pub desk: Desk,
    /// How much is asked about.
    pub mode: Mode,
    /// Whose conventions hold.
    pub profile: Profile,
    /// Rules of the user and the project.
    pub rules: Rules,
    /// Directories besides the project that may be written to.
    pub writable: Vec<String>,
    /// Whether tools that only read are allowed in mode ci.
    pub ci_reads: bool,
    /// The shell that runs scripts.
    pub shell: String,
    /// Where the agent works.
    pub cwd: PathBuf,
    /// The project's directory.
    pub project: PathBuf,
    /// The user's directory; empty when there is none.
    pub home: String,
}

impl PolicyPermissions {
    fn verdict(&self, tool: Tool, command: Option<CommandText<'_>>, cwd: Option<&Path>) -> Verdict {
        decide(&Request {
            mode: self.mode,
            profile: self.profile,
            tool,
            command,
            cwd: &cwd.unwrap_or(&self.cwd).to_string_lossy(),
            project: &self.project.to_string_lossy(),
            home: &self.home,
            writable: &self.writable,
            env: &[],
            ci_reads: self.ci_reads,
            rules: &self.rules,
            files: &LocalFiles,
        })
    }

    fn about_files(&self, paths: &[PathBuf]) -> (Decision, String) {
        let inside = |path: &PathBuf| super::files::within(&self.project, path).is_ok();
        match self.mode {
            Mode::Plan | Mode::Ci => {
                (Decision::Deny, format!("changing files is not for mode {}", self.mode.name()))
            }
            Mode::Dangerous => (Decision::Allow, String::new()),
            Mode::Safe | Mode::Auto if !paths.is_empty() && paths.iter().all(inside) => {
                (Decision::Allow, String::new())
            }
            Mode::Safe | Mode::Auto => {
                (Decision::Ask, format!("it would change files outside of {}", self.project.display()))
            }
        }
    }

    fn decision(&self, asked: &Asked) -> (Decision, String) {
        let of = |verdict: Verdict| {
            let reasons: Vec<_> = verdict.reasons.iter().map(ToString::to_string).collect();
            (verdict.decision, reasons.join("; "))
        };
        let shell = Tool::named("shell").map(Tool::awaited);
        match (asked, shell) {
            (Asked::Script { text, cwd }, Some(shell)) => {
                let command = CommandText::Script { shell: &self.shell, text };
                of(self.verdict(shell, Some(command), cwd.as_deref()))
            }
            (Asked::Program { words, cwd }, Some(shell)) => {
                of(self.verdict(shell, Some(CommandText::Words(words)), cwd.as_deref()))
            }
            (Asked::Script { .. } | Asked::Program { .. }, None) => (Decision::Ask, String::new()),
            (Asked::Read, _) => (Decision::Allow, String::new()),
            (Asked::Edit { paths }, _) => self.about_files(paths),
            (Asked::Tool { name }, _) => match Tool::named(name) {
                Some(tool) => of(self.verdict(tool, None, None)),
                None => (Decision::Ask, String::new()),
            },
            (Asked::Other { title }, _) => match self.mode {
                Mode::Dangerous => (Decision::Allow, String::new()),
                Mode::Plan | Mode::Ci | Mode::Safe | Mode::Auto => {
                    (Decision::Ask, format!("it is not known what {title:?} does"))
                }
            },
        }
    }
}

impl Permissions for PolicyPermissions {
    fn at_once(&self, asked: &Asked) -> Option<Answer> {
        match self.decision(asked) {
            (Decision::Allow, _) => Some(Answer::Allow),
            (Decision::Deny, reason) => Some(Answer::Reject { reason: format!("denied: {reason}") }),
            (Decision::Ask, _) => None,
        }
    }

    fn ask(&self, asked: &Asked) -> Answer {
        if let Some(answer) = self.at_once(asked) {
            return answer;
        }
        let (command, cwd) = match asked {
            Asked::Script { text, cwd } => {
                let program = self.shell.as_str().into();
                (CommandSpec::Shell { program, script: text.as_str().into() }, cwd)
            }
            Asked::Program { words, cwd } => {
                (CommandSpec::Argv(words.iter().map(|word| word.as_str().into()).collect()), cwd)
            }
            Asked::Read | Asked::Edit { .. } | Asked::Tool { .. } | Asked::Other { .. } => {
                let (_, reason) = self.decision(asked);
                let reason =
                    format!("this needs somebody's approval, and nobody can be asked about it: {reason}");
                return Answer::Reject { reason };
            }
        };
        match self.propose(command, cwd.as_deref()) {
            Ok(()) => Answer::Allow,
            Err(error) => Answer::Reject { reason: error.to_string() },
        }
    }
}

impl PolicyPermissions {
    /// Asks whoever can be asked about a command, and waits for the answer as long as a question stays open.
    fn propose(&self, command: CommandSpec, cwd: Option<&Path>) -> Result<(), Error> {
        let runtime = Runtime::open(self.desk.settings.clone())?;
        let cwd = cwd.unwrap_or(&self.cwd).to_owned();
        let request = TaskRequest::new(&self.desk.session, command, cwd, Vec::new());
        let unknown = Tool { name: "shell", class: ToolClass::Awaits };
        let tool = Tool::named("shell").map_or(unknown, Tool::awaited);
        runtime.pass_foreign(&request, &Passage { tool, policy: &self.desk.policy, asker: &Nobody })
    }
}

/// Understands what a permission is asked for, as far as agents tell.
pub(super) fn understand(request: &RequestPermissionRequest) -> Asked {
    let fields = &request.tool_call.fields;
    let title = fields.title.clone().unwrap_or_else(|| request.tool_call.tool_call_id.0.to_string());
    let input = fields.raw_input.as_ref();
    let cwd = ["cwd", "workdir", "directory"]
        .iter()
        .find_map(|name| Some(PathBuf::from(input?.get(name)?.as_str()?)))
        .filter(|cwd| cwd.is_absolute());
    match input.and_then(|input| input.get("command").or_else(|| input.get("cmd"))) {
        Some(serde_json::Value::String(text)) => return Asked::Script { text: text.clone(), cwd },
        Some(serde_json::Value::Array(words)) => {
            let words: Option<Vec<_>> = words.iter().map(|word| Some(word.as_str()?.to_owned())).collect();
            if let Some(words) = words.filter(|words| !words.is_empty()) {
                return Asked::Program { words, cwd };
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
        _ => Asked::Other { title },
    }
}
