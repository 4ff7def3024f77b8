use mw_model::{Edge, EnvVar};
use proptest::prelude::*;

use super::redactor::*;
use crate::settings::{RedactSettings, SecretPattern};

const TOKEN: &str = "ghp_aB3dE5gH1jK2mN4pQ6sT8vW0yZaB3dE5gH1j";
const MARK: &str = "[redacted:github-token]";

fn redactor(patterns: &[&str], variables: &[(&str, &str)]) -> Redactor {
    let patterns = patterns.iter().map(|pattern| SecretPattern::new(pattern).unwrap()).collect();
    let variables: Vec<_> = variables
        .iter()
        .map(|(name, value)| EnvVar { name: (*name).into(), value: (*value).into() })
        .collect();
    Redactor::new(&RedactSettings { enabled: true, patterns }, &variables)
}

fn whole(redactor: &Redactor, text: &[u8]) -> Vec<u8> {
    let all = 0..text.len();
    redactor.stretches(text, Edge::Closed, std::slice::from_ref(&all)).concat()
}

#[test]
fn values_of_secret_variables_are_hidden_inside_other_text() {
    let redactor = redactor(&[], &[("DB_PASSWORD", "tr0mb0ne"), ("LANG", "ordinary"), ("A_KEY", "short")]);
    assert_eq!(redactor.text("x-tr0mb0ne-y ordinary short"), "x-[redacted:environment]-y ordinary short");
}

#[test]
fn matches_of_user_patterns_are_hidden_and_bad_patterns_are_refused() {
    let redactor = redactor(&["CASE-[0-9]+"], &[]);
    assert_eq!(redactor.text("see CASE-1234."), "see [redacted:pattern].");
    assert!(SecretPattern::new("(").is_err() && SecretPattern::new("x*").is_err());
}

#[test]
fn nothing_is_hidden_when_redaction_is_off() {
    let variables = [EnvVar { name: "A_KEY".into(), value: "tr0mb0ne".into() }];
    let off = RedactSettings { enabled: false, patterns: vec![SecretPattern::new("x").unwrap()] };
    let text = format!("{TOKEN} tr0mb0ne x");
    assert_eq!(Redactor::new(&off, &variables).text(&text), text);
}

#[test]
fn the_word_after_a_secret_flag_is_hidden() {
    let words = ["tool", "--password", "tr0mb 0ne", "--name", "x"].map(str::to_owned);
    assert_eq!(
        redactor(&[], &[]).words(&words),
        ["tool", "--password", "[redacted:password]", "--name", "x"]
    );
}

#[test]
fn a_secret_with_colours_inside_is_hidden() {
    let text = format!("\x1b[31mgh\x1b[0m{} end", &TOKEN[2..]);
    let shown = whole(&redactor(&[], &[]), text.as_bytes());
    assert_eq!(String::from_utf8(shown).unwrap(), format!("\x1b[31m{MARK}\x1b[0m end"));
}

#[test]
fn control_sequences_except_colours_are_removed() {
    let text = b"\x1b]0;title\x07a\x1b[2J\x1b[1;32mb\x1b[m\x08\x1b(Bc\xc2\x9bd\x1bPq\x1b\\\xc3\xa9\x1b[3";
    assert_eq!(whole(&redactor(&[], &[]), text), b"a\x1b[1;32mb\x1b[mcd\xc3\xa9");
}

#[test]
fn both_parts_of_a_secret_cut_between_two_pages_are_hidden() {
    let text = format!("before {TOKEN} after");
    let redactor = redactor(&[], &[]);
    for cut in 0..=text.len() {
        let pages = redactor.stretches(text.as_bytes(), Edge::Closed, &[0..cut, cut..text.len()]);
        let inside = 7 < cut && cut < 7 + TOKEN.len();
        let both = pages.concat();
        let expected = format!("before {MARK}{} after", if inside { MARK } else { "" });
        assert_eq!(String::from_utf8(both).unwrap(), expected, "{cut}");
    }
}

#[test]
fn the_beginning_of_a_secret_value_is_hidden_where_text_may_continue() {
    let redactor = redactor(&[], &[("A_TOKEN", "tr0mb0ne")]);
    let all = |text: &str| std::iter::once(0..text.len()).collect::<Vec<_>>();
    let shown = |text: &str| redactor.stretches(text.as_bytes(), Edge::Open, &all(text)).concat();
    assert_eq!(shown("x tr0mb"), b"x [redacted:environment]");
    assert_eq!(shown("x tr0"), b"x tr0");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn redacting_twice_equals_once_and_text_without_secrets_is_unchanged(text in "[ -~\n]{0,80}", with in any::<bool>()) {
        let redactor = redactor(&[], &[("A_TOKEN", "redacted"), ("B_KEY", "tr0mb0ne"), ("C_KEY", "github-token")]);
        let text = if with { format!("{text} {TOKEN} tr0mb0ne{text}") } else { text };
        let once = redactor.text(&text).into_owned();
        prop_assert_eq!(redactor.text(&once), once.as_str());
        if redactor.find(text.as_bytes(), Edge::Closed).is_empty() {
            prop_assert_eq!(whole(&redactor, text.as_bytes()), text.as_bytes());
        }
        prop_assert!(!once.contains("tr0mb0ne") && !once.contains(TOKEN));
    }

    #[test]
    fn two_pages_of_any_bytes_are_never_shorter_than_the_whole(bytes: Vec<u8>, cut: prop::sample::Index) {
        let redactor = redactor(&["[0-9]{4}"], &[("A_TOKEN", "tr0mb0ne")]);
        let cut = cut.index(bytes.len() + 1);
        let pages = redactor.stretches(&bytes, Edge::Open, &[0..cut, cut..bytes.len()]);
        prop_assert_eq!(pages.len(), 2);
        let all = 0..bytes.len();
        let whole = redactor.stretches(&bytes, Edge::Open, std::slice::from_ref(&all)).concat();
        // The mark of a secret that is cut appears on both pages.
        prop_assert!(pages.concat().len() >= whole.len());
    }
}
