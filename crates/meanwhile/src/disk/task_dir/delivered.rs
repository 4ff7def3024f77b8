//! Notifications that were delivered to a task's owner, for a rebuilt database. Best effort: a delivery that is not
//! recorded is repeated.

use std::io::Write;

use mw_model::wire::{TOLD_FILE, TOLD_NEWS_FILE};
use rustix::fs::OFlags;

use super::TaskDir;
use crate::disk::optional_file::read;
use crate::error::Result;

/// A delivered notification, as the ledger distinguishes it from others of the same task.
pub(crate) struct DeliveredNotice {
    pub(crate) kind: String,
    pub(crate) run: u32,
    pub(crate) ordinal: u64,
}

impl TaskDir<'_> {
    /// Records that a run's end was delivered to the owner, for a rebuilt database. Best effort.
    pub(crate) fn mark_delivered(&self, run: u32) {
        let _ = self.replace(TOLD_FILE, run.to_string().as_bytes());
    }

    /// Records that another notification was delivered to the owner. Best effort.
    pub(crate) fn mark_news_delivered(&self, news: &DeliveredNotice) {
        let line = format!("{} {} {}\n", news.kind, news.run, news.ordinal);
        let _ = self
            .open_file(TOLD_NEWS_FILE, OFlags::APPEND)
            .and_then(|mut file| file.write_all(line.as_bytes()));
    }

    /// Returns the last run whose end was delivered to the owner.
    pub(crate) fn delivered_run(&self) -> Result<Option<u32>> {
        let text = read(&self.path.join(TOLD_FILE))?;
        Ok(text.and_then(|text| String::from_utf8(text).ok()?.parse().ok()))
    }

    /// Returns the other notifications that were delivered to the owner. Incomplete lines are skipped.
    pub(crate) fn delivered_news(&self) -> Result<Vec<DeliveredNotice>> {
        let text = read(&self.path.join(TOLD_NEWS_FILE))?.unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let lines = text.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n'));
        let parse = |line: &str| {
            let mut words = line.split(' ');
            let kind = words.next()?.to_owned();
            Some(DeliveredNotice {
                kind,
                run: words.next()?.parse().ok()?,
                ordinal: words.next()?.parse().ok()?,
            })
        };
        Ok(lines.filter_map(parse).collect())
    }
}
