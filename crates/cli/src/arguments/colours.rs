//! The colours of a full screen: by option, setting or terminal.

use std::env;

use clap::ValueEnum;
use mw_ui::ThemeChoice;

use crate::config::Config;

#[derive(Clone, Copy, ValueEnum)]
pub(super) enum Colours {
    Auto,
    Dark,
    Light,
    #[value(name = "16")]
    Basic,
    None,
}

impl Colours {
    /// Chooses the theme: the option, else none if `NO_COLOR` is set, else the setting.
    pub(super) fn theme(asked: Option<Self>, config: &Config) -> ThemeChoice {
        let variable = |name: &str| env::var(name).ok();
        let is_colourless = variable("NO_COLOR").is_some_and(|value| !value.is_empty());
        let set = Self::from_str(&config.theme, false).unwrap_or(Self::Auto);
        match asked {
            None if is_colourless => ThemeChoice::Plain,
            None => set.choice(variable),
            Some(asked) => asked.choice(variable),
        }
    }

    fn choice(self, variable: impl Fn(&str) -> Option<String>) -> ThemeChoice {
        match self {
            Self::Auto => ThemeChoice::detect(variable),
            Self::Dark => ThemeChoice::Dark.within(variable),
            Self::Light => ThemeChoice::Light.within(variable),
            Self::Basic => ThemeChoice::Basic,
            Self::None => ThemeChoice::Plain,
        }
    }
}
