//! The executable `mw-supervisor`, which is installed next to `mw`.
#![no_main]
#![deny(unsafe_code)]

use mw_supervisor::run as begin;

#[expect(unsafe_code, reason = "an entry point is called by the C library")]
#[path = "sys/entry.rs"]
mod entry;
