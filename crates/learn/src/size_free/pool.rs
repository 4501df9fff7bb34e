//! Global pooling: a board's planes as a few numbers a channel, whatever its size.

use net::training::LANES;
use net::training::conv::padded;

use super::planes::{Group, Planes};

/// What is taken of every channel besides its mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pooling {
    /// The mean times `(s - 14) / 10`, and the maximum: what a trunk or a policy reads.
    ScaledMax,
    /// The mean times `(s - 14) / 10`, and times `(s - 14)² / 100 - 0.1`: what a value reads.
    ScaledSquared,
}

/// Numbers that come of one channel.
pub(super) const NUMBERS: usize = 3;

/// A board's factors of the second and the third number; s is the root of its area.
fn factors(group: &Group) -> (f32, f32) {
    let off = (group.board.points() as f64).sqrt() - 14.0;
    ((off * 0.1) as f32, (off * off * 0.01 - 0.1) as f32)
}

/// Pools of the last forward pass.
#[derive(Clone, Debug, Default)]
pub(super) struct Pool {
    /// All means, all scaled means, all thirds: `3·channels` numbers a sample.
    pub(super) rows: Vec<f32>,
    /// Where each maximum is, in its sample.
    origin: Vec<u32>,
}

impl Pool {
    pub(super) fn forward(&mut self, pooling: Pooling, groups: &[Group], x: &Planes) {
        let (channels, wide) = (x.channels, padded(x.channels));
        self.rows.clear();
        self.origin.clear();
        for (group, buffer) in groups.iter().zip(&x.groups) {
            let points = group.board.points();
            let (scaled, squared) = factors(group);
            for sample in buffer.chunks_exact(group.board.sample(channels)) {
                let mut sum = vec![0.0_f32; wide];
                let mut most = vec![f32::NEG_INFINITY; wide];
                let mut place = vec![0_u32; wide];
                for (block, numbers) in sample.chunks_exact(points * LANES).enumerate() {
                    let first = block * LANES;
                    for (point, numbers) in numbers.as_chunks::<LANES>().0.iter().enumerate() {
                        for lane in 0..LANES {
                            sum[first + lane] += numbers[lane];
                            if numbers[lane] > most[first + lane] {
                                most[first + lane] = numbers[lane];
                                place[first + lane] =
                                    ((block * points + point) * LANES + lane) as u32;
                            }
                        }
                    }
                }
                let mean = |channel: usize| sum[channel] / points as f32;
                self.rows.extend((0..channels).map(mean));
                self.rows
                    .extend((0..channels).map(|channel| mean(channel) * scaled));
                match pooling {
                    Pooling::ScaledMax => self.rows.extend(&most[..channels]),
                    Pooling::ScaledSquared => {
                        self.rows
                            .extend((0..channels).map(|channel| mean(channel) * squared));
                    }
                }
                self.origin.extend(&place[..channels]);
            }
        }
    }

    /// Adds the gradient of the planes that were pooled to `target`, from that of the rows.
    pub(super) fn backward(
        &self,
        pooling: Pooling,
        groups: &[Group],
        gradient: &[f32],
        target: &mut Planes,
    ) {
        let channels = target.channels;
        let mut rows = gradient.chunks_exact(NUMBERS * channels);
        let mut origins = self.origin.chunks_exact(channels);
        for (group, buffer) in groups.iter().zip(&mut target.groups) {
            let points = group.board.points();
            let (scaled, squared) = factors(group);
            for sample in buffer.chunks_exact_mut(group.board.sample(channels)) {
                let row = rows.next().expect("a row for every sample");
                let origin = origins.next().expect("a row for every sample");
                let (means, rest) = row.split_at(channels);
                let (seconds, thirds) = rest.split_at(channels);
                let mut share = vec![0.0_f32; padded(channels)];
                for channel in 0..channels {
                    let third = match pooling {
                        Pooling::ScaledMax => 0.0,
                        Pooling::ScaledSquared => squared * thirds[channel],
                    };
                    share[channel] =
                        (means[channel] + scaled * seconds[channel] + third) / points as f32;
                }
                for (block, numbers) in sample.chunks_exact_mut(points * LANES).enumerate() {
                    let share: &[f32; LANES] =
                        share[block * LANES..].first_chunk().expect("a whole block");
                    for numbers in numbers.as_chunks_mut::<LANES>().0 {
                        for lane in 0..LANES {
                            numbers[lane] += share[lane];
                        }
                    }
                }
                if pooling == Pooling::ScaledMax {
                    for (&origin, third) in origin.iter().zip(thirds) {
                        sample[origin as usize] += third;
                    }
                }
            }
        }
    }
}
