use proptest::prelude::*;

use super::*;

const PATH: [&str; 2] = ["mcpServers", "meanwhile"];
const HOOKS: [&[&str]; 3] = [&["hooks", "Stop"], &["hooks", "PostToolUse"], &["hooks", "UserPromptSubmit"]];

fn server() -> Value {
    json!({"command": "/opt/mw", "args": ["mcp"]})
}

fn group() -> Value {
    json!({"hooks": [{"type": "command", "command": "mw hook"}]})
}

const ELEMENT: Spot<'static> = Spot::Element { arguments: "hook" };

fn round_trip(text: &str) -> String {
    let added = add(Some(text), Syntax::Jsonc, &PATH, Spot::Member, &server()).unwrap();
    let fields = command(&added, Syntax::Jsonc, &PATH, Spot::Member).unwrap().unwrap();
    let words: Vec<_> = fields.into_iter().flat_map(|field| field.words).collect();
    assert_eq!(words, ["/opt/mw", "mcp"], "{added}");
    let left = take_out(&added, Syntax::Jsonc, &PATH, Spot::Member).unwrap();
    assert_eq!(left.as_deref(), Some(text), "{added}");
    added
}

fn round_trip_hooks(text: &str) -> String {
    let mut added = text.to_owned();
    for path in HOOKS {
        added = add(Some(&added), Syntax::Jsonc, path, ELEMENT, &group()).unwrap();
    }
    let mut left = Some(added.clone());
    for path in HOOKS.iter().rev() {
        assert!(command(left.as_deref().unwrap(), Syntax::Jsonc, path, ELEMENT).unwrap().is_some());
        left = take_out(left.as_deref().unwrap(), Syntax::Jsonc, path, ELEMENT).unwrap();
    }
    assert_eq!(left.as_deref(), Some(text), "{added}");
    added
}

const SAMPLES: [&str; 22] = [
    "",
    " \n",
    "{}",
    "{ }\n",
    "{\n}\n",
    "{\n\n  }",
    "{ /* a\n b */ }",
    "{ // c\n}\n",
    "{\"a\":1}",
    "{ \"a\": 1 }\n",
    "{\n  \"a\": 1\n}\n",
    "{\r\n\t\"a\": 1,\r\n\t\"mcpServers\": {}\r\n}\r\n",
    "{\n  // about a\n  \"a\": 1, // more\n}\n",
    "{ // on the brace\n  \"a\": [1, 2,],\n}",
    "{\"mcpServers\":{},\"hooks\":{}}",
    "{\n    \"mcpServers\": {\n    },\n    \"hooks\": { \"Stop\": [] }\n}\n",
    "{\n  \"mcpServers\": {\n    \"other\": { \"command\": \"x\" }\n  }\n}\n",
    "{\n  \"hooks\": {\n    \"Stop\": [\n      { \"hooks\": [ { \"type\": \"command\", \"command\": \"x\" } ] }\n    ]\n  }\n}\n",
    "// head\n{\n  /* in */ \"mcpServers\": { /* empty */ } // tail\n}\n// foot\n",
    "{\"mcpServers\":{\"a\":{}},\"hooks\":{\"Stop\":[{}],\"PostToolUse\":[ ]}}\n",
    "{/*\n*/\"a\":1}",
    "{ \"mcpServers\": { /*\n*/ \"x\": 1 } }",
];

#[test]
fn an_added_entry_can_be_removed_again() {
    for text in SAMPLES {
        round_trip(text);
        round_trip_hooks(text);
    }
}

#[test]
fn removing_the_entry_from_a_created_file_leaves_no_file() {
    let made = add(None, Syntax::Json, &PATH, Spot::Member, &server()).unwrap();
    let expected = "{\n  \"mcpServers\": {\n    \"meanwhile\": {\n      \"command\": \"/opt/mw\",\n      \"args\": [\"mcp\"]\n    }\n  }\n}\n";
    assert_eq!(made, expected);
    assert_eq!(take_out(&made, Syntax::Json, &PATH, Spot::Member).unwrap(), None);
}

#[test]
fn an_added_entry_follows_the_formatting_of_the_file() {
    let added = round_trip("{\n  // about others\n  \"mcpServers\": {\n    \"other\": {}\n  }\n}\n");
    let expected = "{\n  // about others\n  \"mcpServers\": {\n    \"meanwhile\": {\n      \"command\": \"/opt/mw\",\n      \
                    \"args\": [\"mcp\"]\n    },\n    \"other\": {}\n  }\n}\n";
    assert_eq!(added, expected);
    let added = round_trip("{ \"a\": 1 }\n");
    assert_eq!(
        added,
        "{ \"mcpServers\": { \"meanwhile\": { \"command\": \"/opt/mw\", \"args\": [\"mcp\"] } }, \"a\": 1 }\n"
    );
}

