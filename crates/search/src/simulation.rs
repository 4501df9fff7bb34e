//! A simulation under way: its path down the tree, and how the walk ended.

use crate::node::NodeId;

/// One step of a simulation: a node and the edge that led to it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PathNode {
    pub node: NodeId,
    pub edge: usize,
}

/// A simulation under way.
#[derive(Debug)]
pub(crate) struct Simulation<M> {
    /// From the root down.
    pub path: Vec<PathNode>,
    /// The moves along the path.
    pub moves: Vec<M>,
    /// How many of them are played on the simulation's state.
    pub played: usize,
    /// Depths of nodes that borrow the value of the leaf below.
    pub borrowers: Vec<usize>,
}

impl<M> Simulation<M> {
    pub fn new() -> Self {
        Simulation {
            path: Vec::new(),
            moves: Vec::new(),
            played: 0,
            borrowers: Vec::new(),
        }
    }

    pub fn leaf(&self) -> NodeId {
        self.path[self.path.len() - 1].node
    }

    /// Playouts this simulation stands for.
    pub fn playouts(&self) -> u64 {
        1 + self.borrowers.len() as u64
    }
}

/// Where a walk down ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Descent {
    /// At a leaf, now claimed by this simulation.
    Leaf,
    /// At a position whose value is known.
    Known(f64),
    /// At a leaf claimed by another simulation.
    Collision,
    /// No room for a node.
    Full,
}
