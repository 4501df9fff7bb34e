//! The parts that blocks and heads are made of.

use super::{ACTIVATION_KINDS, LARGEST_KERNEL, Passed, Tape};
use crate::katago::model::{Act, Bias, Conv, MatMul, Norm, NormActConv, Rms, TipRms};
use crate::network::Activation;

pub(super) fn norm_act_conv(
    tape: &mut impl Tape,
    version: u32,
    unit: &mut NormActConv,
    inputs: usize,
    outputs: Option<usize>,
) -> Passed {
    norm(tape, &mut unit.norm, inputs)?;
    act(tape, version, &mut unit.act)?;
    conv(tape, &mut unit.conv, inputs, outputs)
}

pub(super) fn conv(
    tape: &mut impl Tape,
    conv: &mut Conv,
    inputs: usize,
    outputs: Option<usize>,
) -> Passed {
    tape.name(&mut conv.name)?;
    tape.whole("kernel height", &mut conv.height)?;
    tape.whole("kernel width", &mut conv.width)?;
    if conv.height != conv.width || conv.height.is_multiple_of(2) || conv.height > LARGEST_KERNEL {
        let found = format!("a kernel of {}x{}", conv.height, conv.width);
        let expected = format!("an odd square up to {LARGEST_KERNEL}");
        return Err(tape.wrong(found, expected));
    }
    tape.size("input channels", &mut conv.inputs)?;
    tape.same("input channels", conv.inputs, inputs)?;
    tape.size("output channels", &mut conv.outputs)?;
    if let Some(outputs) = outputs {
        tape.same("output channels", conv.outputs, outputs)?;
    }
    tape.fixed("dilation", 1)?;
    tape.fixed("dilation", 1)?;
    let len = conv.height * conv.width * conv.inputs * conv.outputs;
    tape.floats("weights", len, &mut conv.weights)
}

pub(super) fn norm(tape: &mut impl Tape, norm: &mut Norm, channels: usize) -> Passed {
    tape.name(&mut norm.name)?;
    tape.size("channels", &mut norm.channels)?;
    tape.same("channels", norm.channels, channels)?;
    tape.positive("epsilon", &mut norm.epsilon)?;
    tape.flag("scale flag", &mut norm.has_scale)?;
    tape.flag("bias flag", &mut norm.has_bias)?;
    tape.floats("means", channels, &mut norm.mean)?;
    tape.floats("variances", channels, &mut norm.variance)?;
    if norm.variance.iter().any(|&variance| variance < 0.0) {
        return Err(tape.wrong("a negative variance".into(), "0 or more".into()));
    }
    if norm.has_scale {
        tape.floats("scales", channels, &mut norm.scale)?;
    }
    if norm.has_bias {
        tape.floats("biases", channels, &mut norm.bias)?;
    }
    Ok(())
}

/// The kinds of activations as files spell them.
const ACTIVATIONS: [(&str, Activation); 4] = [
    ("ACTIVATION_IDENTITY", Activation::Identity),
    ("ACTIVATION_RELU", Activation::Relu),
    ("ACTIVATION_MISH", Activation::Mish),
    ("ACTIVATION_SILU", Activation::Silu),
];

pub(super) fn act(tape: &mut impl Tape, version: u32, act: &mut Act) -> Passed {
    tape.name(&mut act.name)?;
    if version < ACTIVATION_KINDS {
        act.kind = Activation::Relu;
        return Ok(());
    }
    let spelled = ACTIVATIONS.iter().find(|(_, kind)| *kind == act.kind);
    let mut word = spelled.map_or("", |(word, _)| word).to_owned();
    tape.word("activation", &mut word)?;
    match ACTIVATIONS.iter().find(|(spelled, _)| *spelled == word) {
        Some(&(_, kind)) => {
            act.kind = kind;
            Ok(())
        }
        None => {
            let expected = ACTIVATIONS.map(|(word, _)| word).join(", ");
            Err(tape.wrong(format!("`{word}`"), format!("one of {expected}")))
        }
    }
}

pub(super) fn matmul(
    tape: &mut impl Tape,
    matrix: &mut MatMul,
    inputs: usize,
    outputs: Option<usize>,
) -> Passed {
    tape.name(&mut matrix.name)?;
    tape.whole("inputs", &mut matrix.inputs)?;
    tape.same("inputs", matrix.inputs, inputs)?;
    tape.size("outputs", &mut matrix.outputs)?;
    if let Some(outputs) = outputs {
        tape.same("outputs", matrix.outputs, outputs)?;
    }
    let len = matrix.inputs * matrix.outputs;
    tape.floats("weights", len, &mut matrix.weights)
}

pub(super) fn bias(tape: &mut impl Tape, bias: &mut Bias, channels: usize) -> Passed {
    tape.name(&mut bias.name)?;
    tape.size("channels", &mut bias.channels)?;
    tape.same("channels", bias.channels, channels)?;
    tape.floats("biases", channels, &mut bias.weights)
}

pub(super) fn rms(tape: &mut impl Tape, rms: &mut Rms, channels: usize) -> Passed {
    tape.name(&mut rms.name)?;
    tape.size("channels", &mut rms.channels)?;
    tape.same("channels", rms.channels, channels)?;
    tape.positive("epsilon", &mut rms.epsilon)?;
    tape.floats("weights", channels, &mut rms.weights)
}

pub(super) fn tip_rms(tape: &mut impl Tape, rms: &mut TipRms, channels: usize) -> Passed {
    tape.name(&mut rms.name)?;
    tape.size("channels", &mut rms.channels)?;
    tape.same("channels", rms.channels, channels)?;
    tape.positive("epsilon", &mut rms.epsilon)?;
    tape.flag("spatial flag", &mut rms.spatial)?;
    tape.fixed("channel groups", 0)?;
    tape.floats("gammas", channels, &mut rms.gamma)?;
    tape.floats("betas", channels, &mut rms.beta)
}
