//! A network that guesses whether a group is safe.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use go::{Board, Color, Point, PointSet};
use net::{Backend, Evaluator, Layer, LoadError, Network, OpenError, compact};
use thiserror::Error;

use crate::network::features::{FeatureSet, Planes, features};
use crate::network::frame::{Cell, place_in_window};
use crate::problem::{Problem, Side};
use crate::solver::Guide;

/// The names under which a network gives the chance that the target is safe, best first.
const SAFE_OUTPUTS: [&str; 2] = ["safe", "value"];

/// Symmetries of a window.
const SYMMETRIES: usize = 8;

/// The chance where a network cannot tell.
const NO_OPINION: f32 = 0.5;

/// Why a network cannot judge safety.
#[derive(Debug, Error)]
pub enum SafetyError {
    /// It cannot be read.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// What a file holds cannot judge safety.
    #[error("{}: {reason}", file.display())]
    File {
        file: PathBuf,
        reason: Box<SafetyError>,
    },
    /// It cannot be run.
    #[error(transparent)]
    Plan(#[from] OpenError),
    /// Its input is none of the feature sets.
    #[error(
        "the network looks at {planes} planes of {height}x{width}; expected 5, 13, 14 or 58 planes of an odd square"
    )]
    Input {
        planes: usize,
        /// Rows.
        height: usize,
        /// Columns.
        width: usize,
    },
    /// It has no output for safety.
    #[error(
        "the network has no output named \"safe\" or \"value\" of one number, or of one for each point of its window"
    )]
    Output,
}

/// The network to use when none is named: the one that is compiled in.
fn default_network() -> Network {
    const BYTES: &[u8] = include_bytes!("../../../../nets/safety.net");
    compact::read(BYTES).expect("the network inside the program is checked by its tests")
}

/// A safety network, ready to be asked.
pub struct SafetyNet {
    evaluator: Arc<dyn Evaluator>,
    set: FeatureSet,
    window: usize,
    safe: Range<usize>,
}

impl SafetyNet {
    /// The network in a file, or the one inside the program if none is named.
    pub fn find(file: Option<&Path>, set: Option<FeatureSet>) -> Result<SafetyNet, SafetyError> {
        let Some(file) = file else {
            return SafetyNet::new(&default_network(), set);
        };
        SafetyNet::new(&net::load(file)?, set).map_err(|reason| SafetyError::File {
            file: file.to_owned(),
            reason: Box::new(reason),
        })
    }

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
        let evaluator = Backend::Cpu.open(network)?;
        let shape = evaluator.shape();
        let safe = SAFE_OUTPUTS
            .iter()
            .find_map(|name| shape.output(name))
            .filter(|range| [1, input.area()].contains(&range.len()))
            .ok_or(SafetyError::Output)?;
        Ok(SafetyNet {
            evaluator,
            set,
            window: input.width,
            safe,
        })
    }

    /// The planes it wants.
    pub fn feature_set(&self) -> FeatureSet {
        self.set
    }

    /// The chance that the target is safe. With `average`, over all symmetries (and, for networks
    /// that look from one stone of the target, over its stones); without, after one look.
    pub fn chance_of_life(&self, problem: &Problem, first: Side, average: bool) -> f32 {
        self.chances_of_life(&[(problem, first)], average)[0]
    }

    /// The chances of several problems, each with the side that starts, in one batch.
    pub fn chances_of_life(&self, questions: &[(&Problem, Side)], average: bool) -> Vec<f32> {
        let shape = self.evaluator.shape();
        let mut input = Vec::new();
        let mut asked: Vec<(Planes, Vec<(Cell, usize)>)> = Vec::with_capacity(questions.len());
        for &(problem, first) in questions {
            let planes = features(problem, first, self.set);
            let looks = self.looks(&planes, average);
            for &(centre, symmetry) in &looks {
                input.extend(planes.window(centre, self.window, symmetry));
            }
            asked.push((planes, looks));
        }
        let width = shape.output_len();
        let mut outputs = vec![0.0; input.len() / shape.input_len() * width];
        self.evaluator
            .evaluate(&input, &mut outputs)
            .expect("evaluation on the CPU does not fail");
        let mut outputs = outputs.chunks(width);
        asked
            .iter()
            .map(|(planes, looks)| {
                let sum: f32 = looks
                    .iter()
                    .zip(outputs.by_ref())
                    .map(|(&look, output)| self.chance_in(&output[self.safe.clone()], planes, look))
                    .sum();
                sum / looks.len() as f32
            })
            .collect()
    }

    /// Centres and symmetries of the windows to look through.
    fn looks(&self, planes: &Planes, average: bool) -> Vec<(Cell, usize)> {
        let symmetries = 0..if average { SYMMETRIES } else { 1 };
        let centres = match self.set {
            FeatureSet::Tengen => vec![planes.centre(self.window)],
            _ if average => planes.target.clone(),
            _ => vec![planes.centre(self.window)],
        };
        centres
            .into_iter()
            .flat_map(|centre| symmetries.clone().map(move |symmetry| (centre, symmetry)))
            .collect()
    }

    /// The chance in one look's output: its only number, or the mean over the target's stones.
    fn chance_in(&self, safe: &[f32], planes: &Planes, (centre, symmetry): (Cell, usize)) -> f32 {
        if let [chance] = safe {
            return *chance;
        }
        let stones = planes.target.iter();
        let chances: Vec<f32> = stones
            .filter_map(|&stone| place_in_window(stone, centre, self.window, symmetry))
            .map(|place| safe[place])
            .collect();
        if chances.is_empty() {
            return NO_OPINION;
        }
        chances.iter().sum::<f32>() / chances.len() as f32
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
    fn chances_of_life(
        &self,
        positions: &[&dyn Fn(Point) -> Option<Side>],
        to_move: Side,
    ) -> Vec<f32> {
        let problems: Vec<Option<Problem>> = positions
            .iter()
            .map(|stone_at| self.problem_of(*stone_at))
            .collect();
        let questions: Vec<(&Problem, Side)> =
            problems.iter().flatten().map(|p| (p, to_move)).collect();
        let mut chances = self.net.chances_of_life(&questions, false).into_iter();
        problems
            .iter()
            .map(|problem| match problem {
                Some(_) => chances.next().unwrap_or(NO_OPINION),
                None => NO_OPINION,
            })
            .collect()
    }
}

impl NetGuide<'_> {
    /// The problem with the stones that `stone_at` tells; `None` once the target is gone.
    fn problem_of(&self, stone_at: &dyn Fn(Point) -> Option<Side>) -> Option<Problem> {
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
        let board = Board::with_stones(before.size(), &black, &white).ok()?;
        self.problem.at(board)
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

/// Rounds every weight to `bits` bits, each row of weights (those of one output) in steps of its own
/// largest one, as our files keep them; biases stay, since they are few. Below two bits nothing
/// changes.
pub fn compress_rows(network: &mut Network, bits: u32) {
    if bits < 2 {
        return;
    }
    let levels = f32::from((1u16 << (bits - 1).min(15)) - 1);
    for_each_layer(network, &mut |weights, bias| {
        let row_length = weights.len() / bias.len().max(1);
        for row in weights.chunks_mut(row_length.max(1)) {
            let largest = row
                .iter()
                .fold(0.0, |most: f32, weight| most.max(weight.abs()));
            let step = largest / levels;
            if step > 0.0 {
                row.iter_mut()
                    .for_each(|weight| *weight = (*weight / step).round() * step);
            }
        }
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
