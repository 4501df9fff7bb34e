//! The search itself: a tree that outlives its runs.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use rand::{Rng, SeedableRng};

use crate::evaluate::{Evaluate, EvaluateError, MeansOf, SearchRng};
use crate::game::{Game, Turn};
use crate::node::{Child, Kind, NodeId};
use crate::outlook::Outlook;
use crate::rank::{Ranking, Snapshot, TreeShape};
use crate::run::Run;
use crate::settings::{ChanceLeaf, Lcb, Rule, Settings, Sigma};
use crate::student::StudentTable;
use crate::task::{SearchReport, StopReason, Task};
use crate::tree::{Tree, edges_by_prior};
use crate::worker::{Context, Shared, Worker, check_value, outcome_edges};

/// Lines a snapshot follows before it lets workers at the tree again.
const LINES_AT_ONCE: usize = 8;

/// A tree search over one game.
///
/// All methods take `&self`: share it between threads to read
/// [`snapshot`](Search::snapshot)s while [`run`](Search::run) is at work.
/// Runs, and whatever moves the root, wait for each other.
pub struct Search<G: Game> {
    shared: Shared<G>,
    /// Held for a whole run.
    turn: Mutex<SearchRng>,
    ranking: Mutex<Ranking>,
}

impl<G: Game> Search<G> {
    /// An empty tree. With one thread, equal seeds give equal searches.
    pub fn new(seed: u64) -> Self {
        let lcb = Lcb::default();
        Search {
            shared: Shared {
                tree: Mutex::new(Tree::new(Settings::default().memory_bytes)),
                settled: Condvar::new(),
            },
            turn: Mutex::new(SearchRng::seed_from_u64(seed)),
            ranking: Mutex::new(Ranking {
                lcb,
                quantiles: Arc::new(StudentTable::new(lcb.alpha)),
                utility: None,
            }),
        }
    }

    /// Searches from `root` until a limit of the task is reached.
    ///
    /// Statistics are reused if the position, or one it descends from, is
    /// still in memory. A new root is evaluated even if the task is stopped
    /// already, so that there is always a move to play.
    ///
    /// # Errors
    ///
    /// The evaluator's own. What was evaluated before it stays in the tree.
    ///
    /// # Panics
    ///
    /// If the evaluator panics, returns the wrong number of evaluations, or a
    /// value outside `0.0..=1.0`.
    pub fn run<E: Evaluate<G>>(
        &self,
        root: &G,
        evaluator: &E,
        settings: &Settings,
        task: &Task<'_, G::Move>,
    ) -> Result<SearchReport, EvaluateError> {
        let start = Instant::now();
        let mut rng = self.turn();
        let ranking = self.rank_by(settings);
        let mut tree = self.shared.lock();
        tree.set_limit(settings.memory_bytes);
        tree.set_weighing(ranking.utility.map(|puct| puct.weighing));
        drop(tree);
        let node = self.seek(root);
        let visits_reused = u64::from(self.shared.lock().arena[node].visits);

        self.prepare_root(node, root, evaluator, settings, &mut rng)?;
        self.settle_utility(node, root, evaluator);
        let mut tree = self.shared.lock();
        tree.overlay(node, settings, task.restrict, &mut rng);
        let budget = budget(task, tree.root_visits(node));
        tree.run.budget = budget;
        tree.plan_gumbel(node, settings, simulations_of(budget), &mut rng);
        if !tree.has_open_move(node) {
            tree.run.stop(StopReason::NoMoves);
        }
        drop(tree);

        let context = Context {
            shared: &self.shared,
            evaluator,
            settings,
            task,
            ranking: &ranking,
            root: node,
            root_state: root,
        };
        std::thread::scope(|scope| {
            for _ in 1..settings.threads.max(1) {
                let rng = SearchRng::seed_from_u64(rng.next_u64());
                let helper = Worker::new(&context, rng);
                scope.spawn(move || helper.work());
            }
            let rng = SearchRng::seed_from_u64(rng.next_u64());
            Worker::new(&context, rng).work();
        });
        let failure = self.shared.lock().run.failure.take();
        match failure {
            Some(failure) => Err(failure),
            None => Ok(self.report(node, visits_reused, start)),
        }
    }

    /// Moves the root without searching; returns the visits found there.
    pub fn set_root(&self, root: &G) -> u64 {
        let _turn = self.turn();
        let node = self.seek(root);
        u64::from(self.shared.lock().arena[node].visits)
    }

