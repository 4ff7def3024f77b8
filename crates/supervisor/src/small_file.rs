//! Files of the kernel that have at most a page.

use std::fs::File;
use std::io::{self, Read};

/// Reads such a file with one call, because the kernel generates it anew for each.
pub(crate) fn read(path: &str) -> io::Result<String> {
    let mut page = [0; 4096];
    let length = File::open(path)?.read(&mut page)?;
    Ok(String::from_utf8_lossy(&page[..length]).into_owned())
}
