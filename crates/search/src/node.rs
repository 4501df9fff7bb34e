//! Nodes and the arena they live in.
//!
//! A node holds its statistics and a slice of edges. An edge is a move and a
//! prior until a simulation first takes it; only then does it get a node.
//! Nodes live in fixed chunks that never move, so the arena's size is known
//! to the byte and a limit on it can be kept.

use std::ops::{Index, IndexMut};

use crate::books::Books;
use crate::game::Side;
use crate::outlook::Outlook;

/// Welford sum of a new node: keeps the variance of a node with few, equal
/// values above zero (Leela Zero's constant).
const INITIAL_SQUARED_DIFFERENCE: f64 = 1e-4;

/// Nodes in one chunk of the arena.
const CHUNK_NODES: usize = 256;

/// What an allocator adds to a slice of edges, roughly.
const ALLOCATION_OVERHEAD_BYTES: usize = 16;

/// Position of a node in the arena.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NodeId(u32);

/// Where an edge leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Child {
    /// No simulation has taken it.
    Untried,
    /// The position it leads to is forbidden.
    Invalid,
    Node(NodeId),
}

/// A move, its prior and its child.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Edge<M> {
    child: u32,
    /// Prior of a move or probability of an outcome.
    pub prior: f32,
    pub mv: M,
}

const UNTRIED: u32 = u32::MAX;
const INVALID: u32 = u32::MAX - 1;

impl<M> Edge<M> {
    pub fn new(mv: M, prior: f32) -> Self {
        Edge {
            child: UNTRIED,
            prior,
            mv,
        }
    }

    pub fn child(&self) -> Child {
        match self.child {
            UNTRIED => Child::Untried,
            INVALID => Child::Invalid,
            index => Child::Node(NodeId(index)),
        }
    }

    pub fn set_child(&mut self, child: Child) {
        self.child = match child {
            Child::Untried => UNTRIED,
            Child::Invalid => INVALID,
            Child::Node(NodeId(index)) => index,
        };
    }
}

/// What a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Not expanded.
    Leaf,
    /// A worker is evaluating it.
    Expanding,
    /// A player chooses among its edges.
    Player(Side),
    /// Nature does.
    Chance,
    /// The game is over.
    Over,
}

/// Statistics and edges.
#[derive(Debug)]
pub(crate) struct Node<M, O: Outlook> {
    /// Sum of values for `Side::First`.
    pub value_sum: f64,
    /// Running sum of squared deviations (Welford).
    squared_difference: f64,
    /// The evaluator's value, or the result of a finished game.
    pub evaluation: f64,
    pub edges: Box<[Edge<M>]>,
    /// Kept under `Rule::Utility` only.
    pub books: Option<Box<Books<O>>>,
    pub visits: u32,
    /// Edges from here on were never tried.
    pub tried: u32,
    /// Simulations under way through this node.
    pub in_flight: u32,
    pub kind: Kind,
    /// Some edges were left out to save memory.
    pub thinned: bool,
    /// The validity of every edge was checked.
    pub checked: bool,
}

impl<M, O: Outlook> Node<M, O> {
    fn new() -> Self {
        Node {
            value_sum: 0.0,
            squared_difference: INITIAL_SQUARED_DIFFERENCE,
            evaluation: 0.5,
            edges: Box::default(),
            books: None,
            visits: 0,
            tried: 0,
            in_flight: 0,
            kind: Kind::Leaf,
            thinned: false,
            checked: false,
        }
    }

    /// Counts one visit with this value.
    pub fn update(&mut self, value: f64) {
        let visits_before = f64::from(self.visits);
        let deviation_before = if self.visits > 0 {
            value - self.value_sum / visits_before
        } else {
            0.0
        };
        self.visits += 1;
        self.value_sum += value;
        let deviation_after = value - self.value_sum / f64::from(self.visits);
        self.squared_difference += deviation_before * deviation_after;
    }

    /// Mean value for `Side::First`; its own evaluation before any visit.
    pub fn mean(&self) -> f64 {
        if self.visits == 0 {
            self.evaluation
        } else {
            self.value_sum / f64::from(self.visits)
        }
    }

