//! Starts the MCP servers that a client configures, and offers their tools.

use std::process::Stdio;
use std::time::Duration;

use agent_client_protocol::v1::schema::{McpServer, McpServerHttp, McpServerSse, McpServerStdio};
use futures::future::join_all;
use mw_model::head_with_note;
use rmcp::model::{CallToolRequestParams, ContentBlock, Tool};
use rmcp::service::{RoleClient, RunningService};
use rmcp::transport::TokioChildProcess;
use rmcp::{ServiceError, ServiceExt};
use serde_json::{Map, Value};
use tokio::process::Command;
use tokio::time::timeout;

use mw_tools::ToolSpec;

/// How long a server may take to start.
const START_TIMEOUT: Duration = Duration::from_secs(30);
/// How long a server may take to exit.
const EXIT_TIMEOUT: Duration = Duration::from_secs(2);
/// The maximum length of a tool name that every endpoint accepts.
const MAX_NAME: usize = 64;

/// The servers of a session.
#[derive(Default)]
pub(super) struct Servers {
    running: Vec<RunningService<RoleClient, ()>>,
    tools: Vec<Foreign>,
}

/// A tool of an MCP server.
struct Foreign {
    spec: ToolSpec,
    /// Whether the server marks the tool as read-only.
    reads: bool,
    server: usize,
    /// The name of the tool on its server.
    name: String,
}

impl Servers {
    /// Starts all servers except our own. Returns them, and the reasons why others are unavailable.
    pub(super) async fn start(wanted: &[McpServer], cwd: &std::path::Path) -> (Self, Vec<String>) {
        let (mut servers, mut missing) = (Self::default(), Vec::new());
        let mut begun = Vec::new();
        for server in wanted {
            match server {
                McpServer::Stdio(server) if is_own(&server.command, &server.args) => {}
                McpServer::Stdio(server) => {
                    begun.push(async move { (server.name.as_str(), begin(server, cwd).await) });
                }
                McpServer::Http(McpServerHttp { name, .. }) | McpServer::Sse(McpServerSse { name, .. }) => {
                    missing.push(format!("{name}: only servers on standard streams are used"));
                }
                _ => missing.push("a server of an unknown type".to_owned()),
            }
        }
        for (name, begun) in join_all(begun).await {
            match begun {
                Ok((running, tools)) => {
                    for tool in tools {
                        servers.add(name, tool);
                    }
                    servers.running.push(running);
                }
                Err(why) => missing.push(format!("{name}: {why}")),
            }
        }
        (servers, missing)
    }

    fn add(&mut self, server: &str, tool: Tool) {
        let is_taken = |name: &str| self.tools.iter().any(|tool| tool.spec.name == name);
        let wanted = usable(&format!("{server}__{}", tool.name));
        let name =
            (1..).map(|number| numbered(&wanted, number)).find(|name| !is_taken(name)).unwrap_or(wanted);
        let reads = tool.annotations.as_ref().and_then(|hints| hints.read_only_hint) == Some(true);
        let spec = ToolSpec {
            title: tool.title.clone().unwrap_or_else(|| tool.name.to_string()),
            description: tool.description.as_deref().unwrap_or_default().to_owned(),
            input_schema: Value::Object(tool.input_schema.as_ref().clone()),
            output_schema: None,
            class: None,
            name,
        };
        self.tools.push(Foreign { spec, reads, server: self.running.len(), name: tool.name.into_owned() });
    }

    pub(super) fn specs(&self) -> impl Iterator<Item = &ToolSpec> {
        self.tools.iter().map(|tool| &tool.spec)
    }

    /// Returns whether a tool is marked as read-only. Returns `None` if there is no such tool.
    pub(super) fn reads(&self, name: &str) -> Option<bool> {
        self.tools.iter().find(|tool| tool.spec.name == name).map(|tool| tool.reads)
    }

