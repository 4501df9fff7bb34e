//! The heads of a standalone ladder network, in the stock layout that every Leela Zero program reads.

use net::leela::{ConvRows, LeelaNetwork};

/// What a plane of the tower says to the policy and to the value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Voice {
    /// Where the plane is in the tower.
    pub place: usize,
    /// Weight in the policy plane that is added to the logits.
    pub good: f32,
    /// Weight in the policy plane that is subtracted from them.
    pub bad: f32,
    /// Weight in the value plane.
    pub value: f32,
}

/// Fills the heads: logit = good - bad at every point, and the value is the sum over the board.
///
/// The value plane is lifted by `offset` so that the ReLU keeps negative numbers; the last bias takes it out again.
pub fn write_heads(leela: &mut LeelaNetwork, voices: &[Voice], offset: f32, variance: f32) {
    let area = leela.size * leela.size;
    let filters = leela.input.bias.len();
    leela.policy_conv = ConvRows::zeros(1, filters, 2);
    leela.value_conv = ConvRows::zeros(1, filters, 1);
    for voice in voices {
        leela.policy_conv.weights[voice.place] = voice.good;
        leela.policy_conv.weights[filters + voice.place] = voice.bad;
        leela.value_conv.weights[voice.place] = voice.value;
    }
    leela.value_conv.mean[0] = -offset;
    leela.policy_conv.variance.fill(variance);
    leela.value_conv.variance.fill(variance);
    for point in 0..area {
        leela.policy_dense.weights[point * 2 * area + point] = 1.0;
        leela.policy_dense.weights[point * 2 * area + area + point] = -1.0;
    }
    leela.value_hidden.weights.fill(1.0);
    leela.value_output.weights[0] = 1.0;
    leela.value_output.bias[0] = -offset * area as f32;
}
