//! The services of a `meanwhile.toml`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::env_file;
use super::service::{Service, ServiceCommand};
use crate::config::project_text;

/// What the file contains.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    #[serde(default)]
    services: BTreeMap<String, Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Entry {
    command: Command,
    dir: Option<PathBuf>,
    #[serde(default)]
    env: BTreeMap<String, Value>,
    env_file: Option<PathBuf>,
    #[serde(default)]
    depends_on: Vec<String>,
    ready: Option<Ready>,
    restart: Option<String>,
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "the command must be a script in one string, or a list of words")]
enum Command {
    Script(String),
    Words(Vec<String>),
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "a variable must be a string, a whole number, true or false")]
enum Value {
    Text(String),
    Number(i64),
    Flag(bool),
}

/// When a service is ready, in the words of `mw start --ready-when` and `--ready-port`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Ready {
    when: Option<String>,
    port: Option<Port>,
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "the port must be a number or \"any\"")]
enum Port {
    Number(u16),
    Word(String),
}

/// Reads the services of a file in this directory.
///
/// # Errors
/// What is wrong, with the number of the line if it is known.
pub(super) fn read(text: &str, directory: &Path) -> Result<Vec<Service>, (Option<usize>, String)> {
    let document: Document = toml::from_str(text).map_err(|error| {
        let line =
            |at: usize| 1 + text.as_bytes()[..at.min(text.len())].iter().filter(|b| **b == b'\n').count();
        (error.span().map(|span| line(span.start)), error.message().to_owned())
    })?;
    let service = |(name, entry): (String, Entry)| {
        service(&name, entry, directory).map_err(|why| (None, format!("service {name}: {why}")))
    };
    document.services.into_iter().map(service).collect()
}

fn service(name: &str, entry: Entry, directory: &Path) -> Result<Service, String> {
    let mut env = match entry.env_file.map(|file| directory.join(file)) {
        None => Vec::new(),
        Some(path) => {
            let shown = path.display();
            let text = project_text(&path).map_err(|error| error.message)?;
            let text = text.ok_or_else(|| format!("its env-file {shown} does not exist"))?;
            env_file::read(&text).map_err(|(line, why)| format!("{shown}:{line}: {why}"))?
        }
    };
    for (name, value) in entry.env {
        env.retain(|(other, _)| *other != name);
        env.push((name, value.into_text()));
    }
    let mut options = Vec::new();
    if let Some(Ready { when, port }) = entry.ready {
        if when.is_some() == port.is_some() {
            return Err("its key ready needs either when = \"REGEX\" or port = NUMBER".to_owned());
        }
        options.extend(when.map(|when| format!("--ready-when={when}")));
        options.extend(port.map(|port| match port {
            Port::Number(number) => format!("--ready-port={number}"),
            Port::Word(word) => format!("--ready-port={word}"),
        }));
    }
    options.extend(entry.restart.map(|restart| format!("--restart={restart}")));
    let command = match entry.command {
        Command::Script(script) if script.starts_with('-') => {
            return Err("its command begins with a hyphen".to_owned());
        }
        Command::Script(script) => ServiceCommand::Script(script),
        Command::Words(words) if words.is_empty() => return Err("its command has no words".to_owned()),
        Command::Words(words) => ServiceCommand::Words(words),
    };
    let dir = entry.dir.map_or_else(|| directory.to_owned(), |dir| directory.join(dir));
    Ok(Service { name: name.to_owned(), command, dir, env, depends_on: entry.depends_on, options })
}

impl Value {
    fn into_text(self) -> String {
        match self {
            Self::Text(text) => text,
            Self::Number(number) => number.to_string(),
            Self::Flag(flag) => flag.to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_becomes_a_part_of_the_start() {
        let text = "[services.api]\ncommand = ['node', 'x y']\ndir = 'sub'\nenv = { A = 'b', PORT = 3000, D = true }\n\
                    depends-on = ['db']\nready = { port = 3000 }\nrestart = 'on-failure'\n\
                    [services.db]\ncommand = 'redis-server'\nready = { when = 'up' }\n";
        let services = read(text, Path::new("/p")).unwrap();
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let api = Service {
            name: "api".to_owned(),
            command: ServiceCommand::Words(vec!["node".to_owned(), "x y".to_owned()]),
            dir: "/p/sub".into(),
            env: vec![pair("A", "b"), pair("D", "true"), pair("PORT", "3000")],
            depends_on: vec!["db".to_owned()],
            options: vec!["--ready-port=3000".to_owned(), "--restart=on-failure".to_owned()],
        };
        assert_eq!(services[0], api);
        assert_eq!(services[1].options, ["--ready-when=up"]);
        assert_eq!(services[1].command, ServiceCommand::Script("redis-server".to_owned()));
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        for (text, line, words) in [
            ("[services.a]\ncomand = 'x'\n", Some(2), "comand"),
            ("[service.a]\ncommand = 'x'\n", Some(1), "service"),
            ("[services.a]\ncommand = 3\n", Some(2), "list of words"),
            ("[services.a]\ncommand = 'x'\nready = { line = 'x' }\n", Some(3), "line"),
            ("[services.a]\ncommand = 'x'\nready = {}\n", None, "either when"),
            ("[services.a]\ncommand = 'x'\nready = { when = 'x', port = 1 }\n", None, "either when"),
            ("[services.a]\ncommand = 'x'\nenv = { A = [] }\n", Some(3), "whole number"),
            ("[services.a]\ncommand = 'x'\nenv-file = 'gone'\n", None, "/p/gone"),
            ("[services.a]\ncommand = '-x'\n", None, "hyphen"),
            ("[services.a]\ncommand = []\n", None, "no words"),
            ("[services.a]\n", Some(1), "command"),
            ("nonsense", Some(1), ""),
        ] {
            let (found, message) = read(text, Path::new("/p")).unwrap_err();
            assert!(found == line && message.contains(words), "{text}: {found:?} {message}");
        }
    }
}
