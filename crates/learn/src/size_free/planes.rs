//! Planes of several board sizes in one batch.
//!
//! Samples of one size form a group with a buffer of its own, so that no point is computed that is not on a board. Batch
//! norm sums over all groups: every size is normalised alike, in training as when playing.

use net::training::LANES;
use net::training::conv::{Affine, Board, Sums, padded};

use crate::batch::{Workers, split, split_mut};
use crate::layer::pointwise;

/// Samples of one board size inside a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Group {
    pub board: Board,
    /// How many samples there are of it.
    pub samples: usize,
}

/// Channels of all samples: a blocked buffer for each group, see [`Shape::Planes`](crate::batch::Shape::Planes).
#[derive(Clone, Debug, Default)]
pub struct Planes {
    /// Channels that mean something.
    pub channels: usize,
    /// The buffer of each group.
    pub groups: Vec<Vec<f32>>,
}

impl Planes {
    /// Room for `channels` channels of these groups; what was there is lost, and padding is zero.
    pub fn fit(&mut self, channels: usize, groups: &[Group]) {
        if self.channels != channels {
            self.groups.clear();
            self.channels = channels;
        }
        self.groups.resize_with(groups.len(), Vec::new);
        for (buffer, group) in self.groups.iter_mut().zip(groups) {
            let length = group.samples * group.board.sample(channels);
            if buffer.len() != length {
                buffer.clear();
                buffer.resize(length, 0.0);
            }
        }
    }
}

/// Points of all groups together: the count of a batch norm.
pub(super) fn points(groups: &[Group]) -> usize {
    groups
        .iter()
        .map(|group| group.samples * group.board.points())
        .sum()
}

/// Runs `work` on the shares of every group of one changed and one read buffer, and adds up what it returns.
pub(super) fn each<R: Send>(
    groups: &[Group],
    changed: &mut Planes,
    read: &Planes,
    workers: &mut Workers,
    work: impl Fn(Board, &mut [f32], &[f32]) -> R + Sync,
) -> Vec<R> {
    let (wide, narrow) = (changed.channels, read.channels);
    let mut all = Vec::new();
    for ((group, changed), read) in groups.iter().zip(&mut changed.groups).zip(&read.groups) {
        let board = group.board;
        let shares = workers.shares(group.samples);
        let jobs = split_mut(changed, board.sample(wide), &shares)
            .into_iter()
            .zip(split(read, board.sample(narrow), &shares))
            .collect();
        all.extend(workers.each(jobs, |(changed, read), _| work(board, changed, read)));
    }
    all
}

/// All sums together.
pub(super) fn total(channels: usize, parts: Vec<Sums>) -> Sums {
    let mut all = Sums::new(channels);
    parts.iter().for_each(|part| all.add(part));
    all
}

/// `x += d`, and the sums of the result.
pub(super) fn add(groups: &[Group], x: &mut Planes, d: &Planes, workers: &mut Workers) -> Sums {
    let channels = x.channels;
    let parts = each(groups, x, d, workers, |board, x, d| {
        x.iter_mut().zip(d).for_each(|(x, d)| *x += d);
        pointwise::statistics(board, channels, x)
    });
    total(channels, parts)
}

/// Adds a number a channel to all points of each sample; `rows` has `padded(channels)` numbers a sample, group after
/// group. Returns the sums of the result.
pub(super) fn add_rows(groups: &[Group], x: &mut Planes, rows: &[f32]) -> Sums {
    let (channels, wide) = (x.channels, padded(x.channels));
    let mut sums = Sums::new(channels);
    let mut rows = rows.chunks_exact(wide);
    for (group, x) in groups.iter().zip(&mut x.groups) {
        let length = group.board.points() * LANES;
        for sample in x.chunks_exact_mut(group.board.sample(channels)) {
            let row = rows.next().expect("a row for every sample");
            for (block, addend) in sample
                .chunks_exact_mut(length)
                .zip(row.as_chunks::<LANES>().0)
            {
                for point in block.as_chunks_mut::<LANES>().0 {
                    for lane in 0..LANES {
                        point[lane] += addend[lane];
                    }
                }
            }
        }
        sums.add(&pointwise::statistics(group.board, channels, x));
    }
    sums
}

/// The sum of each channel over the points of each sample: `padded(channels)` numbers a sample.
pub(super) fn sum_rows(groups: &[Group], x: &Planes) -> Vec<f32> {
    let mut rows = Vec::new();
    for (group, x) in groups.iter().zip(&x.groups) {
        let length = group.board.points() * LANES;
        for block in x.chunks_exact(length) {
            let mut sum = [0.0_f32; LANES];
            for point in block.as_chunks::<LANES>().0 {
                for lane in 0..LANES {
                    sum[lane] += point[lane];
                }
            }
            rows.extend(sum);
        }
    }
    rows
}

/// `act(scale·z + shift)` of all groups.
pub(super) fn normalise(
    groups: &[Group],
    line: &Affine,
    slope: f32,
    z: &Planes,
    out: &mut Planes,
    workers: &mut Workers,
) {
    each(groups, out, z, workers, |board, out, z| {
        pointwise::normalise(board, line, slope, z, None, out);
    });
}

/// The first channels of each sample: whole blocks, so that they lie together.
pub(super) fn first_channels(groups: &[Group], x: &Planes, out: &mut Planes) {
    for ((group, x), out) in groups.iter().zip(&x.groups).zip(&mut out.groups) {
        let (wide, narrow) = (
            x.len() / group.samples.max(1),
            out.len() / group.samples.max(1),
        );
        for (x, out) in x.chunks_exact(wide).zip(out.chunks_exact_mut(narrow)) {
            out.copy_from_slice(&x[..narrow]);
        }
    }
}

/// Adds to the first channels of each sample.
pub(super) fn add_first_channels(groups: &[Group], x: &mut Planes, more: &Planes) {
    for ((group, x), more) in groups.iter().zip(&mut x.groups).zip(&more.groups) {
        let (wide, narrow) = (
            x.len() / group.samples.max(1),
            more.len() / group.samples.max(1),
        );
        for (x, more) in x.chunks_exact_mut(wide).zip(more.chunks_exact(narrow)) {
            x[..narrow]
                .iter_mut()
                .zip(more)
                .for_each(|(x, more)| *x += more);
        }
    }
}
