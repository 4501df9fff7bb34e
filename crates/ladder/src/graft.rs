//! Putting a ladder network beside a trained one, so that its verdicts reach the trained policy and value.
//!
//! The two towers stand side by side: block-diagonal convolutions, the shorter tower padded with identity blocks. The
//! stock heads cannot take the verdicts in, because each of their planes feeds every logit through trained weights. So
//! the graft has two more policy planes, each of which feeds only the logit of its own point, and, if wanted, value
//! planes with hidden units of their own. Where there is no ladder those planes are zero and all that is added is zero.
//!
//! Such a file has more head planes than stock programs accept; a standalone ladder network has not.

use net::leela::{ConvRows, DenseRows, INPUT_PLANES, LeelaNetwork, LeelaShape, LeelaVersion};
use thiserror::Error;

/// The input planes that say whose turn it is: Black's, then White's.
const TURN_PLANES: [usize; 2] = [16, 17];
/// Cells of a 3x3 kernel, and its middle.
const TAPS: usize = 9;
const CENTRE: usize = 4;
/// Larger than any value of a verdict plane: takes out the side that is not to move.
const SILENCE: f32 = 64.0;

/// How strongly the verdicts speak.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gains {
    /// Added to the logit of a move that works, and taken from that of one that fails.
    ///
    /// A little is best: a ladder that works need not be played now, and an atari that does not capture may have other
    /// merits. With 3 added and 6 taken, the network of `docs/ladder.md` played fewer failing ladders and lost more games.
    pub policy: f32,
    /// Factor of the ladder network's own value, before the tanh. What a ladder is worth varies: 0 leaves it out.
    pub value: f32,
}

impl Default for Gains {
    fn default() -> Gains {
        Gains {
            policy: 1.0,
            value: 0.0,
        }
    }
}

/// Why two networks do not fit together.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum GraftError {
    /// Different boards.
    #[error(
        "the base is for {base}x{base} and the ladder network for {ladder}x{ladder}; build one with `tengen ladder build --size {base}`"
    )]
    Size {
        /// Rows of the base.
        base: usize,
        /// Rows of the ladder network.
        ladder: usize,
    },
    /// The second network's policy head is not that of a ladder network.
    #[error(
        "the second network is no ladder network: its policy layer must carry every plane to its own point only ({0}); make one with `tengen ladder build`"
    )]
    NotALadder(String),
    /// A row has a wrong length.
    #[error("{0}")]
    Shape(#[from] net::ShapeError),
    /// A gain that is no number.
    #[error("a gain must be a finite number, not {0}")]
    Gain(f32),
}

/// Grafts `ladder` onto `base`.
pub fn graft(
    base: &LeelaNetwork,
    ladder: &LeelaNetwork,
    gains: Gains,
) -> Result<LeelaNetwork, GraftError> {
    base.check()?;
    ladder.check()?;
    for gain in [gains.policy, gains.value] {
        if !gain.is_finite() {
            return Err(GraftError::Gain(gain));
        }
    }
    if base.size != ladder.size {
        return Err(GraftError::Size {
            base: base.size,
            ladder: ladder.size,
        });
    }
    let units = logit_units(ladder)?;
    // A value that speaks of Black must know whose turn it is, to the end of the tower.
    let needs_turn = base.version == LeelaVersion::V2 && gains.value != 0.0;
    let ladder = if needs_turn {
        with_turn(ladder)
    } else {
        ladder.clone()
    };

    let mut grafted = tower(base, &ladder);
    let factors = units.map(|unit| if unit > 0.0 { gains.policy / unit } else { 0.0 });
    policy_head(&mut grafted, base, &ladder, factors);
    value_head(&mut grafted, base, &ladder, gains.value, needs_turn);
    grafted.check()?;
    Ok(grafted)
}

