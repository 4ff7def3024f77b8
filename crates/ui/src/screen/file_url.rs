//! Addresses of files in links.

/// Encodes a path for a `file://` URL.
pub(crate) fn address_path(path: &str) -> String {
    let written = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
            char::from(byte).to_string()
        }
        other => format!("%{other:02X}"),
    };
    path.bytes().map(written).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn special_characters_in_a_url_path_are_encoded() {
        assert_eq!(address_path("/a-b/c_1.log~"), "/a-b/c_1.log~");
        assert_eq!(address_path("/ü #?;%"), "/%C3%BC%20%23%3F%3B%25");
    }
}
