//! A batch of samples as one plain buffer, and the threads that share it.

use std::ops::Range;

use net::training::LANES;
use net::training::conv::{Board, Scratch, padded};

/// What one sample looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Planes of a board, blocked by eight channels: `[channel / 8][y][x][8]`, padding channels zero.
    Planes {
        board: Board,
        /// Channels that mean something.
        channels: usize,
    },
    /// A row of numbers, padded with zeros to a multiple of eight.
    Row(usize),
}

impl Shape {
    /// Floats a sample takes in the buffer, padding included.
    pub fn stride(self) -> usize {
        match self {
            Shape::Planes { board, channels } => board.sample(channels),
            Shape::Row(length) => padded(length),
        }
    }

    /// Numbers that mean something.
    pub fn len(self) -> usize {
        match self {
            Shape::Planes { board, channels } => board.points() * channels,
            Shape::Row(length) => length,
        }
    }

    /// True for a sample without numbers.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// Where number `index` (channel by channel, row by row) of a sample sits in the buffer.
    pub fn offset(self, index: usize) -> usize {
        match self {
            Shape::Planes { board, .. } => {
                let (channel, point) = (index / board.points(), index % board.points());
                (channel / LANES * board.points() + point) * LANES + channel % LANES
            }
            Shape::Row(_) => index,
        }
    }
}

/// A batch of samples of one shape.
#[derive(Clone, Debug)]
pub struct Batch {
    /// What one sample looks like.
    pub shape: Shape,
    /// The samples, one after the other.
    pub values: Vec<f32>,
}

impl Batch {
    /// A batch of `samples` zero samples.
    pub fn zeros(shape: Shape, samples: usize) -> Self {
        Self {
            shape,
            values: vec![0.0; samples * shape.stride()],
        }
    }

    /// Number of samples.
    pub fn samples(&self) -> usize {
        self.values.len() / self.shape.stride().max(1)
    }

    /// Makes room for `samples` samples of `shape`; the content is unspecified, padding of a fresh buffer is zero.
    pub fn fit(&mut self, shape: Shape, samples: usize) {
        if self.shape != shape {
            self.shape = shape;
            self.values.clear();
        }
        self.values.resize(samples * shape.stride(), 0.0);
    }

    /// The buffer of one sample.
    pub fn sample(&self, index: usize) -> &[f32] {
        let stride = self.shape.stride();
        &self.values[index * stride..(index + 1) * stride]
    }

    /// The buffer of one sample, to be changed.
    pub fn sample_mut(&mut self, index: usize) -> &mut [f32] {
        let stride = self.shape.stride();
        &mut self.values[index * stride..(index + 1) * stride]
    }

    /// Fills sample `index` from numbers in plain order: channel by channel, row by row.
    ///
    /// # Panics
    /// If there are more or fewer numbers than the shape says.
    pub fn set_plain(&mut self, index: usize, plain: &[f32]) {
        let shape = self.shape;
        assert_eq!(plain.len(), shape.len());
        let sample = self.sample_mut(index);
        match shape {
            Shape::Planes { board, .. } => {
                let points = board.points();
                for (channel, plane) in plain.chunks_exact(points).enumerate() {
                    let block = &mut sample[channel / LANES * points * LANES..][..points * LANES];
                    for (target, &value) in block[channel % LANES..]
                        .iter_mut()
                        .step_by(LANES)
                        .zip(plane)
                    {
                        *target = value;
                    }
                }
            }
            Shape::Row(length) => sample[..length].copy_from_slice(plain),
        }
    }

    /// Sample `index` in plain order.
    pub fn plain(&self, index: usize) -> Vec<f32> {
        let sample = self.sample(index);
        match self.shape {
            Shape::Planes { board, channels } => (0..channels)
                .flat_map(|channel| {
                    let first = self.shape.offset(channel * board.points());
                    sample[first..].iter().step_by(LANES).take(board.points())
                })
                .copied()
                .collect(),
            Shape::Row(length) => sample[..length].to_vec(),
        }
    }

