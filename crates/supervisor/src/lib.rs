//! The supervisor: starts one command, copies its output, waits, records.
//!
//! It never opens the database and knows no policy. Its whole world is one task directory.
//!
//! ```text
//! mw start ─▶ P0 ─fork─▶ P1 guardian ─fork─▶ P2 supervisor ─fork+exec─▶ the command
//!             exits      sleeps              loop: output, control, signals, timers
//! ```
//!
//! P1 and P2 hold the same descriptors and one shared page (`sys::Board`). Both are child
//! subreapers: when P2 is killed, the command and its tree become children of P1, which runs the same
//! loop from where the files stand. When P1 is killed, P2 goes on alone. When both are, the command feels
//! nothing, because its own ends of the pipes are open for reading too; whoever reconciles next starts
//! an adopter, which is this program again and finds the pipes by their inodes.
//!
//! Three orders make this airtight. Bytes go from pipe to file by `splice`, so none is in our memory
//! when we die. An index entry is written before the bytes it announces. An exit is looked at, then
//! recorded, then reaped.
#![deny(unsafe_code)]

mod boot;
mod clock;
mod control;
mod end;
mod fail_point;
mod files;
mod output;
mod small_file;
mod spawn;
#[expect(unsafe_code, reason = "the one place for system calls without a safe wrapper")]
mod sys;
mod watch;

pub use boot::bootstrap::run;
pub use boot::process_setup::set_up_process;
pub use fail_point::FAIL_POINTS;
