//! The default file: every setting with its default.

use std::fmt::Write;

use super::definition::Setting;
use super::load::Config;
use super::places::PROJECT_FILE;
use super::profile::PROFILES;
use super::settings::settings;

/// Returns a settings file with all defaults as comments.
pub(crate) fn default_file() -> String {
    let config = Config::neutral();
    let mut text = format!(
        "\
# All settings of mw with their defaults. Remove the # from a line to change a setting.
#
# This is the user file: the path in MEANWHILE_CONFIG, else $XDG_CONFIG_HOME/meanwhile/config.toml, else
# ~/.config/meanwhile/config.toml. Later sources override earlier ones: default, profile, user file, project file,
# environment variable, option. A project file is {PROJECT_FILE} in the current directory or above; it can only make
# settings stricter.
"
    );
    let mut section = "";
    for setting in settings() {
        let (own, key) = setting.section_and_key();
        text.push('\n');
        if own != section {
            let _ = writeln!(text, "[{own}]");
            section = own;
        }
        describe(&mut text, setting);
        let value = setting.accepts.toml(&(setting.get)(&config));
        for line in format!("{key} = {value}").lines() {
            let _ = writeln!(text, "#{line}");
        }
    }
    text
}

/// Describes a setting, its values, and what profiles change.
fn describe(text: &mut String, setting: &Setting) {
    let accepts = setting.accepts.to_string();
    let _ = writeln!(text, "# {}.", capitalised(setting.help));
    let _ = writeln!(text, "# Takes {accepts}.");
    let _ = writeln!(text, "# Variable {}; {}.", setting.variable(), setting.in_project.rule());
    for profile in &PROFILES {
        let own = profile.values.iter().find(|(name, _)| *name == setting.name);
        let value = own.map(|(_, value)| format!("the default is {value}"));
        let names = profile.aliases.iter().filter(|alias| alias.setting == setting.name).map(|alias| {
            let variable = alias.variable.map_or_else(String::new, |name| format!(" and {name}"));
            let range = Some(alias.accepts.to_string()).filter(|range| *range != accepts);
            let range = range.map_or_else(String::new, |range| format!(" ({range})"));
            format!("also called {}{variable}{range}", alias.name)
        });
        let parts: Vec<_> = value.into_iter().chain(names).collect();
        if !parts.is_empty() {
            let _ = writeln!(text, "# Profile {}: {}.", profile.name(), parts.join("; "));
        }
    }
}

fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}