    /// The root's statistics. May be called while a search runs: it holds
    /// workers up for the copying of the root's numbers, and then for a few
    /// lines at a time, which may thus be a little fresher than the numbers.
    pub fn snapshot(&self) -> Snapshot<G::Move, MeansOf<G>> {
        let ranking = self.ranking().clone();
        let tree = self.shared.lock();
        let (root, epoch) = (tree.root(), tree.epoch);
        let (mut snapshot, edges) = tree.snapshot(&ranking);
        drop(tree);
        let Some(root) = root else {
            return snapshot;
        };
        let lines = snapshot.moves.chunks_mut(LINES_AT_ONCE);
        for (moves, edges) in lines.zip(edges.chunks(LINES_AT_ONCE)) {
            let tree = self.shared.lock();
            if tree.epoch != epoch {
                break;
            }
            for (entry, &edge) in moves.iter_mut().zip(edges) {
                (entry.pv, entry.pv_visits) = tree.line_from(root, edge, &ranking);
            }
        }
        snapshot
    }

    /// What the evaluations below the root, or below one of its moves, say, each with its share of the whole;
    /// empty unless the last run was under [`Rule::Utility`]. Averages of what is too large to be kept in every
    /// node (who owns which point) are made from this.
    pub fn shares(&self, below: Option<G::Move>) -> Vec<(G::Outlook, f64)> {
        /// Shares below this part of a power of the visits are not divided further.
        const SMALLEST: (f64, f64) = (0.5, 0.75);
        let tree = self.shared.lock();
        let from = tree.root().and_then(|root| match below {
            Some(mv) => tree.follow(root, &[mv]),
            None => Some(root),
        });
        let Some(from) = from else {
            return Vec::new();
        };
        let visits = f64::from(tree.arena[from].visits.max(1));
        tree.shares(from, SMALLEST.0 / visits.powf(SMALLEST.1))
    }

    /// The root's own outlook, if it was evaluated under [`Rule::Utility`].
    pub fn outlook(&self) -> Option<G::Outlook> {
        let tree = self.shared.lock();
        let books = tree.arena[tree.root()?].books.as_ref()?;
        Some(books.own.clone())
    }

    /// The shape of the tree below the root; walks all of it.
    pub fn shape(&self) -> TreeShape {
        self.shared.lock().shape()
    }

    /// The root's policy improved by the values found (Danihelka et al.,
    /// 2022): a training target that needs few visits.
    pub fn improved_policy(&self, sigma: &Sigma) -> Vec<(G::Move, f64)> {
        self.shared.lock().improved_policy(sigma)
    }

    /// Forgets everything.
    pub fn clear(&self) {
        let _turn = self.turn();
        let mut tree = self.shared.lock();
        tree.clear();
    }

    /// Forgets what is not below the root: earlier positions and moves not
    /// played. Happens by itself when memory runs short.
    pub fn forget_past(&self) {
        let _turn = self.turn();
        self.shared.lock().forget_all_but_root();
    }

    /// Makes `root` the root, at its old node if it has one in memory.
    fn seek(&self, root: &G) -> NodeId {
        let mut tree = self.shared.lock();
        if tree.broken {
            tree.clear();
        }
        tree.run = Run::default();
        let anchors = tree.anchors();
        drop(tree);

        // The shortest path wins: it has the fewest nodes to be missing.
        let mut paths: Vec<(NodeId, Vec<G::Move>)> = anchors
            .iter()
            .filter_map(|(state, node)| Some((*node, root.path_from(state)?)))
            .collect();
        paths.sort_by_key(|(_, path)| path.len());

        let mut tree = self.shared.lock();
        let found = paths
            .iter()
            .find_map(|(node, path)| tree.follow(*node, path));
        tree.set_root(Arc::new(root.clone()), found)
    }

    /// Expands and checks the root.
    fn prepare_root<E: Evaluate<G>>(
        &self,
        node: NodeId,
        state: &G,
        evaluator: &E,
        settings: &Settings,
        rng: &mut SearchRng,
    ) -> Result<(), EvaluateError> {
        let tree = self.shared.lock();
        let kind = tree.arena[node].kind;
        let thinned = tree.arena[node].thinned;
        drop(tree);

        let turn = state.turn();
        if let Turn::Over(value) = turn {
            check_value(value);
            let mut tree = self.shared.lock();
            tree.expand(node, Kind::Over, Some(value), Vec::new());
            return Ok(());
        }
        if kind == Kind::Leaf || thinned {
            self.expand_root(node, state, turn, evaluator, settings, rng)?;
        }
        self.check_root_moves(node, state);
        Ok(())
    }

    /// Fixes what this run maximises, by what is known of the root.
    fn settle_utility<E: Evaluate<G>>(&self, node: NodeId, state: &G, evaluator: &E) {
        let tree = self.shared.lock();
        let Some(books) = &tree.arena[node].books else {
            return;
        };
        let means = if books.average.weight > 0.0 {
            books.average.means
        } else {
            books.own.means()
        };
        drop(tree);
        let utility = evaluator.utility(state, &means);
        self.shared.lock().set_utility(node, utility);
    }

