//! Variables that change what programs do.

use crate::names::Names;

/// Names of variables whose value is code or a place of code.
const DANGEROUS: Names<'_> = Names(
    "
    IFS ENV BASHOPTS SHELLOPTS PS0 PS1 PS2 PS3 PS4 GLOBIGNORE SHELL HOME EXECIGNORE ZDOTDIR HISTFILE TMPDIR
    MANOPT MANROFFOPT VISUAL FCEDIT SUDO_ASKPASS NODE_EXTRA_CA_CERTS NODE_REPL_EXTERNAL_MODULE PYTHONSTARTUP
    PYTHONHOME PYTHONINSPECT PYTHONBREAKPOINT PYTHONWARNINGS PERL5LIB PERL5OPT PERL5DB PERLLIB RUBYOPT RUBYLIB
    GEM_HOME BUNDLE_GEMFILE RUSTC RUSTDOC RUSTFLAGS RUSTDOCFLAGS GOFLAGS GOENV GOPROXY GOTOOLCHAIN GOROOT CC
    CXX LD AR MAKE MAKEFLAGS MAKEFILES LUA_INIT PHPRC OPENSSL_CONF POSIXLY_CORRECT RANDOM SRANDOM OPTIND
    INPUTRC TERMCAP TZDIR SSLKEYLOGFILE QLOGDIR NETRC HOSTALIASES RES_OPTIONS GOCACHEPROG GOAUTH GOBIN GOCACHE
    GOMODCACHE GOTMPDIR GOPRIVATE GOSUMDB GONOSUMDB GOINSECURE GOVCS GOWORK GOCOVERDIR CFLAGS CXXFLAGS
    CPPFLAGS LDFLAGS HOSTCC CROSS_COMPILE GCC_EXEC_PREFIX PYTHONUSERBASE PYTHONEXECUTABLE PYTHONPYCACHEPREFIX
    GNUMAKEFLAGS RUSTFMT JAVA_HOME JDK_HOME M2_HOME MAVEN_HOME GRADLE_HOME ANT_HOME
    REQUESTS_CA_BUNDLE VIRTUAL_ENV GRADLE_USER_HOME LLVM_PROFILE_FILE
",
);

/// Beginnings of such names.
const DANGEROUS_BEGINNINGS: Names<'_> = Names(
    "
    LD_ DYLD_ GIT_ BASH_FUNC_ CARGO_ NPM_CONFIG_ npm_config_ SSH_ GCONV_ MALLOC_ GLIBC_ RIPGREP_ CURL_ WGET
    DOCKER_ KUBE MEANWHILE_ RUSTUP_ RSYNC_ TAR_ LUA_ COMPOSER_ XDG_ BASH_ TERMINFO GH_ LESS PKG_CONFIG CC_
    CXX_ CGO_ CMAKE_ PIP_ UV_ POETRY_ YARN_ BUN_ DENO_ COVERAGE_ PYTEST_ TS_NODE_ PLAYWRIGHT_ CYPRESS_
    PUPPETEER_
",
);

/// Ends of such names.
const DANGEROUS_ENDS: Names<'_> = Names(
    "
    _OPTS _OPTIONS _PRELOAD PAGER EDITOR BROWSER PATH _SHELL _WRAPPER _LAUNCHER _COMMAND _CMD _EXEC _PLUGINS
    _BINARY
",
);

/// Names of variables that redirect network traffic.
const PROXIES: Names<'_> = Names("http_proxy https_proxy all_proxy ftp_proxy no_proxy ssl_cert_file");

/// Returns whether setting a variable changes what later programs do.
pub(crate) fn is_dangerous(name: &str) -> bool {
    DANGEROUS.contains(name)
        || DANGEROUS_BEGINNINGS.iter().any(|beginning| name.starts_with(beginning))
        || name.to_lowercase().starts_with("npm_config_")
        || PROXIES.iter().any(|proxy| proxy.eq_ignore_ascii_case(name))
        || DANGEROUS_ENDS.iter().any(|end| name.ends_with(end))
        || name.contains('[')
}

/// Returns whether a value may run a command when an arithmetic expression evaluates it.
pub(crate) fn is_executable(value: &str) -> bool {
    value.contains(['[', '$', '`', '('])
}

/// Returns whether shells set a variable themselves, so that an assigned value is not reliable.
pub(crate) fn is_set_by_shells(name: &str) -> bool {
    const NAMES: Names<'_> = Names(
        "
        PWD OLDPWD _ RANDOM SRANDOM SECONDS EPOCHSECONDS EPOCHREALTIME LINENO HISTCMD DIRSTACK FUNCNAME GROUPS
        PIPESTATUS UID EUID PPID SHLVL SHELLOPTS HOSTNAME HOSTTYPE MACHTYPE OSTYPE OPTIND OPTARG REPLY MAPFILE
        COPROC COLUMNS LINES IFS
    ",
    );
    NAMES.contains(name) || name.starts_with("BASH")
}
