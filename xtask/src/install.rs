//! Builds the executables and installs them side by side.
//!
//! `mw`, `mw-engine` and `mw-supervisor` are executed often. Linked with musl each starts about 0.4 ms earlier: glibc asks the
//! processor about its features at every start, which is slow in a virtual machine. `mw-surfaces` runs for long and keeps the host's
//! C library, which is faster with many threads. Without musl everything is built for the host.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::command::{built_program, cargo, cargo_with, target};
use crate::error::Failure;

const USAGE: &str = "usage: cargo xtask install [--root DIR] [--host] [--profile quick]

  --root DIR       install into DIR/bin; otherwise where cargo install does
  --host           use the C library of this machine for everything
  --profile quick  build in a fraction of the time, for this machine's C library; what is built is larger and starts slower";

/// How much work the compiler does.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Profile {
    Release,
    /// For people who try it. All executables are built at once.
    Quick,
}

/// A program to install.
struct Program {
    name: &'static str,
    /// The cargo arguments that build it.
    build: &'static [&'static str],
    /// Whether C code is compiled for it.
    has_c_code: bool,
    /// Whether it starts so often that musl is worth it.
    is_frequent: bool,
}

const PROGRAMS: [Program; 4] = [
    Program {
        name: "mw-supervisor",
        build: &["--package", "mw-supervisor", "--features", "executable"],
        has_c_code: false,
        is_frequent: true,
    },
    Program { name: "mw", build: &["--package", "mw-cli"], has_c_code: true, is_frequent: true },
    Program { name: "mw-engine", build: &["--package", "mw-cli"], has_c_code: true, is_frequent: true },
    Program { name: "mw-surfaces", build: &["--package", "mw-cli"], has_c_code: true, is_frequent: false },
];

/// What this machine can build for.
enum Musl {
    /// Everything.
    WithCompiler { target: String, compiler: String },
    /// Programs without C code.
    RustOnly { target: String },
    /// Nothing, for this reason.
    No(String),
}

/// Builds and installs the executables.
pub(crate) fn run(root: &Path, options: &[&str]) -> Result<(), Failure> {
    let (mut into, mut musl, mut profile) = (None, None, Profile::Release);
    let mut options = options.iter();
    while let Some(option) = options.next() {
        match (*option, options.clone().next()) {
            ("--root", Some(directory)) => {
                into = Some(PathBuf::from(directory));
                options.next();
            }
            ("--profile", Some(&"quick")) => {
                profile = Profile::Quick;
                options.next();
            }
            ("--host", _) => musl = Some(Musl::No("--host was given".to_owned())),
            _ => return Err(Failure::Usage(USAGE)),
        }
    }
    let folder = into.map_or_else(default_root, Ok)?.join("bin");
    if profile == Profile::Quick {
        return quick(root, &folder);
    }
    let musl = musl.unwrap_or_else(|| Musl::find(root));
    for program in &PROGRAMS {
        let (built, library) = program.build(root, &musl)?;
        place(&built, &folder, program.name)?;
        eprintln!("installed {} ({library})", folder.join(program.name).display());
    }
    match &musl {
        Musl::WithCompiler { .. } => {}
        Musl::RustOnly { .. } => {
            eprintln!(
                "note: mw starts faster if musl-gcc is installed (Debian: musl-tools) before this command"
            );
        }
        Musl::No(reason) => eprintln!("note: not linked with musl: {reason}"),
    }
    Ok(())
}

/// Builds and installs the executables quickly.
fn quick(root: &Path, folder: &Path) -> Result<(), Failure> {
    let mut words = vec!["build", "--profile", "quick", "--locked"];
    words.extend([
        "--package",
        "mw-supervisor",
        "--features",
        "mw-supervisor/executable",
        "--package",
        "mw-cli",
    ]);
    PROGRAMS.iter().for_each(|program| words.extend(["--bin", program.name]));
    cargo(root, &words)?;
    for program in &PROGRAMS {
        place(&built_program(root, "quick", program.name), folder, program.name)?;
        eprintln!("installed {}", folder.join(program.name).display());
    }
    eprintln!("note: this build is for trying it; cargo xtask install makes a smaller and faster one");
    Ok(())
}

/// Builds all executables for a release: static, so that they run with any C library. Returns their folder.
pub(crate) fn for_release(root: &Path, arch: &str) -> Result<PathBuf, Failure> {
    let name = format!("{arch}-unknown-linux-musl");
    if !has_target(root, &name) {
        return Err(Failure::NoTarget(name));
    }
    let folder = target(root).join("dist-programs");
    for program in &PROGRAMS {
        let built = if arch == env::consts::ARCH {
            program.build_with_musl(root, &name, Some("musl-gcc"), "release")?
        } else {
            // Its compiler and linker work for every processor.
            let mut words = program.words("release");
            words[0] = "zigbuild";
            words.extend(["--target", &name]);
            cargo(root, &words)?;
            target(root).join(&name).join("release").join(program.name)
        };
        place(&built, &folder, program.name)?;
    }
    Ok(folder)
}

