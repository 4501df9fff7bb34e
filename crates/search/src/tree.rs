//! The tree behind the lock: finding the root, walking down, growing, backing
//! up. Nothing here plays a move or evaluates a position.

mod candidates;

use std::sync::Arc;

use crate::books::{Books, Part};
use crate::evaluate::{MeansOf, SearchRng, UtilityOf};
use crate::game::{Game, Side};
use crate::node::{Arena, Child, Edge, Kind, NodeId};
use crate::rank::TreeShape;
use crate::root::RootView;
use crate::run::Run;
use crate::select::Candidate;
use crate::settings::{Settings, Weighing};
use crate::simulation::{Descent, PathNode, Simulation};
use crate::task::Restrict;

/// Positions whose roots are remembered; more than any game has moves.
const MAX_ANCHORS: usize = 1024;

/// Above this share of the memory, what is not below the root is forgotten
/// when the root moves.
const FORGET_FILL: f64 = 0.5;

/// Memory pressure from which unlikely moves are left out: share of the
/// memory, and share of the largest prior a move must have.
const THINNING: [(f64, f32); 2] = [(0.95, 0.01), (0.5, 0.001)];

/// Visits of the root from which both kinds of moves are tried.
const VISITS_BEFORE_BOTH_KINDS: u32 = 2;

/// A position that was a root once.
struct Anchor<G> {
    state: Arc<G>,
    node: NodeId,
}

/// What a walk down depends on besides the tree.
pub(crate) struct Walk<'a, M> {
    pub settings: &'a Settings,
    pub restrict: Option<&'a dyn Restrict<M>>,
    pub both_kinds: Option<&'a (dyn Fn(M) -> bool + Sync)>,
}

/// All that the lock guards.
pub(crate) struct Tree<G: Game> {
    pub arena: Arena<G::Move, G::Outlook>,
    /// Roots of the past; the last one is the current root.
    anchors: Vec<Anchor<G>>,
    pub view: RootView,
    pub run: Run,
    /// A worker panicked and left claims behind.
    pub broken: bool,
    /// Changes whenever nodes seen before may be gone.
    pub epoch: u64,
    /// Workers that wait for something to be settled.
    pub waiting: usize,
    /// Under `Rule::Utility`, how children count in averages.
    weighing: Option<Weighing>,
    /// What the current run maximises.
    pub utility: UtilityOf<G>,
    candidates: Vec<Candidate>,
    parts: Vec<Part<MeansOf<G>>>,
}

impl<G: Game> Tree<G> {
    pub fn new(memory_bytes: usize) -> Self {
        Tree {
            arena: Arena::new(memory_bytes),
            anchors: Vec::new(),
            view: RootView::default(),
            run: Run::default(),
            broken: false,
            epoch: 0,
            waiting: 0,
            weighing: None,
            utility: UtilityOf::<G>::default(),
            candidates: Vec::new(),
            parts: Vec::new(),
        }
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        let epoch = self.epoch + 1;
        *self = Tree::new(self.arena.limit());
        self.epoch = epoch;
    }

    /// Says whether nodes keep books, and how children count in them. A tree grown the other way is forgotten.
    pub fn set_weighing(&mut self, weighing: Option<Weighing>) {
        if self.weighing.is_some() != weighing.is_some() {
            self.clear();
        }
        self.weighing = weighing;
    }

    /// Sets what is maximised from now on; averages below the root follow.
    pub fn set_utility(&mut self, root: NodeId, utility: UtilityOf<G>) {
        if self.weighing.is_none() || self.utility == utility {
            return;
        }
        self.utility = utility;
        let mut below = vec![root];
        let mut next = 0;
        while let Some(&id) = below.get(next) {
            next += 1;
            for edge in &self.arena[id].edges {
                if let Child::Node(child) = edge.child() {
                    below.push(child);
                }
            }
        }
        // Children come after their parents.
        for &id in below.iter().rev() {
            let node = &mut self.arena[id];
            let is_over = node.kind == Kind::Over;
            if let Some(books) = &mut node.books {
                books.weigh(&self.utility, is_over);
            }
            self.weigh(id);
        }
    }

