//! `mw tools`: prints the tools that are offered to models.

use clap::{Args, ValueEnum};
use mw_tools::call::Background;
use mw_tools::{Dialect, Format, Toolset, markdown_table};
use serde_json::Value;

use crate::arguments::values::parse_dialect;
use crate::context::Context;
use crate::error::CommandResult;
use crate::render;

#[derive(Args)]
pub(crate) struct Arguments {
    /// The dialect of names, parameters and replies
    #[arg(long, default_value = "canonical", value_parser = parse_dialect)]
    dialect: Dialect,
    /// Output format
    #[arg(long, value_enum, default_value_t = FormatChoice::Mcp)]
    format: FormatChoice,
    /// Print the tools as they are offered when background tasks are disabled
    #[arg(long)]
    no_background: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum FormatChoice {
    Mcp,
    Openai,
    Anthropic,
    /// A table for people
    Markdown,
}

impl Arguments {
    pub(crate) fn run(self, context: &Context) -> CommandResult {
        let background = if self.no_background { Background::Off } else { Background::On };
        let specs = Toolset::of(self.dialect).waiting(context.config.tools.wait_ms).specs(background);
        let form = match self.format {
            FormatChoice::Mcp => Format::Mcp,
            FormatChoice::Openai => Format::OpenAi,
            FormatChoice::Anthropic => Format::Anthropic,
            FormatChoice::Markdown => {
                render::out(&markdown_table(&specs))?;
                return Ok(0);
            }
        };
        let written: Vec<Value> = specs.iter().map(|spec| spec.to_json(form)).collect();
        let text = serde_json::to_string_pretty(&written).map_err(std::io::Error::from)?;
        render::out(&format!("{text}\n"))?;
        Ok(0)
    }
}
