//! `mw down`: ends the services of a project.

use std::path::PathBuf;

use clap::Args;
use meanwhile::engine::model::Status;
use meanwhile::engine::{KillReport, KillRequest, Runtime};
use meanwhile::{Scope, Task, TaskFilter};

use super::kill;
use crate::context::Context;
use crate::error::{CommandError, CommandResult};
use crate::render;
use crate::services::Project;

#[derive(Args)]
pub(crate) struct Arguments {
    /// The services [default: all]
    #[arg(value_name = "NAME")]
    services: Vec<String>,
    /// The file that declares them [default: meanwhile.toml or Procfile, here or above in the project]
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
}

impl Arguments {
    pub(crate) fn run(self, context: &Context) -> CommandResult {
        let project = Project::find(self.file.as_deref())?;
        let runtime = context.runtime()?;
        let mut tasks = tasks(context, &runtime, &project)?;
        let is_known = |name: &&String| {
            let has_name = |task: &Task| task.name.as_ref() == Some(*name);
            project.names().any(|known| known == *name) || tasks.iter().any(has_name)
        };
        if let Some(unknown) = self.services.iter().find(|name| !is_known(name)) {
            return Err(project.unknown(&format!("there is no service {unknown:?}")));
        }
        if !self.services.is_empty() {
            tasks.retain(|task| task.name.as_ref().is_some_and(|name| self.services.contains(name)));
        }
        if tasks.is_empty() && !context.json {
            render::note("none of the services is running");
        }
        // What is no longer declared may depend on anything, so it ends first.
        let place = |task: &Task| project.names().position(|name| task.name.as_deref() == Some(name));
        tasks.sort_by_key(|task| std::cmp::Reverse(place(task).unwrap_or(usize::MAX)));
        if !tasks.is_empty() {
            let names: Vec<_> = tasks.iter().map(|task| task.id.to_string()).collect();
            context.pass_action(&runtime, "kill", &format!("end {}", names.join(", ")))?;
        }
        let request = KillRequest::term(context.requester());
        let mut all = KillReport::default();
        for task in &tasks {
            let KillReport { receipts, failures } =
                runtime.live().kill_all(std::slice::from_ref(&task.id), &request);
            all.receipts.extend(receipts);
            all.failures.extend(failures);
        }
        kill::show(context.json, runtime.directories(), all, false)
    }
}

/// Returns the tasks of the services of a project that have not ended, or of which processes have survived.
fn tasks(context: &Context, runtime: &Runtime, project: &Project) -> Result<Vec<Task>, CommandError> {
    let scope = Scope::Session(context.owner());
    let filter = TaskFilter {
        statuses: Status::ALL.into_iter().filter(|status| !status.is_terminal()).collect(),
        batch: Some(project.batch()),
        limit: u32::MAX,
        ..TaskFilter::new(scope.clone())
    };
    let mut tasks = runtime.tasks().list(&filter)?.tasks;
    for id in runtime.live().left_behind(&scope, Some(&project.batch()))? {
        tasks.push(runtime.tasks().task(id.as_str(), &scope)?);
    }
    Ok(tasks)
}
