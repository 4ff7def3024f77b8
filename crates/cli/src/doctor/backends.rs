//! The back-ends: what tasks support there, and whether they can run there now.

use std::thread;

use meanwhile::Settings;
use meanwhile::engine::model::{BackendKind, BackendPlace, Place};
use meanwhile::engine::{BackendReport, Capabilities, backends, capabilities_of};

use super::Check;

/// A back-end, and whether tasks can run there now.
pub(crate) struct Backend {
    pub(crate) place: Place,
    pub(crate) capabilities: Capabilities,
    /// What was found there.
    pub(crate) detail: Option<String>,
    pub(crate) problem: Option<Problem>,
}

/// Why tasks cannot run at a place now.
pub(crate) struct Problem {
    pub(crate) message: String,
    pub(crate) hint: String,
}

impl Backend {
    /// Returns the word for its kind.
    pub(crate) fn kind(&self) -> &str {
        match &self.place {
            Place::Process | Place::Mock | Place::Sandbox => "built-in",
            Place::Backend(place) => place.kind.word(),
        }
    }

    /// Describes what is found there, and what tasks support.
    pub(crate) fn in_words(&self) -> String {
        let named = self.capabilities.named();
        let has: Vec<_> =
            named.iter().filter(|(_, has)| *has).map(|(name, _)| name.replace('_', " ")).collect();
        let has = if has.is_empty() { "output and signals only".to_owned() } else { has.join(", ") };
        match &self.detail {
            Some(detail) => format!("{detail}; {has}"),
            None => has,
        }
    }
}

/// Probes the back-ends with these names, all at once.
pub(crate) fn examine_backends(settings: &Settings, is_wanted: impl Fn(&str) -> bool) -> Vec<Backend> {
    let built_in =
        backends(settings).into_iter().filter(|report| is_wanted(report.place.name())).map(of_report);
    let wanted = settings.backends.places.iter().filter(|place| is_wanted(&place.name));
    let configured: Vec<_> = thread::scope(|scope| {
        let probes: Vec<_> = wanted.map(|place| scope.spawn(|| of_place(place))).collect();
        probes.into_iter().filter_map(|probe| probe.join().ok()).collect()
    });
    built_in.chain(configured).collect()
}

fn of_report(report: BackendReport) -> Backend {
    let problem = report.problem.map(|error| Problem { message: error.to_string(), hint: error.hint() });
    Backend { place: report.place, capabilities: report.capabilities, detail: None, problem }
}

fn of_place(place: &BackendPlace) -> Backend {
    let (detail, problem) = match mw_backends::probe(place) {
        Ok(detail) => (Some(detail), None),
        Err(message) => (None, Some(Problem { message, hint: hint(place).to_owned() })),
    };
    let place = Place::Backend(Box::new(place.clone()));
    Backend { capabilities: capabilities_of(&place), place, detail, problem }
}

fn hint(place: &BackendPlace) -> &'static str {
    match &place.kind {
        BackendKind::Ssh(_) => "ssh must log in without questions; try ssh -o BatchMode=yes HOST true",
        BackendKind::Slurm(_) => {
            "sinfo and sbatch must work here; check munge, the controller, and partition in [backends.NAME]"
        }
        BackendKind::Container(_) => "start the engine, or set socket, image or container in [backends.NAME]",
    }
}

pub(super) fn checks(settings: &Settings) -> Vec<Check> {
    let check = |backend: Backend| {
        let name = format!("back-end {}", backend.place);
        match &backend.problem {
            None => Check::ok(&name, format!("available; {}", backend.in_words())),
            // It is not configured, so nothing is broken without it.
            Some(problem) if backend.place == Place::Sandbox => {
                Check::warning(&name, &problem.message, &problem.hint)
            }
            Some(problem) => Check::problem(&name, &problem.message, &problem.hint),
        }
    };
    examine_backends(settings, |_| true).into_iter().map(check).collect()
}
