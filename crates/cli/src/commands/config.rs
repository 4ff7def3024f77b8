//! `mw config`: every setting, its value, where it came from.

use clap::Args;
use serde_json::json;

use crate::config::{KNOBS, config_file};
use crate::context::Context;
use crate::error::CommandResult;
use crate::render;

#[derive(Args)]
pub(crate) struct Arguments {}

impl Arguments {
    pub(crate) fn run(self, context: &Context) -> CommandResult {
        let config = &context.config;
        let home = config.settings.home.display().to_string();
        let file = config_file().map(|path| path.display().to_string());
        if context.json {
            let settings: Vec<_> = KNOBS
                .iter()
                .map(|knob| {
                    json!({"name": knob.name, "value": knob.value(config), "source": config.source(knob).to_string(),
                           "variable": knob.variable(), "help": knob.help})
                })
                .collect();
            render::out(&format!("{}\n", json!({"home": home, "file": file, "settings": settings})))?;
            return Ok(0);
        }
        let mut text = format!("home  {home}\nfile  {}\n\n", file.unwrap_or_else(|| "none".to_owned()));
        for knob in &KNOBS {
            let value = knob.value(config).replace('\n', " ");
            let value = mw_ui::shortened(&value, 40);
            text.push_str(&format!(
                "{:<24} {value:<12} ({}; {})\n",
                knob.name,
                config.source(knob),
                knob.variable()
            ));
        }
        render::out(&text)?;
        Ok(0)
    }
}
