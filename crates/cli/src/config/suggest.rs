//! Suggests a setting for a misspelt name.

use strsim::levenshtein;

use super::settings::settings;

/// The maximum number of letters by which two names may differ.
const FAR: usize = 3;

/// Returns the setting with the most similar name, if there is one. The section may be misspelt or missing.
pub(super) fn nearest(name: &str) -> Option<&'static str> {
    let distance = |setting: &str| {
        let key = setting.split_once('.').map_or(setting, |(_, key)| key);
        let given = name.rsplit_once('.').map_or(name, |(_, key)| key);
        // In another section the key must be the same.
        if key == given { 1 } else { levenshtein(name, setting) }
    };
    let found = settings().map(|setting| (distance(setting.name), setting.name)).min()?;
    (found.0 <= FAR.min(name.len() / 3)).then_some(found.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_setting_is_recognised_and_a_strange_one_is_not() {
        assert_eq!(nearest("queue.max_runing"), Some("queue.max_running"));
        assert_eq!(nearest("que.max_running"), Some("queue.max_running"));
        assert_eq!(nearest("max_running"), Some("queue.max_running"));
        assert_eq!(nearest("colour.of.the.sky"), None);
        assert_eq!(nearest("x"), None);
    }
}
