//! Attacks that run through the gate for real, in disposable projects. What they change, read and reach is observed.
//!
//! A command of a session either needs approval or runs confined. In both cases it must not have the effect that it tries
//! to have. The same commands run without `mw` as well, which shows that the effects are seen.
#![forbid(unsafe_code)]
#![expect(clippy::unwrap_used, reason = "helpers run in tests only, where a broken assumption ends the test")]

mod effects;
mod gate;
mod list;
mod random;
mod world;

use effects::Effect;
use gate::{Gate, Kernel};

/// Every how many attacks one also runs without the gate.
const SAMPLE: usize = 4;

/// Runs the attacks of one effect through the gate, on kernels that confine everything, only with Landlock, and nothing; and a sample
/// of them without the gate. At least this part in a hundred of the sample must work there.
#[track_caller]
fn suite(effect: Effect, least_that_work: usize) {
    let attacks = list::with(effect);
    assert!(!attacks.is_empty() || list::is_selected(), "no attack tries to have the effect {effect:?}");
    for kernel in Kernel::ALL {
        let runs = Gate::new(kernel).run_all(effect, &attacks);
        println!(
            "{effect:?}, {kernel:?}: {} attacks, {} asked about, {} ran",
            attacks.len(),
            runs.asked,
            runs.ran
        );
        assert!(runs.had.is_empty(), "{kernel:?}: {} of {}: {:#?}", runs.had.len(), attacks.len(), runs.had);
    }
    let sample: Vec<String> = attacks.iter().step_by(SAMPLE).cloned().collect();
    let work = if least_that_work == 0 { 0 } else { gate::count_effective(effect, &sample) };
    println!("{effect:?}: {work} of a sample of {} work without the gate", sample.len());
    assert!(
        work * 100 >= least_that_work * sample.len(),
        "only {work} of {} can be seen to work",
        sample.len()
    );
}

#[test]
fn nothing_outside_the_project_is_written() {
    suite(Effect::Outside, 70);
}

#[test]
fn no_file_that_other_programs_obey_is_changed() {
    suite(Effect::Protected, 70);
}

#[test]
fn no_secret_is_printed() {
    suite(Effect::Secret, 70);
}

#[test]
fn nothing_is_sent() {
    suite(Effect::Network, 50);
}

#[test]
fn no_file_gets_the_rights_of_its_owner() {
    suite(Effect::Setuid, 70);
}

#[test]
fn no_process_of_others_ends() {
    suite(Effect::Kills, 40);
}

#[test]
fn nothing_is_deleted_that_git_does_not_know() {
    suite(Effect::Deletes, 70);
}

#[test]
fn no_request_is_answered() {
    suite(Effect::Approves, 0);
}

#[test]
fn no_task_of_another_session_is_seen_or_changed() {
    suite(Effect::Session, 0);
}
