//! Compares a request with a task that is running already.

use std::os::unix::ffi::OsStrExt;

use mw_model::TaskId;

use crate::error::Result;
use crate::request::TaskRequest;
use crate::start::Starts;

impl Starts<'_> {
    /// Returns in which respects a task is not what a request asks for, in words. Of the environment only these variables are
    /// compared, because the rest differs between terminals.
    ///
    /// # Errors
    /// When the task's record cannot be read.
    pub fn differences<'a>(
        &self,
        request: &TaskRequest,
        variables: impl IntoIterator<Item = &'a str>,
        id: &TaskId,
    ) -> Result<Vec<&'static str>> {
        let spec = self.base.home.task(id).spec()?;
        let has_other_variable = variables.into_iter().any(|name| {
            let is_it = |var: &&mw_model::EnvVar| var.name.as_bytes() == name.as_bytes();
            request.env.iter().find(is_it) != spec.env.iter().find(is_it)
        });
        let restart = spec.schedule.as_ref().and_then(|schedule| schedule.restart);
        let found = [
            (spec.command != request.command, "command"),
            (spec.cwd.as_bytes() != request.cwd.as_os_str().as_bytes(), "directory"),
            (has_other_variable, "environment"),
            (restart != request.schedule.restart, "restart"),
            (spec.ready != request.ready, "readiness"),
        ];
        Ok(found.into_iter().filter(|(differs, _)| *differs).map(|(_, what)| what).collect())
    }
}
