//! Writes the reply to a call: the notifications of the session, the text, and structured data for clients that request
//! it.

use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::{Value, json};

use super::http_receipts::HttpReceipts;
use super::recipient::Awaited;
use super::server::{Context, Server};
use crate::delivery::calls::CallPermit;
use crate::delivery::deliveries::{Drained, Recipient};
use crate::delivery::receipts::Receipt;
use mw_tools::call::Reply;
use mw_tools::dialects::DialectTools;

/// The capability, or the field in the `_meta` of a call, that requests structured data in addition to the text.
const DATA: &str = "meanwhile/structured";

impl Server {
    /// Composes the result of a call with the notifications that were not delivered yet, and keeps the receipt until it was
    /// written. The text is for the model: first the notifications, then the reply. Hosts show structured data to their
    /// models instead of the text, escaped and in another order, so only clients that request it get it.
    pub(super) async fn result(
        &self,
        mut reply: Reply,
        recipient: &Recipient,
        call: CallPermit,
        awaited: &Awaited,
        context: &Context,
    ) -> CallToolResult {
        awaited.complete();
        let Drained { held, mut notices, left, own } =
            self.inner.deliveries.drain(recipient, &reply.reported).await;
        // An end that the reply itself reports needs no notification.
        notices.retain(|one| !(one.notice.is_ending() && reply.reported.contains(&one.notice.task)));
        let holder =
            if reply.reported.is_empty() { None } else { self.inner.deliveries.lease(recipient).await };
        let notices = match &held {
            Some(held) => held.draft.compose(notices, |one| reply.starts(&one.notice)),
            None => notices,
        };
        // The model should read that a task was started before it reads how the task ended.
        let (after, before): (Vec<_>, Vec<_>) =
            notices.into_iter().partition(|one| reply.starts(&one.notice));
        after.iter().for_each(|one| reply.replace_if_over(&one.notice));
        let mut blocks: Vec<_> = before.into_iter().map(|one| one.block).collect();
        let after: Vec<_> = after.into_iter().map(|one| one.block).collect();
        if left > 0 {
            blocks.push(format!("[{left} more notifications follow with the next reply]"));
        }
        let mut data = reply.data;
        if !blocks.is_empty() || !after.is_empty() {
            data["notices"] = json!(blocks.iter().chain(&after).collect::<Vec<_>>());
        }
        let texts = blocks.into_iter().chain([reply.text]).chain(after);
        let content: Vec<_> = texts.map(ContentBlock::text).collect();
        let mut result =
            if reply.failed { CallToolResult::error(content) } else { CallToolResult::success(content) };
        if self.gives_data(context) {
            result.structured_content = Some(data);
        }
        meanwhile::engine::fail_point("reply-ready");
        let mut receipt = Receipt::new(self.inner.options.home.clone(), call);
        receipt.notices = held;
        receipt.reported_ends = reply.reported;
        receipt.holder = holder;
        receipt.spent = reply.removable;
        receipt.reserved = awaited.take().into_iter().chain(own).collect();
        let parts = context.extensions.get::<http::request::Parts>();
        match parts.and_then(|parts| parts.extensions.get::<HttpReceipts>()) {
            Some(receipts) => receipts.keep(receipt),
            None => {
                self.inner.receipts.keep(context.id.clone(), receipt);
                // A cancelled call gets no reply, so its receipt is not needed.
                if context.ct.is_cancelled() {
                    drop(self.inner.receipts.take(&context.id));
                }
            }
        }
        result
    }

    /// Returns whether a client gets structured data in addition to the text.
    pub(super) fn gives_data(&self, context: &Context) -> bool {
        let experimental = context.client_capabilities().and_then(|declared| declared.experimental);
        self.inner.options.structured
            || DialectTools::of(self.inner.options.dialect).replies_with_objects
            || experimental.is_some_and(|declared| declared.contains_key(DATA))
            || context.meta.get(DATA).and_then(Value::as_bool) == Some(true)
    }
}
