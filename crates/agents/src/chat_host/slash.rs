//! The slash commands: their names and arguments. The model never sees them.

use mw_desk::chat_protocol::{ApprovalReply, COMMANDS};
use mw_model::signal::{SIGKILL, SIGTERM};

/// The output of `/help`.
pub(super) const HELP: &str = "\
/background COMMAND   run a command in the background
/tasks [STATUS]       list the tasks of this chat
/status ID            show one task and its last lines
/cancel ID            end a task
/kill ID              end a task at once (SIGKILL)
/restart ID           run a task again
/resume ID MESSAGE    send a message to an agent that has answered
/approve [ID]         approve a request
/deny [ID]            deny a request
/mode [MODE]          show or set the approval mode
/help                 show this
/quit                 quit

Enter sends; Alt-Enter or Ctrl-J inserts a new line; PageUp, PageDown scroll.
Esc stops the turn and its foreground command; background tasks keep running.
Ctrl-B lists the tasks; again: moves foreground commands to the background.
Ctrl-K cancels the turn or a task. Ctrl-O expands tool calls.
Ctrl-C clears the input; if it is empty, it quits.";

/// Returns whether this word with its slash is a command of the chat.
pub(super) fn is_command(word: &str) -> bool {
    word.strip_prefix('/').is_some_and(|word| COMMANDS.iter().any(|(name, ..)| *name == word))
}

/// A parsed command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Slash {
    Background(String),
    Tasks(Option<String>),
    Status(String),
    End { id: String, signal: i32 },
    Restart(String),
    Resume { id: String, message: String },
    Answer { id: Option<String>, reply: ApprovalReply },
    Mode(Option<String>),
    Help,
}

impl Slash {
    /// Parses a line that begins with a slash: a command and its arguments.
    pub(super) fn parse(line: &str) -> Result<Self, String> {
        let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let rest = rest.trim();
        let given = |what: &str| match rest {
            "" => Err(format!("{word} needs {what}; /help shows all commands")),
            rest => Ok(rest.to_owned()),
        };
        let optional = || Some(rest.to_owned()).filter(|rest| !rest.is_empty());
        match word {
            "/background" => Ok(Self::Background(given("a command")?)),
            "/tasks" => Ok(Self::Tasks(optional())),
            "/status" => Ok(Self::Status(given("a task")?)),
            "/cancel" => Ok(Self::End { id: given("a task")?, signal: SIGTERM }),
            "/kill" => Ok(Self::End { id: given("a task")?, signal: SIGKILL }),
            "/restart" => Ok(Self::Restart(given("a task")?)),
            "/resume" => {
                let rest = given("a task and a message")?;
                let Some((id, message)) = rest.split_once(char::is_whitespace) else {
                    return Err(format!("{word} needs a message, too; /help shows all commands"));
                };
                Ok(Self::Resume { id: id.to_owned(), message: message.trim().to_owned() })
            }
            "/approve" => Ok(Self::Answer { id: optional(), reply: ApprovalReply::Once }),
            "/deny" => Ok(Self::Answer { id: optional(), reply: ApprovalReply::Deny }),
            "/mode" => Ok(Self::Mode(optional())),
            "/help" => Ok(Self::Help),
            other => Err(format!("No command {other}; see /help")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slash_line_is_split_into_command_and_argument() {
        let parsed = |line| Slash::parse(line).unwrap();
        assert_eq!(parsed("/background  a  b 'c d'"), Slash::Background("a  b 'c d'".to_owned()));
        assert_eq!(parsed("/tasks"), Slash::Tasks(None));
        assert_eq!(parsed("/tasks running "), Slash::Tasks(Some("running".to_owned())));
        assert_eq!(
            parsed("/resume agent_1 and now this"),
            Slash::Resume { id: "agent_1".to_owned(), message: "and now this".to_owned() }
        );
        assert_eq!(parsed("/kill x"), Slash::End { id: "x".to_owned(), signal: SIGKILL });
    }

    #[test]
    fn unknown_and_incomplete_commands_refer_to_help() {
        for line in ["/background", "/status ", "/nope x", "/", "/resume", "/resume agent_1"] {
            let refused = Slash::parse(line).unwrap_err();
            assert!(refused.contains("/help"), "{line}: {refused}");
        }
    }

    #[test]
    fn every_command_is_known_by_its_word() {
        assert!(["/background", "/mode", "/quit"].into_iter().all(is_command));
        for (name, arguments, _) in COMMANDS {
            assert!(HELP.contains(format!("/{name} {arguments}").trim_end()), "{name}");
        }
        assert!(!is_command("/review") && !is_command("/") && !is_command("Enter"));
    }

    #[test]
    fn the_help_fits_into_eighty_columns() {
        for line in HELP.lines() {
            assert!(line.len() <= 78, "{line}");
        }
    }
}
