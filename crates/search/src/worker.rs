//! One worker: gathers leaves, has them evaluated, backs them up.
//!
//! The tree is locked only while walking down and backing up. Moves are
//! played, outcomes listed and positions evaluated with no lock held.

use std::sync::atomic::Ordering;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use rand::seq::SliceRandom;

use crate::evaluate::{Evaluate, EvaluateError, Evaluation, Evaluations, SearchRng};
use crate::game::{Game, Turn};
use crate::node::{Edge, Kind, NodeId};
use crate::rank::Ranking;
use crate::run::Permit;
use crate::settings::{ChanceLeaf, Settings, WithoutValue};
use crate::simulation::{Descent, Simulation};
use crate::task::{Poll, StopReason, Task};
use crate::tree::{Tree, Walk, edges_by_prior};

/// Playouts between two looks at which moves are still in contention.
const REVIEW_INTERVAL: u64 = 8;

/// WithoutValue leaves in a row after which a simulation is given up.
const MAX_BORROWERS: usize = 8;

/// A tree and the bell that rings when simulations are settled.
pub(crate) struct Shared<G: Game> {
    pub tree: Mutex<Tree<G>>,
    pub settled: Condvar,
}

impl<G: Game> Shared<G> {
    /// Locks the tree. No game or evaluator code runs under the lock, so a
    /// panic there cannot leave it half-changed.
    pub fn lock(&self) -> MutexGuard<'_, Tree<G>> {
        self.tree.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the bell.
    fn wait<'a>(&self, mut tree: MutexGuard<'a, Tree<G>>) -> MutexGuard<'a, Tree<G>> {
        tree.waiting += 1;
        let woken = self.settled.wait(tree);
        let mut tree = woken.unwrap_or_else(PoisonError::into_inner);
        tree.waiting -= 1;
        tree
    }

    /// Rings the bell if anybody listens: ringing is a call to the system.
    fn ring(&self, tree: &Tree<G>) {
        if tree.waiting > 0 {
            self.settled.notify_all();
        }
    }
}

/// What a simulation came to for now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Advance {
    /// At a leaf that wants an evaluation.
    Pending,
    /// Counted or discarded.
    Done,
    /// Cancelled: another simulation has claimed the leaf.
    Collision,
}

/// What gathering leaves came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Gathered {
    /// Leaves may be waiting for evaluation.
    GoOn,
    /// The run is over.
    Stop,
}

/// What all workers of a run have in common.
pub(crate) struct Context<'a, G: Game, E> {
    pub shared: &'a Shared<G>,
    pub evaluator: &'a E,
    pub settings: &'a Settings,
    pub task: &'a Task<'a, G::Move>,
    pub ranking: &'a Ranking,
    pub root: NodeId,
    pub root_state: &'a G,
}

/// A worker and its private buffers.
pub(crate) struct Worker<'a, G: Game, E> {
    context: &'a Context<'a, G, E>,
    rng: SearchRng,
    buffers: Buffers<G>,
}

struct Buffers<G: Game> {
    simulations: Vec<Simulation<G::Move>>,
    states: Vec<G>,
    evaluations: Evaluations<G>,
    outcomes: Vec<(G::Move, f32)>,
    /// Slots at the front that wait for evaluation.
    pending: usize,
}

impl<'a, G: Game, E: Evaluate<G>> Worker<'a, G, E> {
    pub fn new(context: &'a Context<'a, G, E>, rng: SearchRng) -> Self {
        let slots = context.settings.batch.max(1);
        let buffers = Buffers {
            simulations: std::iter::repeat_with(Simulation::new)
                .take(slots)
                .collect(),
            states: vec![context.root_state.clone(); slots],
            evaluations: Vec::with_capacity(slots),
            outcomes: Vec::new(),
            pending: 0,
        };
        Worker {
            context,
            rng,
            buffers,
        }
    }

    /// Works until the run is over.
    pub fn work(mut self) {
        let alarm = Alarm(self.context.shared);
        while self.gather() == Gathered::GoOn {
            while self.buffers.pending > 0 {
                if let Err(error) = self.evaluate() {
                    let mut tree = self.context.shared.lock();
                    tree.run.fail(error);
                    drop(tree);
                    break;
                }
                self.back_up();
            }
            self.poll();
        }
        self.abandon();
        std::mem::forget(alarm);
    }

    /// Fills the batch with leaves, as far as there are any.
    fn gather(&mut self) -> Gathered {
        for _ in 0..self.buffers.simulations.len() {
            if self.is_flagged() {
                self.context.shared.lock().run.stop(StopReason::Flag);
            }
            match self.reserve() {
                Permit::Granted => {}
                Permit::Wait => break,
                Permit::Stop => return Gathered::Stop,
            }
            let slot = self.buffers.pending;
            self.buffers.simulations[slot].path.clear();
            match self.advance(slot) {
                Advance::Pending => self.buffers.pending += 1,
                Advance::Done => {}
                Advance::Collision if self.buffers.pending > 0 => break,
                Advance::Collision => self.wait(),
            }
        }
        Gathered::GoOn
    }

