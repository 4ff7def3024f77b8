//! An imaginary project `/p` of a user with the home directory `/home/me`.

use mw_policy::{
    CommandText, ConfinementLevel, Decision, Dialect, Files, Mode, Request, Rules, Tool, Verdict, decide,
};

/// The file system of the project: links, and files with their content.
pub(crate) struct Nowhere;

const LINKS: [(&str, &str); 3] = [("/p/out", "/etc"), ("/p/up", "/"), ("/p/in", "/p/src")];
const FILES: [(&str, &str); 7] = [
    ("/p/.gitignore", "/target\nnode_modules/\nbuild/\n/dist\n"),
    ("/p/.git/HEAD", "ref: refs/heads/main\n"),
    ("/p/planted/HEAD", "ref: refs/heads/main\n"),
    ("/p/scripts/safe.sh", "#!/bin/sh\nset -e\necho hello\ngrep -r TODO src\n"),
    ("/p/scripts/bad.sh", "#!/bin/sh\nrm -rf \"$HOME\"\n"),
    ("/p/scripts/tool.py", "#!/usr/bin/env python3\nprint(1)\n"),
    ("/p/scripts/loop.sh", "#!/bin/sh\nsh scripts/loop.sh\n"),
];

impl Files for Nowhere {
    fn real(&self, absolute: &str) -> Option<String> {
        Some(resolved(absolute, &LINKS))
    }

    fn text(&self, absolute: &str) -> Option<String> {
        let real = self.real(absolute)?;
        FILES.iter().find(|(path, _)| *path == real).map(|(_, text)| (*text).to_owned())
    }

    fn exists(&self, absolute: &str) -> bool {
        self.text(absolute).is_some() || absolute == "/p/.git"
    }
}

/// Resolves a path in a file system whose only links are these.
pub(crate) fn resolved(absolute: &str, links: &[(&str, &str)]) -> String {
    let mut path = String::new();
    for part in absolute.split('/') {
        match part {
            "" | "." => {}
            ".." => path.truncate(path.rfind('/').unwrap_or(0)),
            part => {
                path = format!("{path}/{part}");
                if let Some((_, target)) = links.iter().find(|(link, _)| *link == path) {
                    path = target.trim_end_matches('/').to_owned();
                }
            }
        }
    }
    if path.is_empty() { "/".to_owned() } else { path }
}

/// A request with default values.
pub(crate) struct Case<'a> {
    pub(crate) command: CommandText<'a>,
    pub(crate) mode: Mode,
    pub(crate) dialect: Dialect,
    pub(crate) cwd: &'a str,
    pub(crate) confined: ConfinementLevel,
    pub(crate) env: &'a [(String, String)],
    pub(crate) rules: &'a Rules,
}

static NO_RULES: Rules = Rules::none();

impl<'a> Case<'a> {
    pub(crate) fn script(text: &'a str) -> Self {
        Self::of(CommandText::Script { shell: "/bin/sh", text })
    }

    pub(crate) fn bash(text: &'a str) -> Self {
        Self::of(CommandText::Script { shell: "/bin/bash", text })
    }

    pub(crate) fn of(command: CommandText<'a>) -> Self {
        Self {
            command,
            confined: ConfinementLevel::No,
            mode: Mode::Safe,
            dialect: Dialect::Canonical,
            cwd: "/p",
            env: &[],
            rules: &NO_RULES,
        }
    }

    pub(crate) fn verdict(&self) -> Verdict {
        decide(&Request {
            mode: self.mode,
            dialect: self.dialect,
            tool: Tool::named("shell").unwrap(),
            command: Some(self.command),
            cwd: self.cwd,
            project: "/p",
            home: "/home/me",
            writable: &[],
            env: self.env,
            ci_reads: false,
            confined: self.confined,
            rules: self.rules,
            files: &Nowhere,
        })
    }
}

/// Decides a script for `sh`, in mode safe.
pub(crate) fn decided(script: &str) -> Decision {
    Case::script(script).verdict().decision
}
