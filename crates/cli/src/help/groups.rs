//! The page of `mw --help`: the commands in groups.

use std::fmt::Write;

use super::other_names;

/// The commands in groups, in the order in which they are shown.
const GROUPS: [(&str, &[&str]); 5] = [
    (
        "Tasks",
        &[
            "start", "run", "list", "status", "output", "tail", "wait", "kill", "signal", "pause", "resume",
            "input", "attach", "restart", "template", "up", "down", "queue", "clear", "top", "serve",
            "watch",
        ],
    ),
    ("Sessions", &["session", "notices"]),
    ("Agents", &["chat", "agent", "mcp", "acp", "tools", "traces"]),
    ("Approval", &["approvals", "approve", "deny", "policy"]),
    ("Set-up", &["setup", "hook", "backends", "doctor", "config", "completions"]),
];

const BEGINNING: &str = "\
mw runs long commands in the background: a start returns at once, every byte of output is kept, a kill ends the whole
process tree, and the outcome of each task is recorded. There is no daemon.

Usage: mw COMMAND [OPTIONS]
";

const END: &str = "
Options:
      --json     Print JSON
  -h, --help     Print help
  -V, --version  Print version

Examples:
  mw start --name web 'npm run dev'    start a server in the background
  mw run cargo test                    run a command here; Ctrl-B leaves it in the background
  mw list                              running, queued and failed tasks
  mw tail web                          follow its output
  mw wait web --until port=3000        wait until it serves
  mw kill web                          end it and everything that it started

mw COMMAND --help shows the options of a command, with examples.
";

/// Returns the page for the visible commands below this one.
pub(crate) fn page(root: &clap::Command) -> String {
    let about = |name: &str| {
        let command = root.get_subcommands().find(|command| command.get_name() == name)?;
        command.get_about().map(ToString::to_string)
    };
    let widest = GROUPS.iter().flat_map(|(_, names)| *names).map(|name| shown(name).len()).max().unwrap_or(0);
    let mut page = BEGINNING.to_owned();
    for (title, names) in GROUPS {
        let _ = writeln!(page, "\n{title}:");
        for name in names {
            let _ = writeln!(page, "  {:widest$}  {}", shown(name), about(name).unwrap_or_default());
        }
    }
    page + END
}

/// Returns a command with its other names.
fn shown(name: &'static str) -> String {
    std::iter::once(name).chain(other_names(name)).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_visible_command_is_in_one_group_and_has_examples() {
        let root = crate::entry::whole_command();
        let mut visible: Vec<_> = root
            .get_subcommands()
            .filter(|command| !command.is_hide_set())
            .map(clap::Command::get_name)
            .collect();
        let mut grouped: Vec<_> = GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        visible.sort_unstable();
        grouped.sort_unstable();
        assert_eq!(visible, grouped);
        for name in visible {
            let examples = super::super::examples(name);
            assert!(examples.contains("mw "), "no example for {name}");
        }
    }

    #[test]
    fn every_example_is_accepted() {
        for command in
            crate::entry::whole_command().get_subcommands().filter(|command| !command.is_hide_set())
        {
            let examples = super::super::examples(command.get_name());
            for line in examples.lines().map(str::trim).filter(|line| line.starts_with("mw ")) {
                // Without the remark, or what the shell does.
                let line = line.split("   ").next().and_then(|line| line.split(" > ").next()).unwrap_or(line);
                let words: Vec<_> = shlex::split(line).unwrap().into_iter().map(Into::into).collect();
                let read = crate::entry::read_with_clap(&words);
                assert!(read.is_ok(), "{line}: {}", read.err().unwrap());
            }
        }
    }
}