    /// Writes an evaluation into a node's books, if it keeps any. Without a value it counts for nothing.
    pub fn keep_books(&mut self, id: NodeId, own: G::Outlook, value: Option<f64>) {
        if self.weighing.is_none() {
            return;
        }
        let is_over = self.arena[id].kind == Kind::Over;
        let mut books = Books::new(own, value.unwrap_or(0.5), &self.utility, is_over);
        if value.is_none() {
            books.own_weight = 0.0;
        }
        self.arena.set_books(id, books);
    }

    /// Computes a node's average from its children.
    pub fn weigh(&mut self, id: NodeId) {
        let Some(weighing) = self.weighing else {
            return;
        };
        let mut parts = std::mem::take(&mut self.parts);
        parts.clear();
        let is_root = self.root() == Some(id);
        let node = &self.arena[id];
        let tried = node.edges.iter().enumerate().take(node.tried as usize);
        for (index, edge) in tried {
            let Child::Node(child) = edge.child() else {
                continue;
            };
            let child = &self.arena[child];
            if let Some(books) = child.books.as_ref().filter(|_| child.visits > 0)
                && (!is_root || self.view.allows(index))
            {
                parts.push(Part {
                    prior: f64::from(edge.prior),
                    weight: books.average.weight,
                    average: books.average,
                });
            }
        }
        let (kind, visits) = (node.kind, node.visits);
        let side = match kind {
            Kind::Player(side) => Some(side),
            _ => None,
        };
        if let Some(books) = &mut self.arena[id].books {
            match side {
                _ if parts.is_empty() => books.settle_alone(visits),
                Some(side) => books.settle(side, &mut parts, &weighing),
                None => books.settle(Side::First, &mut parts, &Weighing::NONE),
            }
        }
        self.parts = parts;
    }

    /// Sets the memory to keep to. A tree that is larger already is forgotten:
    /// chunks in use cannot be given back.
    pub fn set_limit(&mut self, memory_bytes: usize) {
        self.arena.set_limit(memory_bytes);
        if self.arena.bytes() > memory_bytes {
            self.clear();
        }
    }

    /// The root, once there is one.
    pub fn root(&self) -> Option<NodeId> {
        self.anchors.last().map(|anchor| anchor.node)
    }

    /// Every remembered position, latest first, with its node.
    pub fn anchors(&self) -> Vec<(Arc<G>, NodeId)> {
        let latest_first = self.anchors.iter().rev();
        latest_first
            .map(|anchor| (anchor.state.clone(), anchor.node))
            .collect()
    }

    /// Follows moves from a node as far as nodes exist.
    pub fn follow(&self, from: NodeId, moves: &[G::Move]) -> Option<NodeId> {
        moves.iter().try_fold(from, |node, &mv| {
            let edges = &self.arena[node].edges;
            let edge = edges.iter().find(|edge| edge.mv == mv)?;
            match edge.child() {
                Child::Node(child) => Some(child),
                Child::Untried | Child::Invalid => None,
            }
        })
    }

    /// Makes `state` the root, at `node` or a new one.
    pub fn set_root(&mut self, state: Arc<G>, node: Option<NodeId>) -> NodeId {
        let node = node.unwrap_or_else(|| self.arena.add_root());
        self.anchors.retain(|anchor| anchor.node != node);
        if self.anchors.len() >= MAX_ANCHORS {
            self.anchors.remove(0);
        }
        self.anchors.push(Anchor { state, node });
        self.view = RootView::default();
        self.epoch += 1;
        if self.arena.fill() > FORGET_FILL {
            self.forget_all_but_root();
        }
        node
    }

    /// Frees what is not below the root. True if anything was freed. Only
    /// safe while simulations hold nodes below the root alone, which is always.
    pub fn forget_all_but_root(&mut self) -> bool {
        let Some(anchor) = self.anchors.pop() else {
            return false;
        };
        let nodes_before = self.arena.nodes();
        self.arena.retain_below(&[anchor.node]);
        self.anchors.clear();
        self.anchors.push(anchor);
        self.arena.nodes() < nodes_before
    }

