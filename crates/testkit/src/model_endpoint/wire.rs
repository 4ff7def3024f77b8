//! The streaming formats of models.

use serde_json::{Value, json};

use super::answer::{Call, Finish, Usage};
use super::request::Wire;

/// Writes one answer in one format.
pub(super) struct Writer {
    wire: Wire,
    /// The open block: Anthropic numbers blocks and marks their beginning and end.
    block: Option<(u64, Block)>,
    next_block: u64,
    calls: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Block {
    Text,
    Thought,
}

impl Writer {
    pub(super) const fn new(wire: Wire) -> Self {
        Self { wire, block: None, next_block: 0, calls: 0 }
    }

    pub(super) fn begin(&self) -> Vec<u8> {
        match self.wire {
            Wire::OpenAi => delta(&json!({"role": "assistant", "content": ""})),
            Wire::Anthropic => event(&json!({"type": "message_start", "message": {
                "id": "msg_1", "type": "message", "role": "assistant", "model": "scripted", "content": [],
                "stop_reason": null, "stop_sequence": null, "usage": {"input_tokens": 1, "output_tokens": 1},
            }})),
            Wire::Ollama => Vec::new(),
        }
    }

    pub(super) fn text(&mut self, text: &str) -> Vec<u8> {
        match self.wire {
            Wire::OpenAi => delta(&json!({"content": text})),
            Wire::Anthropic => {
                let mut bytes = self.in_block(Block::Text);
                bytes.extend(self.block_delta(&json!({"type": "text_delta", "text": text})));
                bytes
            }
            Wire::Ollama => line(&json!({"role": "assistant", "content": text})),
        }
    }

    pub(super) fn thought(&mut self, text: &str) -> Vec<u8> {
        match self.wire {
            Wire::OpenAi => delta(&json!({"reasoning_content": text})),
            Wire::Anthropic => {
                let mut bytes = self.in_block(Block::Thought);
                bytes.extend(self.block_delta(&json!({"type": "thinking_delta", "thinking": text})));
                bytes
            }
            Wire::Ollama => line(&json!({"role": "assistant", "content": "", "thinking": text})),
        }
    }

    pub(super) fn call(&mut self, call: &Call) -> Vec<u8> {
        let number = self.calls;
        self.calls += 1;
        // Arguments come in pieces, as from a real model.
        let half =
            call.arguments.char_indices().nth(call.arguments.chars().count() / 2).map_or(0, |(at, _)| at);
        let pieces = [&call.arguments[..half], &call.arguments[half..]];
        match self.wire {
            Wire::OpenAi => {
                let mut bytes = delta(&json!({"tool_calls": [{
                    "index": number, "id": format!("call_{number}"), "type": "function",
                    "function": {"name": call.name, "arguments": ""},
                }]}));
                for piece in pieces {
                    bytes.extend(delta(&json!({"tool_calls": [{
                        "index": number, "function": {"arguments": piece},
                    }]})));
                }
                bytes
            }
            Wire::Anthropic => {
                let mut bytes = self.close_block();
                let index = self.next_block;
                self.next_block += 1;
                let id = format!("toolu_{number}");
                bytes.extend(event(
                    &json!({"type": "content_block_start", "index": index, "content_block": {
                        "type": "tool_use", "id": id, "name": call.name, "input": {},
                    }}),
                ));
                for piece in pieces {
                    bytes.extend(event(&json!({"type": "content_block_delta", "index": index, "delta": {
                        "type": "input_json_delta", "partial_json": piece,
                    }})));
                }
                bytes.extend(event(&json!({"type": "content_block_stop", "index": index})));
                bytes
            }
            Wire::Ollama => {
                let arguments: Value =
                    serde_json::from_str(&call.arguments).unwrap_or_else(|_| json!(call.arguments));
                line(&json!({"role": "assistant", "content": "", "tool_calls": [
                    {"function": {"name": call.name, "arguments": arguments}},
                ]}))
            }
        }
    }

    pub(super) fn end(&mut self, finish: Finish, usage: Usage) -> Vec<u8> {
        let Usage { input, output } = usage;
        match self.wire {
            Wire::OpenAi => {
                let reason = match finish {
                    Finish::Stop => "stop",
                    Finish::Calls => "tool_calls",
                    Finish::Length => "length",
                    Finish::Refusal => "content_filter",
                };
                let mut bytes =
                    chunk(&json!([{"index": 0, "delta": {}, "finish_reason": reason}]), &Value::Null);
                let usage = json!({
                    "prompt_tokens": input, "completion_tokens": output, "total_tokens": input + output,
                });
                bytes.extend(chunk(&json!([]), &usage));
                bytes.extend(b"data: [DONE]\n\n");
                bytes
            }
            Wire::Anthropic => {
                let reason = match finish {
                    Finish::Stop => "end_turn",
                    Finish::Calls => "tool_use",
                    Finish::Length => "max_tokens",
                    Finish::Refusal => "refusal",
                };
                let mut bytes = self.close_block();
                bytes.extend(event(&json!({
                    "type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": null},
                    "usage": {"input_tokens": input, "output_tokens": output},
                })));
                bytes.extend(event(&json!({"type": "message_stop"})));
                bytes
            }
            Wire::Ollama => {
                let reason = if finish == Finish::Length { "length" } else { "stop" };
                let last = json!({
                    "model": "scripted", "created_at": "2026-01-01T00:00:00Z",
                    "message": {"role": "assistant", "content": ""}, "done": true, "done_reason": reason,
                    "prompt_eval_count": input, "eval_count": output,
                });
                format!("{last}\n").into_bytes()
            }
        }
    }

    fn in_block(&mut self, block: Block) -> Vec<u8> {
        if self.block.is_some_and(|(_, open)| open == block) {
            return Vec::new();
        }
        let mut bytes = self.close_block();
        let index = self.next_block;
        self.next_block += 1;
        self.block = Some((index, block));
        let content = match block {
            Block::Text => json!({"type": "text", "text": ""}),
            Block::Thought => json!({"type": "thinking", "thinking": "", "signature": ""}),
        };
        bytes
            .extend(event(&json!({"type": "content_block_start", "index": index, "content_block": content})));
        bytes
    }

    fn block_delta(&self, delta: &Value) -> Vec<u8> {
        let index = self.block.map_or(0, |(index, _)| index);
        event(&json!({"type": "content_block_delta", "index": index, "delta": delta}))
    }

    fn close_block(&mut self) -> Vec<u8> {
        let Some((index, block)) = self.block.take() else { return Vec::new() };
        let mut bytes = Vec::new();
        if block == Block::Thought {
            let delta = json!({"type": "signature_delta", "signature": "scripted"});
            bytes.extend(event(&json!({"type": "content_block_delta", "index": index, "delta": delta})));
        }
        bytes.extend(event(&json!({"type": "content_block_stop", "index": index})));
        bytes
    }
}

fn delta(delta: &Value) -> Vec<u8> {
    chunk(&json!([{"index": 0, "delta": delta, "finish_reason": null}]), &Value::Null)
}

fn chunk(choices: &Value, usage: &Value) -> Vec<u8> {
    let chunk = json!({
        "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 0, "model": "scripted",
        "choices": choices, "usage": usage,
    });
    format!("data: {chunk}\n\n").into_bytes()
}

fn event(event: &Value) -> Vec<u8> {
    format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or_default()).into_bytes()
}

fn line(message: &Value) -> Vec<u8> {
    let line = json!({
        "model": "scripted", "created_at": "2026-01-01T00:00:00Z", "message": message, "done": false,
    });
    format!("{line}\n").into_bytes()
}
