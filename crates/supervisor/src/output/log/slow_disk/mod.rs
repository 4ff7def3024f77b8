//! A slow disk: another process waits for it.
//!
//! The supervisor has one thread, so it does nothing else during a write. If one write takes long, it forks a
//! *writer*: a process with the same log, fed through two pipes. The supervisor then only moves bytes from pipe to
//! pipe, which neither blocks nor copies. If the writer does not keep up, output is dropped and counted until it
//! does, so that the gap is marked in its place. When the disk was fast for a while, the writer ends.
//!
//! | Killed | What happens |
//! |---|---|
//! | the writer | the supervisor has its pipes open, too, and continues at the end of the log |
//! | the supervisor | the writer writes what is in its pipes and ends; then the guardian continues |
//! | both of these | the guardian counts what is missing: the shared page says how much was read |
//!
//! `supervisor_side` is what the supervisor does, `writer` what the writer does.

mod supervisor_side;
mod writer;

pub(super) use supervisor_side::Writer;
