//! Drivers that run tasks on other machines, in containers and on clusters.
//!
//! ```text
//! task ──▶ supervisor ──▶ driver ──▶ back-end ──▶ ssh, the API of a container engine, or the tools of Slurm
//!  │                        ├─ output      what the command prints there, by offset
//!  ├─ place.json ◀──────────┤              where it runs, and how it ended
//!  └─ place.signals ────────┘              signals to pass on
//! ```
//!
//! A driver may be killed at any moment. The next one reads `place.json`, finds the command where it runs, and goes on
//! with the output at the byte that the log ends with. Nothing is started twice, because every start has a name at the
//! place: the task's id and the number of the run.
//!
//! `far` is what `ssh` and containers that already exist have in common: a small shell script there keeps the output and
//! the exit status of the command.

#![forbid(unsafe_code)]

mod container;
mod driver;
mod error;
mod far;
mod probe;
mod slurm;
mod ssh;

pub use driver::run_driver;
pub use probe::probe;
