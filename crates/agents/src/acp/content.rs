//! Contents of an agent's messages as text.

use agent_client_protocol::v1::schema::{ContentBlock, EmbeddedResourceResource};
use serde::Serialize;

/// Returns the text of a block, or a description of one that is not text.
pub(crate) fn block_text(block: &ContentBlock) -> String {
    match block {
        ContentBlock::Text(text) => text.text.clone(),
        ContentBlock::ResourceLink(link) => format!("[{}]({})", link.name, link.uri),
        ContentBlock::Resource(resource) => match &resource.resource {
            EmbeddedResourceResource::TextResourceContents(text) => text.text.clone(),
            _ => "[file]".to_owned(),
        },
        ContentBlock::Image(_) => "[image]".to_owned(),
        ContentBlock::Audio(_) => "[audio]".to_owned(),
        _ => "[content that cannot be shown]".to_owned(),
    }
}

/// Returns the word of the protocol for a state or a reason, such as `in_progress`.
pub(crate) fn word(value: &impl Serialize) -> String {
    let written = serde_json::to_value(value).ok();
    written.and_then(|word| word.as_str().map(str::to_owned)).unwrap_or_else(|| "unknown".to_owned())
}
