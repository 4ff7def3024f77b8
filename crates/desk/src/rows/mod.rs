//! Describes tasks in words, for lists, pages and replies.
//!
//! ```text
//! Task ─▶ state_words, sign, waits ─▶ TaskRow      one line of a list
//!      └▶ facts                                    everything that is known, line by line
//! KillReceipt ─▶ receipt_lines                     what a kill did
//! ```

mod approval;
mod facts;
mod receipt;
mod schedule;
mod state;
mod task_row;

pub use approval::ApprovalRow;
pub use facts::{Fact, facts, notice_facts};
pub use receipt::{KillOutcome, ended_by, receipt_lines};
pub use schedule::next_start;
pub use state::{handle, icon, last_change, sign, state_words, waits, what};
pub use task_row::TaskRow;
