//! Contents of an agent's messages as text.

use agent_client_protocol::v1::schema::{ContentBlock, EmbeddedResourceResource, PlanEntryStatus};

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

/// Returns the state of a step of a plan.
pub(crate) const fn plan_word(status: &PlanEntryStatus) -> &'static str {
    match status {
        PlanEntryStatus::InProgress => "in_progress",
        PlanEntryStatus::Completed => "completed",
        _ => "pending",
    }
}
