//! Notices on their way: closed when they have arrived, handed out again when they have not.

use mw_model::{News, Notice, TaskId, Timestamp, Turn};

use super::host::Host;
use crate::base::Base;
use crate::disk::store::ordinal;
use crate::disk::task_dir::ToldNews;
use crate::error::Result;
use crate::fail_point::fail_point;

/// Notices on their way to a model. Dropped, they wait for the next drain.
pub struct Delivery<'host> {
    host: &'host Host<'host>,
    notices: Vec<Notice>,
    is_open: bool,
}

impl<'host> Delivery<'host> {
    pub(crate) const fn new(host: &'host Host<'host>, notices: Vec<Notice>) -> Self {
        Self { host, notices, is_open: true }
    }
}

impl Delivery<'_> {
    /// Returns the notices.
    #[must_use]
    pub fn notices(&self) -> &[Notice] {
        &self.notices
    }

    /// Keeps the first of them and leaves the others to the next drain, for a reply that has room for no more.
    ///
    /// # Errors
    /// When the database fails; all are handed over again then.
    pub fn keep(&mut self, most: usize) -> Result<()> {
        let numbers: Vec<_> = self.notices.iter().skip(most).map(|notice| notice.number).collect();
        if !numbers.is_empty() {
            self.host.take_back(&numbers)?;
            self.notices.truncate(most);
        }
        Ok(())
    }

    /// Leaves these to the next drain, because somebody else tells them.
    ///
    /// # Errors
    /// When the database fails; they are handed over again when this host has gone then.
    pub fn leave(&mut self, numbers: &[i64]) -> Result<()> {
        self.notices.retain(|notice| !numbers.contains(&notice.number));
        self.host.take_back(numbers)
    }

    /// Closes them: whoever they are for has them.
    ///
    /// # Errors
    /// When the database fails; they are handed over again then.
    pub fn acknowledge(mut self) -> Result<()> {
        self.close(None)
    }

    /// Stores the message that carries them, and closes them with it.
    ///
    /// # Errors
    /// When the database fails; neither has happened then.
    pub fn store(mut self, text: &str) -> Result<Turn> {
        let turn = Turn::with_notices(&self.notices, text);
        self.close(Some(&turn))?;
        Ok(turn)
    }

    /// Hands them out one by one; each is closed or given back by itself.
    pub(crate) fn into_notices(mut self) -> Vec<Notice> {
        self.is_open = false;
        std::mem::take(&mut self.notices)
    }

    fn numbers(&self) -> Vec<i64> {
        self.notices.iter().map(|notice| notice.number).collect()
    }

    fn close(&mut self, turn: Option<&Turn>) -> Result<()> {
        if self.notices.is_empty() && turn.is_none() {
            return Ok(());
        }
        let base = self.host.base;
        fail_point("notices-told");
        base.transact(|transaction| {
            transaction.acknowledge(&self.numbers(), self.host.lease.token())?;
            if let Some(turn) = turn {
                transaction.add_turn(&self.host.session, turn)?;
            }
            Ok(())
        })?;
        self.is_open = false;
        fail_point("notices-acknowledged");
        for Notice { task, run, news, at, .. } in &self.notices {
            mark_told(base, task, *run, news, *at);
        }
        Ok(())
    }
}

/// Notes in the task's directory that its owner was told, for a database that is rebuilt.
pub(super) fn mark_told(base: &Base, task: &TaskId, run: u32, news: &News, at: Timestamp) {
    match news {
        News::Ended { .. } => base.home.task(task).mark_told(run),
        News::Stalled { .. } | News::Ready { .. } | News::Batch { .. } => {
            let (kind, ordinal) = (news.kind().to_owned(), ordinal(news, at));
            base.home.task(task).mark_news_told(&ToldNews { kind, run, ordinal });
        }
    }
}

impl Drop for Delivery<'_> {
    fn drop(&mut self) {
        if !self.is_open || self.notices.is_empty() {
            return;
        }
        // What cannot be taken back now is when this host is gone.
        let _ = self.host.take_back(&self.numbers());
    }
}
