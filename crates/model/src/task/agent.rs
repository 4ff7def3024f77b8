//! Agent tasks: the prompt of an agent, its activity and its answer.

use serde::{Deserialize, Serialize};

use super::progress::Progress;
use crate::text::raw_text::RawText;
use crate::time::Timestamp;

/// The variable with the number of agents above the process that reads it.
pub const DEPTH_VARIABLE: &str = "MEANWHILE_DEPTH";

/// How many of the most recent tools are kept.
const RECENT_TOOLS: usize = 5;

/// How the error of a turn begins if the agent no longer has the session.
pub const SESSION_EXPIRED: &str = "the agent's session has expired";

/// The request to an agent. It is part of the task's spec, and another run needs nothing else.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentSpec {
    /// The agent's name in the registry.
    pub name: String,
    /// The prompt.
    pub prompt: String,
    /// The command line of its program.
    pub command: Vec<String>,
    /// The mode of its session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    /// Its depth in the tree of agents, starting at 1.
    pub depth: u32,
    /// How long it may take to react to `session/cancel`.
    pub cancel_ms: u64,
    /// How long it may be silent before it counts as stalled; 0 = no limit.
    pub silence_ms: u64,
    /// How long an agent that cannot reload its session is kept alive for a follow-up.
    pub linger_ms: u64,
    /// The worktree that was created for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worktree: Option<Worktree>,
}

/// A separate worktree for a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Worktree {
    /// The repository it was created from.
    pub repository: RawText,
    /// Its directory.
    pub path: RawText,
    /// The commit it started from.
    pub base: String,
}

/// The result of one message to an agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AgentTurn {
    /// The run of the task.
    pub run: u32,
    /// The message.
    pub prompt: String,
    /// Whether the agent's session accepted the message.
    pub accepted: bool,
    /// The answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    /// Why there is no answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Why the agent stopped, as the protocol calls it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<String>,
    /// When the message was sent.
    pub started_at: Timestamp,
    /// When the turn ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
    /// The agent's activity during the turn.
    #[serde(default)]
    pub activity: Activity,
}

/// The agent of a task: `agent.json` in the task's directory.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AgentRecord {
    /// Format of this record.
    pub version: u32,
    /// The agent's name in the registry.
    pub agent: String,
    /// The name and version that the agent reports.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_info: Option<String>,
    /// Its id of the conversation; `None` before it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// Whether it can resume the conversation in a new process.
    #[serde(default)]
    pub can_load: bool,
    /// The task that keeps it alive between two messages, if it cannot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keeper: Option<String>,
    /// The messages and answers, oldest first.
    #[serde(default)]
    pub turns: Vec<AgentTurn>,
}

impl AgentRecord {
    /// The format of `agent.json` written by this build.
    pub const VERSION: u32 = 1;

    /// Returns the last answer.
    #[must_use]
    pub fn answer(&self) -> Option<&str> {
        self.turns.iter().rev().find_map(|turn| turn.answer.as_deref())
    }

    /// Returns the result of a run.
    #[must_use]
    pub fn turn(&self, run: u32) -> Option<&AgentTurn> {
        self.turns.iter().rev().find(|turn| turn.run == run)
    }

    /// Returns the text for a run: its answer, or else its error followed by the last answer.
    #[must_use]
    pub fn result_of(&self, run: u32) -> Option<String> {
        let turn = self.turn(run)?;
        match (&turn.answer, &turn.error) {
            (Some(answer), _) => Some(answer.clone()),
            (None, Some(error)) if run > 1 => {
                let kept =
                    self.answer().map(|answer| format!("\nThe earlier answer is still valid:\n{answer}"));
                Some(format!("The follow-up failed: {error}{}", kept.unwrap_or_default()))
            }
            (None, Some(error)) => Some(error.clone()),
            (None, None) => None,
        }
    }

    /// Returns how many follow-ups its session accepted.
    #[must_use]
    pub fn resumes(&self) -> u32 {
        self.turns.iter().filter(|turn| turn.run > 1 && turn.accepted).count() as u32
    }
}

/// A tool that an agent used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolUse {
    /// The id of the call.
    pub id: String,
    /// Its purpose, in the agent's words.
    pub title: String,
    /// The name of the tool, if the agent reports it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// `pending`, `in_progress`, `completed` or `failed`.
    pub status: String,
}

impl ToolUse {
    /// Returns the name of the tool, or else its purpose.
    #[must_use]
    pub fn called(&self) -> &str {
        self.name.as_deref().unwrap_or(&self.title)
    }
}

/// A step of an agent's plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanStep {
    /// The work to do.
    pub content: String,
    /// How far it is.
    pub status: StepStatus,
}

/// How far a step of a plan is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepStatus {
    /// The agent works on it.
    InProgress,
    /// It is done.
    Completed,
    /// It has not begun.
    #[serde(other)]
    Pending,
}

