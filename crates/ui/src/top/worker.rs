//! The library's side: lists, looks up and acts, away from the main thread.

use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};

use meanwhile::model::approval::ApprovalState;
use meanwhile::model::{Io, Status, TaskState};
use meanwhile::{
    Clock, Error, Filter, From, Order, Page, ReadRequest, Result, Runtime, Scope, SystemClock, Task,
};

use super::effect::{Look, Lookup, Stretch};
use super::event::{Event, Lane, Query, Sort, States, Window};
use super::log::LogTarget;
use super::program::{Options, Post};
use super::reader::{STRETCH, chunk};
use super::sampler::Sampler;
use mw_desk::query::by_state;
use mw_desk::rows::what;
use mw_desk::rows::{Sample, TaskRow};
use mw_desk::rows::{facts, news_facts};

/// How many are sorted by what they use; those beyond keep their places.
const SORTED: usize = 300;
/// Runs of one task that a timeline shows.
const MOST_RUNS: u32 = 50;

/// Says an error and what to do about it.
pub(super) fn told(error: &Error) -> String {
    match error.hint() {
        hint if hint.is_empty() => error.to_string(),
        hint => format!("{error}; {hint}"),
    }
}

/// A thread that answers one question after the other.
pub(super) struct Worker(Sender<Lookup>);

impl Worker {
    pub(super) fn start(options: Arc<Options>, post: &Post) -> Self {
        let (sender, questions) = mpsc::channel();
        post.spawn(move |post| answer(&options, &questions, post));
        Self(sender)
    }

    pub(super) fn ask(&self, question: Lookup) {
        // Without the thread the program is about to leave.
        let _ = self.0.send(question);
    }
}

fn answer(options: &Options, questions: &Receiver<Lookup>, post: &Post) {
    let mut opened = None;
    while let Ok(first) = questions.recv() {
        let mut asked = vec![first];
        asked.extend(questions.try_iter());
        only_last(&mut asked).for_each(|question| answer_one(options, &mut opened, question, post));
    }
}

/// Leaves out what was asked again while somebody else was answered, so that slow answers do not pile up.
fn only_last(asked: &mut Vec<Lookup>) -> impl Iterator<Item = Lookup> {
    let is_again = |at: usize| {
        asked[at + 1..].iter().any(|later| match (&asked[at], later) {
            (Lookup::Facts(_), Lookup::Facts(_)) | (Lookup::Runs(_), Lookup::Runs(_)) => true,
            (_, _) => false,
        })
    };
    let kept: Vec<_> = (0..asked.len()).map(|at| !is_again(at)).collect();
    asked.drain(..).zip(kept).filter_map(|(question, is_kept)| is_kept.then_some(question))
}

fn answer_one(options: &Options, opened: &mut Option<Library>, question: Lookup, post: &Post) {
    let library = match opened.take().map_or_else(|| Library::open(options, post), Ok) {
        Ok(library) => opened.insert(library),
        // Tried again with the next question, which comes when something happens or can be heard again.
        Err(error) => return post.tell(Event::Unlisted(told(&error))),
    };
    let answer = match question {
        Lookup::List(query, stretch) => {
            library.list(query, &stretch).unwrap_or_else(|error| Event::Unlisted(told(&error)))
        }
        Lookup::Facts(id) => library.facts(&id).unwrap_or_else(|error| Event::Failed(told(&error))),
        Lookup::Runs(ids) => Event::Lanes(library.lanes(&ids), SystemClock.now()),
        Lookup::Sessions => {
            library.runtime.sessions().map_or_else(|error| Event::Failed(told(&error)), Event::SessionsKnown)
        }
        Lookup::Attachable(id) => library.attachable(id).unwrap_or_else(|error| Event::Failed(told(&error))),
        Lookup::Outcome(id) => library.outcome(&id).unwrap_or_else(|error| Event::Failed(told(&error))),
        Lookup::LogBefore(target, offset) => library.before(target, offset),
    };
    post.tell(answer);
}