#[test]
fn an_entry_is_removed_after_the_host_rewrote_the_file() {
    let text = "{\n  \"a\": 1,\n  \"mcpServers\": {\n    \"x\": {},\n    \"meanwhile\": {\n      \"command\": \"mw\"\n    }\n  }\n}\n";
    let left = take_out(text, Syntax::Json, &PATH, Spot::Member).unwrap().unwrap();
    assert_eq!(left, "{\n  \"a\": 1,\n  \"mcpServers\": {\n    \"x\": {}\n  }\n}\n");
    let shared = "{\"hooks\":{\"Stop\":[{\"hooks\":[{\"command\":\"x\"},{\"command\":\"mw hook\"}]}]}}";
    let left = take_out(shared, Syntax::Json, &["hooks", "Stop"], ELEMENT).unwrap().unwrap();
    assert_eq!(left, "{\"hooks\":{\"Stop\":[{\"hooks\":[{\"command\":\"x\"}]}]}}");
}

#[test]
fn a_file_that_cannot_be_edited_is_refused_with_its_line() {
    let refused = |text: &str, syntax| add(Some(text), syntax, &PATH, Spot::Member, &server()).unwrap_err();
    assert!(matches!(
        refused("{\n  \"a\": 1\n  \"b\": 2\n}", Syntax::Jsonc),
        Flaw::Broken { line: 2 | 3, .. }
    ));
    assert!(matches!(refused("{\n// c\n}", Syntax::Json), Flaw::Broken { line: 2, .. }));
    assert!(matches!(refused("{\n\"a\": 1,\n}", Syntax::Comments), Flaw::Broken { line: 2 | 3, .. }));
    assert!(matches!(refused("[]", Syntax::Json), Flaw::Unfit { line: 1, .. }));
    assert!(matches!(refused("{\n\n\"mcpServers\": null}", Syntax::Json), Flaw::Unfit { line: 3, .. }));
    assert!(matches!(
        refused("{\"mcpServers\": {},\n\"mcpServers\": {}}", Syntax::Json),
        Flaw::Unfit { line: 2, .. }
    ));
    assert!(matches!(refused("// only a comment\n", Syntax::Jsonc), Flaw::Unfit { .. }));
}

/// Generates the gap between two tokens.
fn gap() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(String::new()),
        Just(" ".to_owned()),
        Just("\n".to_owned()),
        Just("\n  ".to_owned()),
        Just("\r\n\t".to_owned()),
        Just(" // c, }\n".to_owned()),
        Just("/* [,\n */".to_owned()),
        Just(" /* c */ ".to_owned()),
    ]
}

fn container(
    inner: impl Strategy<Value = String> + 'static,
    open: char,
    close: char,
) -> BoxedStrategy<String> {
    (prop::collection::vec((gap(), inner, gap()), 0..3), gap(), any::<bool>())
        .prop_map(move |(items, end, trailing)| {
            let items: Vec<_> =
                items.into_iter().map(|(before, item, after)| format!("{before}{item}{after}")).collect();
            let comma = if trailing && !items.is_empty() { "," } else { "" };
            format!("{open}{}{comma}{end}{close}", items.join(","))
        })
        .boxed()
}

fn members(names: &'static [&'static str], value: BoxedStrategy<String>) -> BoxedStrategy<String> {
    // Random numbers keep the generated names distinct.
    let member =
        (prop::sample::select(names), gap(), value, any::<u32>()).prop_map(|(name, gap, value, number)| {
            if name.is_empty() {
                format!("\"k{number}\":{gap}{value}")
            } else {
                format!("\"{name}\":{gap}{value}")
            }
        });
    container(member, '{', '}')
}

proptest! {
    #[test]
    fn adding_and_removing_an_entry_restores_any_document(
        before in gap(),
        root in members(
            &["mcpServers", "hooks", "", ""],
            prop_oneof![
                members(&["Stop", "PostToolUse", ""], container(Just("{}".to_owned()), '[', ']')),
                members(&["a"], Just("1".to_owned()).boxed()),
            ].boxed(),
        ),
        after in gap(),
    ) {
        let text = format!("{before}{root}{after}");
        if add(Some(&text), Syntax::Jsonc, &PATH, Spot::Member, &server()).is_ok() {
            round_trip(&text);
        }
        if HOOKS.iter().all(|path| add(Some(&text), Syntax::Jsonc, path, ELEMENT, &group()).is_ok()) {
            round_trip_hooks(&text);
        }
    }
}
