//! Requests from outside.
//!
//! `socket` accepts one JSON line and returns one; `requests` answers them.

pub(crate) mod requests;
pub(crate) mod socket;
