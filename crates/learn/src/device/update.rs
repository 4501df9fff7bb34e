//! The optimiser's rules on tensors: what [`Optimiser::step`] does number by number.

use burn_tensor::Tensor;

use crate::optimiser::{Optimiser, Rule, unbiased};

/// Moves the parameters against their gradients. Nothing is read back, not even the gradient's length.
pub fn step(
    optimiser: &Optimiser,
    rate: f32,
    decays: &[bool],
    params: &mut [Tensor<1>],
    gradients: Vec<Tensor<1>>,
    memory: &mut [Tensor<1>],
) {
    let scale = optimiser.clip.map(|limit| clip(&gradients, limit));
    let memory = memory.chunks_exact_mut(optimiser.rule.tensors());
    let tensors = params.iter_mut().zip(gradients).zip(memory).zip(decays);
    for (((param, mut gradient), memory), &decays) in tensors {
        let decay = if decays { optimiser.decay } else { 0.0 };
        if let Some(scale) = &scale {
            gradient = gradient * scale.clone();
        }
        let value = param.clone();
        let change = match (optimiser.rule, memory) {
            (Rule::Momentum { momentum, nesterov }, [velocity]) => {
                if decay > 0.0 {
                    gradient = gradient + value.clone() * decay;
                }
                *velocity = velocity.clone() * momentum + gradient.clone();
                if nesterov {
                    gradient + velocity.clone() * momentum
                } else {
                    velocity.clone()
                }
            }
            (
                Rule::Adam {
                    beta1,
                    beta2,
                    epsilon,
                },
                [mean, square],
            ) => {
                *mean = mean.clone() * beta1 + gradient.clone() * (1.0 - beta1);
                *square = square.clone() * beta2 + gradient.square() * (1.0 - beta2);
                let mean = mean.clone() * unbiased(beta1, optimiser.steps);
                let square = square.clone() * unbiased(beta2, optimiser.steps);
                mean / (square.sqrt() + epsilon) + value.clone() * decay
            }
            _ => unreachable!("memory as the rule has it"),
        };
        *param = value - change * rate;
    }
}

/// The factor that makes the whole gradient no longer than `limit`.
fn clip(gradients: &[Tensor<1>], limit: f32) -> Tensor<1> {
    let squares = gradients
        .iter()
        .map(|gradient| gradient.clone().square().sum());
    let length = Tensor::cat(squares.collect(), 0).sum().sqrt();
    (length.recip() * limit).clamp_max(1.0)
}
