//! Making networks out of networks: averages, wider and deeper ones, coarser ones.

use net::{
    Network,
    leela::{ConvRows, IDENTITY_VARIANCE, LeelaNetwork, LeelaShape},
};
use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;
use thiserror::Error;

/// Why networks cannot be combined.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SurgeryError {
    /// Nothing to average.
    #[error("give at least one network to average")]
    Nothing,
    /// Two networks differ in size.
    #[error(
        "network {number} is {found}, the first is {expected}: only networks of one size have an average"
    )]
    OtherShape {
        /// Counted from 1.
        number: usize,
        /// Its size.
        found: String,
        /// The first one's.
        expected: String,
    },
    /// A network cannot shrink this way.
    #[error("{what} would shrink from {from} to {to}: this only makes networks larger")]
    Smaller {
        /// Blocks or filters.
        what: &'static str,
        /// What there is.
        from: usize,
        /// What was asked for.
        to: usize,
    },
}

fn size(shape: LeelaShape) -> String {
    format!(
        "{}x{} on a {}x{} board",
        shape.blocks, shape.filters, shape.size, shape.size
    )
}

/// The mean of networks of one size, number by number, as Leela Zero's tool computes it.
pub fn average(networks: &[LeelaNetwork]) -> Result<LeelaNetwork, SurgeryError> {
    let first = networks.first().ok_or(SurgeryError::Nothing)?;
    for (index, network) in networks.iter().enumerate() {
        if network.shape() != first.shape() || network.version != first.version {
            return Err(SurgeryError::OtherShape {
                number: index + 1,
                found: size(network.shape()),
                expected: size(first.shape()),
            });
        }
    }
    let mut sums: Vec<Vec<f64>> = first
        .rows()
        .iter()
        .map(|row| vec![0.0; row.len()])
        .collect();
    for network in networks {
        for (sum, row) in sums.iter_mut().zip(network.rows()) {
            sum.iter_mut()
                .zip(row)
                .for_each(|(sum, &value)| *sum += f64::from(value));
        }
    }
    let count = networks.len() as f64;
    let rows = sums
        .into_iter()
        .map(|sum| sum.into_iter().map(|sum| (sum / count) as f32).collect())
        .collect();
    Ok(
        LeelaNetwork::from_rows(first.version, first.shape(), rows)
            .expect("the shape of the first"),
    )
}

/// A network with more filters and blocks that plays exactly as the one it is made of (net2net).
///
/// A new filter is a copy of an old one, and the weights that read it are divided among the copies; a new block adds nothing,
/// since its second convolution is zero. `noise` (a share of each weight) sets the copies apart so that training can use
/// them; with 0 the answers stay the same.
pub fn widen(
    network: &LeelaNetwork,
    blocks: usize,
    filters: usize,
    noise: f32,
    seed: u64,
) -> Result<LeelaNetwork, SurgeryError> {
    let shape = network.shape();
    for (what, from, to) in [
        ("blocks", shape.blocks, blocks),
        ("filters", shape.filters, filters),
    ] {
        if to < from {
            return Err(SurgeryError::Smaller { what, from, to });
        }
    }
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let stream = Copies::new(shape.filters, filters, &mut random);
    let planes = Copies::new(
        network.input.weights.len() / 9 / shape.filters,
        network.input.weights.len() / 9 / shape.filters,
        &mut random,
    );
    let mut wide = network.clone();
    wide.input = resize(&network.input, &planes, &stream, 9);
    wide.blocks = network
        .blocks
        .iter()
        .map(|[first, second]| {
            let inner = Copies::new(shape.filters, filters, &mut random);
            [
                resize(first, &stream, &inner, 9),
                resize(second, &inner, &stream, 9),
            ]
        })
        .collect();
    let same = |outputs: usize| Copies {
        origin: (0..outputs).collect(),
        count: vec![1; outputs],
    };
    wide.policy_conv = resize(
        &network.policy_conv,
        &stream,
        &same(network.policy_conv.bias.len()),
        1,
    );
    wide.value_conv = resize(
        &network.value_conv,
        &stream,
        &same(network.value_conv.bias.len()),
        1,
    );
    if noise > 0.0 && filters > shape.filters {
        let towers = std::iter::once(&mut wide.input).chain(wide.blocks.iter_mut().flatten());
        for weight in towers.flat_map(|rows| &mut rows.weights) {
            let draw: f32 = StandardNormal.sample(&mut random);
            *weight *= 1.0 + noise * draw;
        }
    }
    while wide.blocks.len() < blocks {
        let deviation = (2.0 / (9 * filters) as f32).sqrt();
        let mut draw = || -> f32 { StandardNormal.sample(&mut random) };
        let weights = (0..9 * filters * filters)
            .map(|_| deviation * draw())
            .collect();
        let empty = |weights| ConvRows {
            weights,
            bias: vec![0.0; filters],
            mean: vec![0.0; filters],
            variance: vec![IDENTITY_VARIANCE; filters],
        };
        wide.blocks
            .push([empty(weights), empty(vec![0.0; 9 * filters * filters])]);
    }
    Ok(wide)
}

/// Which old channel each new one copies, and how many copies each old one has.
struct Copies {
    origin: Vec<usize>,
    count: Vec<usize>,
}

