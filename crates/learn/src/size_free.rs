//! A residual network for boards of every size with the same weights, in training.
//!
//! The trunk is a 3x3 convolution plus what the globals add to every point, then pre-activation blocks: batch norm, rectifier, 3x3
//! convolution, twice, added to the trunk. In two of the blocks a quarter of the middle channels is pooled over the
//! board (mean, mean scaled by the board's size, maximum), and a dense layer of that adds to all middle channels: so every
//! point knows of the whole board. The heads pool, too, and no layer depends on the number of points.
//!
//! Sizes are mixed inside a batch: each size is a [`Group`] with a buffer of its own, and batch norm takes its statistics over
//! all of them, so what is learned holds for every size alike.

mod conv;
mod export;
mod heads;
mod import;
mod planes;
mod pool;
mod rows;
#[cfg(test)]
mod tests;

use net::training::conv::{Sums, padded};
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};

use self::conv::{Conv1, Conv3, Input};
use self::heads::{PolicyHead, ValueHead};
use self::pool::{NUMBERS, Pool, Pooling};
use self::rows::Rows;
use crate::batch::Workers;
use crate::layer::norm::{Norm, NormStyle};
use crate::layer::{Mode, pointwise};
use crate::param::Param;

pub use self::import::OtherDesign;
pub use self::planes::{Group, Planes};

/// The size of a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SizeFreeShape {
    /// Planes it reads.
    pub planes: usize,
    /// Numbers about the whole position that it reads.
    pub globals: usize,
    /// Residual blocks.
    pub blocks: usize,
    /// Channels of the trunk.
    pub channels: usize,
}

/// Channels of every head, and hidden units of the value.
const HEAD: usize = 32;
const HIDDEN: usize = 64;
/// Numbers of the value head: the logit of winning, the lead and its spread.
pub const VALUES: usize = 3;
/// The name of the output in a network file; so the following.
pub const POLICY: &str = "policy";
/// The chance that the side to move wins.
pub const VALUE: &str = "value";
/// Points by which the side to move leads, in tens.
pub const LEAD: &str = "lead";
/// The spread of the final score, in tens of points.
pub const SPREAD: &str = "spread";
/// 1 where the side to move owns a point in the end, -1 where the opponent does.
pub const OWNERSHIP: &str = "ownership";

const NORM: NormStyle = NormStyle {
    biased: false,
    scaled: true,
    decays: false,
    keep: 0.98,
};

/// Samples of several board sizes.
#[derive(Clone, Debug, Default)]
pub struct SizeFreeBatch {
    /// The sizes; samples of a group follow each other.
    pub groups: Vec<Group>,
    /// The input planes.
    pub planes: Planes,
    /// The globals of each sample, group after group.
    pub globals: Vec<f32>,
}

/// What the network says of a batch, or the gradient of that.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SizeFreeOutputs {
    /// For each group, the logits of every point and the pass, sample after sample.
    pub policy: Vec<Vec<f32>>,
    /// [`VALUES`] numbers a sample, group after group.
    pub value: Vec<f32>,
    /// For each group, the ownership of every point before its tanh.
    pub ownership: Vec<Vec<f32>>,
}

/// A block, with what its forward pass leaves for the way back.
struct Block {
    norm1: Norm,
    conv1: Conv3,
    pooled: Option<PoolBias>,
    norm2: Norm,
    conv2: Conv3,
    /// The trunk before the block, and the raw middle channels.
    x: Planes,
    middle: Planes,
}

/// What pooling adds to the middle channels of a block.
struct PoolBias {
    channels: usize,
    norm: Norm,
    dense: Rows,
    /// Raw and activated channels that are pooled.
    z: Planes,
    a: Planes,
    pool: Pool,
}

/// A network for every board size, with its gradients.
pub struct SizeFree {
    shape: SizeFreeShape,
    workers: Workers,
    first: Conv3,
    globals: Rows,
    blocks: Vec<Block>,
    last_norm: Norm,
    /// The trunk after the last block, raw and activated.
    x: Planes,
    trunk: Planes,
    policy: PolicyHead,
    value: ValueHead,
    outputs: SizeFreeOutputs,
    /// Working memory.
    spare: [Planes; 3],
}

