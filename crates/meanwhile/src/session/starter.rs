//! Sessions by the program that started their hosts.

use std::fs;
use std::path::PathBuf;

use crate::disk::platform;
use crate::disk::session_dir::lease;
use crate::disk::store::SessionInfo;
use crate::error::Result;
use crate::session::Sessions;

impl Sessions<'_> {
    /// Returns the sessions with tasks whose hosts or servers were started by the same program as the process `pid`.
    /// An agent's server and its hooks have this program in common, even if everything else differs.
    ///
    /// # Errors
    /// When the database fails. It is not opened if there is no such process.
    pub fn served_beside(&self, pid: u32) -> Result<Vec<String>> {
        let Some(starter) = platform::starter_of(pid) else { return Ok(Vec::new()) };
        let is_beside = |directory: &PathBuf| {
            lease::holders(directory).into_iter().any(|(_, host)| platform::starter_of(host) == Some(starter))
        };
        let directories = fs::read_dir(self.base.home.sessions()).into_iter().flatten().flatten();
        let beside: Vec<_> = directories.map(|entry| entry.path()).filter(is_beside).collect();
        if beside.is_empty() {
            return Ok(Vec::new());
        }
        let hosted = |session: &SessionInfo| {
            beside.iter().any(|path| path == self.base.home.session(&session.id).path())
        };
        Ok(self.list()?.into_iter().filter(hosted).map(|session| session.id).collect())
    }

    /// Returns the program that started a process, past any shells; `None` if that cannot be determined.
    #[must_use]
    pub fn program_above(&self, pid: u32) -> Option<u32> {
        platform::starter_of(pid)
    }
}
