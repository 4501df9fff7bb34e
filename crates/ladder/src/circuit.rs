//! A residual network as a list of named formulas.
//!
//! A circuit has an input layer and blocks. Every block has *inner* planes, which live inside the block only (its first
//! convolution), and *changes* to the lasting planes (its second convolution, which is added to what was there). A
//! change never has to think of that addition: [`Circuit::replace`] cancels it, [`Circuit::lasting`] takes a free place.

use crate::formula::{Plane, Sum};

/// Planes of the network's input.
pub use net::leela::INPUT_PLANES;

/// A network in the making. Every plane is `relu(formula)`.
#[derive(Clone, Debug, Default)]
pub struct Circuit {
    pub(crate) planes: Vec<PlaneInfo>,
    pub(crate) input: Vec<(Plane, Sum)>,
    pub(crate) blocks: Vec<Block>,
}

/// What the circuit knows of a plane.
#[derive(Clone, Debug)]
pub(crate) struct PlaneInfo {
    pub name: String,
    /// Planes of different lanes never meet in a formula, so a lane is a group of the grouped convolution.
    pub lane: usize,
}

/// A residual block.
#[derive(Clone, Debug, Default)]
pub(crate) struct Block {
    pub inner: Vec<(Plane, Sum)>,
    pub changes: Vec<(Plane, Change)>,
}

/// What a block does to a lasting plane.
#[derive(Clone, Debug)]
pub(crate) enum Change {
    /// A plane that begins here: `relu(sum)`.
    New(Sum),
    /// `relu(old + sum)`.
    Add(Sum),
    /// `relu(sum)`; the inner plane holds a copy of the old value.
    Replace { copy: Plane, sum: Sum },
    /// The plane ends here and its place becomes free.
    Drop,
}

impl Circuit {
    /// A circuit with nothing but the network's input planes.
    pub fn new() -> Circuit {
        let planes = (0..INPUT_PLANES)
            .map(|index| PlaneInfo {
                name: format!("input {index}"),
                lane: 0,
            })
            .collect();
        Circuit {
            planes,
            ..Circuit::default()
        }
    }

    /// A plane of the network's input, to be used in the input layer only.
    pub fn input_plane(&self, index: usize) -> Plane {
        assert!(index < INPUT_PLANES);
        Plane(index)
    }

    /// A plane of the input layer.
    pub fn of_input(&mut self, lane: usize, name: impl Into<String>, sum: Sum) -> Plane {
        assert!(self.blocks.is_empty(), "the input layer comes first");
        let plane = self.plane(lane, name);
        self.input.push((plane, sum));
        plane
    }

    /// Starts the next block; what follows belongs to it.
    pub fn block(&mut self) {
        self.blocks.push(Block::default());
    }

    /// A plane inside the current block: `relu(sum)` of lasting planes.
    pub fn inner(&mut self, lane: usize, name: impl Into<String>, sum: Sum) -> Plane {
        let plane = self.plane(lane, name);
        self.current().inner.push((plane, sum));
        plane
    }

    /// A lasting plane that begins with this block: `relu(sum)` of inner planes.
    pub fn lasting(&mut self, lane: usize, name: impl Into<String>, sum: Sum) -> Plane {
        let plane = self.plane(lane, name);
        self.current().changes.push((plane, Change::New(sum)));
        plane
    }

    /// The block adds to a lasting plane: `relu(old + sum)`.
    pub fn add_to(&mut self, plane: Plane, sum: Sum) {
        self.current().changes.push((plane, Change::Add(sum)));
    }

    /// The block gives a lasting plane a new value: `relu(sum)` of inner planes.
    pub fn replace(&mut self, plane: Plane, sum: Sum) {
        let (lane, name) = (self.lane(plane), format!("{} before", self.name(plane)));
        let copy = self.inner(lane, name, plane.into());
        let change = Change::Replace { copy, sum };
        self.current().changes.push((plane, change));
    }

    /// The block ends a lasting plane.
    pub fn drop_plane(&mut self, plane: Plane) {
        self.current().changes.push((plane, Change::Drop));
    }

    /// The name of a plane.
    pub fn name(&self, plane: Plane) -> &str {
        &self.planes[plane.0].name
    }

    /// The lane of a plane.
    pub fn lane(&self, plane: Plane) -> usize {
        self.planes[plane.0].lane
    }

    /// Every plane that is computed, in order of its first appearance.
    pub fn planes(&self) -> impl Iterator<Item = Plane> + use<> {
        (INPUT_PLANES..self.planes.len()).map(Plane)
    }

    fn plane(&mut self, lane: usize, name: impl Into<String>) -> Plane {
        let name = name.into();
        self.planes.push(PlaneInfo { name, lane });
        Plane(self.planes.len() - 1)
    }

    fn current(&mut self) -> &mut Block {
        self.blocks
            .last_mut()
            .expect("a block is started before it is filled")
    }
}
