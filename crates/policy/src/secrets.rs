//! Which places hold secrets.

use super::places::glob_or_same;

/// Names under which secrets are kept, wherever they are.
const SECRET_NAMES: [&str; 58] = [
    ".ssh",
    ".aws",
    ".gnupg",
    ".kube",
    ".docker",
    ".azure",
    ".gcloud",
    ".password-store",
    ".netrc",
    "_netrc",
    ".pgpass",
    ".my.cnf",
    ".git-credentials",
    ".npmrc",
    ".pypirc",
    ".vault-token",
    ".env",
    ".env.*",
    ".envrc",
    ".flaskenv",
    ".dev.vars",
    ".credentials.json",
    ".dockercfg",
    ".s3cfg",
    ".boto",
    ".mylogin.cnf",
    "auth.json",
    "oauth_creds.json",
    "keyrings",
    "cookies.sqlite",
    "logins.json",
    "*.tfstate",
    "*.key",
    "id_rsa*",
    "id_dsa*",
    "id_ecdsa*",
    "id_ed25519*",
    "*.pem",
    "*.p12",
    "*.pfx",
    "*.kdbx",
    "*.keystore",
    "*.jks",
    "credentials",
    "credentials.*",
    "secrets.*",
    ".bash_history",
    ".zsh_history",
    ".python_history",
    ".psql_history",
    "gcloud",
    "hosts.yml",
    "shadow",
    "gshadow",
    "sudoers",
    "keychains",
    "login data",
    ".htpasswd",
];

/// Names that look like secrets and are none.
const NO_SECRETS: [&str; 6] =
    [".env.example", ".env.sample", ".env.template", ".env.dist", ".env.test", "credentials.rs"];

/// Returns whether a path, or a pattern, leads to where secrets are kept.
pub(super) fn is_secret(path: &str) -> bool {
    let path = path.to_lowercase();
    path.split('/').filter(|part| !part.is_empty()).any(|part| {
        if NO_SECRETS.contains(&part) || part == "*" {
            return false;
        }
        let only_etc = matches!(part, "shadow" | "gshadow" | "sudoers");
        let only_config = matches!(part, "gcloud" | "hosts.yml");
        if (only_etc && !path.contains("etc/")) || (only_config && !path.contains(".config/")) {
            return false;
        }
        SECRET_NAMES.iter().any(|name| glob_or_same(part, name))
    })
}

/// Returns whether a path is what the kernel shows of another process's memory.
pub(super) fn has_private_environment(path: &str) -> bool {
    path.starts_with("/proc/") && ["/environ", "/mem", "/maps", "/fd/"].iter().any(|end| path.contains(end))
        || ["/dev/mem", "/dev/kmem", "/dev/sd", "/dev/nvme", "/dev/disk"]
            .iter()
            .any(|dev| path.starts_with(dev))
}
