//! What a script means: how it is parsed, and the value of every word.
//!
//! ```text
//! text ─▶ parser_limits ─▶ parser ─▶ syntax ─▶ simple ─▶ word          a command after quotes, braces and variables
//!                                       │         └────▶ variables     assignments that change what programs do
//!                                       └─▶ calculations               tests and arithmetic
//! ```
//!
//! `steps` splits a script for people.

pub(crate) mod calculations;
pub(crate) mod parser_limits;
pub(crate) mod simple;
pub(crate) mod steps;
pub(crate) mod syntax;
pub(crate) mod variables;
pub(crate) mod word;
