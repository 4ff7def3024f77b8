//! Selects the model, its endpoint and its API key.

use std::fmt;

/// A provider, which determines the format of requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Provider {
    /// OpenAI, and every endpoint that supports its chat completions API.
    OpenAi,
    /// Anthropic.
    Anthropic,
    /// Ollama.
    Ollama,
}

impl Provider {
    /// All providers, in the order in which their variables are checked.
    pub const ALL: [Self; 3] = [Self::OpenAi, Self::Anthropic, Self::Ollama];

    /// Returns the name of the provider, as in `provider/model`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::Anthropic => "anthropic",
            Self::Ollama => "ollama",
        }
    }

    /// Returns the names of the variables for the address, the key and the model.
    const fn variables(self) -> (&'static str, Option<&'static str>, &'static str) {
        match self {
            Self::OpenAi => ("OPENAI_BASE_URL", Some("OPENAI_API_KEY"), "OPENAI_MODEL"),
            Self::Anthropic => ("ANTHROPIC_BASE_URL", Some("ANTHROPIC_API_KEY"), "ANTHROPIC_MODEL"),
            Self::Ollama => ("OLLAMA_HOST", None, "OLLAMA_MODEL"),
        }
    }

    /// Returns the default address and model.
    const fn defaults(self) -> (&'static str, &'static str) {
        match self {
            Self::OpenAi => ("https://api.openai.com/v1/", "gpt-5"),
            Self::Anthropic => ("https://api.anthropic.com/v1/", "claude-sonnet-4-5"),
            Self::Ollama => ("http://localhost:11434/", "qwen3-coder"),
        }
    }

    /// Returns the base URL for an address with or without scheme, version and final slash.
    fn url(self, written: &str) -> String {
        let mut url = written.trim().trim_end_matches('/').to_owned();
        if !url.contains("://") {
            url = format!("http://{url}");
        }
        match self {
            // Anthropic's own programs expect the address without the version.
            Self::Anthropic if !url.ends_with("/v1") => url.push_str("/v1"),
            Self::Anthropic | Self::OpenAi => {}
            Self::Ollama => {
                // `OLLAMA_HOST` is also the address on which the server listens.
                url = url.replace("://0.0.0.0", "://127.0.0.1");
                let authority = url.split_once("://").map_or(url.as_str(), |(_, rest)| rest);
                if !authority.trim_start_matches('[').contains(':') && url.starts_with("http://") {
                    url.push_str(":11434");
                }
            }
        }
        url.push('/');
        url
    }
}

/// A secret text that is never displayed.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Secret(Option<String>);

impl Secret {
    /// The minimum length of a key. A shorter text would be redacted in too many places.
    const MIN_KEY: usize = 8;

    #[must_use]
    pub fn new(key: Option<String>) -> Self {
        Self(key.map(|key| key.trim().to_owned()).filter(|key| !key.is_empty()))
    }

    pub(in crate::builtin) fn expose(&self) -> &str {
        self.0.as_deref().unwrap_or_default()
    }

    /// Redacts the key in a text.
    pub(in crate::builtin) fn hide(&self, text: &str) -> String {
        match &self.0 {
            Some(key) if key.len() >= Self::MIN_KEY => text.replace(key.as_str(), "[redacted:key]"),
            _ => text.to_owned(),
        }
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Secret(…)" } else { "Secret(none)" })
    }
}

/// The selected model and its endpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelChoice {
    /// The provider.
    pub provider: Provider,
    /// The name of the model at the provider.
    pub model: String,
    /// The base URL, with a final slash.
    pub base_url: String,
    /// The API key.
    pub key: Secret,
}

/// The reason why no model can be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ModelError {
    /// A description of the problem.
    pub message: String,
    /// The next step.
    pub hint: String,
}

/// The user's choice from arguments and settings.
#[derive(Clone, Debug, Default)]
pub struct ModelOptions {
    /// The model as `provider/model` or by name only.
    pub model: Option<String>,
    /// The base URL.
    pub base_url: Option<String>,
    /// The API key.
    pub key: Option<String>,
}

impl ModelChoice {
    /// Selects a model from the user's choice and the usual environment variables.
    ///
    /// # Errors
    /// Fails if the model or its key is missing.
    pub fn of(options: &ModelOptions, variable: impl Fn(&str) -> Option<String>) -> Result<Self, ModelError> {
        let variable = |name: &str| variable(name).filter(|value| !value.trim().is_empty());
        let (named, model) = split(options.model.as_deref());
        let is_set = |provider: &Provider| {
            let (url, key, model) = provider.variables();
            variable(url).is_some()
                || key.is_some_and(|key| variable(key).is_some())
                || variable(model).is_some()
        };
        let provider = match named {
            Some(provider) => provider,
            None => match Provider::ALL.into_iter().find(is_set) {
                Some(provider) => provider,
                // An endpoint with a custom address is assumed to be compatible with OpenAI.
                None if options.base_url.is_some() => Provider::OpenAi,
                None => return Err(nothing_set()),
            },
        };
        let (url_name, key_name, model_name) = provider.variables();
        let (default_url, default_model) = provider.defaults();
        let model = model.map(str::to_owned).or_else(|| variable(model_name));
        let model = model.unwrap_or_else(|| default_model.to_owned());
        let written = options.base_url.clone().or_else(|| variable(url_name));
        let base_url = written.as_deref().map_or_else(|| default_url.to_owned(), |url| provider.url(url));
        let key = options.key.clone().or_else(|| key_name.and_then(variable));
        if let Some(key_name) = key_name.filter(|_| key.is_none() && written.is_none()) {
            return Err(ModelError {
                message: format!("no API key for {}", provider.name()),
                hint: format!("set {key_name}, or agent.key_file to a file that holds the key"),
            });
        }
        Ok(Self { provider, model, base_url, key: Secret::new(key) })
    }
}

