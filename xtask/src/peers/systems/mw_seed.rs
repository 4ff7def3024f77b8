//! Fills a home directory with finished tasks without running each of them.
//!
//! One real task is run. Its directory is copied under other ids, with the id and the number replaced inside, and the
//! database is removed. The next command rebuilds the database from the directories with the product's own recovery
//! code, so `mw` itself creates every row and event.

use std::fs;
use std::path::Path;

use crate::peers::outcome::{Outcome, Trouble};

const LETTERS: &[u8; 36] = b"abcdefghijklmnopqrstuvwxyz0123456789";
/// The factor that spreads consecutive numbers over all ids. It is coprime to the number of ids, so no two ids are
/// equal.
const SPREAD: u64 = 1_234_567_891_001;

/// Copies the task `model` until there are `count` tasks, including itself.
pub(super) fn multiply(home: &Path, model: &str, count: u32) -> Outcome<()> {
    let tasks = home.join("tasks");
    let files = files_of(&tasks.join(model))?;
    for number in 2..=count {
        let id = id_of(number);
        let directory = tasks.join(&id);
        fs::create_dir(&directory)?;
        for (name, text) in &files {
            let text = text.replace(model, &id);
            let text = if name == "spec.json" { renumber(&text, number)? } else { text };
            fs::write(directory.join(name), text)?;
        }
    }
    for file in ["meanwhile.db", "meanwhile.db-wal", "meanwhile.db-shm"] {
        let _ = fs::remove_file(home.join(file));
    }
    Ok(())
}

/// Reads the regular files of a task. Sockets and pipes exist only while it runs.
fn files_of(directory: &Path) -> Outcome<Vec<(String, String)>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        if entry.file_type()?.is_file() {
            let name = entry.file_name().to_string_lossy().into_owned();
            files.push((name, fs::read_to_string(entry.path())?));
        }
    }
    Ok(files)
}

fn renumber(spec: &str, number: u32) -> Outcome<String> {
    let changed = spec.replacen("\"number\":1,", &format!("\"number\":{number},"), 1);
    if changed == spec {
        return Err(Trouble::because("the model's spec.json does not have number 1"));
    }
    Ok(changed)
}

fn id_of(number: u32) -> String {
    let mut rest = u64::from(number).wrapping_mul(SPREAD) % 36_u64.pow(8);
    let mut id = String::from("bash-");
    for _ in 0..8 {
        id.push(char::from(LETTERS[(rest % 36) as usize]));
        rest /= 36;
    }
    id
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn seeded_ids_are_distinct() {
        let ids: BTreeSet<String> = (1..=20_000).map(id_of).collect();
        assert_eq!(ids.len(), 20_000);
        assert!(ids.iter().all(|id| id.len() == 13));
    }

    #[test]
    fn the_number_in_a_spec_is_replaced() {
        assert_eq!(renumber("{\"number\":1,\"a\":1}", 7).unwrap(), "{\"number\":7,\"a\":1}");
        assert!(renumber("{\"number\":2,\"a\":1}", 7).is_err());
    }
}
