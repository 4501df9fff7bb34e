//! Putting a ladder network beside a trained one, so that its verdicts reach the trained policy and value.
//!
//! The two towers stand side by side: block-diagonal convolutions, the shorter tower padded with identity blocks. The
//! stock heads cannot take the verdicts in, because each of their planes feeds every logit through trained weights. So
//! the graft has a policy plane more for each kind of verdict, each of which feeds only the logits of its own points, and, if wanted, value
//! planes with hidden units of their own. Where there is no ladder those planes are zero and all that is added is zero.
//!
//! Such a file has more head planes than stock programs accept; a standalone ladder network has not.

use net::leela::{
    ConvRows, DenseRows, IDENTITY_VARIANCE, INPUT_PLANES, LeelaNetwork, LeelaShape, LeelaVersion,
};
use thiserror::Error;

/// The input planes that say whose turn it is: Black's, then White's.
const TURN_PLANES: [usize; 2] = [16, 17];
/// Cells of a 3x3 kernel, and its middle.
const TAPS: usize = 9;
const CENTRE: usize = 4;
/// Larger than any value of a verdict plane: takes out the side that is not to move.
const SILENCE: f32 = 64.0;

/// How strongly the verdicts speak: what is added to the logit of a move, and to the value.
///
/// A ladder that works need not be played now, and an atari that does not capture may have other merits, so
/// the defaults are what `tengen ladder fit` found for strings of any size in games of strong amateurs, with chases left
/// to the network.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gains {
    /// For an extension that gets away.
    pub escape_works: f32,
    /// For an extension that is caught.
    pub escape_fails: f32,
    /// For an atari that captures.
    pub chase_works: f32,
    /// For an atari that does not.
    pub chase_fails: f32,
    /// Factor of the ladder network's own value, before the tanh. What a ladder is worth varies: 0 leaves it out.
    pub value: f32,
}

impl Default for Gains {
    fn default() -> Gains {
        Gains {
            escape_works: 0.5,
            escape_fails: -0.7,
            chase_works: 0.0,
            chase_fails: 0.0,
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
    for gain in [
        gains.escape_works,
        gains.escape_fails,
        gains.chase_works,
        gains.chase_fails,
        gains.value,
    ] {
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
    let voices = voices(ladder)?;
    // A value that speaks of Black must know whose turn it is, to the end of the tower.
    let needs_turn = base.version == LeelaVersion::V2 && gains.value != 0.0;
    let ladder = if needs_turn {
        with_turn(ladder)
    } else {
        ladder.clone()
    };

    let mut grafted = tower(base, &ladder);
    policy_head(&mut grafted, base, &ladder, &voices, gains);
    value_head(&mut grafted, base, &ladder, gains.value, needs_turn);
    grafted.check()?;
    Ok(grafted)
}

/// A filter of the ladder network that says something about moves.
#[derive(Clone, Copy)]
struct Voice {
    filter: usize,
    is_good: bool,
    is_chase: bool,
    /// What one verdict comes to in the policy plane.
    unit: f32,
}

impl Voice {
    fn gain(self, gains: Gains) -> f32 {
        match (self.is_chase, self.is_good) {
            (false, true) => gains.escape_works,
            (false, false) => gains.escape_fails,
            (true, true) => gains.chase_works,
            (true, false) => gains.chase_fails,
        }
    }
}

/// The filters that speak in the ladder network's own policy head, which is checked on the way. Chases are told from
/// escapes by the value: the ladder that is won or lost weighs more than the one that merely goes on.
fn voices(ladder: &LeelaNetwork) -> Result<Vec<Voice>, GraftError> {
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
    let values = &ladder.value_conv.weights;
    let heaviest = values
        .iter()
        .fold(0.0, |most: f32, value| most.max(value.abs()));
    let mut voices = Vec::new();
    for (plane, is_good) in [true, false].into_iter().enumerate() {
        let weights = &ladder.policy_conv.weights[plane * shape.filters..][..shape.filters];
        let scale = ladder.policy_conv.scale(plane) as f32;
        for (filter, &weight) in weights
            .iter()
            .enumerate()
            .filter(|(_, weight)| **weight > 0.0)
        {
            let is_heavy = 2.0 * values[filter].abs() >= heaviest;
            voices.push(Voice {
                filter,
                is_good,
                is_chase: is_heavy == is_good,
                unit: weight * scale,
            });
        }
    }
    if voices.iter().any(|voice| voice.is_good) {
        Ok(voices)
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

/// A plane for each voice, whose points feed their own logits only.
fn policy_head(
    grafted: &mut LeelaNetwork,
    base: &LeelaNetwork,
    ladder: &LeelaNetwork,
    voices: &[Voice],
    gains: Gains,
) {
    let (base_filters, ladder_filters) = (base.shape().filters, ladder.shape().filters);
    let area = base.size * base.size;
    let mut planes = ConvRows::zeros(1, ladder_filters, voices.len());
    planes.variance.fill(IDENTITY_VARIANCE);
    let columns = voices.len() * area;
    let mut dense = DenseRows {
        weights: vec![0.0; base.policy_dense.bias.len() * columns],
        bias: vec![0.0; base.policy_dense.bias.len()],
    };
    for (plane, voice) in voices.iter().enumerate() {
        planes.weights[plane * ladder_filters + voice.filter] = voice.unit;
        for point in 0..area {
            dense.weights[point * columns + plane * area + point] = voice.gain(gains) / voice.unit;
        }
    }
    grafted.policy_conv = stacked(
        &widened(&base.policy_conv, base_filters, 0, ladder_filters),
        &widened(&planes, ladder_filters, base_filters, 0),
    );
    grafted.policy_dense = beside(&base.policy_dense, &dense);
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
