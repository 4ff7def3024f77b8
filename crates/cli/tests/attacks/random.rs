//! Random scripts: the effects that are observed are a part of what the grant says.

use std::collections::BTreeSet;
use std::io::Read;

use mw_model::{EnvironmentGrant, Grant, ReadGrant, WriteGrant};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use crate::effects::{Effect, State, shows_secret};
use crate::gate::{Gate, Kernel};
use crate::list;
use crate::world::World;

/// How many scripts are made for each kernel. Each is judged and, unless it needs approval, run.
const CASES: u32 = 160;

/// Names another number of scripts, which then differ from run to run.
const CASES_VARIABLE: &str = "MW_CASES";

/// Harmless parts of scripts.
const HARMLESS: [&str; 14] = [
    "ls -la",
    "cat README.md",
    "git status --short",
    "grep -rn a src",
    "echo x > notes.txt",
    "mkdir -p made/b",
    "touch made.txt",
    "true",
    "git add -A",
    "sed -i s/a/b/ README.md",
    "python3 -c 'open(\"by-code\",\"w\")'",
    "for i in 1 2; do echo $i; done",
    "find . -name '*.rs' | head -2",
    "cp README.md copy.md",
];

/// Texts that change how a shell reads what follows; most often none.
fn piece() -> impl Strategy<Value = &'static str> {
    let odd = [
        "\"",
        "'",
        "\\",
        "$(",
        ")",
        "`",
        "{ ",
        "; }",
        " # ",
        " > made2 ",
        " 2>&1 ",
        " & ",
        "<<E\n",
        "(",
        "$'",
    ];
    prop_oneof![6 => Just(""), 1 => prop::sample::select(odd.to_vec())]
}

fn script(attacks: Vec<String>) -> impl Strategy<Value = String> {
    let part = prop_oneof![
        1 => prop::sample::select(attacks),
        2 => prop::sample::select(HARMLESS.to_vec()).prop_map(str::to_owned),
    ];
    let joined = (part, piece(), prop::sample::select(vec!["; ", "\n", " && ", " | ", " || "]));
    let cut = any::<prop::sample::Index>();
    (prop::collection::vec(joined, 1..4), cut, piece()).prop_map(|(parts, at, piece)| {
        let mut text: String =
            parts.into_iter().map(|(part, piece, separator)| format!("{part}{piece}{separator}")).collect();
        let mut at = at.index(text.len() + 1);
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        text.insert_str(at, piece);
        text
    })
}

/// Returns the effects that a grant does not include.
fn beyond(grant: &Grant, seen: &BTreeSet<&'static str>, world: &World) -> Vec<&'static str> {
    let outside = world.outside().display().to_string();
    let includes = |effect: &str| match effect {
        "project" => grant.write != WriteGrant::Temp,
        "outside" => match &grant.write {
            WriteGrant::Temp | WriteGrant::Project => false,
            WriteGrant::Paths(paths) => paths.iter().any(|path| path.starts_with(&outside)),
            WriteGrant::Anything => true,
        },
        "secret" => grant.read == ReadGrant::All || grant.environment == EnvironmentGrant::All,
        _ => grant.is_everything(),
    };
    seen.iter().copied().filter(|effect| !includes(effect)).collect()
}

#[test]
fn the_effects_of_random_scripts_are_part_of_their_grants() {
    check(Kernel::Full, 12);
}

/// Landlock holds less than a grant says, so policy must not rely on it.
#[test]
fn random_scripts_have_no_more_effects_with_landlock_only() {
    check(Kernel::LandlockOnly, 5);
}

#[test]
fn random_scripts_have_no_more_effects_without_a_kernel_that_confines() {
    check(Kernel::Neither, 5);
}

/// Runs random scripts, of which at least this part in a hundred must run.
#[track_caller]
fn check(kernel: Kernel, least_that_run: u32) {
    let attacks = [Effect::Outside, Effect::Secret, Effect::Setuid].into_iter().flat_map(list::with);
    // Those that only say what they do need approval.
    let runs =
        ["python3", "perl", "awk", "sh -c", "eval", "='a[", "${", "<(", "/proc", "env", ".sh", "Makefile"];
    let attacks: Vec<String> = attacks
        .filter(|attack| runs.iter().any(|part| attack.contains(part)) && !attack.contains("sleep"))
        .collect();
    let gate = Gate::new(kernel);
    let shared = gate.world();
    let cases = std::env::var(CASES_VARIABLE).ok().and_then(|cases| cases.parse().ok()).unwrap_or(CASES);
    let config = Config { cases, failure_persistence: None, max_shrink_iters: 20, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, rng());
    let ran = std::cell::Cell::new(0);
    let result = runner.run(&script(attacks), |text| {
        let (decision, _) = gate.judged(&shared, &gate.filled(&text, &shared));
        if decision != "allow" {
            // Other tests show that nothing of it runs.
            return Ok(());
        }
        let world = gate.world();
        let text = gate.filled(&text, &world);
        let states = [Effect::Outside, Effect::Setuid].map(|effect| State::of(effect, &world));
        let project = State::of_project(&world);
        let (_, grant) = gate.judged(&world, &text);
        let outcome = gate.as_model(&world, &text).run();
        ran.set(ran.get() + 1);
        let mut seen = BTreeSet::new();
        let later = [Effect::Outside, Effect::Setuid].map(|effect| State::of(effect, &world));
        for (name, (before, after)) in ["outside", "setuid"].into_iter().zip(states.iter().zip(&later)) {
            seen.extend(before.difference(after).map(|_| name));
        }
        seen.extend(project.difference(&State::of_project(&world)).map(|_| "project"));
        seen.extend(shows_secret(&outcome.text()).then_some("secret"));
        let beyond = beyond(&grant, &seen, &world);
        prop_assert!(beyond.is_empty(), "{text:?} has the effects {beyond:?} beyond {}", grant.in_words());
        Ok(())
    });
    assert!(result.is_ok(), "{kernel:?}: {}", result.unwrap_err());
    println!("{kernel:?}: {} of {cases} random scripts ran", ran.get());
    assert!(ran.get() * 100 >= least_that_run * cases, "only {} of {cases} scripts ran", ran.get());
}

/// The same scripts each time, or, with another number of them, others each time.
fn rng() -> TestRng {
    if std::env::var_os(CASES_VARIABLE).is_none() {
        return TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    }
    let mut seed = [0; 32];
    std::fs::File::open("/dev/urandom").unwrap().read_exact(&mut seed).unwrap();
    TestRng::from_seed(RngAlgorithm::ChaCha, &seed)
}