    /// Asks for a playout; waits for one if there is nothing else to do.
    fn reserve(&mut self) -> Permit {
        let mut tree = self.context.shared.lock();
        loop {
            match tree.run.reserve() {
                Permit::Wait if self.buffers.pending == 0 => {
                    tree = self.context.shared.wait(tree);
                }
                permit => {
                    if permit == Permit::Stop {
                        self.context.shared.ring(&tree);
                    }
                    return permit;
                }
            }
        }
    }

    /// Waits until another worker has settled something, if one is at work.
    fn wait(&self) {
        let tree = self.context.shared.lock();
        if tree.run.stopped.is_none() && tree.run.started > tree.run.finished {
            drop(self.context.shared.wait(tree));
        }
    }

    /// Takes a reserved simulation on to its next leaf.
    fn advance(&mut self, slot: usize) -> Advance {
        let simulation = &mut self.buffers.simulations[slot];
        let state = &mut self.buffers.states[slot];
        let walk = Walk {
            settings: self.context.settings,
            restrict: self.context.task.restrict,
            both_kinds: self.context.task.both_kinds,
        };
        loop {
            let mut tree = self.context.shared.lock();
            if simulation.path.is_empty() {
                tree.start(self.context.root, simulation);
            }
            match tree.descend(simulation, &walk, &mut self.rng) {
                Descent::Leaf => {}
                Descent::Known(value) => {
                    tree.settle(simulation, value);
                    self.context.shared.ring(&tree);
                    return Advance::Done;
                }
                Descent::Collision => {
                    tree.cancel(simulation);
                    return Advance::Collision;
                }
                Descent::Full => {
                    tree.cancel(simulation);
                    if !tree.forget_all_but_root() {
                        tree.run.stop(StopReason::Memory);
                    }
                    return Advance::Done;
                }
            }
            drop(tree);

            if simulation.played == 0 {
                state.clone_from(self.context.root_state);
            }
            for &mv in &simulation.moves[simulation.played..] {
                state.play(mv);
            }
            simulation.played = simulation.moves.len();
            if !state.is_valid() {
                let mut tree = self.context.shared.lock();
                tree.invalidate(simulation);
                self.context.shared.ring(&tree);
                return Advance::Done;
            }
            match state.turn() {
                Turn::Over(value) => {
                    check_value(value);
                    let outlook = state.final_outlook();
                    let mut tree = self.context.shared.lock();
                    let leaf = simulation.leaf();
                    tree.expand(leaf, Kind::Over, Some(value), Vec::new());
                    tree.keep_books(leaf, outlook, Some(value));
                    tree.settle(simulation, value);
                    self.context.shared.ring(&tree);
                    return Advance::Done;
                }
                Turn::Chance if self.context.settings.chance_leaf == ChanceLeaf::PassThrough => {
                    let edges = outcome_edges(state, &mut self.buffers.outcomes, &mut self.rng);
                    let mut tree = self.context.shared.lock();
                    if !tree.expand(simulation.leaf(), Kind::Chance, None, edges) {
                        tree.cancel(simulation);
                        tree.run.stop(StopReason::Memory);
                        return Advance::Done;
                    }
                    tree.keep_books(simulation.leaf(), G::Outlook::default(), None);
                }
                Turn::Chance | Turn::Player(_) => return Advance::Pending,
            }
        }
    }

    fn evaluate(&mut self) -> Result<(), EvaluateError> {
        let buffers = &mut self.buffers;
        buffers.evaluations.clear();
        let leaves = &buffers.states[..buffers.pending];
        self.context
            .evaluator
            .evaluate(leaves, &mut self.rng, &mut buffers.evaluations)?;
        assert_eq!(
            buffers.evaluations.len(),
            leaves.len(),
            "an evaluator must append one evaluation for each leaf"
        );
        Ok(())
    }

    /// Expands the evaluated leaves and counts their simulations; those with
    /// an untrusted leaf may go on and stay pending.
    fn back_up(&mut self) {
        let evaluated = std::mem::take(&mut self.buffers.pending);
        let mut evaluations = std::mem::take(&mut self.buffers.evaluations);
        for (slot, evaluation) in evaluations.drain(..).enumerate() {
            debug_assert!(slot < evaluated);
            if self.settle(slot, evaluation) {
                let pending = self.buffers.pending;
                self.buffers.simulations.swap(pending, slot);
                self.buffers.states.swap(pending, slot);
                self.buffers.pending += 1;
            }
        }
        self.buffers.evaluations = evaluations;
        let mut tree = self.context.shared.lock();
        tree.run.batches += 1;
        self.context.shared.ring(&tree);
    }

