//! The definition of a tool: name, description, parameters and the function that runs it.

use mw_policy::Tool;
use serde_json::{Map, Value, json};

use super::call_settings::Background;
use super::context::CallContext;
use super::parameter::{Arguments, Offered, Parameter};
use super::refusal::CallRefusal;
use super::reply::Reply;

/// A tool of a dialect: its description, and the function that runs a call.
#[derive(Debug)]
pub struct ToolDefinition {
    /// The name and class of the tool.
    pub tool: Tool,
    /// The title for people.
    pub title: &'static str,
    /// The description for models. `{wait}` is replaced by the default timeout of a wait.
    pub about: &'static str,
    /// The additional description if background tasks are allowed.
    pub about_background: &'static str,
    /// The parameters of the tool.
    pub parameters: &'static [Parameter],
    /// The condition under which the tool is offered.
    pub offered: Offered,
    /// Whether a call may wait for tasks that are already running.
    pub waits: bool,
    /// The properties of the structured reply with their JSON types: `task_id: string, exit_code: integer|null`.
    pub reply: &'static str,
    /// The function that runs a call.
    pub run: fn(&Arguments, &CallContext<'_>) -> Result<Reply, CallRefusal>,
}

impl ToolDefinition {
    /// The properties that most tools share: they are offered only with background tasks, and their description does
    /// not depend on that.
    pub const DEFAULT: Self = Self {
        tool: Tool::UNKNOWN,
        title: "",
        about: "",
        about_background: "",
        parameters: &[],
        offered: Offered::WithBackground,
        waits: false,
        reply: "",
        run: |_, cx| Err(CallRefusal::argument(cx.tool.name, "has no function")),
    };

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

    /// Returns whether the tool is offered.
    #[must_use]
    pub fn is_offered(&self, background: Background) -> bool {
        is_offered(self.offered, background)
    }

    /// Returns the JSON schema of the arguments.
    #[must_use]
    pub fn input_schema(&self, background: Background, wait_ms: u64) -> Value {
        let shown = || self.parameters.iter().filter(|parameter| is_offered(parameter.offered, background));
        let properties: Map<_, _> =
            shown().map(|parameter| (parameter.name.to_owned(), parameter.schema(wait_ms))).collect();
        let required: Vec<_> =
            shown().filter(|parameter| parameter.required).map(|parameter| parameter.name).collect();
        json!({"type": "object", "properties": properties, "required": required})
    }

    /// Returns the JSON schema of the structured reply.
    #[must_use]
    pub fn output_schema(&self) -> Value {
        let property = |field: &str| {
            let (name, kinds) = field.split_once(": ")?;
            let kinds: Vec<_> = kinds.split('|').collect();
            let kind = if let [one] = kinds[..] { json!(one) } else { json!(kinds) };
            Some((name.to_owned(), json!({"type": kind})))
        };
        // A refusal is also a valid reply.
        let refused = [("error".to_owned(), json!({"type": ["string", "object"]}))];
        let own = self.reply.split(", ").filter_map(property);
        let properties: Map<_, _> = refused.into_iter().chain(own).collect();
        json!({"type": "object", "properties": properties})
    }

    /// Runs a call.
    ///
    /// # Errors
    /// Fails if the call is refused.
    pub fn call(&self, given: &Map<String, Value>, cx: &CallContext<'_>) -> Result<Reply, CallRefusal> {
        let arguments = Arguments::read(self.parameters, given)?;
        // A model may send a parameter that is not offered.
        let hidden = self.parameters.iter().filter(|parameter| !is_offered(parameter.offered, cx.background));
        for parameter in hidden {
            if arguments.flag(parameter.name) == Some(true) {
                return Err(CallRefusal::NoBackground { flag: parameter.name });
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
