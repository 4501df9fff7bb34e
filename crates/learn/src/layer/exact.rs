//! Plain f64 arithmetic, which gradient checks compare the layers with.

#[cfg(test)]
mod tests;

use net::training::conv::Board;

/// A 3x3 convolution by its definition.
pub(crate) fn convolve(
    x: &[f64],
    w: &[f32],
    board: Board,
    inputs: usize,
    outputs: usize,
) -> Vec<f64> {
    let Board { height, width } = board;
    let samples = x.len() / inputs / board.points();
    let mut z = vec![0.0; samples * outputs * board.points()];
    for (index, z) in z.iter_mut().enumerate() {
        let (plane, point) = (index / board.points(), index % board.points());
        let (sample, output) = (plane / outputs, plane % outputs);
        let (y, x_at) = (point / width, point % width);
        for input in 0..inputs {
            for tap in 0..9 {
                let (from_y, from_x) = (y + tap / 3, x_at + tap % 3);
                if (1..=height).contains(&from_y) && (1..=width).contains(&from_x) {
                    let from =
                        (sample * inputs + input) * board.points() + (from_y - 1) * width + from_x
                            - 1;
                    *z += x[from] * f64::from(w[(output * inputs + input) * 9 + tap]);
                }
            }
        }
    }
    z
}

/// A leaky rectifier.
pub(crate) fn leak(values: &[f64], slope: f32) -> Vec<f64> {
    values
        .iter()
        .map(|&value| {
            if value > 0.0 {
                value
            } else {
                f64::from(slope) * value
            }
        })
        .collect()
}
