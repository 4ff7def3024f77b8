//! Fills a home with finished tasks without running each.
//!
//! One real task is run. Its directory is copied under other ids, with the id and the number changed inside, and the
//! database is removed. The next command then rebuilds it from the directories with the code that a user would meet
//! after losing it, so every row and event is made by `mw` and none by this tool.

use std::fs;
use std::path::Path;

use crate::peers::outcome::{Outcome, Trouble};

const LETTERS: &[u8; 36] = b"abcdefghijklmnopqrstuvwxyz0123456789";
/// Spreads consecutive numbers over all ids; odd and no multiple of three, so that no two meet.
const SPREAD: u64 = 1_234_567_891_001;

/// Makes `count` tasks out of the one called `model`, itself included.
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

/// Reads the regular files of a task; sockets and pipes are of its running time.
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
    fn ids_are_all_different() {
        let ids: BTreeSet<String> = (1..=20_000).map(id_of).collect();
        assert_eq!(ids.len(), 20_000);
        assert!(ids.iter().all(|id| id.len() == 13));
    }

    #[test]
    fn a_spec_gets_its_own_number() {
        assert_eq!(renumber("{\"number\":1,\"a\":1}", 7).unwrap(), "{\"number\":7,\"a\":1}");
        assert!(renumber("{\"number\":2,\"a\":1}", 7).is_err());
    }
}