    /// Walks down from the simulation's last node, claiming nodes on the way.
    pub fn descend(
        &mut self,
        simulation: &mut Simulation<G::Move>,
        walk: &Walk<'_, G::Move>,
        rng: &mut SearchRng,
    ) -> Descent {
        loop {
            let id = simulation.leaf();
            let node = &mut self.arena[id];
            match node.kind {
                Kind::Leaf => {
                    node.kind = Kind::Expanding;
                    return Descent::Leaf;
                }
                Kind::Expanding => return Descent::Collision,
                Kind::Over => return Descent::Known(node.evaluation),
                Kind::Player(_) | Kind::Chance => {}
            }
            let ply = simulation.path.len() - 1;
            let Some(edge) = self.choose(id, ply, walk, rng) else {
                // Every move is forbidden: the node's own value is the best guess.
                return Descent::Known(self.arena[id].evaluation);
            };
            let Some(child) = self.child(id, edge) else {
                return Descent::Full;
            };
            self.arena[child].in_flight += 1;
            simulation.moves.push(self.arena[id].edges[edge].mv);
            simulation.path.push(PathNode { node: child, edge });
        }
    }

    /// Starts a simulation at the root.
    pub fn start(&mut self, root: NodeId, simulation: &mut Simulation<G::Move>) {
        simulation.path.clear();
        simulation.moves.clear();
        simulation.borrowers.clear();
        simulation.played = 0;
        simulation.path.push(PathNode {
            node: root,
            edge: 0,
        });
        self.arena[root].in_flight += 1;
    }

    /// Turns a claimed leaf into an inner node. False, and a leaf again, if
    /// there is no room.
    pub fn expand(
        &mut self,
        id: NodeId,
        kind: Kind,
        value: Option<f64>,
        mut edges: Vec<Edge<G::Move>>,
    ) -> bool {
        let thinned = kind != Kind::Chance && self.thin(&mut edges);
        let fits = self.arena.set_edges(id, edges);
        let node = &mut self.arena[id];
        node.kind = if fits { kind } else { Kind::Leaf };
        node.thinned = thinned;
        node.tried = 0;
        if let Some(value) = value {
            node.evaluation = value;
        }
        fits
    }

    /// Gives edges made anew for a node the children its old edges had.
    pub fn keep_children(&self, id: NodeId, edges: &mut [Edge<G::Move>]) {
        for old in &self.arena[id].edges {
            if let Some(edge) = edges.iter_mut().find(|edge| edge.mv == old.mv) {
                edge.set_child(old.child());
            }
        }
    }

    /// Counts a finished simulation.
    pub fn settle(&mut self, simulation: &Simulation<G::Move>, value: f64) {
        for (depth, step) in simulation.path.iter().enumerate() {
            let borrowed = simulation.borrowers.iter().filter(|&&at| at >= depth);
            let playouts = 1 + borrowed.count();
            let node = &mut self.arena[step.node];
            node.in_flight -= 1;
            for _ in 0..playouts {
                node.update(value);
            }
        }
        if self.weighing.is_some() {
            for step in simulation.path.iter().rev() {
                self.weigh(step.node);
            }
        }
        let depth = simulation.path.len() - 1;
        self.run.finish(simulation.playouts(), depth);
    }

    /// Takes a simulation back as if it had never been.
    pub fn cancel(&mut self, simulation: &Simulation<G::Move>) {
        for step in &simulation.path {
            self.arena[step.node].in_flight -= 1;
        }
        self.run.release(simulation.playouts());
    }

    /// Gives up the claim on a leaf.
    pub fn unclaim(&mut self, id: NodeId) {
        let node = &mut self.arena[id];
        if node.kind == Kind::Expanding {
            node.kind = Kind::Leaf;
        }
    }

