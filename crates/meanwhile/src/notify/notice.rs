//! The content of a notification.

use std::fs;

use mw_model::wire::LOG_FILE;
use mw_model::{Notice, NoticeKind, Status, TaskKind, first_bytes};

use crate::agent::Agents;
use crate::confine::grant_of;
use crate::disk::log_names;
use crate::disk::store::NoticeRow;
use crate::error::Result;
use crate::notify::Notifications;
use crate::outcome::summarize;
use crate::read::output::{ReadFrom, ReadRequest, clean_text};
use crate::read::{Reader, Tasks};
use crate::redact::Redaction;
use crate::task::Task;

/// How much of an agent's answer a notification holds.
const RESULT_BYTES: u64 = 4 << 10;
/// The file that a task may leave in its directory; the notification of its end names it.
const REPORT_FILE: &str = "report.md";
/// How much of a log is searched for the outcome.
const OUTCOME_BYTES: u64 = 64 << 10;

impl Notifications<'_> {
    pub(super) fn notice(&self, row: NoticeRow) -> Result<Notice> {
        let task = self.base.database.stored(&row.task)?;
        let current = task.state.run() == row.run;
        let earlier = || self.base.home.task(&row.task).earlier_run(row.run).join(LOG_FILE);
        let log = if current { log_names::log_of(&self.base.home, &task) } else { earlier() };
        let is_batch = matches!(row.kind, NoticeKind::Batch { .. });
        let outcome = if current && !is_batch { self.outcome(&task) } else { None };
        let is_ending = matches!(row.kind, NoticeKind::Ended { .. });
        let result = match (task.kind == TaskKind::Agent && is_ending)
            .then(|| Agents::on(self.base).agent_record(&row.task))
        {
            Some(record) if !record.turns.is_empty() => record.result_of(row.run).map(first_part),
            Some(_) if current => self.result(&task),
            Some(_) | None => None,
        };
        // The report is next to the log, unless the log has another name.
        let directory = match log.parent() {
            Some(directory) if log.ends_with(LOG_FILE) => directory.to_owned(),
            _ => self.base.home.task(&row.task).to_path_buf(),
        };
        let report = directory.join(REPORT_FILE);
        // A link may lead to a file that does not belong to the task.
        let is_own = || fs::symlink_metadata(&report).is_ok_and(|found| found.is_file());
        let has_report = current && is_ending && is_own();
        let mut notice = Notice {
            report: has_report.then(|| report.to_string_lossy().into_owned()),
            number: row.number,
            handle: task.handle(),
            name: task.name.filter(|_| task.dialect.is_canonical()),
            dialect: Some(task.dialect),
            survivors: if current && is_ending { task.survivors } else { 0 },
            task: row.task,
            run: row.run,
            at: row.at,
            kind: row.kind,
            command: task.command,
            output_path: log.to_string_lossy().into_owned(),
            duration_ms: row.duration_ms,
            outcome,
            result,
        };
        Redaction::on(self.base).redactor(&notice.task).notice(&mut notice);
        Ok(notice)
    }

    /// Returns an agent's answer, cut to the size that a notification may hold.
    fn result(&self, task: &Task) -> Option<String> {
        let request = ReadRequest { max_bytes: RESULT_BYTES, ..ReadRequest::default() };
        let reply = Reader::on(self.base).read_task_shown(task, &request).ok()?;
        let mut text = clean_text(&reply.text());
        if reply.left > 0 {
            text.push_str(&format!("\n[… {} more bytes: read the output file]", reply.left));
        }
        Some(text.trim_end().to_owned()).filter(|text| !text.is_empty())
    }

    /// Returns the outcome that a task's output reports, on one line.
    #[must_use]
    pub fn outcome(&self, task: &Task) -> Option<String> {
        let request = ReadRequest {
            from: ReadFrom::TailBytes(OUTCOME_BYTES),
            max_bytes: OUTCOME_BYTES,
            ..ReadRequest::default()
        };
        self.stopped_by_confinement(task)
            .or_else(|| summarize(&Reader::on(self.base).read_task_shown(task, &request).ok()?.bytes()))
    }

    fn stopped_by_confinement(&self, task: &Task) -> Option<String> {
        if task.status != Status::Failed {
            return None;
        }
        let spec = self.base.home.task(&task.id).spec().ok()?;
        let mut confined = Tasks::on(self.base).confined_of(&task.id, &*grant_of(&spec)?).ok()?;
        confined.refused = Reader::on(self.base).refused(task, &confined);
        confined.advice()
    }
}

/// Cuts an answer to the size that a notification may hold.
fn first_part(text: String) -> String {
    match first_bytes(&text, RESULT_BYTES as usize) {
        (_, 0) => text,
        (head, left) => format!("{head}\n[… {left} more bytes: read the task's output]"),
    }
}
