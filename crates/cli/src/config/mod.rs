//! Settings: their sources, accepted values and precedence.
//!
//! From lowest to highest precedence: built-in default, profile, user file, project file, environment, and the option of a
//! command. A project file comes from the author of the project, so it may make a setting stricter but never looser.
//!
//! A new setting is one entry in `settings.rs`, the names that profiles have for it in `profile.rs`, and a test
//! that it takes effect. The default file, `mw config` and the reference are made from those.
//!
//! Every command loads the settings, so what is not there must cost nothing: a file that does not exist is one
//! failed open, and neither the settings nor a profile are read before something is set.

mod accepts;
mod agents;
pub(crate) mod call_settings;
mod default_file;
mod definition;
mod field;
mod file;
mod layers;
mod load;
mod model;
mod places;
mod profile;
mod rules;
mod settings;
mod source;
mod suggest;
mod values;

pub(crate) use default_file::default_file;
pub(crate) use field::at_capacity;
pub(crate) use load::Config;
pub(crate) use rules::by_session_policy;
pub(crate) use settings::{THEMES, settings};
pub(crate) use source::shown;
