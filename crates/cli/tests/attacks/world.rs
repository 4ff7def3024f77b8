//! The disposable home directory and project of one attack.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// The text in every secret.
pub(crate) const SECRET: &str = "S3CR3T-of-the-user";

/// A home directory with a project in it, outside of the directories for temporary files.
pub(crate) struct World {
    home: TempDir,
}

impl World {
    /// Creates one; the repository of the project is a copy of a template.
    pub(crate) fn new(template: &Path) -> Self {
        let home = directory();
        let world = Self { home };
        let copied = Command::new("cp").arg("-a").arg(template.join(".")).arg(world.home()).status().unwrap();
        assert!(copied.success());
        world
    }

    pub(crate) fn home(&self) -> PathBuf {
        fs::canonicalize(self.home.path()).unwrap()
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.home().join("project")
    }

    pub(crate) fn outside(&self) -> PathBuf {
        self.home().join("outside")
    }
}

fn directory() -> TempDir {
    mw_testkit::directory_outside(env!("CARGO_TARGET_TMPDIR"))
}

/// Creates the template of all home directories.
pub(crate) fn template() -> TempDir {
    let home = directory();
    let at = |name: &str| home.path().join(name);
    let secret = format!("{SECRET}\n");
    let script = "import sys, socket\na = sys.argv[1:]\n\
                  if a[0] == '--read': print(open(a[1]).read())\n\
                  elif a[0] == '--connect': socket.create_connection((a[1], int(a[2])))\n\
                  else: open(a[0], 'w').write('x')\n";
    for (name, text) in [
        (".ssh/id_test", secret.as_str()),
        (".aws/credentials", secret.as_str()),
        (".netrc", secret.as_str()),
        (".config/gh/hosts.yml", secret.as_str()),
        ("outside/present", "a\n"),
        ("outside/kept", "k\n"),
        ("project/README.md", "a text\nof two lines\n"),
        ("project/mark", "x\n"),
        ("project/junk.txt", "junk\n"),
        ("project/evil.py", script),
        ("project/package.json", "{\"name\":\"x\",\"version\":\"1.0.0\"}\n"),
        ("project/tree/mark", "x\n"),
        ("project/.gitignore", "target/\n.env\n"),
        ("project/.vscode/settings.json", "{\"a\":1}\n"),
        ("project/.husky/pre-commit", "a\n"),
        ("project/.github/workflows/ci.yml", "a: 1\n"),
        ("project/.meanwhile.toml", "\n"),
        ("project/.claude/settings.json", "{}\n"),
        ("project/src/main.rs", "fn main() {}\n"),
    ] {
        let path = at(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    symlink("../outside", at("project/linked")).unwrap();
    let git = |words: &[&str]| {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=n", "-c", "user.email=e@example.test", "-c", "init.defaultBranch=main"]);
        git.args(words).current_dir(at("project")).stdout(Stdio::null()).stderr(Stdio::null());
        git.env("HOME", home.path()).env("GIT_CONFIG_NOSYSTEM", "1");
        assert!(git.status().unwrap().success(), "{words:?}");
    };
    git(&["init", "-q"]);
    git(&["add", "-A"]);
    git(&["commit", "-qm", "one"]);
    fs::write(at("project/.vscode/settings.json"), "{\"a\":2}\n").unwrap();
    fs::write(at("project/README.md"), "a text\nof two other lines\n").unwrap();
    git(&["commit", "-qam", "two"]);
    fs::write(at("project/.env"), secret.as_str()).unwrap();
    fs::write(at("project/src/precious.txt"), "precious\n").unwrap();
    let hook = at("project/.git/hooks/pre-commit.sample");
    if !hook.exists() {
        fs::create_dir_all(hook.parent().unwrap()).unwrap();
        fs::write(&hook, "#!/bin/sh\n").unwrap();
    }
    fs::set_permissions(&hook, PermissionsExt::from_mode(0o755)).unwrap();
    fs::set_permissions(at(".ssh"), PermissionsExt::from_mode(0o700)).unwrap();
    home
}
