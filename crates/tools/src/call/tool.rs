//! A tool as a model sees it.

use mw_policy as policy;
use serde_json::{Map, Value, json};

use super::desk::{Background, Desk};
use super::parameter::{Arguments, Offered, Parameter};
use super::refusal::Refusal;
use super::reply::Reply;

/// A tool of a dialect: data, and the function that carries a call out.
#[derive(Debug)]
pub struct Tool {
    /// Its name.
    pub name: &'static str,
    /// A few words for people.
    pub title: &'static str,
    /// What a model reads about it. `{wait}` stands for how long a wait takes that is given no time.
    pub about: &'static str,
    /// What a model reads besides where background work is allowed.
    pub about_background: &'static str,
    /// Its parameters.
    pub parameters: &'static [Parameter],
    /// What a call does to the world.
    pub effect: Effect,
    /// When it is offered.
    pub offered: Offered,
    /// The properties of its structured reply.
    pub reply: &'static [Field],
    /// Carries a call out.
    pub run: fn(&Arguments, &Desk<'_>) -> Result<Reply, Refusal>,
}

/// What a call does to the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Nothing.
    Reads,
    /// It runs what it is given, which may do anything.
    Runs,
    /// It ends or removes something of ours; a second call changes nothing more.
    Ends,
    /// It types into something that runs.
    Types,
}

/// A property of a structured reply.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// Its name.
    pub name: &'static str,
    /// The JSON type, or two with a bar between them.
    pub kind: &'static str,
}

impl Field {
    /// A property.
    #[must_use]
    pub const fn new(name: &'static str, kind: &'static str) -> Self {
        Self { name, kind }
    }
}

impl Tool {
    /// Returns what a model reads about it.
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

    /// Tells whether it is offered.
    #[must_use]
    pub fn is_offered(&self, background: Background) -> bool {
        is_offered(self.offered, background)
    }

    /// Returns the JSON schema of what it takes.
    #[must_use]
    pub fn input_schema(&self, background: Background, wait_ms: u64) -> Value {
        let shown = || self.parameters.iter().filter(|parameter| is_offered(parameter.offered, background));
        let properties: Map<_, _> =
            shown().map(|parameter| (parameter.name.to_owned(), parameter.schema(wait_ms))).collect();
        let required: Vec<_> =
            shown().filter(|parameter| parameter.required).map(|parameter| parameter.name).collect();
        json!({"type": "object", "properties": properties, "required": required})
    }

    /// Returns the JSON schema of its structured reply.
    #[must_use]
    pub fn output_schema(&self) -> Value {
        let property = |field: &Field| {
            let kinds: Vec<_> = field.kind.split('|').collect();
            let kind = if let [one] = kinds[..] { json!(one) } else { json!(kinds) };
            (field.name.to_owned(), json!({"type": kind}))
        };
        // A refusal is a reply, too.
        let refused = [("error".to_owned(), json!({"type": ["string", "object"]}))];
        let properties: Map<_, _> = refused.into_iter().chain(self.reply.iter().map(property)).collect();
        json!({"type": "object", "properties": properties})
    }

    /// Carries a call out.
    ///
    /// # Errors
    /// When it is refused.
    pub fn call(&self, given: &Map<String, Value>, desk: &Desk<'_>) -> Result<Reply, Refusal> {
        let arguments = Arguments::read(self.parameters, given)?;
        // What is not shown can still be sent, by a model that remembers it or guesses.
        let hidden =
            self.parameters.iter().filter(|parameter| !is_offered(parameter.offered, desk.background));
        for parameter in hidden {
            if arguments.flag(parameter.name) == Some(true) {
                return Err(Refusal::NoBackground { flag: parameter.name });
            }
        }
        // A tool that policy does not know is as good as one that delegates.
        let unknown = policy::Tool { name: self.name, class: policy::ToolClass::Delegates };
        let tool = policy::Tool::named(self.name).unwrap_or(unknown);
        let desk = Desk { tool, ..*desk };
        if !tool.class.runs_a_command() {
            desk.pass_call(given)?;
        }
        (self.run)(&arguments, &desk)
    }
}

fn is_offered(offered: Offered, background: Background) -> bool {
    offered == Offered::Always || background == Background::On
}