    /// Calls a tool. Returns its text and whether it failed.
    pub(super) async fn call(
        &self,
        name: &str,
        arguments: &Map<String, Value>,
        longest: Duration,
        most_bytes: usize,
    ) -> Result<(String, bool), String> {
        let tool = self.tools.iter().find(|tool| tool.spec.name == name).ok_or("no such tool")?;
        let server = self.running.get(tool.server).ok_or("its server has exited")?;
        let request = CallToolRequestParams::new(tool.name.clone()).with_arguments(arguments.clone());
        let answer = timeout(longest, server.call_tool(request)).await;
        let answer =
            answer.map_err(|_| format!("its server did not answer within {} s", longest.as_secs()))?;
        let result = answer.map_err(|error| match error {
            ServiceError::McpError(error) => error.message.into_owned(),
            other => format!("its server failed: {other}"),
        })?;
        let text: Vec<_> = result.content.iter().map(in_words).collect();
        Ok((head_with_note(&text.join("\n"), most_bytes).0, result.is_error == Some(true)))
    }

    /// Ends all servers.
    pub(super) async fn end(&mut self) {
        let ends = self.running.drain(..).map(|server| timeout(EXIT_TIMEOUT, server.cancel()));
        join_all(ends).await;
    }
}

/// Returns the session of our own MCP server, if the client configures it. That server is not started, because its
/// tools are built in.
pub(super) fn own_session(server: &McpServer) -> Option<String> {
    let McpServer::Stdio(server) = server else { return None };
    if !is_own(server.command.as_path(), &server.args) {
        return None;
    }
    let variable = server.env.iter().find(|variable| variable.name == "MEANWHILE_SESSION");
    variable.map(|variable| variable.value.clone()).filter(|session| !session.is_empty())
}

/// Returns whether a server is `mw mcp`.
fn is_own(command: &std::path::Path, arguments: &[String]) -> bool {
    let is_mw =
        command.file_name().is_some_and(|name| name == "mw" || name == "mw-engine" || name == "mw-surfaces")
            || std::env::current_exe().is_ok_and(|own| own == command);
    is_mw && arguments.iter().any(|argument| argument == "mcp")
}

async fn begin(
    server: &McpServerStdio,
    cwd: &std::path::Path,
) -> Result<(RunningService<RoleClient, ()>, Vec<Tool>), String> {
    let mut command = Command::new(&server.command);
    command.args(&server.args).current_dir(cwd).kill_on_drop(true);
    command.envs(server.env.iter().map(|variable| (&variable.name, &variable.value)));
    let begun = async {
        let (process, _) = TokioChildProcess::builder(command)
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| format!("cannot start it: {error}"))?;
        let running = ().serve(process).await.map_err(|error| format!("it does not speak MCP: {error}"))?;
        let tools =
            running.list_all_tools().await.map_err(|error| format!("cannot list its tools: {error}"))?;
        Ok((running, tools))
    };
    timeout(START_TIMEOUT, begun)
        .await
        .unwrap_or_else(|_| Err(format!("it did not start within {} s", START_TIMEOUT.as_secs())))
}

/// Converts a name to one that every endpoint accepts.
fn usable(name: &str) -> String {
    let plain = name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' || c == '_' { c } else { '_' });
    plain.take(MAX_NAME).collect()
}

fn numbered(name: &str, number: usize) -> String {
    if number == 1 {
        return name.to_owned();
    }
    let end = format!("_{number}");
    format!("{}{end}", &name[..name.len().min(MAX_NAME - end.len())])
}

fn in_words(block: &ContentBlock) -> String {
    match block.as_text() {
        Some(text) => text.text.clone(),
        None => "[non-text content omitted]".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tool_names_are_valid_for_every_endpoint_and_numbered_if_they_repeat() {
        assert_eq!(usable("my server__read.file"), "my_server__read_file");
        assert_eq!(usable(&"x".repeat(99)).len(), 64);
        assert_eq!(numbered("a", 1), "a");
        assert_eq!(numbered("a", 2), "a_2");
        assert_eq!(numbered(&"x".repeat(64), 12).len(), 64);
    }
}