impl SizeFree {
    /// A network with random weights, on `threads` threads.
    pub fn new(shape: SizeFreeShape, seed: u64, threads: usize) -> Self {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let random = &mut random;
        let channels = shape.channels;
        let deep = 1.0 / (2.0 * shape.blocks.max(1) as f32).sqrt();
        let he = |inputs: usize| (2.0 / inputs as f32).sqrt();
        let pools_at = [shape.blocks / 2, shape.blocks.saturating_sub(1)];
        let first = Conv3::new("first", [shape.planes, channels], 1.0, random);
        let globals = Rows::new(
            "globals",
            [shape.globals, channels],
            false,
            he(shape.globals.max(1)),
            random,
        );
        let blocks = (0..shape.blocks)
            .map(|index| {
                let name = format!("block/{index}");
                let quarter = padded(channels / 4).min(channels);
                Block {
                    norm1: Norm::new(&format!("{name}/1"), channels, NORM),
                    conv1: Conv3::new(&format!("{name}/1"), [channels, channels], 1.0, random),
                    pooled: pools_at.contains(&index).then(|| PoolBias {
                        channels: quarter,
                        norm: Norm::new(&format!("{name}/pool"), quarter, NORM),
                        dense: Rows::new(
                            &format!("{name}/pool"),
                            [NUMBERS * quarter, channels],
                            false,
                            0.5 * he(NUMBERS * quarter),
                            random,
                        ),
                        z: Planes::default(),
                        a: Planes::default(),
                        pool: Pool::default(),
                    }),
                    norm2: Norm::new(&format!("{name}/2"), channels, NORM),
                    conv2: Conv3::new(&format!("{name}/2"), [channels, channels], deep, random),
                    x: Planes::default(),
                    middle: Planes::default(),
                }
            })
            .collect();
        let gentle = |inputs: usize| 0.3 / (inputs as f32).sqrt();
        let policy = PolicyHead {
            local: Conv1::new("policy/local", [channels, HEAD], he(channels), random),
            pooled: Conv1::new("policy/pooled", [channels, HEAD], he(channels), random),
            bias: Rows::new(
                "policy/bias",
                [NUMBERS * HEAD, HEAD],
                false,
                0.5 * he(NUMBERS * HEAD),
                random,
            ),
            last: Conv1::new("policy/last", [HEAD, 1], gentle(HEAD), random),
            pass: Rows::new(
                "policy/pass",
                [NUMBERS * HEAD, 1],
                false,
                gentle(NUMBERS * HEAD),
                random,
            ),
            z_local: Planes::default(),
            a_pooled: Planes::default(),
            a_local: Planes::default(),
            pool: Pool::default(),
            logits: Planes::default(),
        };
        let value = ValueHead {
            conv: Conv1::new("value", [channels, HEAD], he(channels), random),
            hidden: Rows::new(
                "value/hidden",
                [NUMBERS * HEAD, HIDDEN],
                true,
                he(NUMBERS * HEAD),
                random,
            ),
            out: Rows::new("value/out", [HIDDEN, VALUES], false, gentle(HIDDEN), random),
            ownership: Conv1::new("ownership", [HEAD, 1], gentle(HEAD), random),
            a: Planes::default(),
            pool: Pool::default(),
            hidden_rows: Vec::new(),
            owners: Planes::default(),
        };
        Self {
            shape,
            workers: Workers::new(threads),
            first,
            globals,
            blocks,
            last_norm: Norm::new("last", channels, NORM),
            x: Planes::default(),
            trunk: Planes::default(),
            policy,
            value,
            outputs: SizeFreeOutputs::default(),
            spare: Default::default(),
        }
    }

    pub fn shape(&self) -> SizeFreeShape {
        self.shape
    }

    /// Runs a batch and returns what the network says.
    pub fn forward(&mut self, batch: &SizeFreeBatch, mode: Mode) -> &SizeFreeOutputs {
        let groups = &batch.groups[..];
        let workers = &mut self.workers;
        let count = planes::points(groups);
        let set = |norm: &mut Norm, sums: &Sums| match mode {
            Mode::Train { .. } => norm.train(sums, count),
            Mode::Evaluate => {
                norm.measure(sums, count);
                norm.evaluate();
            }
        };
        self.first
            .forward(groups, Input::Plain(&batch.planes), &mut self.x, workers);
        let rows = widened(&self.globals.forward(&batch.globals), self.shape.channels);
        let mut sums = planes::add_rows(groups, &mut self.x, &rows);
        for block in &mut self.blocks {
            std::mem::swap(&mut block.x, &mut self.x);
            set(&mut block.norm1, &sums);
            let input = Input::Normalised(&block.x, &block.norm1.line);
            let mut middle_sums = block
                .conv1
                .forward(groups, input, &mut block.middle, workers);
            if let Some(pooled) = &mut block.pooled {
                let rows = pooled.forward(groups, &block.middle, &middle_sums, &set, workers);
                middle_sums = planes::add_rows(groups, &mut block.middle, &rows);
            }
            set(&mut block.norm2, &middle_sums);
            let input = Input::Normalised(&block.middle, &block.norm2.line);
            block.conv2.forward(groups, input, &mut self.x, workers);
            sums = planes::add(groups, &mut self.x, &block.x, workers);
        }
        set(&mut self.last_norm, &sums);
        self.trunk.fit(self.shape.channels, groups);
        planes::normalise(
            groups,
            &self.last_norm.line,
            0.0,
            &self.x,
            &mut self.trunk,
            workers,
        );
        self.outputs.policy = self.policy.forward(groups, &self.trunk, workers);
        (self.outputs.value, self.outputs.ownership) =
            self.value.forward(groups, &self.trunk, workers);
        &self.outputs
    }

