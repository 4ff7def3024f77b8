//! Formats the tools as a Markdown table, for the documentation.

use serde_json::Value;

use crate::tool_spec::ToolSpec;

/// Formats tools as a Markdown table with one row per tool: its name, parameters and description.
#[must_use]
pub fn markdown_table(specs: &[ToolSpec]) -> String {
    let mut text = "| Tool | Parameters | Description for the model |\n|---|---|---|\n".to_owned();
    for spec in specs {
        let about = spec.description.split_whitespace().collect::<Vec<_>>().join(" ");
        text.push_str(&format!(
            "| `{}` | {} | {} |\n",
            spec.name,
            escaped(&parameters(&spec.input_schema)),
            escaped(&about)
        ));
    }
    text
}

fn parameters(schema: &Value) -> String {
    let required = schema["required"].as_array();
    let is_required = |name: &str| required.is_some_and(|names| names.iter().any(|one| one == name));
    let written = |(name, property): (&String, &Value)| {
        let optional = if is_required(name) { "" } else { "?" };
        let mut text = format!("`{name}{optional}` {}", kind(property));
        if let Some(default) = property.get("default") {
            text.push_str(&format!(" = {default}"));
        }
        if let Some(most) = property.get("maximum") {
            text.push_str(&format!(", {} to {most}", property["minimum"]));
        }
        text
    };
    let properties = schema["properties"].as_object().into_iter().flatten();
    // A JSON object is sorted by name. Required parameters are moved to the front.
    let (needed, others): (Vec<_>, Vec<_>) = properties.partition(|(name, _)| is_required(name));
    needed.into_iter().chain(others).map(written).collect::<Vec<_>>().join("; ")
}

fn kind(property: &Value) -> String {
    match (property["enum"].as_array(), property["type"].as_str()) {
        (Some(words), _) => words.iter().filter_map(Value::as_str).collect::<Vec<_>>().join("/"),
        (None, Some("array")) => "list".to_owned(),
        (None, kind) => kind.unwrap_or("any").to_owned(),
    }
}

fn escaped(text: &str) -> String {
    text.replace('|', "\\|").replace('<', "\\<")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::Background;
    use crate::{Dialect, Toolset};

    #[test]
    fn each_tool_is_a_row_of_the_table() {
        let text = markdown_table(&Toolset::of(Dialect::Mycode).specs(Background::On));
        let row = text.lines().nth(4).unwrap();
        let start = "| `TaskOutput` | `task_id` string; `block?` boolean = true; `timeout?` number = 30000, 0 to 600000 |";
        assert!(row.starts_with(start), "{row}");
        assert_eq!(text.lines().count(), 6);
    }
}
