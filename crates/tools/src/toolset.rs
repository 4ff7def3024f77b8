//! The tools of one session: those of a dialect, those of the host, and their aliases.

use std::collections::BTreeMap;

use meanwhile::{Error, Session};
use serde_json::{Map, Value};

use crate::call::{
    Background, CallContext, CallRefusal, CallSettings, Caller, Reply, ToolDefinition, next_step,
};
use crate::dialects::{Dialect, DialectTools};
use crate::tool_spec::ToolSpec;

/// The function that runs a host's own tool.
type Carry = dyn Fn(&Map<String, Value>, &CallContext<'_>) -> Reply + Send + Sync;

/// A tool of the host. It is offered unchanged.
pub struct CustomTool {
    /// The definition for models.
    pub spec: ToolSpec,
    /// The function that runs a call.
    pub run: Box<Carry>,
}

/// A conflict in a set of tools.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RegistryError {
    /// Two tools have the same name.
    #[error("a tool {0:?} already exists")]
    NameTaken(String),
    /// An alias has the name of a tool.
    #[error("the alias {0:?} would hide the tool of that name")]
    AliasHidesTool(String),
    /// An alias refers to two tools.
    #[error("the alias {alias:?} already means {first:?} and cannot also mean {second:?}")]
    AliasAmbiguous {
        /// The alias.
        alias: String,
        /// The tool that the alias already refers to.
        first: String,
        /// The tool that the alias was to refer to.
        second: String,
    },
    /// An alias or a setting refers to a tool that does not exist.
    #[error("no tool {0:?}")]
    NoSuchTool(String),
}

enum ToolEntry {
    Own {
        dialect: Dialect,
        definition: &'static ToolDefinition,
        /// The variant that the host chose, if any.
        background: Option<Background>,
    },
    Custom(Box<CustomTool>),
}

impl ToolEntry {
    fn name(&self) -> &str {
        match self {
            Self::Own { definition, .. } => definition.tool.name,
            Self::Custom(custom) => &custom.spec.name,
        }
    }
}

/// The maximum default timeout of a wait.
pub const USUAL_WAIT_MS: u64 = 30_000;

/// The tools of one session.
pub struct Toolset {
    entries: Vec<ToolEntry>,
    aliases: BTreeMap<String, String>,
    wait_ms: u64,
}

impl Toolset {
    /// Creates the set of a dialect's tools.
    #[must_use]
    pub fn of(dialect: Dialect) -> Self {
        let own = DialectTools::of(dialect).definitions.iter().map(|definition| ToolEntry::Own {
            dialect,
            definition,
            background: None,
        });
        Self { entries: own.collect(), aliases: BTreeMap::new(), wait_ms: USUAL_WAIT_MS }
    }

    /// Sets the default timeout of a wait, which is shown in the schemas.
    #[must_use]
    pub fn waiting(self, wait_ms: u64) -> Self {
        Self { wait_ms, ..self }
    }

    /// Adds the tools of another dialect.
    ///
    /// # Errors
    /// Fails if both have a tool of the same name.
    pub fn and(mut self, dialect: Dialect) -> Result<Self, RegistryError> {
        for definition in DialectTools::of(dialect).definitions {
            self.check_free(definition.tool.name)?;
            self.entries.push(ToolEntry::Own { dialect, definition, background: None });
        }
        Ok(self)
    }

    /// Adds a tool of the host. It replaces one of ours with the same name.
    ///
    /// # Errors
    /// Fails if the host already has a tool or an alias of that name.
    pub fn with(mut self, custom: CustomTool) -> Result<Self, RegistryError> {
        let name = custom.spec.name.clone();
        self.entries.retain(|entry| matches!(entry, ToolEntry::Custom(_)) || entry.name() != name);
        self.check_free(&name)?;
        self.entries.push(ToolEntry::Custom(Box::new(custom)));
        Ok(self)
    }

    /// Sets whether one of our tools offers background tasks, independently of the others.
    ///
    /// # Errors
    /// Fails if none of our tools has that name.
    pub fn with_variant(mut self, name: &str, chosen: Background) -> Result<Self, RegistryError> {
        for entry in &mut self.entries {
            if let ToolEntry::Own { definition, background, .. } = entry
                && definition.tool.name == name
            {
                *background = Some(chosen);
                return Ok(self);
            }
        }
        Err(RegistryError::NoSuchTool(name.to_owned()))
    }

