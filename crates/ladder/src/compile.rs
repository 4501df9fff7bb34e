//! From formulas to the rows of a Leela Zero network.

use std::collections::HashMap;

use net::leela::{ConvRows, INPUT_PLANES, LeelaNetwork, LeelaShape, LeelaVersion};

use crate::circuit::{Change, Circuit};
use crate::formula::{Plane, Sum};

/// No plane ever holds more than this, so subtracting it ends a plane.
pub const LARGEST_VALUE: i32 = 64;

/// Rows and columns of a convolution.
const KERNEL: usize = 3;

/// A compiled circuit: the tower of a network whose heads are still all zero.
#[derive(Clone, Debug)]
pub struct Compiled {
    pub leela: LeelaNetwork,
    /// Where the planes are after the input layer, after the first convolution of block 1, after block 1, and so on.
    pub places: Vec<HashMap<Plane, usize>>,
    /// How many filters each lane has; lanes stand one after the other.
    pub lanes: Vec<usize>,
}

impl Compiled {
    /// Where a plane is at the end of the tower.
    ///
    /// # Panics
    /// If the plane does not last to the end.
    pub fn final_place(&self, plane: Plane) -> usize {
        let last = self.places.last().expect("there is an input layer");
        last[&plane]
    }
}

/// How a circuit becomes rows.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Rows and columns of the board.
    pub size: usize,
    /// At least so many filters.
    pub min_filters: usize,
    /// The variance row of every convolution.
    pub variance: f32,
}

/// Compiles a circuit.
///
/// # Panics
/// If a formula looks further than one step, or uses a plane that does not exist where it is used.
pub fn compile(circuit: &Circuit, target: Target) -> Compiled {
    let layout = Layout::of(circuit);
    let filters = layout.lanes.iter().sum::<usize>().max(target.min_filters);
    let shape = LeelaShape::stock(target.size, circuit.blocks.len(), filters);
    let mut leela = LeelaNetwork::zeros(LeelaVersion::V1, shape);
    for conv in std::iter::once(&mut leela.input).chain(leela.blocks.iter_mut().flatten()) {
        conv.variance.fill(target.variance);
    }

    let given: HashMap<Plane, usize> = (0..INPUT_PLANES).map(|i| (Plane(i), i)).collect();
    let mut input = Writer {
        rows: &mut leela.input,
        inputs: INPUT_PLANES,
        sources: &given,
    };
    for (plane, sum) in &circuit.input {
        input.write(layout.places[0][plane], sum);
    }
    for (index, block) in circuit.blocks.iter().enumerate() {
        let [before, inner, after] = [0, 1, 2].map(|layer| &layout.places[2 * index + layer]);
        let [first, second] = &mut leela.blocks[index];
        let mut writer = Writer {
            rows: first,
            inputs: filters,
            sources: before,
        };
        for (plane, sum) in &block.inner {
            writer.write(inner[plane], sum);
        }
        let mut writer = Writer {
            rows: second,
            inputs: filters,
            sources: inner,
        };
        for (plane, change) in &block.changes {
            match change {
                Change::New(sum) | Change::Add(sum) => writer.write(after[plane], sum),
                Change::Replace { copy, sum } => {
                    writer.write(after[plane], &(sum.clone() - *copy));
                }
                Change::Drop => writer.rows.bias[before[plane]] = -LARGEST_VALUE as f32,
            }
        }
    }
    Compiled {
        leela,
        places: layout.places,
        lanes: layout.lanes,
    }
}

/// Fills the rows of one convolution.
struct Writer<'a> {
    rows: &'a mut ConvRows,
    inputs: usize,
    sources: &'a HashMap<Plane, usize>,
}

impl Writer<'_> {
    fn write(&mut self, output: usize, sum: &Sum) {
        self.rows.bias[output] = sum.constant as f32;
        for term in &sum.terms {
            let input = self.sources[&term.plane];
            let tap = tap(term.step.y) * KERNEL + tap(term.step.x);
            let index = (output * self.inputs + input) * KERNEL * KERNEL + tap;
            self.rows.weights[index] = term.weight as f32;
        }
    }
}

/// The row or column of a kernel that looks `offset` away. Row 0 looks south: the first row of the input is row 1.
fn tap(offset: i8) -> usize {
    assert!(
        (-1..=1).contains(&offset),
        "a convolution looks one step far"
    );
    (offset + 1) as usize
}

/// Which place every plane gets.
struct Layout {
    places: Vec<HashMap<Plane, usize>>,
    lanes: Vec<usize>,
}

impl Layout {
    fn of(circuit: &Circuit) -> Layout {
        let lane_count = 1 + circuit
            .planes
            .iter()
            .map(|plane| plane.lane)
            .max()
            .unwrap_or(0);
        let mut lanes = vec![0; lane_count];
        let mut within_lanes = vec![HashMap::new()];
        let mut taken: Vec<Vec<bool>> = vec![Vec::new(); lane_count];
        let lane = |plane: &Plane| circuit.lane(*plane);

        for (plane, _) in &circuit.input {
            within_lanes[0].insert(*plane, take(&mut taken[lane(plane)]));
        }
        for block in &circuit.blocks {
            let mut inner = HashMap::new();
            let mut inner_counts = vec![0; lane_count];
            for (plane, _) in &block.inner {
                let count = &mut inner_counts[lane(plane)];
                inner.insert(*plane, *count);
                *count += 1;
            }
            let mut after: HashMap<Plane, usize> = within_lanes[within_lanes.len() - 1].clone();
            let mut freed = Vec::new();
            for (plane, change) in &block.changes {
                match change {
                    Change::New(_) => {
                        after.insert(*plane, take(&mut taken[lane(plane)]));
                    }
                    Change::Drop => freed.extend(after.remove(plane).map(|at| (lane(plane), at))),
                    Change::Add(_) | Change::Replace { .. } => {}
                }
            }
            // A place becomes free only after the block: its old value still comes through the skip.
            for (lane, place) in freed {
                taken[lane][place] = false;
            }
            for (lane, width) in lanes.iter_mut().enumerate() {
                *width = (*width).max(inner_counts[lane]).max(taken[lane].len());
            }
            within_lanes.push(inner);
            within_lanes.push(after);
        }
        let start = |lane: usize| lanes[..lane].iter().sum::<usize>();
        let places = within_lanes.into_iter().map(|layer| {
            layer
                .into_iter()
                .map(|(plane, place)| (plane, start(lane(&plane)) + place))
                .collect()
        });
        Layout {
            places: places.collect(),
            lanes,
        }
    }
}

/// Takes the first free place.
fn take(taken: &mut Vec<bool>) -> usize {
    match taken.iter().position(|is_taken| !is_taken) {
        Some(place) => {
            taken[place] = true;
            place
        }
        None => {
            taken.push(true);
            taken.len() - 1
        }
    }
}