/// Where rows begin, the rows, and a task that is not among those listed.
type Around = (usize, Page, Option<Box<TaskRow>>);

/// Tells whether rows have to be sorted here, because the database does not know what tasks use.
const fn is_by_use(query: &Query, start: usize) -> bool {
    matches!(query.sort, Sort::Cpu | Sort::Memory) && start < SORTED
}

struct Library {
    runtime: Runtime,
    scope: Scope,
    sampler: Sampler,
}

impl Library {
    fn open(options: &Options, post: &Post) -> Result<Self> {
        let runtime = Runtime::open(options.settings.clone())?;
        let sampler = Sampler::start(options.settings.clone(), post);
        Ok(Self { runtime, scope: options.scope(), sampler })
    }

    fn list(&self, query: Query, stretch: &Stretch) -> Result<Event> {
        let (start, count, page) = self.page(&query, (stretch.start, stretch.count))?;
        let is_there = |id: &String, page: &Page| page.tasks.iter().any(|task| task.id.as_str() == id);
        let gone = stretch.keep.as_ref().filter(|id| !is_there(id, &page));
        let (start, page, unlisted) = match gone {
            None => (start, page, None),
            Some(id) => self.around(&query, id, count)?.unwrap_or((start, page, None)),
        };
        let by_use = is_by_use(&query, start);
        let mut rows: Vec<_> =
            page.tasks.iter().map(|task| TaskRow::of(task, self.sample_of(task))).collect();
        if by_use {
            let live = rows.iter().take_while(|row| !row.status.is_terminal()).count();
            let by = |row: &TaskRow| match query.sort {
                Sort::Memory => row.sample.memory.unwrap_or(0) as f64,
                Sort::State | Sort::Newest | Sort::Longest | Sort::Name | Sort::Cpu => {
                    row.sample.cpu.unwrap_or(-1.0)
                }
            };
            // What uses the same stays in its order.
            rows[..live].sort_by(|a, b| {
                let order = by(b).total_cmp(&by(a));
                if query.is_reversed { order.reverse() } else { order }
            });
        }
        if let Look::Fresh(places) = &stretch.look {
            let alive = rows.iter().filter(|row| row.alive).map(|row| row.id.clone()).collect();
            let looked_at = page.tasks.iter().enumerate();
            let looked_at = looked_at.filter(|(at, _)| by_use || places.contains(&(start + at)));
            self.sampler.look_at(looked_at.map(|(_, task)| task.clone()).collect(), alive);
        }
        let (total, live) = (page.total as usize, page.live as usize);
        Ok(Event::Listed(Window { query, start, rows, total, live, unlisted, at: SystemClock.now() }))
    }

    /// Returns where the rows begin, how many were asked for, and the rows.
    fn page(&self, query: &Query, (start, count): (usize, usize)) -> Result<(usize, usize, Page)> {
        let (start, count) =
            if is_by_use(query, start) { (0, (start + count).max(SORTED)) } else { (start, count) };
        let filter = Filter { offset: start as u32, limit: count as u32, ..filter(query, &self.scope) };
        Ok((start, count, self.runtime.list(&filter)?))
    }

    /// Lists the rows around a task that is not where it was; or the task alone, if it is not listed. Nothing if it
    /// is no more.
    fn around(&self, query: &Query, id: &str, count: usize) -> Result<Option<Around>> {
        let Ok(task) = self.runtime.task(id, &self.scope) else { return Ok(None) };
        let place = self.runtime.place(&filter(query, &self.scope), &task.id)?;
        let at = place.unwrap_or(0) as usize;
        let (start, _, page) = self.page(query, (at.saturating_sub(count / 2), count))?;
        let row = place.is_none().then(|| Box::new(TaskRow::of(&task, self.sample_of(&task))));
        Ok(Some((start, page, row)))
    }

    /// Returns what is known of what a task uses; one of which nothing lives uses nothing.
    fn sample_of(&self, task: &Task) -> Sample {
        match (&task.state, task.survivors) {
            (TaskState::Ended { .. }, 0) => Sample::default(),
            (_, _) => self.sampler.sample_of(task.id.as_str()),
        }
    }

