//! Names of files and directories that hold secrets.

use crate::names::{Names, may_be_same};

/// Names of files and directories that hold secrets, in any directory, separated by white space. `*` stands for any
/// characters.
pub const SECRET_NAMES: &str = "
    .ssh .aws .gnupg .kube .docker .azure .gcloud .password-store .netrc _netrc .pgpass .my.cnf
    .git-credentials .npmrc .pypirc .vault-token .env .env.* .envrc .flaskenv .dev.vars .credentials.json
    .dockercfg .s3cfg .boto .mylogin.cnf auth.json oauth_creds.json keyrings cookies.sqlite logins.json
    *.tfstate *.key id_rsa* id_dsa* id_ecdsa* id_ed25519* *.pem *.p12 *.pfx *.kdbx *.keystore *.jks
    credentials credentials.* secrets.* .bash_history .zsh_history .python_history .psql_history gcloud
    hosts.yml shadow gshadow sudoers keychains .htpasswd
";
/// The file in which Chromium keeps passwords.
const LOGIN_DATA: &str = "login data";

/// Names that match but hold no secrets.
const NO_SECRETS: Names<'_> =
    Names(".env.example .env.sample .env.template .env.dist .env.test credentials.rs");

/// Returns whether a path or pattern may lead to a secret.
#[must_use]
pub fn is_secret(path: &str) -> bool {
    let path = path.to_lowercase();
    path.split('/').filter(|part| !part.is_empty()).any(|part| {
        if NO_SECRETS.contains(part) || part == "*" {
            return false;
        }
        let only_etc = matches!(part, "shadow" | "gshadow" | "sudoers");
        let only_config = matches!(part, "gcloud" | "hosts.yml");
        if (only_etc && !path.contains("etc/")) || (only_config && !path.contains(".config/")) {
            return false;
        }
        Names(SECRET_NAMES).iter().chain([LOGIN_DATA]).any(|name| may_be_same(part, name))
    })
}

/// Returns whether a path shows memory or the environment of a process, or the content of a disk.
pub(crate) fn has_private_environment(path: &str) -> bool {
    let shows = |part: &str| {
        ["environ", "mem", "maps", "fd", "auxv", "root", "cwd"].iter().any(|name| may_be_same(part, name))
    };
    let of_process = |path: &str| path.split('/').skip(1).any(|part| part != "*" && shows(part));
    path.strip_prefix("/proc/").is_some_and(of_process)
        || Names("/dev/mem /dev/kmem /dev/sd /dev/nvme /dev/disk").iter().any(|dev| path.starts_with(dev))
}
