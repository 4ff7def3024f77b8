//! A task that does not run the requested command. A test controls its output and its end.
//!
//! Each line of its standard input is printed. `exit N` ends it with that status, and the end of the input ends it
//! with 0. It can be killed like any other task.

use std::path::Path;

use mw_model::{DEFAULT_SHELL, Io, RawText, TaskSpec};

use super::process::{execution, probe_shell};
use super::{Backend, Capabilities, Plan};
use crate::error::{Error, Result};
use crate::request::TaskRequest;
use crate::settings::Settings;

const SCRIPT: &str = r#"
while IFS= read -r line; do
  case $line in
    "exit "*) exit "${line#exit }" ;;
    *) printf '%s\n' "$line" ;;
  esac
done
"#;

pub(super) struct Mock;

impl Backend for Mock {
    fn capabilities(&self) -> Capabilities {
        Capabilities { input: true, ports: true, signals: true, ..Capabilities::LEAST }
    }

    fn check(&self, request: &TaskRequest) -> Result<()> {
        if request.io == Io::Stdin {
            return Ok(());
        }
        Err(Error::invalid(
            "a mock task needs an open standard input, which controls how it ends",
            "use Io::Stdin",
        ))
    }

    fn plan(&self, _: &Path, spec: &TaskSpec, run: u32) -> Result<Plan> {
        let argv = ["mock", "-c", SCRIPT].map(RawText::from).to_vec();
        Ok(Plan::here(execution(spec, run, RawText::from(DEFAULT_SHELL), argv)))
    }

    fn probe(&self, _: &Settings) -> Result<()> {
        probe_shell()
    }
}
