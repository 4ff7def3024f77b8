//! Files of the kernel's that are a page at most.

use std::fs::File;
use std::io::{self, Read};

/// Reads such a file with one call: the kernel makes it up anew for each.
pub(crate) fn read(path: &str) -> io::Result<String> {
    let mut page = [0; 4096];
    let length = File::open(path)?.read(&mut page)?;
    Ok(String::from_utf8_lossy(&page[..length]).into_owned())
}
