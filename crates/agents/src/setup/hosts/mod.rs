//! The hosts that can be set up, a file each.

mod claude_code;
mod codex;
mod cursor;
mod gemini;
mod opencode;
mod vscode;
mod zed;

use super::host::Host;
use super::value::Value;

/// What our server is called in the files of hosts.
const NAME: &str = "meanwhile";

/// Every host, in the order in which they are listed.
pub static HOSTS: [Host; 7] =
    [claude_code::HOST, codex::HOST, gemini::HOST, opencode::HOST, vscode::HOST, cursor::HOST, zed::HOST];

/// The two fields that most hosts have.
fn command_and_args(program: &str) -> [(&'static str, Value); 2] {
    [("command", Value::Text(program.to_owned())), ("args", Value::texts(["mcp"]))]
}

/// The same with the kind of connection in front.
fn stdio(program: &str) -> Value {
    let kind = ("type", Value::Text("stdio".to_owned()));
    Value::Table([kind].into_iter().chain(command_and_args(program)).collect())
}