impl Copies {
    fn new(from: usize, to: usize, random: &mut Xoshiro256PlusPlus) -> Self {
        let origin: Vec<usize> = (0..to)
            .map(|index| {
                if index < from {
                    index
                } else {
                    random.random_range(0..from)
                }
            })
            .collect();
        let mut count = vec![0; from];
        origin.iter().for_each(|&old| count[old] += 1);
        Self { origin, count }
    }
}

fn resize(rows: &ConvRows, inputs: &Copies, outputs: &Copies, taps: usize) -> ConvRows {
    let old_inputs = inputs.count.len();
    let mut weights = Vec::with_capacity(outputs.origin.len() * inputs.origin.len() * taps);
    for &output in &outputs.origin {
        for &input in &inputs.origin {
            let share = inputs.count[input] as f32;
            let kernel = &rows.weights[(output * old_inputs + input) * taps..][..taps];
            weights.extend(kernel.iter().map(|weight| weight / share));
        }
    }
    let pick = |row: &[f32]| outputs.origin.iter().map(|&output| row[output]).collect();
    ConvRows {
        weights,
        bias: pick(&rows.bias),
        mean: pick(&rows.mean),
        variance: pick(&rows.variance),
    }
}

/// Rounds every number to `digits` significant digits, so that the text is short and compresses well; Leela Zero's tool
/// keeps three.
pub fn round_digits(network: &mut LeelaNetwork, digits: usize) {
    let rows: Vec<Vec<f32>> = network
        .rows()
        .iter()
        .map(|row| row.iter().map(|&value| rounded(value, digits)).collect())
        .collect();
    *network =
        LeelaNetwork::from_rows(network.version, network.shape(), rows).expect("the same shape");
}

fn rounded(value: f32, digits: usize) -> f32 {
    format!("{value:.*e}", digits.max(1) - 1)
        .parse()
        .unwrap_or(value)
}

/// The compression of the original safety network: every number, biases too, becomes `round(w·m)/m` between −1 and 1
/// with `m = 2^(bits−1)`. Five bits are in truth 33 levels.
pub fn clip_bits(network: &mut Network, bits: u32) {
    let levels = 2_f32.powi(bits as i32 - 1);
    let coarse = |value: &mut f32| *value = ((*value * levels).round() / levels).clamp(-1.0, 1.0);
    network.for_each_number_mut(&mut { coarse });
}

#[cfg(test)]
mod tests {
    use super::*;
    use net::{Evaluator, Reference, leela::LeelaVersion};

    fn random(seed: u64) -> LeelaNetwork {
        LeelaNetwork::random(LeelaVersion::V1, LeelaShape::stock(7, 2, 6), seed)
    }

    fn answers(network: &LeelaNetwork) -> Vec<f32> {
        let reference = Reference::new(network.to_network()).unwrap();
        let mut noise = Xoshiro256PlusPlus::seed_from_u64(3);
        let planes: Vec<f32> = (0..2 * reference.shape().input_len())
            .map(|_| noise.random_range(0.0..1.0))
            .collect();
        let mut outputs = vec![0.0; 2 * reference.shape().output_len()];
        reference.evaluate(&planes, &mut outputs).unwrap();
        outputs
    }

    #[test]
    fn a_larger_network_plays_as_the_one_it_is_made_of() {
        let small = random(1);
        let large = widen(&small, 4, 11, 0.0, 5).unwrap();
        assert_eq!((large.shape().blocks, large.shape().filters), (4, 11));
        large.check().unwrap();
        for (small, large) in answers(&small).iter().zip(answers(&large)) {
            assert!((small - large).abs() < 1e-5, "{small} {large}");
        }
        let noisy = widen(&small, 2, 11, 0.01, 5).unwrap();
        assert_ne!(answers(&noisy), answers(&large));
        assert!(matches!(
            widen(&small, 1, 6, 0.0, 5),
            Err(SurgeryError::Smaller { what: "blocks", .. })
        ));
    }

    #[test]
    fn an_average_is_the_mean_of_every_number() {
        let (one, two) = (random(1), random(2));
        let mean = average(&[one.clone(), two.clone(), two.clone()]).unwrap();
        for ((mean, one), two) in mean.rows().iter().zip(one.rows()).zip(two.rows()) {
            for ((mean, one), two) in mean.iter().zip(one).zip(two) {
                assert!((mean - (one + 2.0 * two) / 3.0).abs() < 1e-6);
            }
        }
        let other = LeelaNetwork::random(LeelaVersion::V1, LeelaShape::stock(7, 1, 6), 1);
        assert!(matches!(
            average(&[one, other]),
            Err(SurgeryError::OtherShape { number: 2, .. })
        ));
        assert_eq!(average(&[]), Err(SurgeryError::Nothing));
    }

    #[test]
    fn rounding_keeps_that_many_digits() {
        assert_eq!(
            [
                rounded(0.123_456, 3),
                rounded(-98_765.0, 2),
                rounded(0.0, 3)
            ],
            [0.123, -99_000.0, 0.0]
        );
        let mut network = random(1);
        round_digits(&mut network, 3);
        assert_eq!(
            network.input.weights[0],
            rounded(random(1).input.weights[0], 3)
        );
    }

    #[test]
    fn five_bits_of_the_original_are_thirty_three_levels() {
        let mut network = random(1).to_network();
        clip_bits(&mut network, 5);
        let net::Layer::Conv(conv) = &network.trunk[0] else {
            panic!("a convolution first")
        };
        assert!(
            conv.weights
                .iter()
                .all(|weight| (weight * 16.0).fract() == 0.0 && weight.abs() <= 1.0)
        );
    }
}
