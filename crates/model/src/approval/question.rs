//! A proposal as a person reads it before answering.

use super::proposal::{Proposal, ProposedAction};
use crate::task::grant::Grant;
use crate::text::units::duration;
use crate::text::visible::visible;

impl Proposal {
    /// Returns the exact operation, as it is shown.
    #[must_use]
    pub fn exact(&self) -> String {
        match &self.action {
            ProposedAction::Start { command, .. } => command.to_line(),
            ProposedAction::Other { text } => text.clone(),
        }
    }

    /// Returns what is known about its duration, one line per fact. An approval does not cover it.
    #[must_use]
    pub fn estimates(&self) -> Vec<String> {
        let ProposedAction::Start { expected, took_ms, .. } = &self.action else { return Vec::new() };
        let expected = expected.as_ref().map(|expected| format!("The agent expects: {expected}"));
        let took = took_ms.map(|ms| format!("It took {} last time", duration(ms)));
        expected.into_iter().chain(took).collect()
    }

    /// Returns the environment variables that the call itself sets, one per line.
    #[must_use]
    pub fn environment(&self) -> Vec<String> {
        let ProposedAction::Start { env, .. } = &self.action else { return Vec::new() };
        env.iter().map(|var| format!("{}={}", var.name.to_lossy(), var.value.to_lossy())).collect()
    }

    /// Returns the details and the question, as a person reads them before answering.
    #[must_use]
    pub fn question(&self) -> String {
        format!("{}\n\n{} [y/n]", self.matter(), self.prompt())
    }

    /// Returns the question alone, without the details.
    #[must_use]
    pub const fn prompt(&self) -> &'static str {
        match &self.action {
            ProposedAction::Start { awaited: true, .. } => "Run it?",
            ProposedAction::Start { awaited: false, .. } => "Start in background?",
            ProposedAction::Other { .. } => "Go ahead?",
        }
    }

    /// Returns the details: everything that a person needs to know, with invisible characters spelled out.
    #[must_use]
    pub fn matter(&self) -> String {
        let head = match &self.action {
            ProposedAction::Start { .. } => "Command requires approval",
            ProposedAction::Other { .. } => "This requires approval",
        };
        let granted = self.granted().map(|grant| format!(" ({grant})")).unwrap_or_default();
        let mut text = format!("{head}{granted}:\n{}\n", self.command_and_steps());
        for line in self.said().iter().chain(&self.estimates()) {
            text.push_str(line);
            text.push('\n');
        }
        text.push_str(&self.origin());
        visible(text.trim_end())
    }

    /// Returns the same for a dialog that may show only two lines: the question and the effects on the first, the
    /// command on the second, then the rest.
    #[must_use]
    pub fn form(&self) -> String {
        let said = self.said().join("; ").replace('\n', " ");
        let granted = self.granted().map(|grant| format!(" ({grant})")).unwrap_or_default();
        let mut text = format!("{} {said}{granted}\n{}\n", self.prompt(), self.command_and_steps());
        for line in self.estimates() {
            text.push_str(&line);
            text.push('\n');
        }
        text.push_str(&self.origin());
        visible(text.trim_end())
    }

    /// Returns what an approval lets the command do, if it is confined.
    #[must_use]
    pub fn granted(&self) -> Option<String> {
        match &self.action {
            ProposedAction::Start { grant: Some(grant), .. } if grant.is_everything() => {
                Some("may do everything that you may".to_owned())
            }
            ProposedAction::Start { grant, .. } => grant.as_ref().map(Grant::in_words),
            ProposedAction::Other { .. } => None,
        }
    }

    /// Returns the effects, or the reasons for asking if no effect is known.
    fn said(&self) -> &[String] {
        if self.effects.is_empty() { &self.reasons } else { &self.effects }
    }

    /// Returns the exact operation, its steps if it has several, and the variables that the call sets.
    fn command_and_steps(&self) -> String {
        let mut text = format!("  {}\n", indented(&self.exact()));
        if let ProposedAction::Start { steps, .. } = &self.action
            && !steps.is_empty()
        {
            text.push_str("\nIt will execute:\n");
            for (at, step) in steps.iter().enumerate() {
                text.push_str(&format!("  {}. {step}\n", at + 1));
            }
        }
        let environment = self.environment();
        if !environment.is_empty() {
            text.push_str("\nWith these variables:\n");
            for line in environment {
                text.push_str(&format!("  {}\n", indented(&line)));
            }
        }
        text
    }

    /// Returns the directory and the session.
    fn origin(&self) -> String {
        match &self.action {
            ProposedAction::Start { cwd, .. } => {
                format!("in {}, requested by session {}\n", cwd.to_lossy(), self.session)
            }
            ProposedAction::Other { .. } => String::new(),
        }
    }
}