    fn facts(&self, id: &str) -> Result<Event> {
        let mut task = self.runtime.task(id, &self.scope)?;
        self.runtime.add_ports(&mut task);
        let mut known = facts(&task);
        known.extend(news_facts(&self.runtime.news_of(id, &self.scope)?));
        Ok(Event::Known(id.to_owned(), known))
    }

    fn attachable(&self, id: String) -> Result<Event> {
        let task = self.runtime.resolve(&id, &self.scope)?;
        Ok(match self.runtime.home().spec(&task)?.io {
            Io::Stdin | Io::Pty { .. } => Event::Attachable(id),
            Io::Pipes => Event::Failed(format!(
                "{id} has no input to attach to: it was started without --pty or --stdin"
            )),
        })
    }

    fn outcome(&self, id: &str) -> Result<Event> {
        let became = match self.runtime.find_approval(id)?.state {
            ApprovalState::Approved { by, .. } | ApprovalState::Used { by, .. } => {
                format!("was approved by {by}")
            }
            ApprovalState::Denied { by, why, .. } if why.is_empty() => format!("was denied by {by}"),
            ApprovalState::Denied { by, why, .. } => format!("was denied by {by}: {why}"),
            ApprovalState::Open | ApprovalState::Lapsed { .. } => "has lapsed: nobody answered".to_owned(),
        };
        Ok(Event::Told(format!("{id} {became}")))
    }

    fn lanes(&self, ids: &[String]) -> Vec<Lane> {
        // One that was removed meanwhile has no lane.
        let tasks = ids.iter().filter_map(|id| self.runtime.task(id, &self.scope).ok());
        let lane = |task: Task| Lane {
            id: task.id.to_string(),
            what: what(&task),
            status: task.status,
            runs: self.runtime.runs(&task, MOST_RUNS),
        };
        tasks.map(lane).collect()
    }

    fn before(&self, target: LogTarget, offset: u64) -> Event {
        let start = offset.saturating_sub(STRETCH);
        let request = ReadRequest {
            stream: target.stream,
            from: From::Offset(start),
            max_bytes: offset - start,
            run: Some(target.run),
            ..ReadRequest::default()
        };
        match self.runtime.read_shown(&target.id, &self.scope, &request) {
            Ok(reply) => Event::ReadEarlier(target, chunk(&reply, 0)),
            Err(error) => Event::Unreadable(target, told(&error)),
        }
    }
}

/// Returns what the library is asked for.
pub(super) fn filter(query: &Query, scope: &Scope) -> Filter {
    let scope = match (scope, &query.session) {
        (Scope::All, Some(session)) => Scope::Session(session.clone()),
        (scope, _) => scope.clone(),
    };
    let statuses = match query.states {
        States::Any => Vec::new(),
        States::Live => Status::ALL.into_iter().filter(|status| !status.is_terminal()).collect(),
        States::Only(status) => vec![status],
    };
    let order = match (query.sort, query.is_reversed) {
        (Sort::State, _) => by_state(SystemClock.now()),
        (Sort::Newest, true) => Order::Oldest,
        (Sort::Newest | Sort::Cpu | Sort::Memory, _) => Order::Newest,
        (Sort::Longest, false) => Order::Longest,
        (Sort::Longest, true) => Order::Shortest,
        (Sort::Name, false) => Order::Name,
        (Sort::Name, true) => Order::NameDown,
    };
    let text = (!query.text.is_empty()).then(|| query.text.clone());
    Filter { statuses, order, text, batch: query.batch.clone(), ..Filter::new(scope) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_again_is_answered_once() {
        let know = |id: &str| Lookup::Facts(id.to_owned());
        let mut asked = vec![know("a"), Lookup::Sessions, know("a"), Lookup::Runs(Vec::new()), know("b")];
        let left: Vec<_> = only_last(&mut asked).collect();
        assert_eq!(left, [Lookup::Sessions, Lookup::Runs(Vec::new()), know("b")]);
    }
}
