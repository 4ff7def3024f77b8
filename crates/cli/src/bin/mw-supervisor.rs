//! The supervisor as a separate executable, installed beside `mw`.
#![no_main]
#![deny(unsafe_code)]

use mw_supervisor::run as begin;

#[expect(unsafe_code, reason = "an entry point is called by the C library")]
#[path = "../../../supervisor/src/sys/entry.rs"]
mod entry;