/// Splits `provider/model`. If the first part is not a provider, the whole text is the name of the model.
fn split(named: Option<&str>) -> (Option<Provider>, Option<&str>) {
    let Some(named) = named.map(str::trim).filter(|named| !named.is_empty()) else { return (None, None) };
    let known = |name: &str| Provider::ALL.into_iter().find(|provider| provider.name() == name);
    match named.split_once('/') {
        Some((name, model)) if known(name).is_some() => {
            (known(name), Some(model).filter(|model| !model.is_empty()))
        }
        _ => (None, Some(named)),
    }
}

fn nothing_set() -> ModelError {
    ModelError {
        message: "no model endpoint is set".to_owned(),
        hint: "set OPENAI_API_KEY (with OPENAI_BASE_URL for anything compatible), ANTHROPIC_API_KEY or \
               OLLAMA_HOST; mw acp --model provider/name, or agent.model in the settings, names a model"
            .to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(model: &str, variables: &[(&str, &str)]) -> Result<ModelChoice, ModelError> {
        let variable = |name: &str| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        };
        let model = Some(model.to_owned()).filter(|model| !model.is_empty());
        ModelChoice::of(&ModelOptions { model, ..ModelOptions::default() }, variable)
    }

    #[test]
    fn a_provider_prefix_takes_precedence_over_the_environment() {
        let both = [("OPENAI_API_KEY", "k-openai-1"), ("ANTHROPIC_API_KEY", "k-anthropic")];
        let choice = chosen("gpt-x", &both).unwrap();
        assert_eq!((choice.provider, choice.model.as_str()), (Provider::OpenAi, "gpt-x"));
        let choice = chosen("anthropic/claude-x", &both).unwrap();
        assert_eq!((choice.provider, choice.key.expose()), (Provider::Anthropic, "k-anthropic"));
        let choice = chosen("qwen/qwen3", &both).unwrap();
        assert_eq!((choice.provider, choice.model.as_str()), (Provider::OpenAi, "qwen/qwen3"));
        let choice = chosen("openai/vendor/big", &both).unwrap();
        assert_eq!(choice.model, "vendor/big");
        let choice = chosen("", &[("OLLAMA_HOST", "0.0.0.0"), ("OLLAMA_MODEL", "m")]).unwrap();
        assert_eq!((choice.model.as_str(), choice.base_url.as_str()), ("m", "http://127.0.0.1:11434/"));
    }

    #[test]
    fn base_urls_are_completed_to_full_addresses() {
        for (provider, written, url) in [
            (Provider::OpenAi, "http://x:1/v1", "http://x:1/v1/"),
            (Provider::OpenAi, "http://x:1/v1/", "http://x:1/v1/"),
            (Provider::Anthropic, "http://x:1", "http://x:1/v1/"),
            (Provider::Anthropic, "http://x:1/v1/", "http://x:1/v1/"),
            (Provider::Ollama, "box", "http://box:11434/"),
            (Provider::Ollama, "127.0.0.1:9", "http://127.0.0.1:9/"),
            (Provider::Ollama, "https://box", "https://box/"),
        ] {
            assert_eq!(provider.url(written), url, "{written}");
        }
    }

    #[test]
    fn a_missing_model_or_key_gives_a_hint() {
        let nothing = chosen("", &[]).unwrap_err();
        assert!(nothing.hint.contains("OPENAI_API_KEY") && nothing.hint.contains("--model"), "{nothing:?}");
        let unnamed = chosen("", &[("ANTHROPIC_API_KEY", "k")]).unwrap();
        assert_eq!(unnamed.model, "claude-sonnet-4-5");
        let keyless = chosen("openai/gpt-x", &[]).unwrap_err();
        assert!(keyless.hint.contains("OPENAI_API_KEY"), "{keyless:?}");
        // A self-hosted server may not require a key.
        assert!(chosen("openai/gpt-x", &[("OPENAI_BASE_URL", "http://localhost:1/v1")]).is_ok());
    }

    #[test]
    fn a_key_is_never_shown() {
        let secret = Secret::new(Some("sk-very-secret\n".to_owned()));
        assert_eq!(secret.hide("key sk-very-secret!"), "key [redacted:key]!");
        assert_eq!(format!("{secret:?}"), "Secret(…)");
        assert_eq!(Secret::new(None).hide("same"), "same");
    }
}
