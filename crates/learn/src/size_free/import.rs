//! Training that starts from a network made for playing.
//!
//! A network for playing has batch norm folded to a factor and an addend a channel. To train it further the norm needs
//! the mean and variance of its input again: they are measured by running the network as it plays, and the parameters
//! are then set so that the network says just what it said.

use net::{Layer as Plain, Network};

use super::conv::{Conv1, Conv3};
use super::rows::Rows;
use super::{SizeFree, SizeFreeBatch};
use crate::layer::{Mode, norm::Norm};

/// A network that this kind of training did not make, or of another size.
#[derive(Debug, thiserror::Error)]
#[error(
    "the network to start from has another design than {blocks} blocks of {channels} channels for every board: give the --blocks and --channels it was trained with"
)]
pub struct OtherDesign {
    blocks: usize,
    channels: usize,
}

impl SizeFree {
    /// Takes the weights of a network that [`SizeFree::export`] made, and measures on `batches` what batch norm needs.
    ///
    /// The more positions there are in `batches`, the nearer are the first training steps to the network as it plays.
    pub fn start_from(
        &mut self,
        network: &Network,
        batches: impl Iterator<Item = SizeFreeBatch>,
    ) -> Result<(), OtherDesign> {
        self.check_start(network)?;
        self.take(network);
        self.norms_mut().into_iter().for_each(Norm::start_measuring);
        for batch in batches {
            self.forward(&batch, Mode::Evaluate);
        }
        self.norms_mut().into_iter().for_each(Norm::adopt_measured);
        Ok(())
    }

    /// Refuses a network that [`SizeFree::start_from`] cannot take.
    pub fn check_start(&self, network: &Network) -> Result<(), OtherDesign> {
        if blank(self.export(network.input.height)) == blank(network.clone()) {
            return Ok(());
        }
        Err(OtherDesign {
            blocks: self.shape.blocks,
            channels: self.shape.channels,
        })
    }

    /// Copies all numbers, in the order in which [`SizeFree::export`] writes them.
    fn take(&mut self, network: &Network) {
        let mut layers = Vec::new();
        network.for_each_layer(&mut |_, layer| {
            if matches!(layer, Plain::Conv(_) | Plain::Dense(_) | Plain::Scale(_)) {
                layers.push(layer);
            }
        });
        let mut layers = layers.into_iter();
        let mut next = || layers.next().expect("the design was compared before");
        take_conv3(&mut self.first, next());
        take_dense(&mut self.globals, next());
        for block in &mut self.blocks {
            take_norm(&mut block.norm1, next());
            take_conv3(&mut block.conv1, next());
            if let Some(pooled) = &mut block.pooled {
                take_norm(&mut pooled.norm, next());
                take_dense(&mut pooled.dense, next());
            }
            take_norm(&mut block.norm2, next());
            take_conv3(&mut block.conv2, next());
        }
        take_norm(&mut self.last_norm, next());
        let policy = &mut self.policy;
        take_conv1(&mut policy.local, next());
        take_conv1(&mut policy.pooled, next());
        take_dense(&mut policy.bias, next());
        // A rectifier without numbers of its own.
        next();
        take_conv1(&mut policy.last, next());
        // The pooled channels stand in the file a second time, for the pass.
        next();
        take_dense(&mut policy.pass, next());
        let value = &mut self.value;
        take_conv1(&mut value.conv, next());
        take_dense(&mut value.hidden, next());
        take_dense(&mut value.out, next());
        next();
        take_conv1(&mut value.ownership, next());
    }
}

/// The design alone: all numbers are zero.
fn blank(mut network: Network) -> Network {
    network.for_each_number_mut(&mut |number| *number = 0.0);
    network
}

fn take_conv3(conv: &mut Conv3, layer: &Plain) {
    if let Plain::Conv(plain) = layer {
        conv.weights.values.copy_from_slice(&plain.weights);
    }
}

fn take_conv1(conv: &mut Conv1, layer: &Plain) {
    if let Plain::Conv(plain) = layer {
        conv.weights.values.copy_from_slice(&plain.weights);
        conv.bias.values.copy_from_slice(&plain.bias);
    }
}

fn take_dense(rows: &mut Rows, layer: &Plain) {
    if let Plain::Dense(plain) = layer {
        rows.weights.values.copy_from_slice(&plain.weights);
        rows.bias.values.copy_from_slice(&plain.bias);
    }
}

fn take_norm(norm: &mut Norm, layer: &Plain) {
    match layer {
        Plain::Scale(plain) => {
            norm.set_folded(plain.scale.iter().copied().zip(plain.bias.iter().copied()))
        }
        // The norm of the first channels alone is a diagonal 1x1 convolution.
        Plain::Conv(plain) => {
            let inputs = plain.inputs();
            let scales =
                (0..plain.outputs()).map(|channel| plain.weights[channel * inputs + channel]);
            norm.set_folded(scales.zip(plain.bias.iter().copied()));
        }
        _ => {}
    }
}
