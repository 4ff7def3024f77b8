//! The list of attacks.

use serde::Deserialize;

use crate::effects::Effect;

/// The variable that selects attacks.
const SELECTED: &str = "MW_ATTACK";

#[derive(Deserialize)]
struct List {
    group: Vec<Group>,
}

#[derive(Deserialize)]
struct Group {
    effect: Effect,
    commands: Vec<String>,
}

/// Returns whether only some attacks are selected.
pub(crate) fn is_selected() -> bool {
    std::env::var_os(SELECTED).is_some()
}

/// Returns the attacks that try to have an effect. `MW_ATTACK` selects those that contain its text.
pub(crate) fn with(effect: Effect) -> Vec<String> {
    let list: List = toml::from_str(include_str!("attacks.toml")).unwrap();
    let only = std::env::var(SELECTED).unwrap_or_default();
    let groups = list.group.into_iter().filter(|group| group.effect == effect);
    groups.flat_map(|group| group.commands).filter(|command| command.contains(&only)).collect()
}
