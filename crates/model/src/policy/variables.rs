//! Variables that change what programs do.

/// Names whose value is code, or says where code is taken from.
const DANGEROUS: [&str; 92] = [
    "PATH",
    "IFS",
    "ENV",
    "BASH_ENV",
    "BASHOPTS",
    "SHELLOPTS",
    "PROMPT_COMMAND",
    "PS0",
    "PS1",
    "PS2",
    "PS3",
    "PS4",
    "CDPATH",
    "GLOBIGNORE",
    "SHELL",
    "HOME",
    "EXECIGNORE",
    "FPATH",
    "ZDOTDIR",
    "HISTFILE",
    "TMPDIR",
    "PAGER",
    "MANPAGER",
    "LESSOPEN",
    "LESSCLOSE",
    "LESS",
    "MANOPT",
    "MANROFFOPT",
    "BAT_PAGER",
    "DELTA_PAGER",
    "EDITOR",
    "VISUAL",
    "FCEDIT",
    "SUDO_EDITOR",
    "SUDO_ASKPASS",
    "BROWSER",
    "SSH_ASKPASS",
    "GIT_ASKPASS",
    "NODE_OPTIONS",
    "NODE_PATH",
    "NODE_EXTRA_CA_CERTS",
    "NODE_REPL_EXTERNAL_MODULE",
    "PYTHONSTARTUP",
    "PYTHONPATH",
    "PYTHONHOME",
    "PYTHONINSPECT",
    "PYTHONBREAKPOINT",
    "PYTHONWARNINGS",
    "PYTEST_ADDOPTS",
    "PYTEST_PLUGINS",
    "PIP_INDEX_URL",
    "PIP_EXTRA_INDEX_URL",
    "PIP_CONFIG_FILE",
    "UV_INDEX_URL",
    "PERL5LIB",
    "PERL5OPT",
    "PERL5DB",
    "PERLLIB",
    "RUBYOPT",
    "RUBYLIB",
    "GEM_HOME",
    "GEM_PATH",
    "BUNDLE_GEMFILE",
    "JAVA_TOOL_OPTIONS",
    "_JAVA_OPTIONS",
    "JDK_JAVA_OPTIONS",
    "CLASSPATH",
    "MAVEN_OPTS",
    "GRADLE_OPTS",
    "RUSTC",
    "RUSTDOC",
    "RUSTFLAGS",
    "RUSTC_WRAPPER",
    "RUSTC_WORKSPACE_WRAPPER",
    "RUSTDOCFLAGS",
    "RUSTUP_TOOLCHAIN",
    "GOFLAGS",
    "GOENV",
    "GOPROXY",
    "GOTOOLCHAIN",
    "GOROOT",
    "CC",
    "CXX",
    "LD",
    "AR",
    "MAKE",
    "MAKEFLAGS",
    "MAKEFILES",
    "LUA_INIT",
    "PHPRC",
    "AWKPATH",
    "OPENSSL_CONF",
];

/// Beginnings of such names.
const DANGEROUS_BEGINNINGS: [&str; 22] = [
    "LD_",
    "DYLD_",
    "GIT_",
    "BASH_FUNC_",
    "CARGO_",
    "NPM_CONFIG_",
    "npm_config_",
    "SSH_",
    "GCONV_",
    "MALLOC_",
    "GLIBC_",
    "RIPGREP_",
    "CURL_",
    "WGET",
    "DOCKER_",
    "KUBE",
    "MEANWHILE_",
    "RUSTUP_",
    "RSYNC_",
    "TAR_",
    "LUA_",
    "COMPOSER_",
];

/// Names that send traffic elsewhere.
const PROXIES: [&str; 6] =
    ["http_proxy", "https_proxy", "all_proxy", "ftp_proxy", "no_proxy", "ssl_cert_file"];

/// Tells whether setting a variable changes what the programs after it do.
pub(super) fn is_dangerous(name: &str) -> bool {
    DANGEROUS.contains(&name)
        || DANGEROUS_BEGINNINGS.iter().any(|beginning| name.starts_with(beginning))
        || PROXIES.iter().any(|proxy| proxy.eq_ignore_ascii_case(name))
        || name.ends_with("_OPTS")
        || name.ends_with("_PRELOAD")
        || name.ends_with("PAGER")
        || name.ends_with("EDITOR")
        || name.contains('[')
}

/// Tells whether a value could run something when a calculation looks at it.
pub(super) fn is_odd(value: &str) -> bool {
    value.contains(['[', '$', '`', '('])
}
