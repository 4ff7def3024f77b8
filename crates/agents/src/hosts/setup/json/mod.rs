//! Edits JSON files without changing any other byte.
//!
//! An entry is inserted at the front of an object or array, in one piece. Its layout shows what was there before, so it
//! can be removed again without any other record:
//!
//! | before | added | removed |
//! |---|---|---|
//! | others, on lines | on lines of its own | those lines |
//! | others, on one line | on that line | up to the next |
//! | empty | on one line, the only one | the line; the container stays |
//! | no container | the container with it, on lines (`{ … }` within one line) | the container too |

mod edit;
mod splice;

pub(in crate::hosts) use edit::Syntax;
pub(super) use edit::{Spot, add, command, take_out};
