//! Files that hold secrets, at the places where programs keep them.

use std::fs;
use std::path::{Path, PathBuf};

use mw_policy::{SECRET_NAMES, is_secret};

use super::list::{contains, real};

/// Secrets below directories of the home directory that hold other things, too.
const IN_HOME: [&str; 40] = [
    ".config/gcloud",
    ".config/gh",
    ".config/glab-cli",
    ".config/hub",
    ".config/git/credentials",
    ".config/op",
    ".config/rclone",
    ".config/doctl",
    ".config/heroku",
    ".config/containers/auth.json",
    ".config/composer/auth.json",
    ".config/configstore",
    ".config/google-chrome",
    ".config/chromium",
    ".config/microsoft-edge",
    ".config/BraveSoftware",
    ".config/Bitwarden",
    ".config/Bitwarden CLI",
    ".config/1Password",
    ".config/sops",
    ".config/age",
    ".config/Slack",
    ".config/github-copilot",
    ".mozilla",
    ".thunderbird",
    ".local/share/keyrings",
    ".local/share/opencode/auth.json",
    ".local/share/com.vercel.cli",
    ".local/share/fish/fish_history",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".terraform.d/credentials.tfrc.json",
    ".claude/.credentials.json",
    ".codex/auth.json",
    ".gemini/oauth_creds.json",
    ".gem/credentials",
    ".kaggle",
    ".cache/huggingface/token",
    ".huggingface/token",
    ".node_repl_history",
];

/// Secrets of the system.
const OF_SYSTEM: [&str; 6] =
    ["/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-", "/etc/sudoers", "/etc/sudoers.d"];

/// Settings of package managers, which hold a secret only if they name one.
const NPM: &str = ".npmrc .yarnrc.yml";
const MARKS: [&str; 4] = ["_auth", "_password", "authtoken", "authident"];

/// Ends of names of source files, such as `secrets.py`, which hold none.
const SOURCES: &str = "*.rs *.py *.js *.mjs *.cjs *.ts *.tsx *.jsx *.go *.java *.kt *.rb *.c *.h *.cc *.cpp *.hpp *.cs \
                       *.php *.swift *.ex *.exs *.md *.rst *.html *.css *.sh *.lua *.scala *.clj *.zig";

/// Returns the home directory that the system knows of this user.
pub(super) fn home_of_user() -> Option<PathBuf> {
    let own = rustix::process::geteuid().as_raw().to_string();
    let users = fs::read_to_string("/etc/passwd").ok()?;
    let fields = users.lines().map(|line| line.split(':').collect::<Vec<_>>());
    let home = fields
        .filter(|fields| fields.get(2) == Some(&own.as_str()))
        .find_map(|fields| fields.get(5).map(PathBuf::from))?;
    (home.is_absolute() && home != Path::new("/")).then_some(home)
}

/// Returns the secrets of the system.
pub(super) fn of_system() -> Vec<PathBuf> {
    OF_SYSTEM.iter().filter_map(|path| real(Path::new(path))).collect()
}

/// Returns the secrets in the home directory of a user.
pub(super) fn of_user(home: &Path) -> Vec<PathBuf> {
    let names = || SECRET_NAMES.split_ascii_whitespace().filter(|name| !name.contains('*'));
    let hidden = || names().filter(|name| name.starts_with('.') || name.starts_with('_'));
    let paths = hidden().chain(IN_HOME).map(|name| home.join(name)).filter(|path| holds_token(path));
    paths.filter_map(|path| real(&path)).collect()
}

/// Returns the files with secrets in a directory of a project. Directories below it are not searched.
pub(super) fn in_directory(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let secret = |entry: fs::DirEntry| {
        let name = entry.file_name().to_string_lossy().to_lowercase();
        let may_be = contains(SECRET_NAMES, &name) && !contains(SOURCES, &name);
        let is = may_be && !entry.file_type().is_ok_and(|kind| kind.is_dir()) && is_secret(&name);
        (is && holds_token(&entry.path())).then(|| real(&entry.path())).flatten()
    };
    entries.filter_map(secret).collect()
}

/// Returns false for settings of a package manager without a token. Commands need them to find their packages.
fn holds_token(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
    if !contains(NPM, &name) {
        return true;
    }
    match fs::read(path) {
        Ok(text) => {
            let text = String::from_utf8_lossy(&text).to_lowercase();
            MARKS.iter().any(|mark| text.contains(mark))
        }
        Err(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_found_and_sources_and_plain_settings_are_not() {
        let place = tempfile::tempdir().unwrap();
        let top = fs::canonicalize(place.path()).unwrap();
        for (name, text) in [
            (".env", "KEY=1"),
            (".env.example", ""),
            ("server.pem", ""),
            ("secrets.py", ""),
            ("secrets.yaml", ""),
            (".npmrc", "registry=https://example.test/\n"),
            ("main.rs", ""),
        ] {
            fs::write(top.join(name), text).unwrap();
        }
        let names = || {
            let mut found = in_directory(&top);
            found.sort();
            found
                .iter()
                .map(|path| path.file_name().unwrap().to_string_lossy().into_owned())
                .collect::<Vec<_>>()
        };
        assert_eq!(names(), [".env", "secrets.yaml", "server.pem"]);
        fs::write(top.join(".npmrc"), "//example.test/:_authToken=abc\n").unwrap();
        assert_eq!(names(), [".env", ".npmrc", "secrets.yaml", "server.pem"]);
    }

    #[test]
    fn secrets_of_the_user_are_found_where_they_are() {
        let place = tempfile::tempdir().unwrap();
        let home = fs::canonicalize(place.path()).unwrap();
        for name in [".ssh", ".config/gh", ".config/other"] {
            fs::create_dir_all(home.join(name)).unwrap();
        }
        let mut found = of_user(&home);
        found.retain(|path| path.starts_with(&home));
        assert_eq!(found, [home.join(".ssh"), home.join(".config/gh")]);
    }
}
