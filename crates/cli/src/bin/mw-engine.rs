//! The commands of the engine. `mw` replaces itself with this program. It leaves the large commands to `mw-surfaces`.
#![no_main]
#![deny(unsafe_code)]

use mw_cli::engine as begin;

#[expect(unsafe_code, reason = "an entry point is called by the C library")]
#[path = "../../../supervisor/src/sys/entry.rs"]
mod entry;
