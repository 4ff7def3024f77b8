//! Settings: their sources, accepted values and precedence.
//!
//! From lowest to highest precedence: built-in default, profile, user file, project file, environment, and the option of a
//! command. A project file comes from the author of the project, so it may make a setting stricter but never looser.
//!
//! The list is in `settings.rs`; the default file, `mw config` and the reference are made from it. `docs/architecture.md`
//! ("Where to add things") has the steps for a new setting.
//!
//! Every command loads the settings, so an absent file or setting must cost almost nothing: a file that does not exist is
//! one failed open, and neither the settings nor a profile are read before something is set.

mod accepts;
mod agents;
mod backends;
pub(crate) mod call_settings;
mod default_file;
mod definition;
mod edit;
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
pub(crate) use places::project_text;
pub(crate) use rules::by_session_policy;
pub(crate) use settings::{THEMES, settings};
pub(crate) use source::shown;
