//! The definition of a tool in the formats of the protocols.

use mw_policy::ToolClass;
use serde_json::{Value, json};

use crate::call::{Background, ToolDefinition};

/// The definition of a tool for models.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolSpec {
    /// The name of the tool.
    pub name: String,
    /// The title for people.
    pub title: String,
    /// The description for models.
    pub description: String,
    /// The JSON schema of the arguments.
    pub input_schema: Value,
    /// The JSON schema of the structured reply, if known.
    pub output_schema: Option<Value>,
    /// The class of the tool's effects, if known.
    pub class: Option<ToolClass>,
}

impl ToolSpec {
    pub(crate) fn of(definition: &ToolDefinition, background: Background, wait_ms: u64) -> Self {
        Self {
            name: definition.tool.name.to_owned(),
            title: definition.title.to_owned(),
            description: definition.description(background, wait_ms),
            input_schema: definition.input_schema(background, wait_ms),
            output_schema: Some(definition.output_schema()),
            class: Some(definition.tool.class),
        }
    }

    /// Converts the definition to the format of a protocol.
    #[must_use]
    pub fn to_json(&self, format: Format) -> Value {
        match format {
            Format::Mcp => self.mcp(),
            Format::OpenAi => json!({
                "type": "function",
                "function": {
                    "name": self.name, "description": self.description, "parameters": self.input_schema,
                },
            }),
            Format::Anthropic => json!({
                "name": self.name, "description": self.description, "input_schema": self.input_schema,
            }),
        }
    }

    fn mcp(&self) -> Value {
        let mut written = json!({
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "inputSchema": self.input_schema,
        });
        if let Some(schema) = &self.output_schema {
            written["outputSchema"] = schema.clone();
        }
        if let Some(class) = self.class {
            written["annotations"] = annotations(class);
        }
        written
    }
}

/// The format of tool definitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// The format of the Model Context Protocol.
    Mcp,
    /// The format of OpenAI's functions.
    OpenAi,
    /// The format of Anthropic's tools.
    Anthropic,
}

/// Returns MCP's hints about the effects of a call.
fn annotations(class: ToolClass) -> Value {
    let (reads, destroys, repeats, open) = match class {
        ToolClass::Reads | ToolClass::ReadsFile => (true, false, true, false),
        ToolClass::Starts
        | ToolClass::Awaits
        | ToolClass::Delegates
        | ToolClass::Types
        | ToolClass::WritesFile => (false, true, false, true),
        ToolClass::Kills | ToolClass::Clears => (false, true, true, false),
    };
    json!({
        "readOnlyHint": reads, "destructiveHint": destroys, "idempotentHint": repeats, "openWorldHint": open,
    })
}
