//! Tasks and their logs as resources: `meanwhile://tasks`, `meanwhile://tasks/ID`, `meanwhile://tasks/ID/output`.

use meanwhile::engine::{ReadFrom, ReadRequest, Runtime, clean_text};
use meanwhile::{Error, Scope, TaskFilter};
use rmcp::model::{
    ListResourceTemplatesResult, ListResourcesResult, ReadResourceResult, Resource, ResourceContents,
    ResourceTemplate,
};
use serde_json::json;

use mw_tools::call::CallSettings;

const ALL: &str = "meanwhile://tasks";

/// A parsed address of a resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Named {
    /// The list of tasks.
    Tasks,
    /// One task.
    Task(String),
    /// The output of a task.
    Output(String),
}

impl Named {
    /// Parses an address.
    pub(super) fn parse(uri: &str) -> Option<Self> {
        let rest = uri.strip_prefix(ALL)?;
        if rest.is_empty() {
            return Some(Self::Tasks);
        }
        let rest = rest.strip_prefix('/')?;
        match rest.split_once('/') {
            None if !rest.is_empty() => Some(Self::Task(rest.to_owned())),
            Some((task, "output")) if !task.is_empty() => Some(Self::Output(task.to_owned())),
            _ => None,
        }
    }
}

/// Returns the addresses that change with a task.
pub(super) fn addresses(task: &str) -> [String; 3] {
    [ALL.to_owned(), format!("{ALL}/{task}"), format!("{ALL}/{task}/output")]
}

/// Lists a session's tasks and their logs.
pub(super) fn list(runtime: &Runtime, session: &str) -> Result<ListResourcesResult, Error> {
    let page = runtime.tasks().list(&TaskFilter::new(Scope::Session(session.to_owned())))?;
    let mut resources =
        vec![Resource::new(ALL, "tasks").with_title("All tasks").with_mime_type("application/json")];
    for task in page.tasks {
        let [_, one, output] = addresses(task.id.as_str());
        let title = task.description.as_deref().unwrap_or(&task.command);
        let title = clean_text(title.lines().next().unwrap_or_default());
        resources.push(
            Resource::new(one, task.id.to_string())
                .with_title(title.clone())
                .with_mime_type("application/json"),
        );
        resources.push(
            Resource::new(output, format!("{} output", task.id))
                .with_title(title)
                .with_mime_type("text/plain"),
        );
    }
    Ok(ListResourcesResult::with_all_items(resources))
}

/// Returns the templates of addresses.
pub(super) fn templates() -> ListResourceTemplatesResult {
    ListResourceTemplatesResult::with_all_items(vec![
        ResourceTemplate::new(format!("{ALL}/{{task_id}}"), "task").with_mime_type("application/json"),
        ResourceTemplate::new(format!("{ALL}/{{task_id}}/output"), "output").with_mime_type("text/plain"),
    ])
}

/// Reads a resource. Returns `None` if it does not exist.
pub(super) fn read(
    runtime: &Runtime,
    call_settings: &CallSettings,
    uri: &str,
) -> Result<Option<ReadResourceResult>, Error> {
    let Some(named) = Named::parse(uri) else { return Ok(None) };
    match contents(runtime, call_settings, uri, &named) {
        Ok(contents) => Ok(Some(ReadResourceResult::new(vec![contents]))),
        Err(Error::NotFound(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

fn contents(
    runtime: &Runtime,
    call_settings: &CallSettings,
    uri: &str,
    named: &Named,
) -> Result<ResourceContents, Error> {
    let scope = Scope::Session(call_settings.session.clone());
    let exact = |handle: &str| runtime.lookup().resolve_exact(handle, &scope);
    Ok(match named {
        Named::Tasks => {
            let page = runtime.tasks().list(&TaskFilter::new(scope.clone()))?;
            text(uri, "application/json", json!({"tasks": page.tasks, "total": page.total}).to_string())
        }
        Named::Task(task) => {
            let task = runtime.tasks().task(exact(task)?.as_str(), &scope)?;
            text(uri, "application/json", json!(task).to_string())
        }
        Named::Output(task) => {
            let most = call_settings.reply_bytes;
            let request =
                ReadRequest { from: ReadFrom::TailBytes(most), max_bytes: most, ..ReadRequest::default() };
            let reply = runtime.reader().read_shown(exact(task)?.as_str(), &scope, &request)?;
            let note = if reply.has_earlier { "[earlier output omitted]\n" } else { "" };
            text(uri, "text/plain", format!("{note}{}", clean_text(&reply.text())))
        }
    })
}

fn text(uri: &str, kind: &str, text: String) -> ResourceContents {
    ResourceContents::text(text, uri).with_mime_type(kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resource_addresses_are_parsed_and_others_are_refused() {
        let [all, one, output] = addresses("bash-k3f9x2ab");
        assert_eq!(Named::parse(&all), Some(Named::Tasks));
        assert_eq!(Named::parse(&one), Some(Named::Task("bash-k3f9x2ab".to_owned())));
        assert_eq!(Named::parse(&output), Some(Named::Output("bash-k3f9x2ab".to_owned())));
        for odd in [
            "",
            "meanwhile://",
            "meanwhile://tasks/",
            "meanwhile://tasks//output",
            "meanwhile://tasksx",
            "meanwhile://tasks/a/b",
        ] {
            assert_eq!(Named::parse(odd), None, "{odd}");
        }
    }
}
