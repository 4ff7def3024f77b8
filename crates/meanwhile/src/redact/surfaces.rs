//! The records that front ends show, with secrets hidden.

use std::collections::HashMap;

use mw_model::wire::KillReceipt;
use mw_model::{Cause, Event, Notice, NoticeKind, TaskId};
use serde_json::Value;

use super::Redactor;
use crate::base::Directories;
use crate::disk::store::TaskEvent;
use crate::redact::Redaction;
use crate::span;
use crate::span::{FACTS, Span};
use crate::task::Task;

impl Redactor {
    fn hide(&self, text: &mut String) {
        if let std::borrow::Cow::Owned(shown) = self.text(text) {
            *text = shown;
        }
    }

    /// Hides the secrets in a task's record.
    pub fn task(&self, task: &mut Task) {
        self.hide(&mut task.command);
        let is_own_words = self.is_blind() && !matches!(task.cause_value(), Some(Cause::SpawnFailed { .. }));
        let progress = task.progress.as_mut().and_then(|progress| progress.text.as_mut());
        let cause = if is_own_words { None } else { task.cause.as_mut() };
        let texts = [
            task.description.as_mut(),
            cause,
            task.parent_message.as_mut(),
            progress,
            task.waiting_for.as_mut(),
            task.place_state.as_mut().and_then(|state| state.note.as_mut()),
        ];
        texts.into_iter().flatten().for_each(|text| self.hide(text));
        let Some(agent) = &mut task.agent else { return };
        let activity = &mut agent.activity;
        let said = agent.answer.iter_mut().chain(&mut agent.error).chain(&mut activity.waiting);
        let titles = activity.recent_tools.iter_mut().map(|tool| &mut tool.title);
        let steps = activity.plan.iter_mut().map(|step| &mut step.content);
        said.chain(titles).chain(steps).for_each(|text| self.hide(text));
    }

    /// Hides the secrets in an event.
    pub fn event(&self, event: &mut Event) {
        if let Some(text) = words_of(event) {
            self.hide(text);
        }
    }

    pub(crate) fn notice(&self, notice: &mut Notice) {
        self.hide(&mut notice.command);
        notice.outcome.iter_mut().chain(&mut notice.result).for_each(|text| self.hide(text));
        match &mut notice.kind {
            NoticeKind::Ended { cause } => words_of_cause(cause).into_iter().for_each(|text| self.hide(text)),
            NoticeKind::Stalled { prompt: text } | NoticeKind::Ready { what: text } => self.hide(text),
            NoticeKind::Batch { .. } => {}
        }
    }

    pub(crate) fn receipt(&self, receipt: &mut KillReceipt) {
        receipt.survivors.iter_mut().for_each(|process| self.hide(&mut process.command));
    }
}

/// Returns the text in an event that comes from a task.
fn words_of(event: &mut Event) -> Option<&mut String> {
    match event {
        Event::Ended { cause, .. } => words_of_cause(cause),
        Event::Stalled { prompt: text } | Event::Ready { what: text, .. } => Some(text),
        Event::Progress { progress } => progress.text.as_mut(),
        Event::Reserved { .. }
        | Event::Released
        | Event::Started { .. }
        | Event::KillRequested { .. }
        | Event::Requeued { .. }
        | Event::MovedToBackground { .. }
        | Event::Reassigned { .. }
        | Event::TreeEmpty => None,
    }
}

fn words_of_cause(cause: &mut Cause) -> Option<&mut String> {
    match cause {
        Cause::SpawnFailed { message } => Some(message),
        Cause::Exited { .. }
        | Cause::Signaled { .. }
        | Cause::Cancelled { .. }
        | Cause::TimedOut { .. }
        | Cause::LimitReached { .. }
        | Cause::Lost { .. }
        | Cause::Skipped { .. } => None,
    }
}

impl Directories {
    /// Returns the redactor of a task. If the task's spec cannot be read, whole texts are hidden.
    pub(crate) fn redactor(&self, id: &TaskId) -> Redactor {
        let settings = &self.settings.redact;
        let environment =
            if settings.enabled { self.home.task(id).secret_variables() } else { Some(Vec::new()) };
        environment.map_or_else(|| Redactor::blind(settings), |known| Redactor::new(settings, &known))
    }

    /// Returns the name of a task as it is shown.
    #[must_use]
    pub fn shown_name(&self, id: &TaskId) -> Option<String> {
        let name = self.home.task(id).spec().ok()?.name?;
        Some(self.redactor(id).text(&name).into_owned())
    }
}

impl Redaction<'_> {
    /// Returns the redactor of a task. If the task's spec cannot be read, whole texts are hidden.
    #[must_use]
    pub fn redactor(&self, id: &TaskId) -> Redactor {
        self.base.redactor(id)
    }

    pub(crate) fn without_secrets(&self, mut task: Task) -> Task {
        self.redactor(&task.id).task(&mut task);
        task
    }

    /// Hides secrets in all texts of spans.
    pub(crate) fn spans_without_secrets(&self, mut spans: Vec<Span>) -> Vec<Span> {
        let mut redactors = HashMap::new();
        for span in &mut spans {
            let redactor = redactors.entry(span.task.clone()).or_insert_with(|| match &span.task {
                Some(task) => self.redactor(task),
                None => Redactor::new(&self.base.settings.redact, &[]),
            });
            span.error.iter_mut().for_each(|error| redactor.hide(error));
            for (name, value) in &mut span.attributes {
                let is_fact = redactor.is_blind() && FACTS.contains(&name.as_str());
                if let Value::String(text) = value
                    && !is_fact
                {
                    redactor.hide(text);
                    // After hiding, because part of a secret is not recognised.
                    span::cap(text);
                }
            }
        }
        spans
    }

    pub(crate) fn events_without_secrets(&self, mut rows: Vec<TaskEvent>) -> Vec<TaskEvent> {
        let mut redactors = HashMap::new();
        for row in &mut rows {
            if let Some(text) = words_of(&mut row.event) {
                let redactor = redactors.entry(row.task.clone()).or_insert_with(|| self.redactor(&row.task));
                redactor.hide(text);
            }
        }
        rows
    }
}
