//! The rules that no lint can express, one module per rule.

mod drawing;
mod fail_points;
mod layers;
mod ledger;
mod length;
mod library_layers;
mod manifest;
mod mod_files;
mod module_docs;
mod one_form;
mod page_facts;
mod page_paths;
mod platform;
mod purity;
mod run;
mod sqlite;
mod test_habits;
mod test_names;
mod unsafety;
mod violation;

pub(crate) use run::run;