    fn expand_root<E: Evaluate<G>>(
        &self,
        node: NodeId,
        state: &G,
        turn: Turn,
        evaluator: &E,
        settings: &Settings,
        rng: &mut SearchRng,
    ) -> Result<(), EvaluateError> {
        let is_chance = turn == Turn::Chance;
        let mut evaluations = Vec::new();
        if !is_chance || settings.chance_leaf == ChanceLeaf::Evaluate {
            evaluator.evaluate(std::slice::from_ref(state), rng, &mut evaluations)?;
            assert_eq!(evaluations.len(), 1, "one leaf wants one evaluation");
        }
        let evaluated = evaluations.len() as u64;
        let evaluation = evaluations.pop();
        let value = evaluation.as_ref().and_then(|evaluation| evaluation.value);
        value.into_iter().for_each(check_value);
        let (priors, outlook) = evaluation
            .map(|evaluation| (evaluation.priors, evaluation.outlook))
            .unwrap_or_default();
        let (kind, mut edges) = match turn {
            Turn::Player(side) => (Kind::Player(side), edges_by_prior(&priors)),
            _ => (Kind::Chance, outcome_edges(state, &mut Vec::new(), rng)),
        };
        let mut tree = self.shared.lock();
        tree.keep_children(node, &mut edges);
        tree.run.evaluations += evaluated;
        tree.run.batches += evaluated;
        tree.expand_root(node, kind, value, outlook, edges);
        Ok(())
    }

    /// Finds the forbidden root moves before any simulation stumbles on them.
    fn check_root_moves(&self, node: NodeId, state: &G) {
        let tree = self.shared.lock();
        let root = &tree.arena[node];
        if root.checked || root.kind == Kind::Chance {
            return;
        }
        let moves: Vec<G::Move> = root.edges.iter().map(|edge| edge.mv).collect();
        drop(tree);
        let mut after = state.clone();
        let is_forbidden = |mv: G::Move| {
            after.clone_from(state);
            after.play(mv);
            !after.is_valid()
        };
        let forbidden: Vec<bool> = moves.into_iter().map(is_forbidden).collect();
        let mut tree = self.shared.lock();
        let root = &mut tree.arena[node];
        root.checked = true;
        for (edge, forbidden) in root.edges.iter_mut().zip(forbidden) {
            if forbidden && edge.child() == Child::Untried {
                edge.set_child(Child::Invalid);
            }
        }
    }

    fn report(&self, node: NodeId, visits_reused: u64, start: Instant) -> SearchReport {
        let tree = self.shared.lock();
        let run = &tree.run;
        SearchReport {
            reason: run.stopped.unwrap_or(StopReason::Limit),
            playouts: run.finished,
            visits: tree.root_visits(node),
            visits_reused,
            evaluations: run.evaluations,
            batches: run.batches,
            discarded: run.discarded,
            depth_sum: run.depth_sum,
            depth_max: run.depth_max,
            nodes: tree.arena.nodes(),
            memory_bytes: tree.arena.bytes(),
            elapsed: start.elapsed(),
        }
    }

    fn rank_by(&self, settings: &Settings) -> Ranking {
        let lcb = settings.lcb;
        let mut ranking = self.ranking();
        ranking.utility = match settings.rule {
            Rule::Utility(puct) => Some(puct),
            _ => None,
        };
        if ranking.quantiles.alpha() != lcb.alpha {
            ranking.quantiles = Arc::new(StudentTable::new(lcb.alpha));
        }
        ranking.lcb = lcb;
        ranking.clone()
    }

    #[cfg(test)]
    pub(crate) fn tree(&self) -> MutexGuard<'_, Tree<G>> {
        self.shared.lock()
    }

    fn turn(&self) -> MutexGuard<'_, SearchRng> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn ranking(&self) -> MutexGuard<'_, Ranking> {
        self.ranking.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Playouts a run may make: each adds one visit to the root.
fn budget<M>(task: &Task<'_, M>, root_visits: u64) -> u64 {
    let by_visits = task
        .visits
        .map_or(u64::MAX, |visits| visits.saturating_sub(root_visits));
    by_visits.min(task.playouts.unwrap_or(u64::MAX))
}

/// Simulations Gumbel selection plans for; without a limit it plans none and
/// follows the improved policy.
fn simulations_of(budget: u64) -> usize {
    match budget {
        u64::MAX => 0,
        budget => usize::try_from(budget).unwrap_or(0),
    }
}