    /// Sample variance, once there are two visits.
    pub fn variance(&self) -> Option<f64> {
        (self.visits > 1).then(|| self.squared_difference / f64::from(self.visits - 1))
    }
}

/// All nodes of a tree, within a limit of bytes.
#[derive(Debug)]
pub(crate) struct Arena<M, O: Outlook> {
    chunks: Vec<Vec<Node<M, O>>>,
    free: Vec<NodeId>,
    /// Bytes of edges and books.
    edge_bytes: usize,
    limit_bytes: usize,
}

impl<M, O: Outlook> Index<NodeId> for Arena<M, O> {
    type Output = Node<M, O>;

    fn index(&self, id: NodeId) -> &Node<M, O> {
        let index = id.0 as usize;
        &self.chunks[index / CHUNK_NODES][index % CHUNK_NODES]
    }
}

impl<M, O: Outlook> IndexMut<NodeId> for Arena<M, O> {
    fn index_mut(&mut self, id: NodeId) -> &mut Node<M, O> {
        let index = id.0 as usize;
        &mut self.chunks[index / CHUNK_NODES][index % CHUNK_NODES]
    }
}

impl<M, O: Outlook> Arena<M, O> {
    pub fn new(limit_bytes: usize) -> Self {
        Arena {
            chunks: Vec::new(),
            free: Vec::new(),
            edge_bytes: 0,
            limit_bytes,
        }
    }

    pub fn set_limit(&mut self, limit_bytes: usize) {
        self.limit_bytes = limit_bytes;
    }

    pub fn limit(&self) -> usize {
        self.limit_bytes
    }

    /// A fresh node, or `None` if there is no room for it.
    pub fn add(&mut self) -> Option<NodeId> {
        if self.free.is_empty() && !self.grow() {
            return None;
        }
        self.free.pop()
    }

    /// A fresh node even past the limit: a root must exist.
    pub fn add_root(&mut self) -> NodeId {
        self.add().unwrap_or_else(|| {
            self.push_chunk();
            self.free.pop().expect("a chunk was just added")
        })
    }

    /// Gives a node its edges, unless there is no room for them.
    pub fn set_edges(&mut self, id: NodeId, edges: Vec<Edge<M>>) -> bool {
        let bytes = Self::bytes_of_edges(edges.len());
        let bytes_before = Self::bytes_of_edges(self[id].edges.len());
        let fits = self.bytes() - bytes_before + bytes <= self.limit_bytes;
        if fits {
            self.set_root_edges(id, edges);
        }
        fits
    }

    /// Gives a node its edges even past the limit: a root must have moves.
    pub fn set_root_edges(&mut self, id: NodeId, edges: Vec<Edge<M>>) {
        self.edge_bytes -= Self::bytes_of_edges(self[id].edges.len());
        self.edge_bytes += Self::bytes_of_edges(edges.len());
        self[id].edges = edges.into_boxed_slice();
    }

    /// Gives a node its books. They are small beside its edges, so there is always room for them.
    pub fn set_books(&mut self, id: NodeId, books: Books<O>) {
        self.edge_bytes -= Self::bytes_of_books(&self[id].books);
        self[id].books = Some(Box::new(books));
        self.edge_bytes += Self::bytes_of_books(&self[id].books);
    }

    /// Forgets a node; its children are the caller's business.
    pub fn remove(&mut self, id: NodeId) {
        self.edge_bytes -= Self::bytes_of_edges(self[id].edges.len());
        self.edge_bytes -= Self::bytes_of_books(&self[id].books);
        self[id] = Node::new();
        self.free.push(id);
    }

    /// Forgets every node but those below `roots`.
    pub fn retain_below(&mut self, roots: &[NodeId]) {
        let mut kept = vec![false; self.chunks.len() * CHUNK_NODES];
        for &id in &self.free {
            kept[id.0 as usize] = true;
        }
        let mut open = roots.to_vec();
        while let Some(id) = open.pop() {
            if std::mem::replace(&mut kept[id.0 as usize], true) {
                continue;
            }
            for edge in &self[id].edges {
                if let Child::Node(child) = edge.child() {
                    open.push(child);
                }
            }
        }
        for (index, kept) in kept.into_iter().enumerate() {
            if !kept {
                self.remove(NodeId(index as u32));
            }
        }
    }

