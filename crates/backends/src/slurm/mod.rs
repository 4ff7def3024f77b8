//! Tasks as jobs of a Slurm cluster, with its command line tools.
//!
//! ```text
//! driver ──▶ sbatch ──▶ Slurm ──▶ node.sh on a node ──▶ the command
//!   │ ▲                              │ stdout, stderr, status, lease
//!   │ └──── the shared directory ◀───┘
//!   └─ watch: one squeue for all drivers of a back-end
//! ```
//!
//! `submit` submits the job of a run once, and `backend` follows it to its end. `shared` is the directory that this machine and the nodes
//! share; `node.sh` keeps the output and the wait status there. `tools` executes Slurm's programs, `watch` shares what they
//! say about all jobs, and `verdict` decides what an end means. `probe` checks
//! the cluster.

mod backend;
mod probe;
mod shared;
mod submit;
mod tools;
mod verdict;
mod watch;

pub(crate) use backend::SlurmBackend;
pub(crate) use probe::probe;
