//! A search seen from outside, while it runs or after.

use std::{sync::Arc, time::Duration};

use go::Move;
use search::Search;

use crate::{encoder::Opinion, position::Position, think::Snapshot};

/// A search tree to look at.
pub struct View<'a> {
    pub(crate) search: &'a Search<Position>,
    pub(crate) area: usize,
    /// The time since the search started.
    pub elapsed: Duration,
}

/// Who will own each point, row by row from the bottom: from -1 (White) to 1 (Black).
#[derive(Clone, Debug, PartialEq)]
pub struct Ownership {
    /// The mean over the tree.
    pub mean: Vec<f64>,
    /// The standard deviation over the tree.
    pub deviation: Vec<f64>,
}

impl View<'_> {
    /// The root as it stands.
    pub fn snapshot(&self) -> Snapshot {
        self.search.snapshot()
    }

    /// Who will own each point, as the tree below the root or below one of its moves sees it. None if the network
    /// does not say.
    pub fn ownership(&self, below: Option<Move>) -> Option<Ownership> {
        let shares = self.search.shares(below);
        if shares.is_empty() {
            return None;
        }
        let mut sums = vec![(0.0, 0.0); self.area];
        for (outlook, share) in &shares {
            outlook.add_owners(*share, &mut sums);
        }
        let deviation = |&(mean, square): &(f64, f64)| (square - mean * mean).max(0.0).sqrt();
        Some(Ownership {
            mean: sums.iter().map(|sum| sum.0).collect(),
            deviation: sums.iter().map(deviation).collect(),
        })
    }

    /// What the network itself says of the root, if it knows scores.
    pub fn raw(&self) -> Option<Arc<Opinion>> {
        self.search.outlook()?.opinion().cloned()
    }
}
