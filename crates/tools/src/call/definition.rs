//! The definition of a tool: name, description, parameters and the function that runs it.

use mw_policy::Tool;
use serde_json::{Map, Value, json};

use super::context::CallContext;
use super::parameter::{Arguments, Offered, Parameter};
use super::premises::Background;
use super::refusal::Refusal;
use super::reply::Reply;

/// A tool of a dialect: its description, and the function that runs a call.
#[derive(Debug)]
pub struct ToolDefinition {
    /// Its name and class.
    pub tool: Tool,
    /// A title for people.
    pub title: &'static str,
    /// The description for models. `{wait}` is replaced by the default timeout of a wait.
    pub about: &'static str,
    /// The additional description if background tasks are allowed.
    pub about_background: &'static str,
    /// Its parameters.
    pub parameters: &'static [Parameter],
    /// When it is offered.
    pub offered: Offered,
    /// The properties of its structured reply.
    pub reply: &'static [Field],
    /// Runs a call.
    pub run: fn(&Arguments, &CallContext<'_>) -> Result<Reply, Refusal>,
}

/// A property of a structured reply.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// Its name.
    pub name: &'static str,
    /// The JSON type, or two with a bar between them.
    pub kind: &'static str,
}

impl Field {
    /// A property.
    #[must_use]
    pub const fn new(name: &'static str, kind: &'static str) -> Self {
        Self { name, kind }
    }
}

impl ToolDefinition {
    /// Returns the description for models.
    #[must_use]
    pub fn description(&self, background: Background, wait_ms: u64) -> String {
        let text = match background {
            Background::On if !self.about_background.is_empty() => {
                format!("{}\n\n{}", self.about, self.about_background)
            }
            Background::On | Background::Off => self.about.to_owned(),
        };
        text.replace("{wait}", &wait_ms.to_string())
    }

    /// Returns whether it is offered.
    #[must_use]
    pub fn is_offered(&self, background: Background) -> bool {
        is_offered(self.offered, background)
    }

    /// Returns the JSON schema of its arguments.
    #[must_use]
    pub fn input_schema(&self, background: Background, wait_ms: u64) -> Value {
        let shown = || self.parameters.iter().filter(|parameter| is_offered(parameter.offered, background));
        let properties: Map<_, _> =
            shown().map(|parameter| (parameter.name.to_owned(), parameter.schema(wait_ms))).collect();
        let required: Vec<_> =
            shown().filter(|parameter| parameter.required).map(|parameter| parameter.name).collect();
        json!({"type": "object", "properties": properties, "required": required})
    }

    /// Returns the JSON schema of its structured reply.
    #[must_use]
    pub fn output_schema(&self) -> Value {
        let property = |field: &Field| {
            let kinds: Vec<_> = field.kind.split('|').collect();
            let kind = if let [one] = kinds[..] { json!(one) } else { json!(kinds) };
            (field.name.to_owned(), json!({"type": kind}))
        };
        // A refusal is a reply, too.
        let refused = [("error".to_owned(), json!({"type": ["string", "object"]}))];
        let properties: Map<_, _> = refused.into_iter().chain(self.reply.iter().map(property)).collect();
        json!({"type": "object", "properties": properties})
    }

    /// Runs a call.
    ///
    /// # Errors
    /// When it is refused.
    pub fn call(&self, given: &Map<String, Value>, cx: &CallContext<'_>) -> Result<Reply, Refusal> {
        let arguments = Arguments::read(self.parameters, given)?;
        // A model can still send a parameter that is not offered.
        let hidden = self.parameters.iter().filter(|parameter| !is_offered(parameter.offered, cx.background));
        for parameter in hidden {
            if arguments.flag(parameter.name) == Some(true) {
                return Err(Refusal::NoBackground { flag: parameter.name });
            }
        }
        let cx = CallContext { tool: self.tool, ..*cx };
        if !self.tool.class.runs_a_command() {
            cx.pass_call(given)?;
        }
        (self.run)(&arguments, &cx)
    }
}

fn is_offered(offered: Offered, background: Background) -> bool {
    offered == Offered::Always || background == Background::On
}
