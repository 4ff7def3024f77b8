//! `mw`: the common forms of the most frequent commands. Everything else it leaves to `mw-engine`, so that it stays small
//! and starts fast.
#![no_main]
#![deny(unsafe_code)]

use mw_cli::mw as begin;

#[expect(unsafe_code, reason = "an entry point is called by the C library")]
#[path = "../../supervisor/src/sys/entry.rs"]
mod entry;
