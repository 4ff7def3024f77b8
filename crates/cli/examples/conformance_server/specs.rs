//! Definitions of the simple tools that the conformance suite requires by name.

use mw_tools::call::Reply;
use mw_tools::{CustomTool, RegistryError, ToolSpec, Toolset};
use serde_json::{Value, json};

/// Tools that the wrapper answers, with what they take.
pub(crate) const ASIDE: [&str; 32] = [
    "test_image_content",
    "test_audio_content",
    "test_embedded_resource",
    "test_multiple_content_types",
    "test_tool_with_logging",
    "test_tool_with_progress",
    "test_sampling",
    "test_elicitation",
    "test_elicitation_sep1034_defaults",
    "test_elicitation_sep1330_enums",
    "test_trigger_tool_change",
    "test_trigger_prompt_change",
    "test_missing_capability",
    "test_streaming_elicitation",
    "test_logging_tool",
    "test_input_required_result_elicitation",
    "test_input_required_result_sampling",
    "test_input_required_result_list_roots",
    "test_input_required_result_request_state",
    "test_input_required_result_tampered_state",
    "test_input_required_result_multiple_inputs",
    "test_input_required_result_multi_round",
    "test_input_required_result_capabilities",
    "slow_compute",
    "failing_job",
    "protocol_error_job",
    "confirm_delete",
    "multi_input",
    "test_tool_with_task",
    "test_custom_header",
    "test_reconnection",
    "json_schema_2020_12_tool",
];

/// Returns what a tool takes.
pub(crate) fn input_schema(name: &str) -> Value {
    let text = json!({"type": "string"});
    match name {
        "test_custom_header" => json!({
            "type": "object", "required": ["value"],
            "properties": {"value": {"type": "string", "x-mcp-header": "Value"}},
        }),
        "test_sampling" => json!({"type": "object", "required": ["prompt"], "properties": {"prompt": text}}),
        "test_elicitation" => {
            json!({"type": "object", "required": ["message"], "properties": {"message": text}})
        }
        "greet" => json!({"type": "object", "required": ["name"], "properties": {"name": text}}),
        "slow_compute" => json!({
            "type": "object", "properties": {"seconds": {"type": "number"}, "label": text},
        }),
        "confirm_delete" => json!({"type": "object", "properties": {"filename": text}}),
        "json_schema_2020_12_tool" => json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "$defs": {"address": {
                "$anchor": "address", "type": "object", "properties": {"street": text, "city": text},
            }},
            "properties": {"name": text, "address": {"$ref": "#/$defs/address"}},
            "allOf": [{"anyOf": [{"required": ["name"]}, {"required": ["address"]}]}],
            "if": {"required": ["address"]},
            "then": {"properties": {"address": {"required": ["street"]}}},
            "else": {"required": ["name"]},
            "additionalProperties": false,
        }),
        _ => json!({"type": "object", "properties": {}}),
    }
}

type Run = fn(&Value) -> Reply;

/// Adds the plain ones to the server's own tools.
///
/// # Errors
/// When one of them is there already.
pub(crate) fn toolset(own: Toolset) -> Result<Toolset, RegistryError> {
    let failing = |_: &Value| {
        Reply::failure("This tool intentionally returns an error for testing".to_owned(), json!({}))
    };
    let plain: [(&str, Run); 3] = [
        ("test_simple_text", |_| said("This is a simple text response for testing.")),
        ("test_error_handling", failing),
        ("greet", |given| said(&format!("Hello, {}!", given["name"].as_str().unwrap_or("friend")))),
    ];
    let custom = |(name, run): (&str, Run)| CustomTool {
        spec: ToolSpec {
            name: name.to_owned(),
            title: name.to_owned(),
            description: "A fixture of the conformance suite".to_owned(),
            input_schema: input_schema(name),
            output_schema: None,
            class: None,
        },
        run: Box::new(move |given, _| run(&Value::Object(given.clone()))),
    };
    plain.into_iter().map(custom).try_fold(own, |tools, tool| tools.with(tool))
}

fn said(text: &str) -> Reply {
    Reply::new(text.to_owned(), json!({}))
}
