//! Package managers and build tools where the kernel confines: fetching gets the network, everything else is code of the
//! project.
//!
//! Without confinement `builds`, `packages` and `wrappers` judge these programs by every word.

use mw_model::WriteGrant;

use super::Call;
use super::interpreters::only_version;
use crate::decision::BuiltinRule;
use crate::judge::Judge;
use crate::names::Names;
use crate::need;
use crate::script::word::Word;

/// What a program does with its first words.
struct Ecosystem {
    names: &'static str,
    /// Verbs that fetch, with the network. A verb of two words has a colon.
    fetches: &'static str,
    /// Verbs that use the network if they get it.
    may_fetch: &'static str,
    /// Verbs that send, sign in, or install for every project.
    asks: &'static str,
}

const NONE: Ecosystem = Ecosystem { names: "", fetches: "", may_fetch: "", asks: "" };

const ECOSYSTEMS: [Ecosystem; 16] = [
    Ecosystem {
        names: "cargo",
        fetches: "fetch update add search info vendor generate-lockfile outdated audit",
        may_fetch: "build b check c clippy doc d tree metadata fix deny package",
        asks: "publish install uninstall login logout owner yank",
    },
    Ecosystem {
        names: "npm pnpm yarn bun",
        fetches: "install i ci add update up upgrade dedupe outdated view info audit import fetch rebuild uninstall remove rm un",
        asks: "publish unpublish login logout adduser token owner access deprecate dist-tag team org star profile link ln dlx create init:vite set:script npm global",
        ..NONE
    },
    Ecosystem {
        names: "pip pip3 pipenv poetry pdm rye hatch",
        fetches: "install download sync lock add update upgrade uninstall remove wheel dep:show index self:show",
        asks: "publish login cache self:update config python:install",
        ..NONE
    },
    Ecosystem {
        names: "uv",
        fetches: "sync lock add remove pip:install pip:sync pip:compile pip:uninstall venv export tree",
        may_fetch: "build",
        asks: "publish tool self python auth cache:clean cache:prune",
    },
    Ecosystem {
        names: "go",
        fetches: "get mod:download mod:tidy mod:vendor list",
        may_fetch: "build vet work:sync mod:verify mod:graph mod:why",
        asks: "install telemetry clean",
    },
    Ecosystem {
        names: "mvn mvnw",
        fetches: "dependency:resolve dependency:go-offline dependency:tree",
        asks: "deploy release:prepare release:perform install",
        ..NONE
    },
    Ecosystem {
        names: "gradle gradlew",
        fetches: "dependencies",
        asks: "publish publishToMavenLocal publishPlugins uploadArchives",
        ..NONE
    },
    Ecosystem {
        names: "bundle bundler",
        fetches: "install update lock outdated add remove",
        asks: "config",
        ..NONE
    },
    Ecosystem {
        names: "composer",
        fetches: "install update require remove outdated audit dump-autoload",
        asks: "global config login",
        ..NONE
    },
    Ecosystem {
        names: "dotnet",
        fetches: "restore add",
        may_fetch: "build",
        asks: "nuget tool workload publish:remote dev-certs user-secrets",
    },
    Ecosystem {
        names: "flutter dart",
        fetches: "pub:get pub:upgrade pub:outdated pub:add precache",
        asks: "pub:publish pub:global upgrade channel config",
        ..NONE
    },
    Ecosystem {
        names: "mix rebar3",
        fetches: "deps.get deps.update",
        asks: "hex.publish archive.install local.hex escript.install",
        ..NONE
    },
    Ecosystem { names: "deno", fetches: "install cache add", asks: "publish deploy upgrade", ..NONE },
    Ecosystem {
        names: "swift stack cabal sbt lein dune opam zig rebar bazel pod",
        fetches: "package:resolve package:update update setup resolve",
        asks: "publish upload push deploy install",
        ..NONE
    },
    Ecosystem {
        names: "terraform tofu",
        fetches: "init providers",
        asks: "apply destroy import plan login logout state taint untaint refresh console workspace force-unlock",
        ..NONE
    },
    Ecosystem {
        names: "helm",
        asks: "install upgrade uninstall rollback push repo pull dependency registry",
        ..NONE
    },
];

/// Options with which a package manager writes elsewhere, or fetches from elsewhere.
const ELSEWHERE: Names<'_> = Names(
    "
    -g --global --location --prefix --user --target --root --system --break-system-packages --registry
    --index-url --extra-index-url -i --find-links --userconfig --globalconfig --index --default-index --index-strategy
",
);

/// Words in the names of targets and scripts that send something to other machines.
const SENDS: Names<'_> = Names("deploy publish release upload push ship prod production");

