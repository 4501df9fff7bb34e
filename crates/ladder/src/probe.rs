//! Looking into a network: the value of chosen planes on a board, by the real forward pass.

use std::collections::HashMap;
use std::sync::Arc;

use go::{Board, Color, Point};
use net::{
    Activation, Backend, Conv, Evaluator, Head, Layer, Network, OpenError, Output, Reading,
    leela::INPUT_PLANES,
};

use crate::compile::Compiled;
use crate::emulation::Values;
use crate::formula::Plane;

/// First input plane of the opponent's stones.
const OPPONENT: usize = 8;
/// The input plane that is one if Black is to move; White's follows it.
const BLACK_TO_MOVE: usize = 16;

/// The input planes of a position without history, in whole numbers.
pub fn input_values(board: &Board, to_move: Color) -> Vec<Values> {
    let size = board.size();
    let mut planes = vec![vec![0; size.area()]; INPUT_PLANES];
    for point in size.points() {
        match board.stone(point) {
            Some(color) if color == to_move => planes[0][size.index(point)] = 1,
            Some(_) => planes[OPPONENT][size.index(point)] = 1,
            None => {}
        }
    }
    let turn = match to_move {
        Color::Black => BLACK_TO_MOVE,
        Color::White => BLACK_TO_MOVE + 1,
    };
    planes[turn].fill(1);
    planes
}

/// The same as one row of numbers.
pub fn input_row(board: &Board, to_move: Color) -> Vec<f32> {
    let values = input_values(board, to_move);
    values
        .into_iter()
        .flatten()
        .map(|value| value as f32)
        .collect()
}

/// A network that ends after `layers` of its trunk (1: the input layer; one more for every block) and whose output is
/// the given planes of it as they are.
pub fn planes_of(network: &Network, layers: usize, places: &[usize]) -> Network {
    let trunk = network.trunk[..layers].to_vec();
    let filters = match &network.trunk[..] {
        [Layer::Conv(conv), ..] => conv.bias.len(),
        [Layer::AddVector { planes, .. }, ..] => match &planes[..] {
            [Layer::Conv(conv), ..] => conv.bias.len(),
            _ => unreachable!("an input layer is a convolution"),
        },
        _ => unreachable!("a tower begins with a convolution"),
    };
    let mut select = Conv::new(1, filters, places.len(), Activation::Identity);
    for (output, place) in places.iter().enumerate() {
        select.weights[output * filters + place] = 1.0;
    }
    let output = Output {
        name: "planes".into(),
        len: places.len() * network.input.area(),
        reading: Reading::Raw,
    };
    Network {
        trunk,
        heads: vec![Head {
            layers: vec![Layer::Conv(select)],
            outputs: vec![output],
        }],
        ..network.clone()
    }
}

/// Reads chosen planes at the end of a tower.
pub struct Probe {
    evaluator: Arc<dyn Evaluator>,
    index: HashMap<Plane, usize>,
    area: usize,
}

impl Probe {
    /// A probe for these planes, which last to the end of the tower.
    pub fn new(compiled: &Compiled, planes: &[Plane]) -> Result<Probe, OpenError> {
        let network = compiled.leela.to_network();
        let places: Vec<usize> = planes
            .iter()
            .map(|&plane| compiled.final_place(plane))
            .collect();
        let layers = network.trunk.len();
        let evaluator = Backend::Cpu.open(&planes_of(&network, layers, &places))?;
        Ok(Probe {
            evaluator,
            index: planes
                .iter()
                .enumerate()
                .map(|(index, &plane)| (plane, index))
                .collect(),
            area: network.input.area(),
        })
    }

    /// Runs the network on every position.
    pub fn read(&self, positions: &[(&Board, Color)]) -> Vec<Seen<'_>> {
        let input: Vec<f32> = positions
            .iter()
            .flat_map(|&(board, to_move)| input_row(board, to_move))
            .collect();
        let row = self.evaluator.shape().output_len();
        let mut output = vec![0.0; positions.len() * row];
        self.evaluator
            .evaluate(&input, &mut output)
            .expect("evaluation on the CPU does not fail");
        output
            .chunks_exact(row)
            .map(|numbers| Seen {
                probe: self,
                numbers: numbers.to_vec(),
            })
            .collect()
    }
}

/// What a probe saw on one board.
pub struct Seen<'a> {
    probe: &'a Probe,
    numbers: Vec<f32>,
}

impl Seen<'_> {
    /// The numbers of one plane, row by row from the south.
    pub fn plane(&self, plane: Plane) -> &[f32] {
        let start = self.probe.index[&plane] * self.probe.area;
        &self.numbers[start..start + self.probe.area]
    }

    /// The number at a point, for a board of `size` columns.
    pub fn at(&self, plane: Plane, size: go::BoardSize, point: Point) -> f32 {
        self.plane(plane)[size.index(point)]
    }
}