    /// True if the simulation wants another evaluation.
    fn settle(&mut self, slot: usize, evaluation: Evaluation<G::Move, G::Outlook>) -> bool {
        if let Some(value) = evaluation.value {
            check_value(value);
        }
        let state = &self.buffers.states[slot];
        let (kind, edges) = match state.turn() {
            Turn::Player(side) => (Kind::Player(side), edges_by_prior(&evaluation.priors)),
            _ => (
                Kind::Chance,
                outcome_edges(state, &mut self.buffers.outcomes, &mut self.rng),
            ),
        };
        let simulation = &mut self.buffers.simulations[slot];
        let mut tree = self.context.shared.lock();
        tree.run.evaluations += 1;
        let expanded = tree.expand(simulation.leaf(), kind, evaluation.value, edges);
        tree.keep_books(simulation.leaf(), evaluation.outlook, evaluation.value);
        if !expanded && !tree.forget_all_but_root() {
            tree.run.stop(StopReason::Memory);
        }
        if let Some(value) = evaluation.value {
            tree.settle(simulation, value);
            return false;
        }
        // The borrower's own playout needs a permit of its own.
        let may_borrow = expanded
            && self.context.settings.without_value == WithoutValue::Deepen
            && simulation.borrowers.len() < MAX_BORROWERS
            && tree.run.reserve() == Permit::Granted;
        if !may_borrow {
            tree.cancel(simulation);
            tree.run.discarded += 1;
            return false;
        }
        simulation.borrowers.push(simulation.path.len() - 1);
        drop(tree);
        self.advance(slot) == Advance::Pending
    }

    /// Lets the watcher and the early stop have their say.
    fn poll(&self) {
        let policy = self.context.task.early_stop;
        let reviews = policy.prune || policy.stop;
        if self.context.task.control.is_none() && !reviews {
            return;
        }
        let tree = self.context.shared.lock();
        let progress = tree.progress(self.context.root);
        let budget_left = tree.run.budget - tree.run.finished.min(tree.run.budget);
        drop(tree);

        let mut playouts_left = budget_left;
        if let Some(control) = self.context.task.control {
            match control.poll(&progress) {
                Poll::Stop => {
                    let mut tree = self.context.shared.lock();
                    tree.run.stop(StopReason::Control);
                    self.context.shared.ring(&tree);
                    return;
                }
                Poll::Continue {
                    playouts_left: estimate,
                } => playouts_left = budget_left.min(estimate),
            }
        }
        let mut tree = self.context.shared.lock();
        if !reviews || tree.run.finished < tree.run.next_check {
            return;
        }
        tree.run.next_check = tree.run.finished + REVIEW_INTERVAL;
        let decided = tree.review(
            self.context.root,
            playouts_left,
            policy,
            self.context.ranking,
        );
        if decided && policy.stop {
            tree.run.stop(StopReason::Decided);
            self.context.shared.ring(&tree);
        }
    }

    /// Takes back the simulations that were never evaluated.
    fn abandon(&mut self) {
        let mut tree = self.context.shared.lock();
        for simulation in &self.buffers.simulations[..self.buffers.pending] {
            tree.unclaim(simulation.leaf());
            tree.cancel(simulation);
        }
        self.buffers.pending = 0;
        self.context.shared.ring(&tree);
    }

    fn is_flagged(&self) -> bool {
        self.context
            .task
            .stop
            .is_some_and(|flag| flag.load(Ordering::Relaxed))
    }
}

/// Wakes everybody if a worker panics, and marks the tree as unusable: some
/// of its leaves will stay claimed.
struct Alarm<'a, G: Game>(&'a Shared<G>);

impl<G: Game> Drop for Alarm<'_, G> {
    fn drop(&mut self) {
        let mut tree = self.0.lock();
        tree.run.stop(StopReason::Flag);
        tree.broken = true;
        self.0.ring(&tree);
    }
}

/// Outcomes as edges, in a random order so that none is favoured.
pub(crate) fn outcome_edges<G: Game>(
    state: &G,
    outcomes: &mut Vec<(G::Move, f32)>,
    rng: &mut SearchRng,
) -> Vec<Edge<G::Move>> {
    outcomes.clear();
    state.outcomes(outcomes);
    let mut edges = edges_by_prior(outcomes);
    edges.shuffle(rng);
    edges
}

/// A value that is no number would spoil every mean above it.
pub(crate) fn check_value(value: f64) {
    assert!(
        (0.0..=1.0).contains(&value),
        "a value must lie between 0 and 1, but an evaluator or a game said {value}"
    );
}