    /// Marks the move that led to a claimed leaf as forbidden.
    pub fn invalidate(&mut self, simulation: &Simulation<G::Move>) {
        self.cancel(simulation);
        let last = simulation.path.len() - 1;
        let PathNode { node, edge } = simulation.path[last];
        let parent = simulation.path[last - 1].node;
        self.arena[parent].edges[edge].set_child(Child::Invalid);
        self.arena.remove(node);
        self.run.discarded += 1;
    }

    /// Counts the nodes below the root.
    pub fn shape(&self) -> TreeShape {
        let mut shape = TreeShape::default();
        let mut open: Vec<(NodeId, usize)> =
            self.root().map(|root| (root, 0)).into_iter().collect();
        while let Some((id, depth)) = open.pop() {
            shape.nodes += 1;
            shape.depth_sum += depth;
            shape.depth_max = shape.depth_max.max(depth);
            let before = open.len();
            for edge in &self.arena[id].edges {
                if let Child::Node(child) = edge.child() {
                    open.push((child, depth + 1));
                }
            }
            shape.non_leaf_nodes += usize::from(open.len() > before);
        }
        shape
    }

    /// The node an edge leads to, made if need be.
    fn child(&mut self, parent: NodeId, edge: usize) -> Option<NodeId> {
        match self.arena[parent].edges[edge].child() {
            Child::Node(child) => Some(child),
            Child::Untried | Child::Invalid => {
                let child = self.arena.add()?;
                let node = &mut self.arena[parent];
                node.edges[edge].set_child(Child::Node(child));
                node.tried = node.tried.max(edge as u32 + 1);
                Some(child)
            }
        }
    }

    /// Leaves unlikely moves out when memory is short.
    fn thin(&self, edges: &mut Vec<Edge<G::Move>>) -> bool {
        let fill = self.arena.fill();
        let pressure = THINNING.iter().find(|(share, _)| fill > *share);
        let (Some((_, ratio)), Some(first)) = (pressure, edges.first()) else {
            return false;
        };
        let smallest = first.prior * ratio;
        let kept = edges.partition_point(|edge| edge.prior >= smallest);
        let thinned = kept < edges.len();
        edges.truncate(kept);
        thinned
    }
}

/// Priors as edges: normalised, sorted, equal ones in the order given.
pub(crate) fn edges_by_prior<M: Copy>(priors: &[(M, f32)]) -> Vec<Edge<M>> {
    let clean = |prior: f32| if prior > 0.0 { prior } else { 0.0 };
    let total: f32 = priors.iter().map(|entry| clean(entry.1)).sum();
    let usable = total > f32::MIN_POSITIVE && total.is_finite();
    let share = |prior: f32| match usable {
        true => clean(prior) / total,
        false => 1.0 / priors.len() as f32,
    };
    // Sorting integers is fast: the bits of floats that are not negative
    // order as the floats do, and the index below them keeps ties in place.
    let mut keys: Vec<u64> = (priors.iter().enumerate())
        .map(|(index, &(_, prior))| {
            let descending = u64::from(u32::MAX - share(prior).to_bits());
            (descending << 32) | index as u64
        })
        .collect();
    keys.sort_unstable();
    keys.into_iter()
        .map(|key| {
            let (mv, prior) = priors[(key & u64::from(u32::MAX)) as usize];
            Edge::new(mv, share(prior))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_are_normalised_and_sorted_with_ties_in_order() {
        let edges = edges_by_prior(&[('a', 1.0), ('b', 4.0), ('c', 1.0), ('d', 2.0)]);
        let moves: String = edges.iter().map(|edge| edge.mv).collect();
        assert_eq!(moves, "bdac");
        assert_eq!(edges[0].prior, 0.5);
    }

    #[test]
    fn useless_priors_become_equal_and_bad_ones_nothing() {
        let edges = edges_by_prior(&[('a', 0.0), ('b', 0.0)]);
        assert_eq!((edges[0].mv, edges[1].prior), ('a', 0.5));
        let edges = edges_by_prior(&[('a', f32::NAN), ('b', 3.0), ('c', -1.0)]);
        assert_eq!(
            (edges[0].mv, edges[0].prior, edges[2].prior),
            ('b', 1.0, 0.0)
        );
    }
}