/// Indents all lines but the first.
fn indented(text: &str) -> String {
    text.replace('\n', "\n  ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::approval::proposal::sample::{proposal, start};
    use crate::task::spec::EnvVar;

    #[test]
    fn a_question_shows_the_variables_that_the_call_sets() {
        let mut asked = proposal(start("rm x", &[]));
        if let ProposedAction::Start { env, .. } = &mut asked.action {
            env.push(EnvVar { name: "FOO".into(), value: "a\nb".into() });
        }
        let shown = "  rm x\n\nWith these variables:\n  FOO=a\n  b\n";
        assert!(asked.question().contains(shown), "{}", asked.question());
        assert!(asked.form().contains(shown), "{}", asked.form());
    }

    #[test]
    fn the_first_lines_of_a_question_say_what_is_granted() {
        let mut asked = proposal(start("rm x", &[]));
        if let ProposedAction::Start { grant, .. } = &mut asked.action {
            *grant = Some(Grant::default());
        }
        let words = Grant::default().in_words();
        assert!(
            asked.question().starts_with(&format!("Command requires approval ({words}):\n  rm x\n")),
            "{}",
            asked.question()
        );
        let first = format!("Start in background? deletes x ({words})\n  rm x\n");
        assert!(asked.form().starts_with(&first), "{}", asked.form());
        if let ProposedAction::Start { grant, .. } = &mut asked.action {
            *grant = Some(Grant::everything());
        }
        assert!(asked.form().contains("(may do everything that you may)\n"), "{}", asked.form());
    }

    #[test]
    fn a_question_shows_the_estimate_and_the_duration_of_the_last_run() {
        let mut asked = proposal(start("make", &[]));
        if let ProposedAction::Start { expected, took_ms, .. } = &mut asked.action {
            (*expected, *took_ms) = (Some("~5 minutes, 247 files".to_owned()), Some(296_400));
        }
        let question = asked.question();
        assert!(
            question.contains(
                "\ndeletes x\nThe agent expects: ~5 minutes, 247 files\nIt took 4m 56s last time\nin /p,"
            ),
            "{question}"
        );
    }

    #[test]
    fn a_question_shows_the_exact_command_and_its_effects() {
        let asked = proposal(start("rm x", &[])).question();
        assert_eq!(
            asked,
            "Command requires approval:\n  rm x\n\ndeletes x\nin /p, requested by session s\n\nStart in background? [y/n]"
        );
        let mut waited_for = proposal(start("rm x", &[]));
        if let ProposedAction::Start { awaited, .. } = &mut waited_for.action {
            *awaited = true;
        }
        assert!(waited_for.question().ends_with("\n\nRun it? [y/n]"), "{}", waited_for.question());
    }

    #[test]
    fn the_first_two_lines_of_a_form_have_the_effects_and_the_command() {
        let mut asked = proposal(start("rm x; rm y", &["rm x", "rm y"]));
        asked.effects = vec!["deletes x".to_owned(), "deletes y\nz".to_owned()];
        assert_eq!(
            asked.form(),
            "Start in background? deletes x; deletes y z\n  rm x; rm y\n\nIt will execute:\n  1. rm x\n  2. rm y\n\n\
             in /p, requested by session s"
        );
    }

    #[test]
    fn a_question_spells_out_hidden_characters() {
        let asked = proposal(start("rm \u{202e}txt.x\x1b[2K", &["r\u{200b}m"])).question();
        assert!(asked.contains("  rm \\u{202e}txt.x\\u{1b}[2K\n"), "{asked}");
        assert!(asked.contains("1. r\\u{200b}m\n"), "{asked}");
        let other = proposal(ProposedAction::Other { text: "write a\u{2066}b".to_owned() });
        assert!(other.question().contains("a\\u{2066}b"));
        assert!(other.question().ends_with("\n\nGo ahead? [y/n]"));
        assert!(!other.matter().contains("Go ahead?"));
    }

    #[test]
    fn several_steps_are_numbered() {
        let asked = proposal(start("make; rm x", &["make", "rm x"])).question();
        assert!(
            asked.contains("  make; rm x\n\nIt will execute:\n  1. make\n  2. rm x\n\ndeletes x"),
            "{asked}"
        );
    }
}