/// An agent's current activity: `activity.json` in the task's directory.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Activity {
    /// Number of tool calls.
    pub tool_calls: u64,
    /// The most recent tools, newest last.
    #[serde(default)]
    pub recent_tools: Vec<ToolUse>,
    /// Its plan, if it has sent one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub plan: Vec<PlanStep>,
    /// When it last sent something.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_update: Option<Timestamp>,
    /// Number of updates it has sent.
    #[serde(default)]
    pub updates: u64,
    /// What it waits for, if anything. Waiting is not the same as being idle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiting: Option<String>,
    /// Tokens in its context.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// The cost so far, with its currency.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<String>,
    /// How many lines it sent that were not messages.
    #[serde(default, skip_serializing_if = "crate::text::units::is_zero")]
    pub garbage: u64,
}

impl Activity {
    /// Records a tool call or an update of one. Only the first update of a call is counted.
    pub fn tool(&mut self, id: &str, title: Option<&str>, status: Option<&str>) {
        if let Some(known) = self.recent_tools.iter_mut().find(|tool| tool.id == id) {
            title.into_iter().for_each(|title| title.clone_into(&mut known.title));
            status.into_iter().for_each(|status| status.clone_into(&mut known.status));
            return;
        }
        // An update without a title belongs to a call that has left the list, and is ignored.
        let Some(title) = title else { return };
        self.tool_calls += 1;
        let status = status.unwrap_or("pending").to_owned();
        self.recent_tools.push(ToolUse { id: id.to_owned(), title: title.to_owned(), name: None, status });
        let many = self.recent_tools.len().saturating_sub(RECENT_TOOLS);
        self.recent_tools.drain(..many);
    }

    /// Records the name of a call's tool.
    pub fn tool_name(&mut self, id: &str, name: Option<&str>) {
        let Some(name) = name.filter(|name| !name.is_empty()) else { return };
        if let Some(known) = self.recent_tools.iter_mut().find(|tool| tool.id == id) {
            known.name = Some(name.to_owned());
        }
    }

    /// Returns how many steps of its plan are done.
    #[must_use]
    pub fn completed_steps(&self) -> usize {
        self.plan.iter().filter(|step| step.status == StepStatus::Completed).count()
    }

    /// Returns the progress: the steps of its plan, and what it is doing now.
    #[must_use]
    pub fn progress(&self) -> Option<Progress> {
        let done = self.completed_steps() as u64;
        let total = self.plan.len() as u64;
        let step = self.plan.iter().find(|step| step.status == StepStatus::InProgress);
        let tool = self.recent_tools.last().map(|tool| tool.title.clone());
        let calls = match self.tool_calls {
            0 => None,
            1 => Some("1 tool call".to_owned()),
            calls => Some(format!("{calls} tool calls")),
        };
        let now = self.waiting.as_ref().map(|what| format!("waiting: {what}"));
        let now = now.or_else(|| step.map(|step| step.content.clone())).or(tool);
        let text = [calls, now].into_iter().flatten().collect::<Vec<_>>().join(", ");
        let steps = (total > 0).then_some((done, total));
        Progress {
            percent: None,
            done: steps.map(|(done, _)| done),
            total: steps.map(|(_, total)| total),
            text: Some(text),
        }
        .sensible()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turn(run: u32, answer: Option<&str>, error: Option<&str>) -> AgentTurn {
        AgentTurn {
            run,
            prompt: "say".to_owned(),
            accepted: error.is_none(),
            answer: answer.map(str::to_owned),
            error: error.map(str::to_owned),
            stop_reason: None,
            started_at: Timestamp::default(),
            ended_at: None,
            activity: Activity::default(),
        }
    }

    #[test]
    fn a_failed_follow_up_keeps_the_earlier_answer_and_is_not_counted() {
        let turns = vec![turn(1, Some("hi"), None), turn(2, None, Some("gone"))];
        let record = AgentRecord { turns, ..AgentRecord::default() };
        assert_eq!(record.answer(), Some("hi"));
        assert_eq!(record.resumes(), 0);
        let result = record.result_of(2).unwrap();
        assert!(result.contains("gone") && result.contains("hi"), "{result}");
        assert_eq!(record.result_of(1).as_deref(), Some("hi"));
        assert_eq!(record.result_of(3), None);
    }

    #[test]
    fn each_tool_call_is_counted_once_and_only_the_last_five_are_kept() {
        let mut activity = Activity::default();
        for number in 0..7 {
            let id = number.to_string();
            activity.tool(&id, Some(&format!("Read {number}")), Some("pending"));
            activity.tool(&id, None, Some("completed"));
        }
        activity.tool("0", None, Some("failed"));
        assert_eq!(activity.tool_calls, 7);
        let titles: Vec<_> = activity.recent_tools.iter().map(|tool| tool.title.as_str()).collect();
        assert_eq!(titles, ["Read 2", "Read 3", "Read 4", "Read 5", "Read 6"]);
        assert!(activity.recent_tools.iter().all(|tool| tool.status == "completed"));
    }

    #[test]
    fn a_plan_is_reported_as_progress() {
        let step = |content: &str, status| PlanStep { content: content.to_owned(), status };
        let plan = vec![step("look", StepStatus::Completed), step("write", StepStatus::InProgress)];
        let activity = Activity { plan, tool_calls: 3, ..Activity::default() };
        assert_eq!(activity.progress().unwrap().to_words(), "50% (1 of 2) 3 tool calls, write");
        assert_eq!(Activity::default().progress(), None);
    }
}
