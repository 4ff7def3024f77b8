//! The tools of one session: a dialect's own, what a host added, and the names they answer to.

use std::collections::BTreeMap;

use meanwhile::Error;
use serde_json::{Map, Value, json};

use crate::call::{Background, Desk, Effect, Refusal, Reply, Tool};
use crate::dialects::{Dialect, Speaks};

/// What carries out a call of a host's own tool.
type Carry = dyn Fn(&Map<String, Value>, &Desk<'_>) -> Reply + Send + Sync;

/// A tool of the host's own. Nothing about it is ever rewritten.
pub struct CustomTool {
    /// What a model sees.
    pub spec: ToolSpec,
    /// Carries a call out.
    pub run: Box<Carry>,
}

/// What a model sees of a tool.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolSpec {
    /// Its name.
    pub name: String,
    /// A few words for people.
    pub title: String,
    /// What a model reads about it.
    pub description: String,
    /// What it takes.
    pub input_schema: Value,
    /// What it gives back, where that is known.
    pub output_schema: Option<Value>,
    /// What a call does to the world, where that is known.
    pub effect: Option<Effect>,
}

/// A set of tools that cannot be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RegistryError {
    /// Two tools of one name.
    #[error("there is a tool {0:?} already")]
    NameTaken(String),
    /// An alias that hides a tool.
    #[error("the alias {0:?} would hide the tool of that name")]
    AliasHidesTool(String),
    /// An alias that means two tools.
    #[error("the alias {alias:?} means {first:?} already and cannot mean {second:?}, too")]
    AliasAmbiguous {
        /// The alias.
        alias: String,
        /// What it means.
        first: String,
        /// What it was to mean.
        second: String,
    },
    /// An alias for nothing, or a switch for nothing.
    #[error("there is no tool {0:?}")]
    NoSuchTool(String),
}

enum Entry {
    Own {
        dialect: Dialect,
        tool: &'static Tool,
        /// Set where a host chose a variant itself.
        background: Option<Background>,
    },
    Custom(Box<CustomTool>),
}

impl Entry {
    fn name(&self) -> &str {
        match self {
            Self::Own { tool, .. } => tool.name,
            Self::Custom(custom) => &custom.spec.name,
        }
    }
}

/// How long a wait takes at the most that is given no time.
pub const USUAL_WAIT_MS: u64 = 30_000;

/// The tools of one session.
pub struct Toolset {
    entries: Vec<Entry>,
    aliases: BTreeMap<String, String>,
    wait_ms: u64,
}

impl Toolset {
    /// The tools of a dialect.
    #[must_use]
    pub fn of(dialect: Dialect) -> Self {
        let own = dialect.tools().iter().map(|tool| Entry::Own { dialect, tool, background: None });
        Self { entries: own.collect(), aliases: BTreeMap::new(), wait_ms: USUAL_WAIT_MS }
    }

    /// Chooses how long a wait takes that is given no time; schemas say so.
    #[must_use]
    pub fn waiting(self, wait_ms: u64) -> Self {
        Self { wait_ms, ..self }
    }

    /// Adds the tools of another dialect.
    ///
    /// # Errors
    /// When both have a tool of one name.
    pub fn and(mut self, dialect: Dialect) -> Result<Self, RegistryError> {
        for tool in dialect.tools() {
            self.check_free(tool.name)?;
            self.entries.push(Entry::Own { dialect, tool, background: None });
        }
        Ok(self)
    }

    /// Adds a tool of the host's own. It takes the place of one of ours that has its name.
    ///
    /// # Errors
    /// When the host has one of that name already, or an alias has it.
    pub fn with(mut self, custom: CustomTool) -> Result<Self, RegistryError> {
        let name = custom.spec.name.clone();
        self.entries.retain(|entry| !matches!(entry, Entry::Own { tool, .. } if tool.name == name));
        self.check_free(&name)?;
        self.entries.push(Entry::Custom(Box::new(custom)));
        Ok(self)
    }

    /// Chooses a variant of one of our tools, whatever holds for the rest.
    ///
    /// # Errors
    /// When none of ours has that name.
    pub fn with_variant(mut self, name: &str, chosen: Background) -> Result<Self, RegistryError> {
        for entry in &mut self.entries {
            if let Entry::Own { tool, background, .. } = entry
                && tool.name == name
            {
                *background = Some(chosen);
                return Ok(self);
            }
        }
        Err(RegistryError::NoSuchTool(name.to_owned()))
    }

    /// Takes a tool out of what is offered.
    ///
    /// # Errors
    /// When there is none of that name.
    pub fn without(mut self, name: &str) -> Result<Self, RegistryError> {
        let before = self.entries.len();
        self.entries.retain(|entry| entry.name() != name);
        if self.entries.len() == before {
            return Err(RegistryError::NoSuchTool(name.to_owned()));
        }
        self.aliases.retain(|_, target| target != name);
        Ok(self)
    }

