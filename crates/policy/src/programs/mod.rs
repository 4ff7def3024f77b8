//! What programs do with their arguments: one file per family, listed in `families`.
//!
//! Unknown programs need approval, and so do unknown options of programs whose options can write files, run commands
//! or send data.

mod always_ask;
mod archives;
mod awk;
mod builds;
mod builds_table;
mod builtins;
mod call;
mod confined;
mod copies;
mod curl;
mod disposable;
mod ecosystems;
mod families;
mod filters;
mod find;
mod git;
mod git_changes;
mod interpreters;
mod loopback;
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
