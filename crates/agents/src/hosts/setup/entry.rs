//! The entry for the MCP server, in the form that most hosts use.

use super::value::Value;

/// The name of our server in the files of hosts.
pub(in crate::hosts) const NAME: &str = "meanwhile";

/// The two fields that most hosts have.
pub(in crate::hosts) fn command_and_args(program: &str) -> [(&'static str, Value); 2] {
    [("command", Value::Text(program.to_owned())), ("args", Value::texts(["mcp"]))]
}

/// The same with the type of the connection first.
pub(in crate::hosts) fn stdio(program: &str) -> Value {
    let kind = ("type", Value::Text("stdio".to_owned()));
    Value::Table([kind].into_iter().chain(command_and_args(program)).collect())
}