    /// Lets a tool be called by another name, too. An old name in a resumed conversation still works then.
    ///
    /// # Errors
    /// When the alias would hide a tool, means another one already, or the tool is not there.
    pub fn with_alias(mut self, alias: &str, name: &str) -> Result<Self, RegistryError> {
        if self.find(alias).is_some() {
            return Err(RegistryError::AliasHidesTool(alias.to_owned()));
        }
        if self.find(name).is_none() {
            return Err(RegistryError::NoSuchTool(name.to_owned()));
        }
        match self.aliases.insert(alias.to_owned(), name.to_owned()) {
            Some(first) if first != name => {
                let (alias, second) = (alias.to_owned(), name.to_owned());
                Err(RegistryError::AliasAmbiguous { alias, first, second })
            }
            _ => Ok(self),
        }
    }

    fn check_free(&self, name: &str) -> Result<(), RegistryError> {
        if self.find(name).is_some() {
            return Err(RegistryError::NameTaken(name.to_owned()));
        }
        if self.aliases.contains_key(name) {
            return Err(RegistryError::AliasHidesTool(name.to_owned()));
        }
        Ok(())
    }

    fn find(&self, name: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.name() == name)
    }

    /// Returns what a model sees.
    #[must_use]
    pub fn specs(&self, background: Background) -> Vec<ToolSpec> {
        let spec = |entry: &Entry| match entry {
            Entry::Custom(custom) => Some(custom.spec.clone()),
            Entry::Own { tool, background: chosen, .. } => {
                let background = chosen.unwrap_or(background);
                tool.is_offered(background).then(|| ToolSpec::of(tool, background, self.wait_ms))
            }
        };
        self.entries.iter().filter_map(spec).collect()
    }

    /// Carries a call out; nothing when no tool has that name.
    #[must_use]
    pub fn call(&self, name: &str, given: &Map<String, Value>, desk: &Desk<'_>) -> Option<Reply> {
        let entry = self.find(name).or_else(|| self.find(self.aliases.get(name)?))?;
        match entry {
            Entry::Custom(custom) => Some((custom.run)(given, desk)),
            Entry::Own { dialect, tool, background } => {
                let background = background.unwrap_or(desk.background);
                if !tool.is_offered(background) {
                    return None;
                }
                let desk = &Desk { dialect: *dialect, background, wait_ms: self.wait_ms, ..*desk };
                let reply = tool.call(given, desk);
                Some(reply.unwrap_or_else(|refusal| {
                    let reply = dialect.refuse(&refusal, given, desk);
                    held_up(reply, refusal)
                }))
            }
        }
    }
}

/// Adds to a refusal by the gate what to do next, and what a person has to be asked.
fn held_up(mut reply: Reply, refusal: Refusal) -> Reply {
    if let Refusal::Engine(
        error @ (Error::Denied { .. } | Error::NoConsent { .. } | Error::NeedsApproval { .. }),
    ) = refusal
    {
        let next = error.hint();
        reply.text = format!("{} To do: {next}.", reply.text);
        reply.data["hint"] = next.into();
        if let Error::NeedsApproval { proposal, .. } = error {
            reply.asks = Some(proposal);
        }
    }
    reply
}

impl ToolSpec {
    fn of(tool: &Tool, background: Background, wait_ms: u64) -> Self {
        Self {
            name: tool.name.to_owned(),
            title: tool.title.to_owned(),
            description: tool.description(background, wait_ms),
            input_schema: tool.input_schema(background, wait_ms),
            output_schema: Some(tool.output_schema()),
            effect: Some(tool.effect),
        }
    }

    /// Writes it in a protocol's form.
    #[must_use]
    pub fn written(&self, form: Form) -> Value {
        match form {
            Form::Mcp => self.mcp(),
            Form::OpenAi => json!({
                "type": "function",
                "function": {
                    "name": self.name, "description": self.description, "parameters": self.input_schema,
                },
            }),
            Form::Anthropic => json!({
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
        if let Some(effect) = self.effect {
            written["annotations"] = effect.annotations();
        }
        written
    }
}

/// A protocol's form of writing tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// The Model Context Protocol's.
    Mcp,
    /// OpenAI's functions.
    OpenAi,
    /// Anthropic's tools.
    Anthropic,
}

impl Effect {
    /// Returns MCP's hints about it.
    #[must_use]
    pub fn annotations(self) -> Value {
        let (reads, destroys, repeats, open) = match self {
            Self::Reads => (true, false, true, false),
            Self::Runs => (false, true, false, true),
            Self::Ends => (false, true, true, false),
            Self::Types => (false, true, false, true),
        };
        json!({
            "readOnlyHint": reads, "destructiveHint": destroys, "idempotentHint": repeats, "openWorldHint": open,
        })
    }
}
