//! Tasks on disk in the formats of earlier builds.

use std::fs;
use std::path::Path;

use crate::home::Home;

/// The id of the task in the fixture of format 1: it printed `one`, `two` and exited with 3.
pub const V1_TASK: &str = "bash-oldtask1";

const V1: [(&str, &str); 4] = [
    ("spec.json", include_str!("../fixtures/v1/spec.json")),
    ("journal.jsonl", include_str!("../fixtures/v1/journal.jsonl")),
    ("result.json", include_str!("../fixtures/v1/result.json")),
    ("output.log", include_str!("../fixtures/v1/output.log")),
];

/// Writes the task of format 1 to a home without a database.
///
/// # Panics
/// When it cannot be written.
pub fn put_v1(home: &Home) {
    let directory = home.task_dir(V1_TASK);
    make_private(&directory);
    for (name, text) in V1 {
        fs::write(directory.join(name), text).expect("a fixture can be written");
    }
}

fn make_private(directory: &Path) {
    use std::os::unix::fs::DirBuilderExt;

    fs::DirBuilder::new().recursive(true).mode(0o700).create(directory).expect("a fixture has a directory");
}

#[cfg(test)]
mod tests {
    use mw_model::TaskSpec;
    use mw_model::wire::{ExitRecord, JournalLine};

    use super::*;

    #[test]
    fn the_model_reads_format_1() {
        let spec: TaskSpec = serde_json::from_str(V1[0].1).unwrap();
        assert_eq!(spec.id.as_str(), V1_TASK);
        for line in V1[1].1.lines() {
            serde_json::from_str::<JournalLine>(line).unwrap();
        }
        let record: ExitRecord = serde_json::from_str(V1[2].1).unwrap();
        assert_eq!((record.exit_code, record.output_bytes), (Some(3), 8));
    }
}