    /// Number of nodes in use.
    pub fn nodes(&self) -> usize {
        self.chunks.len() * CHUNK_NODES - self.free.len()
    }

    /// Bytes taken, unused nodes included.
    pub fn bytes(&self) -> usize {
        self.chunks.len() * Self::chunk_bytes() + self.edge_bytes
    }

    /// Share of the limit in use, unused nodes left out.
    pub fn fill(&self) -> f64 {
        let unused = self.free.len() * size_of::<Node<M, O>>();
        (self.bytes() - unused) as f64 / self.limit_bytes.max(1) as f64
    }

    fn grow(&mut self) -> bool {
        // The two largest indices stand for edges without a child.
        let indices_end = (self.chunks.len() + 1) * CHUNK_NODES;
        let fits = self.bytes() + Self::chunk_bytes() <= self.limit_bytes;
        if !fits || indices_end > INVALID as usize {
            return false;
        }
        self.push_chunk();
        true
    }

    fn push_chunk(&mut self) {
        let start = self.chunks.len() * CHUNK_NODES;
        self.chunks.push(
            std::iter::repeat_with(Node::new)
                .take(CHUNK_NODES)
                .collect(),
        );
        // Low indices are handed out first.
        let ids = (start..start + CHUNK_NODES).rev();
        self.free.extend(ids.map(|index| NodeId(index as u32)));
    }

    fn chunk_bytes() -> usize {
        CHUNK_NODES * (size_of::<Node<M, O>>() + size_of::<NodeId>())
    }

    fn bytes_of_books(books: &Option<Box<Books<O>>>) -> usize {
        books.as_ref().map_or(0, |books| {
            size_of::<Books<O>>() + books.own.heap_bytes() + ALLOCATION_OVERHEAD_BYTES
        })
    }

    fn bytes_of_edges(edges: usize) -> usize {
        match edges {
            0 => 0,
            edges => edges * size_of::<Edge<M>>() + ALLOCATION_OVERHEAD_BYTES,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn welford_agrees_with_two_passes() {
        let values = [0.1, 0.9, 0.4, 0.4, 0.75, 0.0, 1.0];
        let mut node = Node::<u8, ()>::new();
        for value in values {
            node.update(value);
        }
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let variance = (squares + INITIAL_SQUARED_DIFFERENCE) / (values.len() - 1) as f64;
        assert!((node.mean() - mean).abs() < 1e-12);
        assert!((node.variance().unwrap() - variance).abs() < 1e-12);
    }

    #[test]
    fn variance_needs_two_visits() {
        let mut node = Node::<u8, ()>::new();
        assert_eq!(node.variance(), None);
        node.update(0.5);
        assert_eq!(node.variance(), None);
        node.update(0.5);
        assert!((node.variance().unwrap() - INITIAL_SQUARED_DIFFERENCE).abs() < 1e-15);
    }

    #[test]
    fn the_arena_never_passes_its_limit() {
        let limit = 200_000;
        let mut arena = Arena::<u16, ()>::new(limit);
        let mut added = 0;
        while let Some(id) = arena.add() {
            added += 1;
            let edges = (0..added % 50).map(|mv| Edge::new(mv, 0.1)).collect();
            arena.set_edges(id, edges);
            assert!(arena.bytes() <= limit);
        }
        assert!(arena.fill() > 0.8 && arena.fill() <= 1.0);
        assert_eq!(arena.nodes(), usize::from(added));
    }

    #[test]
    fn retaining_a_subtree_frees_the_rest_for_reuse() {
        let mut arena = Arena::<u16, ()>::new(1 << 20);
        let root = arena.add().unwrap();
        let child = arena.add().unwrap();
        let orphan = arena.add().unwrap();
        assert!(arena.set_edges(orphan, vec![Edge::new(3, 1.0)]));
        let mut edge = Edge::new(7, 1.0);
        edge.set_child(Child::Node(child));
        assert!(arena.set_edges(root, vec![edge]));
        let bytes = arena.bytes();
        arena.retain_below(&[root]);
        assert_eq!(arena.nodes(), 2);
        assert!(arena.bytes() < bytes);
        assert_eq!(arena.add(), Some(orphan));
    }
}