/// Returns the names of all executables.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    PROGRAMS.iter().map(|program| program.name)
}

/// Builds the executables with musl for tests, in the profile of tests. Returns their folder; `None` if this machine cannot
/// link all of them.
pub(crate) fn for_tests(root: &Path) -> Result<Option<PathBuf>, Failure> {
    let Musl::WithCompiler { target: name, compiler } = Musl::find(root) else { return Ok(None) };
    let folder = target(root).join("musl-tests");
    for program in &PROGRAMS {
        let built = if program.is_frequent {
            program.build_with_musl(root, &name, Some(&compiler), "dev")?
        } else {
            cargo(root, &program.words("dev"))?;
            built_program(root, "debug", program.name)
        };
        place(&built, &folder, program.name)?;
    }
    Ok(Some(folder))
}

impl Musl {
    fn find(root: &Path) -> Self {
        let target = format!("{}-unknown-linux-musl", env::consts::ARCH);
        if !has_target(root, &target) {
            return Self::No(format!("the target {target} cannot be added with rustup"));
        }
        let compiler = env::var(compiler_variable(&target)).unwrap_or_else(|_| "musl-gcc".to_owned());
        let works = quiet(Command::new(&compiler).arg("--version"));
        if works { Self::WithCompiler { target, compiler } } else { Self::RustOnly { target } }
    }
}

impl Program {
    /// Builds the program. Returns the file, and the C library that it is linked with.
    fn build(&self, root: &Path, musl: &Musl) -> Result<(PathBuf, &'static str), Failure> {
        let linked = match musl {
            Musl::WithCompiler { target, compiler } if self.is_frequent => {
                Some((target, Some(compiler.as_str())))
            }
            Musl::RustOnly { target } if self.is_frequent && !self.has_c_code => Some((target, None)),
            Musl::WithCompiler { .. } | Musl::RustOnly { .. } | Musl::No(_) => None,
        };
        if let Some((target, compiler)) = linked {
            match self.build_with_musl(root, target, compiler, "release") {
                Ok(built) => return Ok((built, "musl")),
                Err(failure) => eprintln!("{failure}; building {} for this machine instead", self.name),
            }
        }
        cargo(root, &self.words("release"))?;
        Ok((built_program(root, "release", self.name), "host"))
    }

    fn build_with_musl(
        &self,
        root: &Path,
        name: &str,
        compiler: Option<&str>,
        profile: &'static str,
    ) -> Result<PathBuf, Failure> {
        let mut words = self.words(profile);
        words.extend(["--target", name]);
        match compiler {
            Some(compiler) => cargo_with(root, (&compiler_variable(name), compiler), &words)?,
            None => cargo(root, &words)?,
        }
        let folder = if profile == "dev" { "debug" } else { profile };
        Ok(target(root).join(name).join(folder).join(self.name))
    }

    fn words(&self, profile: &'static str) -> Vec<&str> {
        let mut words = vec!["build", "--profile", profile, "--locked", "--bin", self.name];
        words.extend(self.build);
        words
    }
}

/// Returns the variable that names the C compiler for a target.
fn compiler_variable(target: &str) -> String {
    format!("CC_{}", target.replace('-', "_"))
}

/// Returns whether Rust can build for a target, which is added if that is possible.
fn has_target(root: &Path, target: &str) -> bool {
    let asked = Command::new("rustc")
        .args(["--print", "target-libdir", "--target", target])
        .current_dir(root)
        .output();
    let libraries = asked.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    libraries.is_ok_and(|path| Path::new(&path).is_dir())
        || quiet(Command::new("rustup").args(["target", "add", target]).current_dir(root))
}

fn quiet(command: &mut Command) -> bool {
    let command = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// Returns the folder that `cargo install` uses.
fn default_root() -> Result<PathBuf, Failure> {
    let named = env::var_os("CARGO_INSTALL_ROOT").or_else(|| env::var_os("CARGO_HOME"));
    let in_home = || env::var_os("HOME").map(|home| PathBuf::from(home).join(".cargo"));
    named.map(PathBuf::from).or_else(in_home).ok_or(Failure::NoHome)
}

/// Replaces a program by rename, so that running tasks keep the executable they were started with.
fn place(built: &Path, folder: &Path, name: &str) -> Result<(), Failure> {
    let failed = |path: &Path| {
        let path = path.to_path_buf();
        move |source| Failure::File { path, source }
    };
    fs::create_dir_all(folder).map_err(failed(folder))?;
    let (new, to) = (folder.join(format!(".{name}.new")), folder.join(name));
    fs::copy(built, &new).map_err(failed(built))?;
    fs::rename(&new, &to).map_err(failed(&to))
}