    /// Sets the gradients of all parameters from that of the outputs of the last forward pass in training mode.
    pub fn backward(&mut self, batch: &SizeFreeBatch, gradient: &SizeFreeOutputs) {
        for param in self.params_mut() {
            param.clear();
        }
        let groups = &batch.groups[..];
        let count = planes::points(groups);
        let channels = self.shape.channels;
        let [mut dx, mut inner, mut gx] = std::mem::take(&mut self.spare);
        zero(&mut dx, channels, groups);
        let workers = &mut self.workers;
        self.policy
            .backward(groups, &self.trunk, &gradient.policy, &mut dx, workers);
        self.value.backward(
            groups,
            &self.trunk,
            &gradient.value,
            &gradient.ownership,
            &mut dx,
            workers,
        );
        let sums = unactivate(
            groups,
            &self.last_norm,
            &mut dx,
            &self.trunk,
            &self.x,
            workers,
        );
        unnormalise(
            groups,
            &mut self.last_norm,
            &sums,
            count,
            &mut dx,
            &self.x,
            workers,
        );
        for block in self.blocks.iter_mut().rev() {
            let input = Input::Normalised(&block.middle, &block.norm2.line);
            let sink = Some((&mut inner, &block.middle, &block.norm2));
            let sums = block.conv2.backward(groups, &dx, input, sink, workers);
            unnormalise(
                groups,
                &mut block.norm2,
                &sums,
                count,
                &mut inner,
                &block.middle,
                workers,
            );
            if let Some(pooled) = &mut block.pooled {
                pooled.backward(groups, count, &mut inner, workers);
            }
            let input = Input::Normalised(&block.x, &block.norm1.line);
            let sink = Some((&mut gx, &block.x, &block.norm1));
            let sums = block.conv1.backward(groups, &inner, input, sink, workers);
            unnormalise(
                groups,
                &mut block.norm1,
                &sums,
                count,
                &mut gx,
                &block.x,
                workers,
            );
            planes::add(groups, &mut dx, &gx, workers);
        }
        let rows = narrowed(&planes::sum_rows(groups, &dx), channels);
        self.globals.backward(&batch.globals, &rows, &rows);
        self.first
            .backward(groups, &dx, Input::Plain(&batch.planes), None, workers);
        self.spare = [dx, inner, gx];
    }

    /// All parameters, in a fixed order.
    pub fn params_mut(&mut self) -> Vec<&mut Param> {
        let mut params = vec![&mut self.first.weights];
        params.extend(self.globals.params_mut());
        for block in &mut self.blocks {
            params.extend(block.norm1.params_mut());
            params.push(&mut block.conv1.weights);
            if let Some(pooled) = &mut block.pooled {
                params.extend(pooled.norm.params_mut());
                params.extend(pooled.dense.params_mut());
            }
            params.extend(block.norm2.params_mut());
            params.push(&mut block.conv2.weights);
        }
        params.extend(self.last_norm.params_mut());
        let policy = &mut self.policy;
        params.extend(policy.local.params_mut());
        params.extend(policy.pooled.params_mut());
        params.extend(policy.bias.params_mut());
        params.extend(policy.last.params_mut());
        params.extend(policy.pass.params_mut());
        params.extend(self.value.conv.params_mut());
        params.extend(self.value.hidden.params_mut());
        params.extend(self.value.out.params_mut());
        params.extend(self.value.ownership.params_mut());
        params
    }

    fn norms_mut(&mut self) -> Vec<&mut Norm> {
        let mut norms = Vec::new();
        for block in &mut self.blocks {
            norms.push(&mut block.norm1);
            norms.extend(block.pooled.as_mut().map(|pooled| &mut pooled.norm));
            norms.push(&mut block.norm2);
        }
        norms.push(&mut self.last_norm);
        norms
    }

