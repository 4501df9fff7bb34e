//! How far apart two evaluators are, and what the weights of a network look like.

use crate::bench::random_planes;
use crate::evaluator::{EvaluateError, Evaluator};
use crate::network::{Layer, Network};

/// One output of two evaluators.
#[derive(Clone, Debug, PartialEq)]
pub struct OutputDifference {
    /// The output's name.
    pub name: String,
    /// The largest difference of two numbers.
    pub largest: f64,
    /// The root of the mean square of all differences.
    pub root_mean_square: f64,
    /// The share of positions where both have their largest number in the same place.
    pub same_best: f64,
}

/// The largest number of positions evaluated in one call.
const PART: usize = 16;
/// The share of non-zero numbers in random positions.
const DENSITY: f64 = 0.15;

/// Compares two evaluators of the same shape on random positions.
///
/// `Ok(None)` when their inputs or outputs differ in shape.
pub fn compare(
    a: &dyn Evaluator,
    b: &dyn Evaluator,
    positions: usize,
    seed: u64,
) -> Result<Option<Vec<OutputDifference>>, EvaluateError> {
    let shape = a.shape();
    let other = b.shape();
    let same_input = shape.input == other.input && shape.globals == other.globals;
    if !same_input || shape.outputs != other.outputs {
        return Ok(None);
    }
    let mut differences: Vec<OutputDifference> = shape
        .outputs
        .iter()
        .map(|output| OutputDifference {
            name: output.name.clone(),
            largest: 0.0,
            root_mean_square: 0.0,
            same_best: 0.0,
        })
        .collect();
    for start in (0..positions).step_by(PART) {
        let batch = PART.min(positions - start);
        let inputs = random_planes(
            batch * shape.input_len(),
            DENSITY,
            seed.wrapping_add(start as u64),
        );
        let mut rows = [(); 2].map(|()| vec![0.0; batch * shape.output_len()]);
        a.evaluate(&inputs, &mut rows[0])?;
        b.evaluate(&inputs, &mut rows[1])?;
        for (difference, output) in differences.iter_mut().zip(&shape.outputs) {
            for (row_a, row_b) in rows[0]
                .chunks(shape.output_len())
                .zip(rows[1].chunks(shape.output_len()))
            {
                let (numbers_a, numbers_b) =
                    (&row_a[output.range.clone()], &row_b[output.range.clone()]);
                for (&number_a, &number_b) in numbers_a.iter().zip(numbers_b) {
                    let apart = (f64::from(number_a) - f64::from(number_b)).abs();
                    difference.largest = difference.largest.max(apart);
                    difference.root_mean_square += apart * apart;
                }
                difference.same_best += f64::from(u8::from(best(numbers_a) == best(numbers_b)));
            }
        }
    }
    for (difference, output) in differences.iter_mut().zip(&shape.outputs) {
        let numbers = (positions * output.range.len()).max(1) as f64;
        difference.root_mean_square = (difference.root_mean_square / numbers).sqrt();
        difference.same_best /= positions.max(1) as f64;
    }
    Ok(Some(differences))
}

fn best(numbers: &[f32]) -> Option<usize> {
    (0..numbers.len()).max_by(|&a, &b| numbers[a].total_cmp(&numbers[b]))
}

/// What the weights of one layer look like.
#[derive(Clone, Debug, PartialEq)]
pub struct LayerStatistics {
    /// Such as `trunk 3.2 conv 3x3 64 -> 64`.
    pub name: String,
    /// Weights and biases.
    pub parameters: usize,
    /// The smallest weight.
    pub least: f32,
    /// The largest weight.
    pub greatest: f32,
    /// The mean of the weights.
    pub mean: f64,
    /// The standard deviation of the weights.
    pub deviation: f64,
    /// The share of weights that are exactly zero.
    pub zeros: f64,
}

/// Every layer with weights, in order.
pub fn statistics(network: &Network) -> Vec<LayerStatistics> {
    let mut found = Vec::new();
    network.for_each_layer(&mut |place, layer| {
        for (kind, conv) in layer.convs() {
            let groups = match conv.groups.len() {
                1 => String::new(),
                count => format!(" in {count} groups"),
            };
            let size = format!(
                "{0}x{0} {1} -> {2}",
                conv.kernel,
                conv.inputs(),
                conv.outputs()
            );
            let name = format!("{place} {kind} {size}{groups}");
            found.push(summarize(name, &conv.weights, conv.bias.len()));
        }
        let (kind, numbers, biases) = match layer {
            Layer::Dense(dense) => {
                let kind = format!("dense {} -> {}", dense.inputs, dense.outputs);
                (kind, &dense.weights, dense.bias.len())
            }
            Layer::Scale(scale) => {
                let kind = format!("scale of {}", scale.scale.len());
                (kind, &scale.scale, scale.bias.len())
            }
            Layer::RmsNorm(norm) => {
                let kind = format!("RMS norm of {}", norm.scale.len());
                (kind, &norm.scale, norm.bias.len())
            }
            _ => return,
        };
        found.push(summarize(format!("{place} {kind}"), numbers, biases));
    });
    found
}

fn summarize(name: String, weights: &[f32], biases: usize) -> LayerStatistics {
    let count = weights.len().max(1) as f64;
    let mean = weights.iter().map(|&weight| f64::from(weight)).sum::<f64>() / count;
    let variance = weights
        .iter()
        .map(|&weight| (f64::from(weight) - mean).powi(2))
        .sum::<f64>()
        / count;
    LayerStatistics {
        name,
        parameters: weights.len() + biases,
        least: weights.iter().copied().fold(f32::INFINITY, f32::min),
        greatest: weights.iter().copied().fold(f32::NEG_INFINITY, f32::max),
        mean,
        deviation: variance.sqrt(),
        zeros: weights.iter().filter(|&&weight| weight == 0.0).count() as f64 / count,
    }
}
