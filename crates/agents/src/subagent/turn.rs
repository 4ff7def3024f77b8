//! One turn over the protocol: initialize, create or load the session, send the prompt, follow the answer, end.

use std::sync::Arc;
use std::time::{Duration, Instant};

use agent_client_protocol::Agent;
use agent_client_protocol::v1::ConnectionTo;
use mw_model::{AgentRecord, AgentSpec, DEPTH_VARIABLE};

use super::driver::DriverOptions;
use super::transcript::TaskClient;
use crate::acp::converse::{Streams, converse};
use crate::acp::error::AcpError;
use crate::acp::session::{AgentSession, Handshake, OwnServer, initialize};
use crate::event_loop;
use mw_tools::dialects::Dialect;

/// The time between two writes of the activity. Silence is checked at the same time.
const ACTIVITY_INTERVAL: Duration = Duration::from_millis(500);

/// What happens to the agent after its turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AfterTurn {
    /// The agent ends if it can load sessions. Otherwise a keeper must hold it.
    Unknown,
    /// The agent ends.
    Passing,
    /// A keeper holds the agent.
    Kept,
    /// A keeper has held the agent since an earlier turn, and its session is open.
    Resident,
}

/// A running turn.
pub(super) struct SubagentTurn<'a> {
    pub(super) client: &'a Arc<TaskClient>,
    pub(super) options: &'a DriverOptions,
    pub(super) agent: &'a AgentSpec,
    /// The agent's id of the session to continue.
    pub(super) known: Option<String>,
    pub(super) prompt: &'a str,
    pub(super) after_turn: AfterTurn,
}

/// A function that changes the record of the agent and writes it.
pub(super) type RecordChange<'a> = dyn FnMut(&dyn Fn(&mut AgentRecord)) + 'a;

impl SubagentTurn<'_> {
    /// Runs the turn. Returns the stop reason of the protocol.
    pub(super) fn run(&self, streams: Streams, change: &mut RecordChange<'_>) -> Result<String, AcpError> {
        let outcome = converse(self.client, streams, async |connection| self.ask(connection, change).await);
        self.client.transcript().tick();
        outcome
    }

    async fn ask(
        &self,
        connection: ConnectionTo<Agent>,
        change: &mut RecordChange<'_>,
    ) -> Result<String, AcpError> {
        let end_signal = event_loop::end_signal().map_err(|error| AcpError::no_event_loop(&error))?;
        tokio::pin!(end_signal);
        let session = tokio::select! {
            session = self.begin(connection, change) => session?,
            () = &mut end_signal => return Err(AcpError::Cancelled),
        };
        let prompt = session.prompt(self.prompt.to_owned());
        change(&|record| record.turns.last_mut().into_iter().for_each(|turn| turn.accepted = true));
        tokio::pin!(prompt);
        tokio::select! {
            answered = &mut prompt => answered,
            () = &mut end_signal => {
                session.cancel();
                let _ = tokio::time::timeout(Duration::from_millis(self.agent.cancel_ms), prompt).await;
                Err(AcpError::Cancelled)
            }
            never = self.watch_silence() => match never {},
        }
    }

    /// Initialises the agent, and creates or loads a session.
    async fn begin(
        &self,
        connection: ConnectionTo<Agent>,
        change: &mut RecordChange<'_>,
    ) -> Result<AgentSession, AcpError> {
        if let (AfterTurn::Resident, Some(known)) = (self.after_turn, &self.known) {
            return Ok(AgentSession { connection, id: known.clone() });
        }
        let Handshake { info, can_load, .. } = initialize(&connection, self.client.quirks).await?;
        if !can_load && self.after_turn == AfterTurn::Unknown {
            return Err(AcpError::NeedsKeeper);
        }
        change(&|record| (record.agent_info, record.can_load) = (info.clone(), can_load));
        // The agent's MCP server is bound to the session of the agent's tasks.
        let env = [
            (
                "MEANWHILE_HOME".to_owned(),
                self.client.permissions.home.settings().home.to_string_lossy().into_owned(),
            ),
            ("MEANWHILE_SESSION".to_owned(), self.client.terminals.session.clone()),
            (DEPTH_VARIABLE.to_owned(), self.agent.depth.to_string()),
        ];
        let server = OwnServer { mw: &self.options.mw, dialect: Dialect::Canonical, env: &env };
        let (session, _) =
            AgentSession::open(connection, self.client, &server, self.known.as_deref()).await?;
        if self.known.is_none() {
            change(&|record| record.session_id = Some(session.id.clone()));
        }
        if let Some(mode) = &self.agent.mode {
            session.set_mode(mode).await?;
        }
        Ok(session)
    }

    /// Writes the activity regularly, and reports when the agent has been silent for too long.
    async fn watch_silence(&self) -> std::convert::Infallible {
        let mut told_at: Option<Instant> = None;
        loop {
            tokio::time::sleep(ACTIVITY_INTERVAL).await;
            let mut transcript = self.client.transcript();
            transcript.tick();
            let heard = transcript.heard;
            let limit = Duration::from_millis(self.agent.silence_ms);
            if limit.is_zero() || heard.elapsed() < limit || told_at == Some(heard) {
                continue;
            }
            if transcript.activity.waiting.is_none() {
                let seconds = heard.elapsed().as_secs();
                transcript.wait_for(Some(format!("no message from the agent for {seconds} s")));
                // It is unknown whether the agent waits for a person.
                transcript.activity.waiting = None;
            }
            told_at = Some(heard);
        }
    }
}