/// The logit that a verdict moves in the ladder network itself: up if the move works, down if it fails. Checks its policy
/// head on the way.
fn logit_units(ladder: &LeelaNetwork) -> Result<[f32; 2], GraftError> {
    let not_a_ladder = |why: &str| Err(GraftError::NotALadder(why.into()));
    let shape = ladder.shape();
    let area = shape.area();
    if shape.policy_planes != 2 {
        return not_a_ladder("it has not two policy planes");
    }
    let columns = shape.policy_planes * area;
    for (index, &weight) in ladder.policy_dense.weights.iter().enumerate() {
        let (logit, point) = (index / columns, index % columns % area);
        if weight != 0.0 && logit != point {
            return not_a_ladder("a plane feeds other points");
        }
    }
    let units = [0, 1].map(|plane| {
        let weights = &ladder.policy_conv.weights[plane * shape.filters..][..shape.filters];
        weights.iter().copied().fold(0.0, f32::max) * ladder.policy_conv.scale(plane) as f32
    });
    if units[0] > 0.0 {
        Ok(units)
    } else {
        not_a_ladder("its first policy plane is empty")
    }
}

/// The ladder network with two more planes that carry the turn through the tower.
fn with_turn(ladder: &LeelaNetwork) -> LeelaNetwork {
    let shape = LeelaShape {
        filters: TURN_PLANES.len(),
        ..ladder.shape()
    };
    let mut turn = LeelaNetwork::zeros(ladder.version, shape);
    for (output, plane) in TURN_PLANES.into_iter().enumerate() {
        turn.input.weights[(output * INPUT_PLANES + plane) * TAPS + CENTRE] = 1.0;
    }
    let mut wider = tower(ladder, &turn);
    let filters = ladder.shape().filters;
    wider.policy_conv = widened(&ladder.policy_conv, filters, 0, TURN_PLANES.len());
    wider.policy_dense = ladder.policy_dense.clone();
    wider.value_conv = widened(&ladder.value_conv, filters, 0, TURN_PLANES.len());
    wider.value_hidden = ladder.value_hidden.clone();
    wider.value_output = ladder.value_output.clone();
    wider
}

/// Both towers side by side, with the heads still those of `zeros`.
fn tower(left: &LeelaNetwork, right: &LeelaNetwork) -> LeelaNetwork {
    let (left_filters, right_filters) = (left.shape().filters, right.shape().filters);
    let shape = LeelaShape {
        filters: left_filters + right_filters,
        blocks: left.blocks.len().max(right.blocks.len()),
        ..left.shape()
    };
    let mut both = LeelaNetwork::zeros(left.version, shape);
    both.input = stacked(&left.input, &right.input);
    for (index, block) in both.blocks.iter_mut().enumerate() {
        for (half, conv) in block.iter_mut().enumerate() {
            // A block that one tower does not have is the identity: what is added to the skip is zero.
            let part = |network: &LeelaNetwork, filters| match network.blocks.get(index) {
                Some(block) => block[half].clone(),
                None => ConvRows::zeros(3, filters, filters),
            };
            let left = widened(&part(left, left_filters), left_filters, 0, right_filters);
            let right = widened(&part(right, right_filters), right_filters, left_filters, 0);
            *conv = stacked(&left, &right);
        }
    }
    both
}

/// The outputs of both convolutions, which read the same planes.
fn stacked(first: &ConvRows, second: &ConvRows) -> ConvRows {
    let join = |first: &[f32], second: &[f32]| [first, second].concat();
    ConvRows {
        weights: join(&first.weights, &second.weights),
        bias: join(&first.bias, &second.bias),
        mean: join(&first.mean, &second.mean),
        variance: join(&first.variance, &second.variance),
    }
}

/// The convolution with `before` and `after` more input planes that it does not look at.
fn widened(rows: &ConvRows, inputs: usize, before: usize, after: usize) -> ConvRows {
    let outputs = rows.bias.len();
    let taps = rows.weights.len() / (inputs * outputs);
    let mut weights = Vec::with_capacity((before + inputs + after) * outputs * taps);
    for output in rows.weights.chunks_exact(inputs * taps) {
        weights.extend(std::iter::repeat_n(0.0, before * taps));
        weights.extend_from_slice(output);
        weights.extend(std::iter::repeat_n(0.0, after * taps));
    }
    ConvRows {
        weights,
        ..rows.clone()
    }
}

