//! Number by number over blocked planes, for the few places where no convolution does it on the way.

use net::training::LANES;
use net::training::conv::{Affine, Board, Sums, padded};

/// `out = act(norm(z) + skip)` for whole samples.
pub fn normalise(
    board: Board,
    norm: &Affine,
    slope: f32,
    z: &[f32],
    skip: Option<&[f32]>,
    out: &mut [f32],
) {
    let length = board.points() * LANES;
    let blocks = norm.scale.len() / LANES;
    for (index, (z, out)) in z
        .chunks_exact(length)
        .zip(out.chunks_exact_mut(length))
        .enumerate()
    {
        let first = index % blocks * LANES;
        let scale: &[f32; LANES] = norm.scale[first..].first_chunk().expect("a whole block");
        let shift: &[f32; LANES] = norm.shift[first..].first_chunk().expect("a whole block");
        let (z, _) = z.as_chunks::<LANES>();
        let (out, _) = out.as_chunks_mut::<LANES>();
        match skip {
            Some(skip) => {
                let (skip, _) = skip[index * length..(index + 1) * length].as_chunks::<LANES>();
                for ((z, skip), out) in z.iter().zip(skip).zip(out) {
                    for lane in 0..LANES {
                        let value = z[lane] * scale[lane] + shift[lane] + skip[lane];
                        out[lane] = if value > 0.0 { value } else { slope * value };
                    }
                }
            }
            None => {
                for (z, out) in z.iter().zip(out) {
                    for lane in 0..LANES {
                        let value = z[lane] * scale[lane] + shift[lane];
                        out[lane] = if value > 0.0 { value } else { slope * value };
                    }
                }
            }
        }
    }
}

/// Takes a gradient back through the activation that made `output`, and answers `Σg` and `Σg·x̂` of each channel.
pub fn unactivate(
    board: Board,
    standard: &Affine,
    slope: f32,
    channels: usize,
    gradient: &mut [f32],
    output: &[f32],
    z: &[f32],
) -> Sums {
    let length = board.points() * LANES;
    let blocks = padded(channels) / LANES;
    let mut sums = Sums::new(channels);
    for (index, ((gradient, output), z)) in gradient
        .chunks_exact_mut(length)
        .zip(output.chunks_exact(length))
        .zip(z.chunks_exact(length))
        .enumerate()
    {
        let first = index % blocks * LANES;
        let scale: &[f32; LANES] = standard.scale[first..]
            .first_chunk()
            .expect("a whole block");
        let shift: &[f32; LANES] = standard.shift[first..]
            .first_chunk()
            .expect("a whole block");
        let (gradient, _) = gradient.as_chunks_mut::<LANES>();
        let (output, _) = output.as_chunks::<LANES>();
        let (z, _) = z.as_chunks::<LANES>();
        let (mut sum, mut product) = ([0.0_f32; LANES], [0.0_f32; LANES]);
        for ((gradient, output), z) in gradient.iter_mut().zip(output).zip(z) {
            for lane in 0..LANES {
                let through = if output[lane] > 0.0 {
                    gradient[lane]
                } else {
                    slope * gradient[lane]
                };
                gradient[lane] = through;
                sum[lane] += through;
                product[lane] += through * (z[lane] * scale[lane] + shift[lane]);
            }
        }
        for lane in 0..LANES {
            sums.first[first + lane] += f64::from(sum[lane]);
            sums.second[first + lane] += f64::from(product[lane]);
        }
    }
    sums
}

/// `Σz` and `Σz²` of each channel.
pub fn statistics(board: Board, channels: usize, z: &[f32]) -> Sums {
    let length = board.points() * LANES;
    let blocks = padded(channels) / LANES;
    let mut sums = Sums::new(channels);
    for (index, z) in z.chunks_exact(length).enumerate() {
        let first = index % blocks * LANES;
        let (mut sum, mut square) = ([0.0_f32; LANES], [0.0_f32; LANES]);
        for z in z.as_chunks::<LANES>().0 {
            for lane in 0..LANES {
                sum[lane] += z[lane];
                square[lane] += z[lane] * z[lane];
            }
        }
        for lane in 0..LANES {
            sums.first[first + lane] += f64::from(sum[lane]);
            sums.second[first + lane] += f64::from(square[lane]);
        }
    }
    sums
}

/// `g = by_gradient·g + by_output·z + constant`: a gradient back through batch norm.
pub fn unnormalise(
    board: Board,
    line: &Affine,
    by_output: &[f32],
    gradient: &mut [f32],
    z: &[f32],
) {
    let length = board.points() * LANES;
    let blocks = line.scale.len() / LANES;
    for (index, (gradient, z)) in gradient
        .chunks_exact_mut(length)
        .zip(z.chunks_exact(length))
        .enumerate()
    {
        let first = index % blocks * LANES;
        for (gradient, z) in gradient
            .as_chunks_mut::<LANES>()
            .0
            .iter_mut()
            .zip(z.as_chunks::<LANES>().0)
        {
            for lane in 0..LANES {
                gradient[lane] = line.scale[first + lane] * gradient[lane]
                    + by_output[first + lane] * z[lane]
                    + line.shift[first + lane];
            }
        }
    }
}
