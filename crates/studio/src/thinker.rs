//! The one thread that thinks.
//!
//! Everybody's work is a job in one queue, the most urgent first. A more urgent job stops a less urgent one, which
//! goes on where it was afterwards. Nothing thinks when nobody looks: jobs of a document that no tab shows are dropped
//! or put to sleep by their own `run`.

use std::{
    sync::{
        Arc, Condvar, Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread,
};

use serde_json::{Value, json};

use crate::{
    engine::{Engine, lock},
    server::App,
    wire::Failure,
};

/// How urgent a job is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Urgency {
    /// A move that somebody waits for.
    Move,
    /// A short question.
    Question,
    /// Live analysis of the tab in front.
    Analysis,
    /// A sweep over a game.
    Review,
    /// What can wait: new problems, measurements.
    Rest,
}

/// How a job ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Done,
    /// It was stopped for something more urgent, and wants to go on.
    Unfinished,
}

/// What a job does.
pub trait Work: Send {
    /// Works until done or until `stop` says so.
    fn run(&mut self, app: &Arc<App>, engine: &mut Engine, stop: &Stop) -> Outcome;

    /// It was cancelled before it was done.
    fn cancelled(&mut self, _app: &Arc<App>) {}
}

/// Tells a job to stop.
#[derive(Clone, Default)]
pub struct Stop {
    cancelled: Arc<AtomicBool>,
    preempted: Arc<AtomicBool>,
}

impl Stop {
    /// Whether the job should return.
    pub fn now(&self) -> bool {
        self.is_cancelled() || self.preempted.load(Ordering::Relaxed)
    }

    /// Whether it should not go on later either.
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    /// The flag of a cancellation, for rooms that take one.
    pub fn cancel_flag(&self) -> Arc<AtomicBool> {
        self.cancelled.clone()
    }
}

/// What a job is for: shown in the list of jobs, and how others find it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// `move`, `analysis`, `review`, ...
    pub what: &'static str,
    /// The document.
    pub doc: String,
    /// The tab that asked.
    pub tab: u64,
}

struct Job {
    number: u64,
    urgency: Urgency,
    label: Label,
    stop: Stop,
    work: Box<dyn Work>,
}

/// Jobs that may wait.
const MOST_WAITING: usize = 20;

#[derive(Default)]
struct Queue {
    waiting: Vec<Job>,
    running: Option<(u64, Urgency, Label, Stop)>,
    is_closing: bool,
}

/// The queue before the thread.
#[derive(Default)]
pub struct Thinker {
    queue: Mutex<Queue>,
    changed: Condvar,
    numbers: AtomicU64,
}

impl Thinker {
    pub fn start(app: &Arc<App>, mut engine: Engine) -> thread::JoinHandle<()> {
        let app = app.clone();
        thread::spawn(move || {
            while let Some(mut job) = app.thinker.next() {
                app.tell_engine();
                let outcome = job.work.run(&app, &mut engine, &job.stop);
                let goes_on = outcome == Outcome::Unfinished && !job.stop.is_cancelled();
                if outcome == Outcome::Unfinished && !goes_on {
                    job.work.cancelled(&app);
                }
                app.thinker.finish(goes_on.then_some(job));
                app.tell_engine();
            }
        })
    }

    /// Puts a job into the queue.
    pub fn push(
        &self,
        urgency: Urgency,
        label: Label,
        work: Box<dyn Work>,
    ) -> Result<u64, Failure> {
        let mut queue = lock(&self.queue);
        if queue.waiting.len() >= MOST_WAITING && urgency > Urgency::Question {
            return Err(Failure::new(
                "busy",
                "too many jobs are waiting: cancel some under the engine light",
            ));
        }
        let number = self.numbers.fetch_add(1, Ordering::Relaxed) + 1;
        if let Some((_, running, _, stop)) = &queue.running
            && urgency < *running
        {
            stop.preempted.store(true, Ordering::Relaxed);
        }
        queue.waiting.push(Job {
            number,
            urgency,
            label,
            stop: Stop::default(),
            work,
        });
        self.changed.notify_all();
        Ok(number)
    }

    /// Cancels every job that `which` names. What is running stops at its next look.
    pub fn cancel(&self, app: &Arc<App>, which: impl Fn(&Label, u64) -> bool) {
        let mut dropped = Vec::new();
        {
            let mut queue = lock(&self.queue);
            let (gone, kept) = std::mem::take(&mut queue.waiting)
                .into_iter()
                .partition(|job| which(&job.label, job.number));
            queue.waiting = kept;
            dropped.extend::<Vec<Job>>(gone);
            if let Some((number, _, label, stop)) = &queue.running
                && which(label, *number)
            {
                stop.cancelled.store(true, Ordering::Relaxed);
            }
        }
        for mut job in dropped {
            job.work.cancelled(app);
        }
    }

    /// Whether nothing runs or waits.
    pub fn is_idle(&self) -> bool {
        let queue = lock(&self.queue);
        queue.running.is_none() && queue.waiting.is_empty()
    }

    /// What is running, by label.
    pub fn running(&self) -> Option<Label> {
        lock(&self.queue)
            .running
            .as_ref()
            .map(|(_, _, label, _)| label.clone())
    }

    /// All jobs, the running one first.
    pub fn list(&self) -> Value {
        let queue = lock(&self.queue);
        let line = |number: u64, label: &Label, state: &str| json!({ "job": number, "what": label.what, "doc": label.doc, "state": state });
        let running = queue
            .running
            .iter()
            .map(|(number, _, label, _)| line(*number, label, "running"));
        let waiting = queue
            .waiting
            .iter()
            .map(|job| line(job.number, &job.label, "waiting"));
        running.chain(waiting).collect::<Vec<_>>().into()
    }

    /// Ends the thread at its next look.
    pub fn close(&self) {
        let mut queue = lock(&self.queue);
        queue.is_closing = true;
        queue.waiting.clear();
        if let Some((.., stop)) = &queue.running {
            stop.cancelled.store(true, Ordering::Relaxed);
        }
        self.changed.notify_all();
    }

    fn next(&self) -> Option<Job> {
        let mut queue = lock(&self.queue);
        loop {
            if queue.is_closing {
                return None;
            }
            let first = (0..queue.waiting.len())
                .min_by_key(|&at| (queue.waiting[at].urgency, queue.waiting[at].number));
            if let Some(first) = first {
                let job = queue.waiting.remove(first);
                job.stop.preempted.store(false, Ordering::Relaxed);
                queue.running =
                    Some((job.number, job.urgency, job.label.clone(), job.stop.clone()));
                return Some(job);
            }
            queue = self
                .changed
                .wait(queue)
                .unwrap_or_else(std::sync::PoisonError::into_inner);
        }
    }

    fn finish(&self, unfinished: Option<Job>) {
        let mut queue = lock(&self.queue);
        queue.running = None;
        queue.waiting.extend(unfinished);
    }
}