    /// All samples in plain order, one after the other.
    pub fn all_plain(&self) -> Vec<f32> {
        (0..self.samples())
            .flat_map(|index| self.plain(index))
            .collect()
    }
}

impl Default for Batch {
    fn default() -> Self {
        Self::zeros(Shape::Row(0), 0)
    }
}

/// A few threads that each take a fixed share of every batch, so that sums come out the same every time.
pub struct Workers {
    pool: rayon::ThreadPool,
    scratch: Vec<Scratch>,
}

impl Workers {
    /// `threads` threads, at least one.
    ///
    /// # Panics
    /// If the system refuses to start them.
    pub fn new(threads: usize) -> Self {
        let threads = threads.max(1);
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .thread_name(|index| format!("learn-{index}"))
            .build()
            .expect("threads to train with");
        Self {
            pool,
            scratch: (0..threads).map(|_| Scratch::default()).collect(),
        }
    }

    /// Number of threads.
    pub fn count(&self) -> usize {
        self.scratch.len()
    }

    /// The samples of each thread.
    pub fn shares(&self, samples: usize) -> Vec<Range<usize>> {
        let threads = self.count();
        (0..threads)
            .map(|index| index * samples / threads..(index + 1) * samples / threads)
            .collect()
    }

    /// Runs one job a thread and waits for all of them; the answers come in the order of the jobs.
    ///
    /// # Panics
    /// If there are more jobs than threads.
    pub fn each<J: Send, R: Send>(
        &mut self,
        jobs: Vec<J>,
        work: impl Fn(J, &mut Scratch) -> R + Sync,
    ) -> Vec<R> {
        assert!(jobs.len() <= self.scratch.len());
        if jobs.len() == 1 {
            let scratch = &mut self.scratch[0];
            return jobs.into_iter().map(|job| work(job, scratch)).collect();
        }
        let mut answers: Vec<Option<R>> = jobs.iter().map(|_| None).collect();
        let work = &work;
        self.pool.in_place_scope(|scope| {
            for ((job, scratch), answer) in
                jobs.into_iter().zip(&mut self.scratch).zip(&mut answers)
            {
                scope.spawn(move |_| *answer = Some(work(job, scratch)));
            }
        });
        answers
            .into_iter()
            .map(|answer| answer.expect("every job ran"))
            .collect()
    }
}

/// Cuts a buffer of samples into the shares of the threads.
pub fn split<'a>(values: &'a [f32], stride: usize, shares: &[Range<usize>]) -> Vec<&'a [f32]> {
    shares
        .iter()
        .map(|share| &values[share.start * stride..share.end * stride])
        .collect()
}

/// Cuts a buffer of samples into the shares of the threads, to be changed.
pub fn split_mut<'a>(
    mut values: &'a mut [f32],
    stride: usize,
    shares: &[Range<usize>],
) -> Vec<&'a mut [f32]> {
    let mut parts = Vec::with_capacity(shares.len());
    for share in shares {
        let (part, rest) = values.split_at_mut(share.len() * stride);
        parts.push(part);
        values = rest;
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocked_samples_read_back_in_plain_order() {
        let shape = Shape::Planes {
            board: Board::new(3, 5),
            channels: 11,
        };
        let mut batch = Batch::zeros(shape, 2);
        let plain: Vec<f32> = (0..shape.len()).map(|index| index as f32 + 1.0).collect();
        batch.set_plain(1, &plain);
        assert_eq!(batch.plain(1), plain);
        assert!(batch.plain(0).iter().all(|&value| value == 0.0));
        let written = batch.values.iter().filter(|&&value| value != 0.0).count();
        assert_eq!(written, shape.len());
    }

    #[test]
    fn shares_cover_every_sample_once() {
        let workers = Workers::new(3);
        for samples in [0, 1, 2, 3, 7, 64] {
            let shares = workers.shares(samples);
            let covered: Vec<usize> = shares.into_iter().flatten().collect();
            assert_eq!(covered, (0..samples).collect::<Vec<_>>());
        }
    }
}
