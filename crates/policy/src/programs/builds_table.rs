//! The table of builds: tools that run code of the project.

/// Tools that run code of the project: their names, harmless verbs (none if no verb is needed) and risky options.
pub(super) struct Tool {
    pub(super) names: &'static str,
    pub(super) verbs: &'static str,
    pub(super) risky: &'static str,
}

const fn tool(names: &'static str, verbs: &'static str, risky: &'static str) -> Tool {
    Tool { names, verbs, risky }
}

const CARGO: &str = "
    build b check c test t clippy fmt doc d bench nextest tree metadata run r version locate-project pkgid
    deny machete llvm-cov
";
const PYTEST: &str = "
    -p -c -o -W --rootdir --override-ini --basetemp --confcutdir --pdbcls --pyargs --pdb --config-file
    --pythonwarnings --trace-config --debug --pastebin
";

/// All such tools.
pub(super) const TOOLS: [Tool; 55] = [
    tool("cargo", CARGO, "--config -Z -C --index --registry --lockfile-path --artifact-dir --open"),
    tool("pytest py.test", "", PYTEST),
    tool("unittest shellcheck shfmt gofmt clang-format", "", ""),
    tool("tox", "", "-c --conf --workdir -x --override --root"),
    tool("nox", "", "-f --noxfile --envdir"),
    tool("jest", "", "-c --config --globalSetup --runner --resolver --rootDir --testRunner"),
    tool("vitest", "", "-c --config --globalSetup"),
    tool("mocha", "", "-r --require --import --config --loader --node-option"),
    tool("ava", "", "--config --node-arguments"),
    tool("phpunit", "", "-c --bootstrap --configuration --prepend --printer -d"),
    tool("rspec", "", "-r --require -O --options -I"),
    tool("ctest", "", "-S -SP -D --build-and-test -C"),
    tool("tsc", "", "--build-exec --plugins"),
    tool("eslint", "", "-c --config --rulesdir --parser --plugin --resolve-plugins-relative-to -f"),
    tool("prettier", "", "--config --plugin --plugin-search-dir"),
    tool("stylelint", "", "--config --custom-syntax --custom-formatter"),
    tool("biome", "check lint format ci", "--config-path"),
    tool("ruff", "check format version rule", "--config"),
    tool("mypy", "", "--config-file --python-executable --install-types --shadow-file"),
    tool("pyright", "", "-p --project --pythonpath -v --venvpath"),
    tool("black", "", "--config -c --code"),
    tool("flake8", "", "--config --append-config"),
    tool("pylint", "", "--init-hook --load-plugins --rcfile"),
    tool("isort", "", "--settings-path --settings-file"),
    tool("yamllint", "", "-c --config-file"),
    tool("hadolint", "", "-c --config"),
    tool("actionlint", "", "-shellcheck -pyflakes -config-file"),
    tool("markdownlint", "", "-c --config -r --rules"),
    tool("golangci-lint", "run version linters", "-c --config"),
    tool("rustfmt", "", "--config-path --config"),
    tool("clang-tidy", "", "--load -load --config-file --config"),
    tool("mvn", "test compile package verify validate", "-f --file -s --settings -gs -D"),
    tool("gradle", "test build check assemble", "-I --init-script -b -c -p -g -D -P"),
    tool("dotnet", "test build --info", "--settings --logger -o"),
    tool("swift", "test build", "--package-path"),
    tool("zig", "test build fmt version", "--zig-lib-dir --test-cmd --build-runner"),
    tool("deno", "test lint fmt check", "-A --allow-all --config -c --import-map"),
    tool("flutter", "test analyze doctor", ""),
    tool("dart", "test analyze format", ""),
    tool("mix", "test compile format", "--require -r"),
    tool("stack", "test build", "--stack-yaml --exec --docker"),
    tool("cabal", "test build", "--with-compiler -w --config-file --project-file"),
    tool("dune", "test build", "--root --workspace"),
    tool("sbt", "test compile", "-D"),
    tool("lein", "test compile", ""),
    tool("bazel", "test build query", "--bazelrc --run_under --override_repository"),
    tool("turbo", "test build lint", "--cwd"),
    tool("rake", "test spec lint", "-f -e -r -R --rakefile --execute --require"),
    tool("playwright", "test", "-c --config"),
    tool("cypress", "run verify", "-C --config-file -P --project"),
    tool("ninja", "", "-C -f -t"),
    tool("meson", "test compile", "-C --wrapper --wrap"),
    tool("pre-commit", "run", "-c --config"),
    tool("coverage", "report html xml", "--rcfile"),
    tool("svelte-check", "", "--tsconfig"),
];
