//! The token cost of the tool definitions.

use mw_tools::call::Background;
use mw_tools::{Dialect, Format, Toolset};
use serde_json::Value;

/// The token limit of the canonical tools.
const MAX: usize = 1800;

#[test]
fn the_definitions_of_the_canonical_tools_stay_below_their_token_limit() {
    let encoding = tiktoken_rs::o200k_base().unwrap();
    for dialect in Dialect::ALL {
        let specs = Toolset::of(dialect).specs(Background::On);
        let list: Vec<Value> = specs.iter().map(|spec| spec.to_json(Format::Mcp)).collect();
        let tokens = encoding.encode_with_special_tokens(&Value::from(list).to_string()).len();
        println!("{}: {} tools, {tokens} tokens", dialect.name(), specs.len());
        assert!(dialect != Dialect::Canonical || tokens < MAX, "{tokens} tokens");
    }
}
