//! Contents of an agent's messages as text.

use agent_client_protocol::v1::schema::{ContentBlock, EmbeddedResourceResource};
use serde::Serialize;

/// Returns the text of a block, or a word in brackets for one that is not text.
pub(crate) fn block_text(block: &ContentBlock) -> String {
    text_or(block, |kind| format!("[{kind}]"))
}

/// Returns the text of a block. `other` describes one that is not text, by its kind.
pub(crate) fn text_or(block: &ContentBlock, other: impl Fn(&str) -> String) -> String {
    match block {
        ContentBlock::Text(text) => text.text.clone(),
        ContentBlock::ResourceLink(link) => format!("[{}]({})", link.name, link.uri),
        ContentBlock::Resource(resource) => match &resource.resource {
            EmbeddedResourceResource::TextResourceContents(text) => text.text.clone(),
            _ => other("file"),
        },
        ContentBlock::Image(_) => other("image"),
        ContentBlock::Audio(_) => other("audio"),
        _ => other("unknown content"),
    }
}

/// Returns the word of the protocol for a state or a reason, such as `in_progress`.
pub(crate) fn word(value: &impl Serialize) -> String {
    let written = serde_json::to_value(value).ok();
    written.and_then(|word| word.as_str().map(str::to_owned)).unwrap_or_else(|| "unknown".to_owned())
}
