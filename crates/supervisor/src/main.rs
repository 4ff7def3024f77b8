//! The supervisor alone, for targets on which the rest is not built. `cargo xtask install` installs it as `mw-supervisor`.
#![no_main]
#![deny(unsafe_code)]

use mw_supervisor::run as begin;

#[expect(unsafe_code, reason = "an entry point is called by the C library")]
#[path = "sys/entry.rs"]
mod entry;