    /// All running statistics, in a fixed order.
    pub fn statistics_mut(&mut self) -> Vec<&mut Vec<f32>> {
        let norms = self.norms_mut().into_iter();
        norms
            .flat_map(|norm| [&mut norm.mean, &mut norm.variance])
            .collect()
    }

    /// Lets the following training passes average the running statistics anew.
    pub fn restart_statistics(&mut self) {
        self.norms_mut().into_iter().for_each(Norm::restart);
    }

    /// Lets the running statistics move as they did before [`Self::restart_statistics`].
    pub fn resume_statistics(&mut self) {
        self.norms_mut().into_iter().for_each(Norm::resume);
    }
}

impl PoolBias {
    /// What is added to the middle channels of each sample.
    fn forward(
        &mut self,
        groups: &[Group],
        middle: &Planes,
        sums: &Sums,
        set: &dyn Fn(&mut Norm, &Sums),
        workers: &mut Workers,
    ) -> Vec<f32> {
        self.z.fit(self.channels, groups);
        self.a.fit(self.channels, groups);
        planes::first_channels(groups, middle, &mut self.z);
        set(&mut self.norm, sums);
        planes::normalise(groups, &self.norm.line, 0.0, &self.z, &mut self.a, workers);
        self.pool.forward(Pooling::ScaledMax, groups, &self.a);
        widened(&self.dense.forward(&self.pool.rows), middle.channels)
    }

    /// Adds what reaches the middle channels through the pool to their gradient.
    fn backward(
        &mut self,
        groups: &[Group],
        count: usize,
        gradient: &mut Planes,
        workers: &mut Workers,
    ) {
        let rows = narrowed(&planes::sum_rows(groups, gradient), gradient.channels);
        let rows = self.dense.backward(&self.pool.rows, &rows, &rows);
        let mut da = Planes::default();
        zero(&mut da, self.channels, groups);
        self.pool
            .backward(Pooling::ScaledMax, groups, &rows, &mut da);
        let sums = unactivate(groups, &self.norm, &mut da, &self.a, &self.z, workers);
        unnormalise(
            groups,
            &mut self.norm,
            &sums,
            count,
            &mut da,
            &self.z,
            workers,
        );
        planes::add_first_channels(groups, gradient, &da);
    }
}

/// Zeros for `channels` channels.
fn zero(planes: &mut Planes, channels: usize, groups: &[Group]) {
    planes.fit(channels, groups);
    planes.groups.iter_mut().for_each(|group| group.fill(0.0));
}

fn rectify(planes: &mut Planes) {
    for value in planes.groups.iter_mut().flatten() {
        *value = value.max(0.0);
    }
}

fn unrectify(gradient: &mut Planes, output: &Planes) {
    for (gradient, output) in gradient.groups.iter_mut().zip(&output.groups) {
        for (gradient, output) in gradient.iter_mut().zip(output) {
            if *output <= 0.0 {
                *gradient = 0.0;
            }
        }
    }
}

/// A gradient back through the rectifier that made `output` of `norm(z)`, and its sums.
fn unactivate(
    groups: &[Group],
    norm: &Norm,
    gradient: &mut Planes,
    output: &Planes,
    z: &Planes,
    workers: &mut Workers,
) -> Sums {
    unrectify(gradient, output);
    let channels = gradient.channels;
    let parts = planes::each(groups, gradient, z, workers, |board, gradient, z| {
        // The rectifier was undone above: with slope 1 only the sums are taken.
        pointwise::unactivate(board, &norm.standard, 1.0, channels, gradient, z, z)
    });
    planes::total(channels, parts)
}

/// A gradient back through batch norm; adds the norm's own gradients.
fn unnormalise(
    groups: &[Group],
    norm: &mut Norm,
    sums: &Sums,
    count: usize,
    gradient: &mut Planes,
    z: &Planes,
    workers: &mut Workers,
) {
    let (line, by_output) = norm.backward(sums, count);
    planes::each(groups, gradient, z, workers, |board, gradient, z| {
        pointwise::unnormalise(board, &line, &by_output, gradient, z);
    });
}

/// Rows of `channels` numbers padded to whole blocks.
fn widened(rows: &[f32], channels: usize) -> Vec<f32> {
    let mut wide = Vec::with_capacity(rows.len() / channels * padded(channels));
    for row in rows.chunks_exact(channels) {
        wide.extend(row);
        wide.resize(wide.len() + padded(channels) - channels, 0.0);
    }
    wide
}

/// The opposite of [`widened`].
fn narrowed(rows: &[f32], channels: usize) -> Vec<f32> {
    let rows = rows.chunks_exact(padded(channels));
    rows.flat_map(|row| &row[..channels]).copied().collect()
}