    /// Removes a tool.
    ///
    /// # Errors
    /// Fails if there is no tool of that name.
    pub fn without(mut self, name: &str) -> Result<Self, RegistryError> {
        let before = self.entries.len();
        self.entries.retain(|entry| entry.name() != name);
        if self.entries.len() == before {
            return Err(RegistryError::NoSuchTool(name.to_owned()));
        }
        self.aliases.retain(|_, target| target != name);
        Ok(self)
    }

    /// Adds an alias for a tool. Old names in resumed conversations then still work.
    ///
    /// # Errors
    /// Fails if the alias has the name of a tool, already refers to another tool, or the tool does not exist.
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

    fn find(&self, name: &str) -> Option<&ToolEntry> {
        self.entries.iter().find(|entry| entry.name() == name)
    }

    /// Returns the definitions for models.
    #[must_use]
    pub fn specs(&self, background: Background) -> Vec<ToolSpec> {
        let spec = |entry: &ToolEntry| match entry {
            ToolEntry::Custom(custom) => Some(custom.spec.clone()),
            ToolEntry::Own { definition, background: chosen, .. } => {
                let background = chosen.unwrap_or(background);
                let spec = || ToolSpec::of(definition, background, self.wait_ms);
                definition.is_offered(background).then(spec)
            }
        };
        self.entries.iter().filter_map(spec).collect()
    }

    /// Returns whether a call of a tool may wait for tasks that are already running.
    #[must_use]
    pub fn may_wait(&self, name: &str) -> bool {
        let entry = self.find(name).or_else(|| self.find(self.aliases.get(name)?));
        matches!(entry, Some(ToolEntry::Own { definition, .. }) if definition.waits)
    }

    /// Runs a call for a session that this process holds. Returns `None` if there is no such tool. After the reply was
    /// sent, acknowledge the ends that it reports ([`Reply::reported`]) with [`Session::acknowledge_ends`].
    ///
    /// # Errors
    /// Fails if the home directory cannot be used. Errors of the call itself are in its reply.
    pub fn call_in(
        &self,
        session: &Session,
        call_settings: &CallSettings,
        caller: &dyn Caller,
        name: &str,
        given: &Map<String, Value>,
    ) -> Result<Option<Reply>, Error> {
        session
            .home()
            .with(|runtime| Ok(self.call(name, given, &CallContext::new(runtime, call_settings, caller))))
    }

    /// Runs a call. Returns `None` if there is no such tool.
    #[must_use]
    pub fn call(&self, name: &str, given: &Map<String, Value>, cx: &CallContext<'_>) -> Option<Reply> {
        let entry = self.find(name).or_else(|| self.find(self.aliases.get(name)?))?;
        match entry {
            ToolEntry::Custom(custom) => Some((custom.run)(given, cx)),
            ToolEntry::Own { dialect, definition, background } => {
                let background = background.unwrap_or(cx.background);
                if !definition.is_offered(background) {
                    return None;
                }
                let cx = &CallContext { dialect: *dialect, background, wait_ms: self.wait_ms, ..*cx };
                let reply = definition.call(given, cx);
                Some(reply.unwrap_or_else(|refusal| {
                    if let CallRefusal::Engine(error) = &refusal {
                        cx.runtime.note_failure(error);
                    }
                    let reply = (DialectTools::of(*dialect).refuse)(&refusal, given, cx);
                    with_next_step(reply, refusal)
                }))
            }
        }
    }
}

/// Adds the hint and the approval request to a refusal by the policy.
fn with_next_step(mut reply: Reply, refusal: CallRefusal) -> Reply {
    if let CallRefusal::Engine(
        error @ (Error::Denied { .. } | Error::NoConsent { .. } | Error::NeedsApproval { .. }),
    ) = refusal
    {
        let next = next_step(&error);
        reply.text = format!("{} Next step: {next}.", reply.text);
        reply.data["hint"] = next.into();
        if let Error::NeedsApproval { proposal, .. } = error {
            reply.asks = Some(proposal);
        }
    }
    reply
}
