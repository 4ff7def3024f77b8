//! The rules that no lint can express, one module per rule.

mod layers;
mod ledger;
mod length;
mod manifest;
mod mod_files;
mod platform;
mod purity;
mod rooms;
mod run;
mod sqlite;
mod test_habits;
mod test_names;
mod unsafety;
mod violation;

pub(crate) use run::run;
