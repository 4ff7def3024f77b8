//! The supervisor: starts one command, copies its output, waits for its end, and records it.
//!
//! It never opens the database and knows no policy. It works in one task directory.
//!
//! ```text
//! mw start ─▶ P0 ─fork─▶ P1 guardian ─fork─▶ P2 supervisor ─fork+exec─▶ the command
//!             exits      sleeps              loop: output, control, signals, timers
//! ```
//!
//! P1 and P2 have the same descriptors and one shared page (`sys::Board`). Both are child subreapers: if P2 is
//! killed, the command and its tree become children of P1, which runs the same loop from the state on disk. If P1 is
//! killed, P2 continues alone. If both are killed, the command is not affected, because its own ends of the pipes are
//! also open for reading. The next client starts an adopter, which is this program, too, and finds the pipes by their
//! inodes.
//!
//! No kill loses anything, for three reasons. Bytes move from pipe to file by `splice` or through a mapped file
//! (`output::log::buffer`), so that none is only in our memory. An index entry is written before its bytes. An exit is
//! observed, recorded and only then reaped.
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
pub use boot::fork_server::fork_guardian;
pub use boot::process_setup::set_up_process;
pub use fail_point::FAIL_POINTS;
pub use sys::{
    Arena, BUILD, arguments, give_back_memory, restore_time_slice, set_arguments, shorten_time_slice,
};
