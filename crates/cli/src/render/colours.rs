//! The colours of what has the whole screen: as asked for, as set, or as the terminal says.

use std::env;

use clap::ValueEnum;
use mw_ui::ThemeChoice;

use crate::config::Config;

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum Colours {
    Auto,
    Dark,
    Light,
    #[value(name = "16")]
    Basic,
    None,
}

impl Colours {
    /// Chooses: what this call asks for, else what is set, which yields to `NO_COLOR`.
    pub(crate) fn theme(asked: Option<Self>, config: &Config) -> ThemeChoice {
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
