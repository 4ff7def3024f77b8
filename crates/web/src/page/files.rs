//! The files of the page.

use std::fmt::Write as _;

use sha2::{Digest, Sha256};

/// A file of the page.
pub(super) struct PageFile {
    path: &'static str,
    pub(super) text: &'static str,
}

macro_rules! files {
    ($($path:literal,)*) => {
        static FILES: &[PageFile] = &[$(PageFile { path: $path, text: include_str!(concat!("web/", $path)) },)*];
    };
}

files! {
    "api-reference.js",
    "api.html",
    "api.js",
    "app.css",
    "app.js",
    "dom.js",
    "favicon.svg",
    "format.js",
    "index.html",
    "live.js",
    "parts/actions.js",
    "parts/ansi.js",
    "parts/attention.js",
    "parts/dialog.js",
    "parts/ended-list.js",
    "parts/line-view.js",
    "parts/lines.js",
    "parts/log-search.js",
    "parts/log-source.js",
    "parts/log.css",
    "parts/log.js",
    "parts/prose.js",
    "parts/selection.js",
    "parts/sparkline.js",
    "parts/task-details.js",
    "parts/task-row.js",
    "parts/transcript.js",
    "parts/waterfall.js",
    "signed-in.js",
    "theme.js",
    "views/approvals.js",
    "views/board.js",
    "views/groups.js",
    "views/task.js",
    "views/timeline.js",
}

/// Finds a file by its path.
pub(super) fn find(path: &str) -> Option<&'static PageFile> {
    FILES.iter().find(|file| file.path == path)
}

impl PageFile {
    /// Returns the media type.
    pub(super) fn kind(&self) -> &'static str {
        match self.path.rsplit('.').next() {
            Some("js") => "text/javascript; charset=utf-8",
            Some("css") => "text/css; charset=utf-8",
            Some("svg") => "image/svg+xml",
            Some(_) | None => "text/html; charset=utf-8",
        }
    }

    /// Returns a fingerprint of the content.
    pub(super) fn hash(&self) -> String {
        Sha256::digest(self.text.as_bytes()).iter().take(12).fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pages_have_no_inline_script_or_style_and_name_only_existing_files() {
        for file in FILES {
            assert!(!file.text.contains("innerHTML"), "{}", file.path);
        }
        for page in FILES.iter().filter(|file| file.path.ends_with(".html")) {
            assert!(!page.text.contains("<style") && !page.text.contains(" style="), "{}", page.path);
            assert!(!page.text.contains("<script>") && !page.text.contains(" onclick"), "{}", page.path);
            for named in page.text.split("\"/assets/").skip(1) {
                let path = named.split('"').next().unwrap();
                assert!(find(path).is_some(), "{}: {path}", page.path);
            }
        }
    }

    #[test]
    fn modules_import_only_existing_files() {
        for module in FILES.iter().filter(|file| file.path.ends_with(".js")) {
            let folder = module.path.rsplit_once('/').map_or("", |(folder, _)| folder);
            for line in module.text.lines().filter(|line| line.starts_with("import ")) {
                let named = line.rsplit('"').nth(1).unwrap();
                let path = match (named.strip_prefix("./"), named.strip_prefix("../")) {
                    (Some(name), _) if folder.is_empty() => name.to_owned(),
                    (Some(name), _) => format!("{folder}/{name}"),
                    (None, Some(name)) => name.to_owned(),
                    (None, None) => panic!("{}: {named}", module.path),
                };
                assert!(find(&path).is_some(), "{}: {named}", module.path);
            }
        }
    }
}
