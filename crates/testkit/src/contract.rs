//! The fields of JSON output that programs rely on.

use serde_json::Value;

/// Fields of a task in `list --json` and `status --json`. An unknown value is null; no field is absent.
pub const TASK_FIELDS: [&str; 37] = [
    "id",
    "kind",
    "name",
    "description",
    "status",
    "cause",
    "command",
    "cwd",
    "session",
    "batch_id",
    "pid",
    "created_at",
    "started_at",
    "ended_at",
    "duration_ms",
    "exit_code",
    "signal",
    "output_path",
    "output_bytes",
    "dropped_bytes",
    "output_complete",
    "survivors",
    "runs",
    "resume_count",
    "queue_position",
    "after",
    "waiting_for",
    "stalled",
    "lifetime",
    "deadline",
    "ready",
    "ports",
    "progress",
    "approved_by",
    "approved_at",
    "trace_id",
    "span_id",
];

/// Fields of `start --json`.
pub const START_FIELDS: [&str; 5] = ["id", "status", "pid", "output_path", "queue_position"];

/// Fields of a receipt in `kill --json`.
pub const RECEIPT_FIELDS: [&str; 7] =
    ["id", "status", "requested_by", "signals", "killed", "survivors", "duration_ms"];

/// Fields of `output --json`.
pub const OUTPUT_FIELDS: [&str; 6] = ["text", "offset", "next_offset", "eof", "truncated", "dropped_bytes"];

/// Checks that an object has all of these fields.
///
/// # Panics
/// When one is absent.
#[track_caller]
pub fn has_fields(object: &Value, fields: &[&str]) {
    let missing: Vec<_> = fields.iter().filter(|field| object.get(field).is_none()).collect();
    assert!(missing.is_empty(), "without {missing:?}: {object}");
}

/// Returns a count that is written as a number or as a list.
///
/// # Panics
/// When it is neither.
#[track_caller]
#[must_use]
pub fn count(value: &Value) -> u64 {
    match value {
        Value::Array(items) => items.len() as u64,
        other => match other.as_u64() {
            Some(count) => count,
            None => panic!("no count: {other}"),
        },
    }
}

/// Returns whether a value names this signal, by number or by name.
#[must_use]
pub fn is_signal(value: &Value, number: i32) -> bool {
    let named = value.as_str().and_then(mw_model::signal_number);
    named == Some(number) || value.as_i64() == Some(i64::from(number))
}

/// Returns a list of process ids.
///
/// # Panics
/// When it is not a list.
#[track_caller]
#[must_use]
pub fn pids(value: &Value) -> Vec<u64> {
    match value.as_array() {
        Some(items) => items.iter().filter_map(Value::as_u64).collect(),
        None => panic!("no list of process ids: {value}"),
    }
}
