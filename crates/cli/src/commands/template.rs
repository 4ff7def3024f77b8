//! `mw template`: saves the options and the command of a start under a name, and starts them.

use clap::{Args, Subcommand};
use serde_json::json;

use crate::approval;
use crate::context::{Context, Needs};
use crate::error::{CommandError, CommandResult};
use crate::render;
use crate::templates::{Template, Templates};

#[derive(Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// Save the options and the command of a start
    Save {
        /// The name of the template
        #[arg(value_name = "NAME")]
        template: String,
        /// Replace the template of that name
        #[arg(long)]
        replace: bool,
        /// What follows `mw start`: options, then a script or a program
        #[arg(required = true, last = true, value_name = "OPTIONS AND COMMAND")]
        words: Vec<String>,
    },
    /// Start a template
    Run {
        /// The name of the template
        #[arg(value_name = "NAME")]
        template: String,
        /// More options of `mw start`; they replace those of the template
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "OPTIONS")]
        options: Vec<String>,
    },
    /// List the templates
    List,
    /// Show the command line of a template
    Show {
        /// The name of the template
        #[arg(value_name = "NAME")]
        template: String,
    },
    /// Remove a template
    Remove {
        /// The name of the template
        #[arg(value_name = "NAME")]
        template: String,
    },
}

impl Arguments {
    pub(crate) fn run(self, context: &Context) -> CommandResult {
        let templates = Templates::of(&context.config)?;
        match self.what {
            What::Save { template: name, replace, words } => {
                refuse_inside(context)?;
                let template = Template::new(&words)?;
                template.start(&[])?.1.check(context)?;
                templates.save(&name, &template, replace)?;
                let file = template.in_json(&name, &context.config);
                context.show(&file, || format!("saved; mw template run {name} starts it\n"))
            }
            What::Run { template: name, mut options } => {
                let template = templates.read(&name)?;
                options.extend(context.json.then(|| "--json".to_owned()));
                let (json, start) = template.start(&options)?;
                if !json {
                    // Whoever saved it, the caller sees what runs.
                    render::note(&format!("template {name}: {}", template.line(&context.config)));
                }
                if json && !context.json {
                    return start.run(&Context::load(true, Needs::Settings)?);
                }
                start.run(context)
            }
            What::List => list(context, &templates),
            What::Show { template: name } => {
                let template = templates.read(&name)?;
                let shown = template.in_json(&name, &context.config);
                context.show(&shown, || format!("{}\n", template.line(&context.config)))
            }
            What::Remove { template: name } => {
                refuse_inside(context)?;
                templates.remove(&name)?;
                context.show(&json!({"removed": name}), || format!("removed {name}\n"))
            }
        }
    }
}

fn list(context: &Context, templates: &Templates) -> CommandResult {
    let mut found = Vec::new();
    for name in templates.names()? {
        match templates.read(&name) {
            Ok(template) => found.push((name, template)),
            Err(error) => render::warning(&error.message, &error.hint),
        }
    }
    let config = &context.config;
    let all: Vec<_> = found.iter().map(|(name, template)| template.in_json(name, config)).collect();
    context.show(&json!({"templates": all}), || {
        if found.is_empty() {
            return "no templates; mw template save NAME -- COMMAND saves one\n".to_owned();
        }
        let width = found.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
        found.iter().map(|(name, template)| format!("{name:width$}  {}\n", template.line(config))).collect()
    })
}

/// Only the user changes templates, because a person starts them by their names alone. They apply to all homes, so a task of
/// any home counts.
fn refuse_inside(context: &Context) -> Result<(), CommandError> {
    if context.gated_session().is_none() && !approval::is_below_any_task() {
        return Ok(());
    }
    Err(CommandError::usage(
        "only the user can change templates",
        "run it in a terminal without MEANWHILE_SESSION, outside of every task",
    ))
}
