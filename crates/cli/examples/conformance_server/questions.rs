//! Questions to the client in the style of the current revision: the client repeats the call with the answer.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use rmcp::ErrorData;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, InputRequest, InputRequiredResult, InputResponses,
    RequestMetaObject,
};
use serde_json::{Value, json};

use crate::calls::said;
use crate::fixtures::{held, written};

/// A form to fill in.
pub(crate) fn form(message: &str, properties: &Value) -> Result<InputRequest, ErrorData> {
    let required: Vec<_> = properties.as_object().into_iter().flat_map(|fields| fields.keys()).collect();
    let schema = json!({"type": "object", "properties": properties, "required": required});
    question(&json!({
        "method": "elicitation/create",
        "params": {"mode": "form", "message": message, "requestedSchema": schema},
    }))
}

fn sampling(prompt: &str) -> Result<InputRequest, ErrorData> {
    let content = json!({"type": "text", "text": prompt});
    question(&json!({
        "method": "sampling/createMessage",
        "params": {"messages": [{"role": "user", "content": content}], "maxTokens": 100},
    }))
}

fn roots() -> Result<InputRequest, ErrorData> {
    question(&json!({"method": "roots/list", "params": {}}))
}

fn question(value: &Value) -> Result<InputRequest, ErrorData> {
    written(value.clone())
}

/// Asks the client.
pub(crate) fn ask<const N: usize>(
    questions: [(&str, InputRequest); N],
    state: Option<String>,
) -> CallToolResponse {
    let questions = questions.map(|(key, question)| (key.to_owned(), question));
    InputRequiredResult::new(Some(questions.into()), state).into()
}

/// Returns an answer, if it is one.
pub(crate) fn answer(answers: Option<&InputResponses>, key: &str) -> Option<Value> {
    answers?.get(key).filter(|answer| answer.is_object()).cloned()
}

fn name() -> Result<InputRequest, ErrorData> {
    form("What is your name?", &json!({"name": {"type": "string"}}))
}

/// What was handed out and may come back. What we did not hand out is not accepted.
#[derive(Clone, Default)]
pub(crate) struct States(Arc<Mutex<HashSet<String>>>);

impl States {
    fn hand_out(&self, stage: &str) -> String {
        let mut known = held(&self.0);
        let state = format!("{stage}-{:08x}", (known.len() as u32).wrapping_mul(2_654_435_761));
        known.insert(state.clone());
        state
    }

    fn take_back(&self, state: &str) -> Result<String, ErrorData> {
        let known = held(&self.0).contains(state);
        let stage = state.split('-').next().unwrap_or_default().to_owned();
        if known { Ok(stage) } else { Err(ErrorData::invalid_params("this state is not ours", None)) }
    }

    /// Answers the suite's tools that ask.
    pub(crate) fn call(
        &self,
        request: &CallToolRequestParams,
        meta: &RequestMetaObject,
    ) -> Result<CallToolResponse, ErrorData> {
        let answers = request.input_responses.as_ref();
        let state = request.request_state.as_deref();
        Ok(match request.name.as_ref() {
            "test_input_required_result_elicitation" => match answer(answers, "user_name") {
                Some(user) => {
                    said(format!("Hello, {}!", user["content"]["name"].as_str().unwrap_or("friend")))
                }
                None => ask([("user_name", name()?)], None),
            },
            "test_input_required_result_sampling" => match answer(answers, "capital_question") {
                Some(sampled) => said(format!("Sampled: {}", sampled["content"]["text"])),
                None => ask([("capital_question", sampling("What is the capital of France?")?)], None),
            },
            "test_input_required_result_list_roots" => match answer(answers, "client_roots") {
                Some(listed) => said(format!("Roots: {}", listed["roots"])),
                None => ask([("client_roots", roots()?)], None),
            },
            "test_input_required_result_request_state" | "test_input_required_result_tampered_state" => {
                match state {
                    Some(state) => {
                        let _ = self.take_back(state)?;
                        said("Confirmed: state-ok")
                    }
                    None => {
                        let confirm = form("Please confirm", &json!({"ok": {"type": "boolean"}}))?;
                        ask([("confirm", confirm)], Some(self.hand_out("confirm")))
                    }
                }
            }
            "test_input_required_result_multiple_inputs" => {
                let checked = state.map(|state| self.take_back(state)).transpose()?;
                let keys = ["user_name", "greeting", "client_roots"];
                if checked.is_some() && keys.iter().all(|key| answer(answers, key).is_some()) {
                    said("All inputs received")
                } else {
                    let questions = [
                        (keys[0], name()?),
                        (keys[1], sampling("Generate a greeting")?),
                        (keys[2], roots()?),
                    ];
                    ask(questions, Some(self.hand_out("gather")))
                }
            }
            "test_input_required_result_multi_round" => {
                let stage = state.map(|state| self.take_back(state)).transpose()?;
                match stage.as_deref() {
                    None => ask([("step1", name()?)], Some(self.hand_out("one"))),
                    Some("one") => {
                        let colour = form("Your favourite colour?", &json!({"color": {"type": "string"}}))?;
                        ask([("step2", colour)], Some(self.hand_out("two")))
                    }
                    Some(_) => said("All rounds done"),
                }
            }
            "test_input_required_result_capabilities" => {
                let declared = meta.client_capabilities().unwrap_or_default();
                if answers.is_some() {
                    return Ok(said("Asked only what can be answered"));
                }
                let mut questions = std::collections::BTreeMap::new();
                if declared.elicitation.is_some() {
                    questions.insert("user_name".to_owned(), name()?);
                }
                if declared.sampling.is_some() {
                    questions.insert("greeting".to_owned(), sampling("Generate a greeting")?);
                }
                if declared.roots.is_some() {
                    questions.insert("client_roots".to_owned(), roots()?);
                }
                if questions.is_empty() {
                    said("Nothing can be asked")
                } else {
                    InputRequiredResult::from_input_requests(questions).into()
                }
            }
            "test_streaming_elicitation" => ask([("value", name()?)], None),
            other => return Err(ErrorData::invalid_params(format!("there is no tool {other}"), None)),
        })
    }
}
