//! Zed: the server in `~/.config/zed/settings.json`.

use super::host::{Base, Entry, Format, Host, HostFile, Place};
use super::session::Identity;
use super::setup::entry::{NAME, command_and_args};
use super::setup::json::Syntax;
use super::setup::value::Value;

fn server(program: &str) -> Value {
    Value::Table(command_and_args(program).into_iter().collect())
}

pub(super) const HOST: Host = Host {
    id: "zed",
    title: "Zed",
    next: "Zed loads it by itself; the agent panel's settings show a green dot when it runs",
    hooks: None,
    identity: Identity::NONE,
    programs: &["zed", "zeditor", "zed-editor"],
    files: &[HostFile {
        user: Place { base: Base::Config, directory: "zed", names: &["settings.json"] },
        project: Place { base: Base::Project, directory: ".zed", names: &["settings.json"] },
        format: Format::Json(Syntax::Jsonc),
        entries: &[Entry::Server { path: &["context_servers", NAME], value: server }],
    }],
};
