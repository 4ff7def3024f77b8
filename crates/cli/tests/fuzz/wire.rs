//! The formats on disk and between processes.

use std::fmt::Debug;

use mw_model::wire::{
    ControlReply, ControlRequest, ExitRecord, IndexEntry, IndexHeader, JournalLine, PlaceRecord, StartAnswer,
    StartMessage,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::engine;

/// What was read and is written again is the same, also on the second time.
fn survives<T: DeserializeOwned + Serialize + Debug>(input: &[u8]) {
    if let Ok(value) = serde_json::from_slice::<T>(input) {
        let text = serde_json::to_vec(&value).unwrap();
        let again: T = serde_json::from_slice(&text).unwrap();
        assert_eq!(text, serde_json::to_vec(&again).unwrap(), "{value:?}");
    }
}

#[test]
fn wire() {
    engine::run("wire", |input| {
        survives::<StartMessage>(input);
        survives::<StartAnswer>(input);
        survives::<ControlRequest>(input);
        survives::<ControlReply>(input);
        survives::<JournalLine>(input);
        survives::<ExitRecord>(input);
        survives::<PlaceRecord>(input);
        let _ = IndexHeader::decode(input);
        for entry in input.chunks(IndexEntry::LEN).filter_map(IndexEntry::decode) {
            assert_eq!(IndexEntry::decode(&entry.encode()), Some(entry));
        }
    });
}
