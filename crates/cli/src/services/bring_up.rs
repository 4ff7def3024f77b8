//! Starts services in the order of their dependencies, and waits until they are ready.

use std::time::{Duration, Instant};

use meanwhile::engine::model::Status;
use meanwhile::engine::{Condition, KillRequest, Runtime, TaskRequest, WaitRequest};
use meanwhile::error::ErrorCode;
use meanwhile::model::TaskId;
use meanwhile::{Scope, Task, TaskFilter};
use mw_desk::rows::state_words;
use serde_json::json;

use super::project::Project;
use super::report::{Found, Origin, Standing};
use super::service::Service;
use crate::context::Context;
use crate::error::{CommandError, CommandResult};
use crate::{exit_code, render};

/// How often a service is looked for again that other commands start and end at the same time.
const ATTEMPTS: u32 = 5;

/// A service on its way up.
struct Member<'a> {
    service: &'a Service,
    request: TaskRequest,
    found: Option<Found>,
    standing: Standing,
}

impl Member<'_> {
    /// Returns whether the readiness of its task is awaited. A task with another condition than declared may not have any.
    fn awaits_readiness(&self) -> bool {
        let has_other = self.found.as_ref().is_some_and(|found| found.changes.contains(&"readiness"));
        self.request.ready.is_some() && !has_other
    }

    /// Returns how far its task is now.
    fn standing_of(&self, task: &Task) -> Standing {
        let awaits = self.awaits_readiness();
        match task.status {
            Status::Completed if !awaits => Standing::Up,
            status if status.is_terminal() => Standing::Down(format!("ended: {}", state_words(task))),
            Status::Pending => Standing::Starting,
            _ if awaits && task.ready.is_none() => Standing::Starting,
            _ => Standing::Up,
        }
    }
}

/// Services on their way up.
pub(crate) struct BringUp<'a> {
    context: &'a Context,
    runtime: &'a Runtime,
    members: Vec<Member<'a>>,
    scope: Scope,
    recreate: bool,
    timeout: Duration,
    deadline: Instant,
    /// The exit code of the first start that was refused.
    refused: Option<u8>,
}

