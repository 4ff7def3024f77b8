//! An agent loop that offers a model our tools and one of its own, without async and without a protocol.
//!
//! `cargo run -p mw-tools --example tool_set -- SESSION` reads the calls of a model from standard input, one a line:
//! `bash {"command": "make"}`. It prints what the model reads: notifications of tasks that have ended, then the reply.
use std::os::unix::ffi::OsStrExt;

use meanwhile::model::EnvVar;
use meanwhile::{IfRunning, Meanwhile, Session, Shell};
use mw_tools::call::{CallContext, CallSettings, PatientCaller, Reply};
use mw_tools::{CustomTool, Dialect, ToolClass, ToolSpec, Toolset};
use serde_json::json;

/// A tool that starts the checks of the project in the background, unless they run already.
fn verify(session: Session) -> CustomTool {
    let spec = ToolSpec {
        name: "verify".to_owned(),
        title: "Verify".to_owned(),
        description: "Starts the checks of the project. A notification follows when they have ended."
            .to_owned(),
        input_schema: json!({"type": "object", "properties": {}}),
        output_schema: None,
        class: Some(ToolClass::Starts),
    };
    let start = move || -> meanwhile::Result<String> {
        let checks = Shell::new("./verify.sh").name("verify").if_running(IfRunning::Return);
        let task = session.start(checks)?;
        Ok(format!("The checks run as {}.", task.id()))
    };
    let failure = |error: meanwhile::Error| Reply::failure(error.to_string(), json!({}));
    let run =
        move |_: &_, _: &CallContext<'_>| start().map_or_else(failure, |text| Reply::new(text, json!({})));
    CustomTool { spec, run: Box::new(run) }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let name = std::env::args().nth(1).ok_or("usage: tool_set SESSION")?;
    let session = Meanwhile::open_default()?.host(&name)?;
    // Our tools without one, a second name for the shell, and a tool of this agent's own.
    let tools = Toolset::of(Dialect::Canonical).without("task_clear")?.with_alias("bash", "shell")?;
    let tools = tools.with(verify(session.clone()))?;
    let env = std::env::vars_os()
        .map(|(name, value)| EnvVar { name: name.as_bytes().into(), value: value.as_bytes().into() });
    let call_settings = CallSettings::new(session.name(), std::env::current_dir()?, env.collect());
    for line in std::io::stdin().lines() {
        let line = line?;
        for notice in session.notices()? {
            println!("{}", notice.to_block());
            notice.acknowledge()?;
        }
        let (name, given) = line.split_once(' ').unwrap_or((&line, "{}"));
        let given = serde_json::from_str(given)?;
        match tools.call_in(&session, &call_settings, &PatientCaller, name, &given)? {
            Some(reply) => {
                println!("{}", reply.text);
                // No notification repeats what the reply reports.
                session.acknowledge_ends(&reply.reported)?;
            }
            None => println!("There is no tool {name}."),
        }
    }
    Ok(())
}
