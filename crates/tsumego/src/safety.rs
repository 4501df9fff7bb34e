//! A network that guesses whether a group is safe.

use go::{Board, Color, Point, PointSet};
use net::evaluator::Evaluator;
use net::network::{Layer, Network};
use net::plan::{Plan, PlanError};
use thiserror::Error;

use crate::features::{FeatureSet, features};
use crate::problem::{Problem, Side};
use crate::solver::Guide;

/// The names under which a network gives the chance that the target is safe, best first.
const SAFE_OUTPUTS: [&str; 2] = ["safe", "value"];

/// Symmetries of a window.
const SYMMETRIES: usize = 8;

/// Why a network cannot judge safety.
#[derive(Debug, Error)]
pub enum SafetyError {
    /// It cannot be run.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// Its input is none of the feature sets.
    #[error(
        "the network looks at {planes} planes of {height}x{width}; expected 5, 13, 14 or 58 planes of an odd square"
    )]
    Input {
        /// Planes.
        planes: usize,
        /// Rows.
        height: usize,
        /// Columns.
        width: usize,
    },
    /// It has no output for safety.
    #[error("the network has no output named \"safe\" or \"value\" of one number")]
    Output,
}

/// A safety network, ready to be asked.
pub struct SafetyNet {
    plan: Plan,
    set: FeatureSet,
    window: usize,
    safe_at: usize,
}

impl SafetyNet {
    /// Prepares a network. Its input says which planes it wants; `set` overrules that where two
    /// sets have the same number.
    pub fn new(network: &Network, set: Option<FeatureSet>) -> Result<SafetyNet, SafetyError> {
        let input = network.input;
        let wrong = || SafetyError::Input {
            planes: input.planes,
            height: input.height,
            width: input.width,
        };
        if input.height != input.width || input.width.is_multiple_of(2) {
            return Err(wrong());
        }
        let set = set
            .or(FeatureSet::with_planes(input.planes))
            .filter(|set| set.planes() == input.planes)
            .ok_or_else(wrong)?;
        let plan = Plan::new(network)?;
        let shape = plan.shape();
        let safe_at = SAFE_OUTPUTS
            .iter()
            .find_map(|name| shape.output(name))
            .filter(|range| range.len() == 1)
            .ok_or(SafetyError::Output)?
            .start;
        Ok(SafetyNet {
            plan,
            set,
            window: input.width,
            safe_at,
        })
    }

    /// The planes it wants.
    pub fn feature_set(&self) -> FeatureSet {
        self.set
    }

    /// The chance that the target is safe. With `average`, over all its stones and symmetries;
    /// without, one look from the first stone, as the original did.
    pub fn chance_of_life(&self, problem: &Problem, first: Side, average: bool) -> f32 {
        let planes = features(problem, first, self.set);
        let row = self.plan.shape().input_len();
        let mut input = Vec::new();
        if average {
            for &stone in &planes.target {
                for symmetry in 0..SYMMETRIES {
                    input.extend(planes.window(stone, self.window, symmetry));
                }
            }
        } else {
            let top = problem.board().size().get() - 1;
            let stone = problem.target()[0];
            let centre = (stone.x(), top - stone.y());
            input.extend(planes.window(centre, self.window, 0));
        }
        let looks = input.len() / row;
        let width = self.plan.shape().output_len();
        let mut outputs = vec![0.0; looks * width];
        self.plan.evaluate(&input, &mut outputs);
        let chances = outputs.chunks(width).map(|output| output[self.safe_at]);
        chances.sum::<f32>() / looks as f32
    }
}

/// A network as a guide of the search in one problem.
pub struct NetGuide<'a> {
    net: &'a SafetyNet,
    problem: Problem,
}

impl<'a> NetGuide<'a> {
    /// Guides searches of `problem`.
    pub fn new(net: &'a SafetyNet, problem: &Problem) -> NetGuide<'a> {
        NetGuide {
            net,
            problem: problem.clone(),
        }
    }
}

impl Guide for NetGuide<'_> {
    fn chance_of_life(&self, stone_at: &dyn Fn(Point) -> Option<Side>, to_move: Side) -> f32 {
        const NO_OPINION: f32 = 0.5;
        let before = self.problem.board();
        let mut stones = [PointSet::EMPTY; 2];
        for point in before.size().points() {
            let color = if self.problem.zone().contains(&point) {
                stone_at(point).map(|side| self.problem.color(side))
            } else {
                before.stone(point)
            };
            if let Some(color) = color {
                stones[color.index()].insert(point);
            }
        }
        let [black, white] = [Color::Black, Color::White].map(|c| stones[c.index()]);
        Board::with_stones(before.size(), &black, &white)
            .ok()
            .and_then(|board| self.problem.at(board))
            .map_or(NO_OPINION, |problem| {
                self.net.chance_of_life(&problem, to_move, false)
            })
    }
}

/// Rounds every weight and bias to `bits` bits the original's way: multiples of 2^(1 - bits),
/// clipped to -1..1. Below one bit nothing changes.
pub fn compress(network: &mut Network, bits: u32) {
    if bits < 1 {
        return;
    }
    let steps = f32::from(1u16 << (bits - 1).min(15));
    let round = |weight: &mut f32| *weight = ((*weight * steps).round() / steps).clamp(-1.0, 1.0);
    for_each_layer(network, &mut |weights, bias| {
        weights.iter_mut().chain(bias).for_each(round);
    });
}

/// Visits the weights and biases of every layer, in order.
fn for_each_layer(network: &mut Network, visit: &mut dyn FnMut(&mut [f32], &mut [f32])) {
    fn walk(layers: &mut [Layer], visit: &mut dyn FnMut(&mut [f32], &mut [f32])) {
        for layer in layers {
            match layer {
                Layer::Conv(conv) => visit(&mut conv.weights, &mut conv.bias),
                Layer::Dense(dense) => visit(&mut dense.weights, &mut dense.bias),
                Layer::Residual { body, .. } => walk(body, visit),
                _ => {}
            }
        }
    }
    walk(&mut network.trunk, visit);
    for head in &mut network.heads {
        walk(&mut head.layers, visit);
    }
}