impl<'a> BringUp<'a> {
    /// Checks everything, and changes nothing.
    ///
    /// # Errors
    /// When a service could not be started now, or its name belongs to another task.
    pub(crate) fn new(
        context: &'a Context,
        runtime: &'a Runtime,
        (project, names): (&'a Project, &[String]),
        (recreate, timeout): (bool, Duration),
    ) -> Result<Self, CommandError> {
        let batch = project.batch();
        let mut members = Vec::new();
        for service in project.chosen(names)? {
            let request = service.request(context, &batch)?;
            runtime.starts().check(&request).map_err(|error| {
                let error = CommandError::from(error);
                CommandError { message: format!("service {}: {}", service.name, error.message), ..error }
            })?;
            members.push(Member { service, request, found: None, standing: Standing::Waiting });
        }
        let (scope, deadline) = (Scope::Session(context.owner()), Instant::now() + timeout);
        let this = Self { context, runtime, members, scope, recreate, timeout, deadline, refused: None };
        for member in &this.members {
            this.live(member)?;
        }
        Ok(this)
    }

    /// Starts what can be started until all that is started is up, or cannot come up in time.
    ///
    /// # Errors
    /// When the state of a task cannot be read.
    pub(crate) fn run(&mut self) -> Result<(), CommandError> {
        loop {
            for at in 0..self.members.len() {
                if matches!(self.members[at].standing, Standing::Waiting) {
                    self.advance(at)?;
                }
            }
            let is_starting = |member: &Member<'_>| matches!(member.standing, Standing::Starting);
            if !self.members.iter().any(is_starting) {
                return Ok(());
            }
            self.wait()?;
        }
    }

    /// Starts a service if all that it depends on is up.
    fn advance(&mut self, at: usize) -> Result<(), CommandError> {
        for name in &self.members[at].service.depends_on {
            let Some(other) = self.members.iter().find(|other| other.service.name == *name) else { continue };
            match other.standing {
                Standing::Up => {}
                Standing::Waiting | Standing::Starting => return Ok(()),
                Standing::Down(_) | Standing::Held(_) => {
                    return self.settle(at, Standing::Held(name.clone()));
                }
            }
        }
        match self.start(&self.members[at]) {
            Ok(found) => {
                self.say(at, &found.line())?;
                let task = found.task.clone();
                self.members[at].found = Some(found);
                self.see(at, task)
            }
            Err(error) => {
                self.refused.get_or_insert(error.exit);
                self.settle(at, Standing::Down(format!("not started: {}", error.message)))
            }
        }
    }

    /// Finds the live task of a service, or starts one. The name is unique among live tasks, so that of several commands one
    /// starts it.
    fn start(&self, member: &Member<'_>) -> Result<Found, CommandError> {
        let mut origin = Origin::Started;
        for _ in 0..ATTEMPTS {
            if let Some(task) = self.live(member)? {
                let variables = member.service.env.iter().map(|(name, _)| name.as_str());
                let changes = self.runtime.starts().differences(&member.request, variables, &task.id)?;
                if changes.is_empty() || !self.recreate {
                    return Ok(Found { task, origin: Origin::Running, changes });
                }
                self.end(member, &task.id)?;
                origin = Origin::Recreated;
            }
            let mut request = member.request.clone();
            request.approval =
                self.context.pass_start(self.runtime, &mut request, &member.service.env, "start")?;
            match self.runtime.starts().start(&request) {
                Ok(started) => return Ok(Found { task: started.task, origin, changes: Vec::new() }),
                // Another command was faster.
                Err(error) if error.code() == ErrorCode::NameLive => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(CommandError::conflict("other commands start and end it at the same time", "try again"))
    }

    fn end(&self, member: &Member<'_>, id: &TaskId) -> Result<(), CommandError> {
        self.context.pass_action(self.runtime, "kill", &format!("end {id}"))?;
        let request = KillRequest::term(self.context.requester());
        let ended = self.runtime.live().kill_all(std::slice::from_ref(id), &request).all_done();
        match ended {
            // It may have ended meanwhile.
            Err(error) if self.live(member)?.is_some_and(|task| task.id == *id) => Err(error.into()),
            Ok(_) | Err(_) => Ok(()),
        }
    }

    /// Returns the live task of a service.
    ///
    /// # Errors
    /// When the task with its name is not of this project.
    fn live(&self, member: &Member<'_>) -> Result<Option<Task>, CommandError> {
        let filter = TaskFilter {
            statuses: Status::ALL.into_iter().filter(|status| !status.is_terminal()).collect(),
            name: member.request.name.clone(),
            ..TaskFilter::new(self.scope.clone())
        };
        let Some(task) = self.runtime.tasks().list(&filter)?.tasks.into_iter().next() else {
            return Ok(None);
        };
        if task.batch_id == member.request.batch {
            return Ok(Some(task));
        }
        let of = task.batch_id.as_ref().map_or_else(String::new, |batch| format!(" of {batch}"));
        Err(CommandError::conflict(
            format!("service {}: another live task{of} has this name: {}", member.service.name, task.id),
            format!("end it with mw kill {}, or rename the service", task.id),
        ))
    }

    /// Waits until another service is up, or cannot come up.
    fn wait(&mut self) -> Result<(), CommandError> {
        let starting = |member: &Member<'_>| {
            let found = member.found.as_ref().filter(|_| matches!(member.standing, Standing::Starting))?;
            Some((found.task.id.clone(), member.awaits_readiness()))
        };
        let all: Vec<_> = self.members.iter().filter_map(starting).collect();
        let queued = all.iter().find(|(_, awaits_readiness)| !awaits_readiness).map(|(id, _)| id.clone());
        let request = WaitRequest {
            any: true,
            condition: if queued.is_some() { Condition::Exit } else { Condition::Ready },
            timeout: Some(self.deadline.saturating_duration_since(Instant::now())),
            poll_interval: None,
            tasks: queued.map_or_else(|| all.into_iter().map(|(id, _)| id).collect(), |id| vec![id]),
        };
        let is_ready_awaited = matches!(request.condition, Condition::Ready);
        let reply = self.runtime.reader().wait_with(&request, |tasks| {
            is_ready_awaited || tasks.iter().any(|task| task.status == Status::Pending)
        })?;
        let is_over = Instant::now() >= self.deadline;
        for task in reply.tasks {
            let is_it = |found: &Found| found.task.id == task.id;
            let at = self.members.iter().position(|member| member.found.as_ref().is_some_and(is_it));
            let Some(at) = at else { continue };
            let words = state_words(&task);
            self.see(at, task)?;
            if is_over && matches!(self.members[at].standing, Standing::Starting) {
                let longest =
                    mw_desk::text::duration(self.timeout.as_millis().try_into().unwrap_or(u64::MAX));
                self.settle(at, Standing::Down(format!("not ready after {longest}: {words}")))?;
            }
        }
        Ok(())
    }

    /// Notes the state of a service's task.
    fn see(&mut self, at: usize, task: Task) -> Result<(), CommandError> {
        let standing = self.members[at].standing_of(&task);
        if let Some(found) = &mut self.members[at].found {
            found.task = task;
        }
        self.settle(at, standing)
    }

    /// Notes how far a service is, and says so.
    fn settle(&mut self, at: usize, standing: Standing) -> Result<(), CommandError> {
        let line = standing.line(self.members[at].awaits_readiness());
        self.members[at].standing = standing;
        line.map_or(Ok(()), |line| self.say(at, &line))
    }

    fn say(&self, at: usize, line: &str) -> Result<(), CommandError> {
        if self.context.json {
            return Ok(());
        }
        let widest = self.members.iter().map(|member| member.service.name.len()).max().unwrap_or(0);
        Ok(render::out(&format!("{:widest$}  {line}\n", self.members[at].service.name))?)
    }

    /// Prints the result, and returns the exit code.
    pub(crate) fn conclude(&self) -> CommandResult {
        if self.context.json {
            let of =
                |member: &Member<'_>| member.standing.in_json(&member.service.name, member.found.as_ref());
            render::json(&json!({"services": self.members.iter().map(of).collect::<Vec<_>>()}))?;
        }
        let is_down = |member: &&Member<'_>| !matches!(member.standing, Standing::Up);
        let down: Vec<_> =
            self.members.iter().filter(is_down).map(|member| &member.service.name[..]).collect();
        let Some(first) = down.first() else { return Ok(0) };
        if !self.context.json {
            render::failure(
                &format!("{} of {} services are not up: {}", down.len(), self.members.len(), down.join(", ")),
                &format!(
                    "what runs keeps running; mw output {first} may show why, and mw up starts the rest"
                ),
            );
        }
        Ok(self.refused.unwrap_or(exit_code::FAILURE))
    }
}
