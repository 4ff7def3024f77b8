//! The output of several tasks: each line begins with the name of its task.

use meanwhile::engine::model::TaskId;
use meanwhile::engine::{ReadReply, Runtime};
use meanwhile::{Scope, TaskFilter};
use serde_json::json;

use super::output::Arguments;
use crate::context::Context;
use crate::error::{CommandError, CommandResult};
use crate::services::Project;
use crate::{exit_code, render};

/// The colours of names, in turn.
const COLOURS: [&str; 6] = ["36", "33", "35", "32", "34", "31"];

/// A task whose output is shown among that of others.
pub(super) struct Source {
    id: TaskId,
    name: String,
}

impl Source {
    /// Resolves the handles of several tasks.
    pub(super) fn named(
        context: &Context,
        runtime: &Runtime,
        handles: &[String],
    ) -> Result<Vec<Self>, CommandError> {
        let mut sources: Vec<Self> = Vec::new();
        for handle in handles {
            let task = runtime.tasks().task(handle, &context.scope())?;
            if !sources.iter().any(|source| source.id == task.id) {
                sources.push(Self { name: task.short_name(), id: task.id });
            }
        }
        Ok(sources)
    }

    /// Finds the newest task of each service of the project; none if it declares no services, or none was ever started.
    pub(super) fn services(context: &Context, runtime: &Runtime) -> Result<Vec<Self>, CommandError> {
        let project = match Project::find(None) {
            Ok(project) => project,
            Err(error) => {
                if error.exit != exit_code::NOT_FOUND {
                    render::warning(&error.message, &error.hint);
                }
                return Ok(Vec::new());
            }
        };
        let filter = TaskFilter {
            batch: Some(project.batch()),
            limit: u32::MAX,
            ..TaskFilter::new(Scope::Session(context.owner()))
        };
        let tasks = runtime.tasks().list(&filter)?.tasks;
        let newest = |name: &str| {
            let task = tasks.iter().find(|task| task.name.as_deref() == Some(name))?;
            Some(Self { id: task.id.clone(), name: name.to_owned() })
        };
        Ok(project.names().filter_map(newest).collect())
    }
}

/// Makes lines of what is read, each with a prefix.
struct Prefixed {
    prefix: String,
    /// The beginning of a line whose end has not arrived.
    rest: String,
}

impl Prefixed {
    fn lines(&mut self, text: &str, is_last: bool) -> String {
        self.rest.push_str(text);
        let end = match self.rest.rfind('\n') {
            _ if is_last => self.rest.len(),
            Some(at) => at + 1,
            None => 0,
        };
        let rest = self.rest.split_off(end);
        let whole = std::mem::replace(&mut self.rest, rest);
        whole.lines().map(|line| format!("{}{line}\n", self.prefix)).collect()
    }
}

impl Arguments {
    /// Shows the last part of each task's output, or follows all of them.
    pub(super) fn show_several(
        &self,
        context: &Context,
        runtime: &Runtime,
        sources: &[Source],
    ) -> CommandResult {
        let widest = sources.iter().map(|source| source.name.len()).max().unwrap_or(0);
        let prefixed = |(source, colour): (&Source, &&str)| Prefixed {
            prefix: render::paint(&format!("{:widest$} | ", source.name), colour, context.colour()),
            rest: String::new(),
        };
        let prefixed: Vec<_> = sources.iter().zip(COLOURS.iter().cycle()).map(prefixed).collect();
        if self.is_followed() {
            return self.follow_several(context, sources, prefixed);
        }
        let mut outputs = Vec::new();
        let mut shortened = Vec::new();
        for (source, mut prefixed) in sources.iter().zip(prefixed) {
            let reply = self.read_last(context, runtime, source.id.as_str())?;
            if context.json {
                outputs.push(self.json_of(source, &reply));
                continue;
            }
            render::out(&prefixed.lines(&self.shown_text(&reply), true))?;
            if reply.has_earlier {
                shortened.push(source.name.as_str());
            }
        }
        if context.json {
            render::json(&json!({ "outputs": outputs }))?;
        } else if !shortened.is_empty() && self.lines().is_none() {
            let names = shortened.join(", ");
            render::note(&format!("earlier output of {names} is not shown; --max-bytes 0 shows all"));
        }
        Ok(0)
    }

    fn follow_several(
        &self,
        context: &Context,
        sources: &[Source],
        prefixed: Vec<Prefixed>,
    ) -> CommandResult {
        std::thread::scope(|scope| {
            for (source, mut prefixed) in sources.iter().zip(prefixed) {
                scope.spawn(move || {
                    let mut show = |reply: &ReadReply| match context.json {
                        true => Ok(render::json(&self.json_of(source, reply))?),
                        false => Ok(render::out(&prefixed.lines(&self.shown_text(reply), reply.eof))?),
                    };
                    let followed = self
                        .open(context)
                        .and_then(|runtime| self.follow(context, &runtime, source.id.as_str(), &mut show));
                    if let Err(error) = followed {
                        // The others may wait for output for long.
                        std::process::exit(error.report(context.json).into());
                    }
                });
            }
        });
        Ok(0)
    }

    fn json_of(&self, source: &Source, reply: &ReadReply) -> serde_json::Value {
        let mut value = self.json(reply);
        (value["id"], value["name"]) = (json!(source.id), json!(source.name));
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_shown_when_its_end_has_arrived() {
        let mut prefixed = Prefixed { prefix: "web | ".to_owned(), rest: String::new() };
        assert_eq!(prefixed.lines("one\ntw", false), "web | one\n");
        assert_eq!(prefixed.lines("", false), "");
        assert_eq!(prefixed.lines("o\n\nthree", false), "web | two\nweb | \n");
        assert_eq!(prefixed.lines("", true), "web | three\n");
        assert_eq!(prefixed.lines("", true), "");
    }
}