fn policy_head(
    grafted: &mut LeelaNetwork,
    base: &LeelaNetwork,
    ladder: &LeelaNetwork,
    factors: [f32; 2],
) {
    let (base_filters, ladder_filters) = (base.shape().filters, ladder.shape().filters);
    grafted.policy_conv = stacked(
        &widened(&base.policy_conv, base_filters, 0, ladder_filters),
        &widened(&ladder.policy_conv, ladder_filters, base_filters, 0),
    );
    let mut columns = ladder.policy_dense.clone();
    let planes = columns.weights.chunks_exact_mut(base.size * base.size);
    for (plane, factor) in planes.zip(factors.iter().cycle()) {
        for weight in plane {
            *weight *= factor;
        }
    }
    grafted.policy_dense = beside(&base.policy_dense, &columns);
}

/// Dense layers with the same outputs, each reading inputs of its own.
fn beside(first: &DenseRows, second: &DenseRows) -> DenseRows {
    let outputs = first.bias.len();
    let rows = first
        .weights
        .chunks_exact(first.weights.len() / outputs)
        .zip(second.weights.chunks_exact(second.weights.len() / outputs));
    DenseRows {
        weights: rows
            .flat_map(|(first, second)| [first, second].concat())
            .collect(),
        bias: first
            .bias
            .iter()
            .zip(&second.bias)
            .map(|(first, second)| first + second)
            .collect(),
    }
}

/// Value planes without an offset, so that they are zero where no ladder is: what speaks for the side to move and what
/// speaks against it, each summed over the board by a hidden unit of its own.
fn value_head(
    grafted: &mut LeelaNetwork,
    base: &LeelaNetwork,
    ladder: &LeelaNetwork,
    gain: f32,
    by_turn: bool,
) {
    let (base_filters, ladder_filters) = (base.shape().filters, ladder.shape().filters);
    let conv = widened(&base.value_conv, base_filters, 0, ladder_filters);
    if gain == 0.0 {
        grafted.value_conv = conv;
        grafted.value_hidden = base.value_hidden.clone();
        grafted.value_output = base.value_output.clone();
        return;
    }
    let voices = &ladder.value_conv.weights;
    // For each turn, the sign with which the verdicts of the side to move enter the value.
    let turns: &[(Option<usize>, f32)] = if by_turn {
        &[(Some(0), 1.0), (Some(1), -1.0)]
    } else {
        &[(None, 1.0)]
    };
    let mut planes = ConvRows::default();
    let mut signs = Vec::new();
    for &(turn, turn_sign) in turns {
        for sign in [1.0_f32, -1.0] {
            let mut plane = ConvRows::zeros(1, ladder_filters, 1);
            for (weight, voice) in plane.weights.iter_mut().zip(voices) {
                *weight = (sign * voice).max(0.0);
            }
            if let Some(turn) = turn {
                // The turn planes are the ladder's last two; the other side's silences the plane.
                plane.weights[ladder_filters - 1 - turn] = -SILENCE;
            }
            planes = stacked(&planes, &plane);
            signs.push(sign * turn_sign);
        }
    }
    grafted.value_conv = stacked(&conv, &widened(&planes, ladder_filters, base_filters, 0));

    let (area, old_units) = (base.size * base.size, base.value_hidden.bias.len());
    let (old_inputs, new_inputs) = (
        base.value_hidden.weights.len() / old_units,
        signs.len() * area,
    );
    let mut hidden = DenseRows::default();
    for row in base.value_hidden.weights.chunks_exact(old_inputs) {
        hidden.weights.extend_from_slice(row);
        hidden.weights.extend(std::iter::repeat_n(0.0, new_inputs));
    }
    for unit in 0..signs.len() {
        let mut row = vec![0.0; old_inputs + new_inputs];
        row[old_inputs + unit * area..][..area].fill(1.0);
        hidden.weights.extend(row);
    }
    hidden.bias = base.value_hidden.bias.clone();
    hidden.bias.extend(std::iter::repeat_n(0.0, signs.len()));
    grafted.value_hidden = hidden;
    grafted.value_output = base.value_output.clone();
    grafted
        .value_output
        .weights
        .extend(signs.iter().map(|sign| sign * gain));
}
