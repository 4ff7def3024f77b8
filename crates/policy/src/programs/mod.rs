//! What programs do with their arguments: one file per family, listed in `families`.
//!
//! Unknown programs are asked about, and so are unknown options of programs whose options can write files, run commands
//! or send data.

mod always_ask;
mod archives;
mod awk;
mod builds;
mod builds_table;
mod builtins;
mod call;
mod copies;
mod curl;
mod families;
mod filters;
mod find;
mod git;
mod interpreters;
mod network;
mod options;
mod packages;
mod project_code;
mod reads;
mod scripts;
mod searches;
mod sed;
mod services;
mod wrappers;
mod writes;

use call::Call;
