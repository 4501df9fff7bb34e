//! The transforms of Winograd's F(4x4, 3x3) and their transposes.
//!
//! Forward: `Y = Aᵀ[(G w Gᵀ) ⊙ (Bᵀ x B)]A`. A tile of 4x4 outputs costs 36 multiplications instead
//! of 144. The backward pass runs the same three maps transposed: `dM = A dY Aᵀ`, then
//! `dV = Uᵀ dM` and `dU = Vᵀ dM` are the matrix products, `dx = B dV Bᵀ` with overlapping tiles added,
//! `dw = Gᵀ dU G`. So the transformed output gradient serves both gradients.
//! Points 0, ±1, ±2 and infinity.

use crate::kernels::lanes::Lanes;

/// Outputs along one side of a tile.
pub(crate) const TILE: usize = 4;
/// Inputs along one side of a tile.
pub(crate) const WINDOW: usize = TILE + 2;
/// Multiplications of a tile.
pub(crate) const POINTS: usize = WINDOW * WINDOW;

/// `Bᵀ d` for one column of six.
#[inline(always)]
pub(crate) fn input<V: Lanes>(d: [V; WINDOW]) -> [V; WINDOW] {
    let two = V::splat(2.0);
    let four = V::splat(4.0);
    let minus_four = V::splat(-4.0);
    let minus_five = V::splat(-5.0);
    let even = minus_four.mul_add(d[2], d[4]);
    let odd = minus_four.mul_add(d[1], d[3]);
    let even_two = d[4].sub(d[2]);
    let odd_two = d[3].sub(d[1]).mul(two);
    [
        four.mul_add(d[0], minus_five.mul_add(d[2], d[4])),
        even.add(odd),
        even.sub(odd),
        even_two.add(odd_two),
        even_two.sub(odd_two),
        four.mul_add(d[1], minus_five.mul_add(d[3], d[5])),
    ]
}

/// `B d` for one column of six: the transpose of [`input`].
#[inline(always)]
pub(crate) fn input_transposed<V: Lanes>(d: [V; WINDOW]) -> [V; WINDOW] {
    let two = V::splat(2.0);
    let four = V::splat(4.0);
    let minus_four = V::splat(-4.0);
    let minus_five = V::splat(-5.0);
    let near_sum = d[1].add(d[2]);
    let near_difference = d[1].sub(d[2]);
    let far_sum = d[3].add(d[4]);
    let far_difference = d[3].sub(d[4]).mul(two);
    [
        four.mul(d[0]),
        minus_four.mul_add(
            near_difference,
            four.mul_add(d[5], V::zero().sub(far_difference)),
        ),
        minus_five.mul_add(d[0], minus_four.mul_add(near_sum, V::zero().sub(far_sum))),
        near_difference.add(minus_five.mul_add(d[5], far_difference)),
        d[0].add(near_sum.add(far_sum)),
        d[5],
    ]
}

/// `Aᵀ m` for one column of six.
#[inline(always)]
pub(crate) fn output<V: Lanes>(m: [V; WINDOW]) -> [V; TILE] {
    let near_sum = m[1].add(m[2]);
    let near_difference = m[1].sub(m[2]);
    let far_sum = m[3].add(m[4]);
    let far_difference = m[3].sub(m[4]);
    [
        m[0].add(near_sum.add(far_sum)),
        V::splat(2.0).mul_add(far_difference, near_difference),
        V::splat(4.0).mul_add(far_sum, near_sum),
        V::splat(8.0).mul_add(far_difference, near_difference.add(m[5])),
    ]
}

/// `A y` for one column of four: the transpose of [`output`].
#[inline(always)]
pub(crate) fn output_transposed<V: Lanes>(y: [V; TILE]) -> [V; WINDOW] {
    let even = y[0].add(y[2]);
    let odd = y[1].add(y[3]);
    let even_far = V::splat(4.0).mul_add(y[2], y[0]);
    let odd_far = V::splat(8.0).mul_add(y[3], V::splat(2.0).mul(y[1]));
    [
        y[0],
        even.add(odd),
        even.sub(odd),
        even_far.add(odd_far),
        even_far.sub(odd_far),
        y[3],
    ]
}

/// `G g` for one column of three weights.
fn weight_column(g: [f32; 3]) -> [f32; WINDOW] {
    let sixth = -1.0 / 6.0;
    let (low, mid, high) = (g[0] / 24.0, g[1] / 12.0, g[2] / 6.0);
    [
        g[0] / 4.0,
        sixth * (g[0] + g[1] + g[2]),
        sixth * (g[0] - g[1] + g[2]),
        low + mid + high,
        low - mid + high,
        g[2],
    ]
}

/// `Gᵀ u` for one column of six: the transpose of [`weight_column`].
fn weight_column_transposed(u: [f32; WINDOW]) -> [f32; 3] {
    let (near, far) = (u[1] + u[2], u[3] + u[4]);
    [
        u[0] / 4.0 - near / 6.0 + far / 24.0,
        (u[2] - u[1]) / 6.0 + (u[3] - u[4]) / 12.0,
        (far - near) / 6.0 + u[5],
    ]
}

/// `G w Gᵀ`: nine weights to thirty-six.
pub(crate) fn weights(w: &[f32; 9]) -> [f32; POINTS] {
    let mut half = [[0.0; 3]; WINDOW];
    for column in 0..3 {
        let transformed = weight_column([w[column], w[3 + column], w[6 + column]]);
        for (row, value) in half.iter_mut().zip(transformed) {
            row[column] = value;
        }
    }
    let mut full = [0.0; POINTS];
    for (row, target) in half.iter().zip(full.chunks_exact_mut(WINDOW)) {
        target.copy_from_slice(&weight_column(*row));
    }
    full
}

/// `Gᵀ U G`: thirty-six gradients to nine.
pub(crate) fn weights_transposed(u: &[f32; POINTS]) -> [f32; 9] {
    let mut half = [[0.0; WINDOW]; 3];
    for column in 0..WINDOW {
        let reduced = weight_column_transposed(std::array::from_fn(|row| u[row * WINDOW + column]));
        for (row, value) in half.iter_mut().zip(reduced) {
            row[column] = value;
        }
    }
    let mut full = [0.0; 9];
    for (row, target) in half.iter().zip(full.chunks_exact_mut(3)) {
        target.copy_from_slice(&weight_column_transposed(*row));
    }
    full
}
