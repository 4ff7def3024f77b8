//! Arguments of tools that run code of the project.

use super::Call;
use crate::decision::BuiltinRule;
use crate::judge::Judge;
use crate::names::Names;
use crate::need;
use crate::paths::destination::Destination;

impl Judge<'_> {
    /// Asks about a tool that runs code of the project, if it may do anything else.
    pub(super) fn project_code(&mut self, call: &Call<'_>, risky: &str) {
        self.code(&call.part);
        if !self.runs_in_project() {
            self.unknown_code(&call.part, "the code is outside the project");
        }
        if self.wrote {
            self.unknown_code(&call.part, "it runs code that the same command may have written");
        }
        for word in call.args {
            let Some(values) = word.values().filter(|_| !word.ambiguous).map(<[String]>::to_vec) else {
                let why = format!("{} is known only at run time and may be an option", word.text);
                self.ask(BuiltinRule::NotLiteral, &call.part, &why, "has unknown effects");
                continue;
            };
            if word.may_be_option() {
                self.hides_option(word, &call.part);
            }
            for value in values {
                self.project_word(call, risky, &value);
            }
        }
    }

    fn project_word(&mut self, call: &Call<'_>, risky: &str, value: &str) {
        let name = value.split('=').next().unwrap_or(value);
        // Letters without a value may precede one with a value.
        let letters = value.trim_start_matches('-').trim_start_matches(['q', 'v', 'x', 's', 'l']);
        let is = |option: &&str| {
            let short = option.len() == 2
                && !value.starts_with("--")
                && (value.starts_with(*option) || letters.starts_with(&option[1..]));
            let long = option.len() > 2
                && (name == *option || name.len() > 4 && name.starts_with("--") && option.starts_with(name));
            short || long
        };
        if value.starts_with('-') && Names(risky).iter().any(|option| is(&option)) {
            let why = format!("{value} can name code or files outside the project");
            return self.unknown_code(&call.part, &why);
        }
        if name.starts_with(['+', '@']) {
            return self
                .unknown_code(&call.part, "it selects another toolchain, or reads arguments from a file");
        }
        let path = match value.split_once('=') {
            Some((_, after)) => after,
            None if value.starts_with('-') => {
                value.trim_start_matches(|c: char| c == '-' || c.is_ascii_alphanumeric())
            }
            None => value,
        };
        if value.contains("://") {
            return self.unknown_code(&call.part, "it fetches something from another machine");
        }
        let parts: Vec<&str> = value.split([':', ',', '=']).collect();
        if let Some(part) = parts
            .iter()
            .find(|part| part.starts_with(['/', '~']) && self.destination(part) != Destination::Inside)
        {
            let why = format!("{part} is outside the project");
            self.held(
                BuiltinRule::WriteOutside,
                &call.part,
                &why,
                &format!("uses {part}, outside the project"),
                need::project_code(),
            );
        }
        let path = path.split("::").next().unwrap_or(path);
        if !path.is_empty() && !matches!(self.destination(path), Destination::Inside | Destination::Harmless)
        {
            let why = format!("{path} is outside the project");
            self.held(
                BuiltinRule::WriteOutside,
                &call.part,
                &why,
                &format!("uses {path}, outside the project"),
                need::project_code(),
            );
        }
    }
}