/// Analyses a package manager or a build tool; returns whether it is one.
pub(super) fn judge(judge: &mut Judge<'_>, call: &Call<'_>) -> bool {
    let Some(ecosystem) = ECOSYSTEMS.iter().find(|ecosystem| Names(ecosystem.names).contains(call.name))
    else {
        return false;
    };
    if only_version(call) {
        return true;
    }
    // Options may precede the verb, and some of them take a value.
    let words: Vec<&str> =
        call.args.iter().filter_map(Word::lit).filter(|text| !text.starts_with(['-', '+'])).collect();
    let verb = words.first().copied().unwrap_or_default();
    let pair = format!("{verb}:{}", words.get(1).copied().unwrap_or_default());
    let is_in = |verbs: &str| Names(verbs).contains(verb) || Names(verbs).contains(&pair);
    let anywhere = |verbs: &str| words.iter().any(|word| Names(verbs).contains(word));
    let option = |word: &Word| {
        word.lit().is_some_and(|text| ELSEWHERE.contains(text.split('=').next().unwrap_or(text)))
    };
    let elsewhere = call.args.iter().any(option);
    let installs_here = verb.is_empty() && matches!(call.name, "yarn");
    let many = matches!(call.name, "mvn" | "mvnw" | "gradle" | "gradlew");
    if is_in(ecosystem.asks) || many && anywhere(ecosystem.asks) {
        asks(judge, call, verb);
    } else if is_in(ecosystem.fetches) || installs_here {
        judge.needs(need::download());
        if elsewhere {
            asks(judge, call, verb);
        }
        literal(judge, call);
    } else if is_in(ecosystem.may_fetch) && !judge.wrote {
        judge.may_fetch = true;
        judge.needs(need::writes(WriteGrant::Project));
        literal(judge, call);
    } else if is_runner(call.name, verb) {
        runner(judge, call, &words);
    } else {
        judge.tool_of_project(call);
    }
    true
}

/// Asks about words that are known only at run time: what is fetched, and with which options.
fn literal(judge: &mut Judge<'_>, call: &Call<'_>) {
    if let Some(word) = call.args.iter().find(|word| word.lit().is_none()) {
        let why = format!("{} is known only at run time", word.text);
        judge.ask(BuiltinRule::NotLiteral, &call.part, &why, "has unknown effects");
    }
}

fn asks(judge: &mut Judge<'_>, call: &Call<'_>, verb: &str) {
    let why = format!("{} {verb} does more than fetch for this project", call.name);
    let effect = format!("runs {} {verb}: it may send, sign in, or install for every project", call.name);
    judge.ask_for(BuiltinRule::Install, &call.part, &why, &effect, need::everything());
}

/// Returns whether a verb runs another program.
fn is_runner(name: &str, verb: &str) -> bool {
    match name {
        "uv" | "poetry" | "pipenv" | "pdm" | "rye" | "hatch" => verb == "run",
        "bundle" | "bundler" => verb == "exec",
        "npm" => matches!(verb, "exec" | "x" | "init" | "create"),
        "pnpm" | "yarn" => matches!(verb, "exec" | "init"),
        "bun" => verb == "x",
        _ => false,
    }
}

/// Analyses a program that a package manager runs. It is code of the project; if it is a known program, that is analysed
/// as well.
fn runner(judge: &mut Judge<'_>, call: &Call<'_>, words: &[&str]) {
    judge.tool_of_project(call);
    if matches!(call.name, "npm" | "bun" | "pnpm") {
        return packaged(judge, call, words.get(1).copied());
    }
    let verb = call.args.iter().position(|word| matches!(word.lit(), Some("run" | "exec")));
    let inner = verb.map(|at| &call.args[at + 1..]).unwrap_or_default();
    if inner.first().is_some_and(|word| !word.is_option()) {
        judge.in_other_program(|judge| judge.call(inner));
    }
}

/// Analyses a program of a package: if it is not installed in the project, it is downloaded and run.
pub(super) fn packaged(judge: &mut Judge<'_>, call: &Call<'_>, name: Option<&str>) {
    let installed = name.is_some_and(|name| {
        let plain = name.chars().all(|c| c.is_ascii_alphanumeric() || "-_.@/".contains(c));
        let path = format!("{}/node_modules/.bin/{name}", judge.request.project);
        plain && judge.request.files.exists(&path) || KNOWN_TOOLS.contains(name)
    });
    if !installed {
        let name = name.unwrap_or("a program");
        let why = format!("{name} is not installed in the project, and would be downloaded and run");
        let grant = need::download();
        judge.ask_for(BuiltinRule::Install, &call.part, &why, &format!("downloads and runs {name}"), grant);
    }
}

/// Tools that a project installs itself. Without the network they are not downloaded.
const KNOWN_TOOLS: Names<'_> = Names(
    "
    tsc eslint prettier jest vitest mocha ava playwright cypress vite next nuxt webpack rollup esbuild tsx ts-node
    tailwindcss stylelint biome turbo nx lerna lint-staged commitlint svelte-check vue-tsc astro storybook knip
    tsup swc babel nodemon concurrently rimraf prisma drizzle-kit oxlint c8 nyc size-limit typedoc changeset
",
);

impl Judge<'_> {
    /// Analyses a tool that runs code of the project.
    pub(super) fn tool_of_project(&mut self, call: &Call<'_>) {
        self.code(&call.part);
        let name = |word: &Word| {
            word.lit().filter(|text| !text.starts_with('-')).is_some_and(|text| {
                !text.contains('/') && text.split([':', '-', '_', '.']).any(|part| SENDS.contains(part))
            })
        };
        // The name of a script or target, not of a test.
        let place = match call.name {
            "npm" | "pnpm" | "yarn" | "bun" | "make" | "gmake" | "just" | "gradle" | "gradlew" | "rake"
            | "mvn" | "task" => {
                call.args.iter().filter(|word| !word.is_option()).take(2).find(|word| name(word))
            }
            _ => None,
        };
        if let Some(word) = place {
            let why = format!("{} is named like something that sends data to other machines", word.text);
            let effect = format!("runs {} {}, which may do anything", call.name, word.text);
            self.ask_for(BuiltinRule::Network, &call.part, &why, &effect, need::everything());
        }
    }
}
