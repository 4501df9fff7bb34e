//! One-dimensional Winograd transforms F(m, 3).
//!
//! Correlating m + 2 numbers with 3 weights is, transposed, the product of two polynomials, found by multiplying
//! their values at m + 2 points (Toom and Cook). For points a: the weights become `w0 + w1 a + w2 a²`; the input is
//! weighed with the coefficients of the product of `x - b` over all other points b; the output k is the sum of
//! `a^k / n(a)` times the products, n(a) being the product of `a - b`. A point at infinity takes the leading
//! coefficients. Points in pairs ±a share their even and odd halves, which is what the formulas below exploit.
//!
//! All divisions are in the output transform, so that the weights depend on the points alone and two tile sizes of
//! one family can share them.

use super::lanes::Lanes;
use super::weights::Coefficients;

/// The most points and outputs of a tile.
pub(crate) const MAX_POINTS: usize = 7;
pub(crate) const MAX_OUT: usize = 5;

/// A set of points; smaller tiles of the family use the first few of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Family {
    /// 1, -1, 2, -2, 1/2, -1/2 for tiles of 4, and 0 for tiles of 5.
    Seven,
    /// 0, 1, -1, 2, infinity for tiles of 3, and -2 for tiles of 4.
    Six,
    /// 0, 1, -1, infinity for tiles of 2.
    Four,
}

impl Family {
    /// What the three weights count at each of the points in order.
    pub(crate) fn coefficients(self) -> &'static [Coefficients] {
        match self {
            Self::Seven => {
                const {
                    &[
                        at(1.0),
                        at(-1.0),
                        at(2.0),
                        at(-2.0),
                        at(0.5),
                        at(-0.5),
                        at(0.0),
                    ]
                }
            }
            Self::Six => const { &[at(0.0), at(1.0), at(-1.0), at(2.0), AT_INFINITY, at(-2.0)] },
            Self::Four => const { &[at(0.0), at(1.0), at(-1.0), AT_INFINITY] },
        }
    }
}

const fn at(point: f64) -> Coefficients {
    [1.0, point, point * point]
}

const AT_INFINITY: Coefficients = [0.0, 0.0, 1.0];

/// A tile size within a family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TileKind {
    Seven5,
    Seven4,
    Six4,
    Six3,
    Four2,
}

impl TileKind {
    /// Cells it covers.
    pub(crate) fn out(self) -> usize {
        match self {
            Self::Seven5 => 5,
            Self::Seven4 | Self::Six4 => 4,
            Self::Six3 => 3,
            Self::Four2 => 2,
        }
    }

    /// Points it needs, and cells it reads.
    pub(crate) fn points(self) -> usize {
        self.out() + 2
    }
}

/// The formulas of one tile size.
pub(crate) trait Tile {
    const OUT: usize;
    const POINTS: usize = Self::OUT + 2;
    fn input<L: Lanes>(d: [L; MAX_POINTS]) -> [L; MAX_POINTS];
    fn output<L: Lanes>(p: [L; MAX_POINTS]) -> [L; MAX_OUT];
    /// The transpose of [`input`](Self::input), for gradients.
    fn input_transposed<L: Lanes>(p: [L; MAX_POINTS]) -> [L; MAX_POINTS];
    /// The transpose of [`output`](Self::output), for gradients.
    fn output_transposed<L: Lanes>(y: [L; MAX_OUT]) -> [L; MAX_POINTS];
}

pub(crate) struct Seven5;
pub(crate) struct Seven4;
pub(crate) struct Six4;
pub(crate) struct Six3;
pub(crate) struct Four2;

/// `a * factor + b`.
#[inline(always)]
fn plus<L: Lanes>(b: L, factor: f32, a: L) -> L {
    a.mul_add(L::splat(factor), b)
}

/// `high - (b² + c²) middle + b² c² low`: what the pairs ±b and ±c leave of one half.
#[inline(always)]
fn quartic<L: Lanes>(high: L, middle: L, low: L, sum: f32, product: f32) -> L {
    plus(plus(high, -sum, middle), product, low)
}

/// Sums over b² and products of b² for the two pairs that are not ±1, ±2, ±1/2.
const BESIDE_ONE: (f32, f32) = (4.25, 1.0);
const BESIDE_TWO: (f32, f32) = (1.25, 0.25);
const BESIDE_HALF: (f32, f32) = (5.0, 4.0);

/// At `a` and `-a`: the sum and the difference of what is left of the higher and `a` times the lower half.
#[inline(always)]
fn pair<L: Lanes>(high: [L; 3], low: [L; 3], (sum, product): (f32, f32), a: f32) -> (L, L) {
    let high = quartic(high[0], high[1], high[2], sum, product);
    let low = quartic(low[0], low[1], low[2], sum, product);
    (plus(high, a, low), plus(high, -a, low))
}

/// 1/n at 2 and at 1/2, for tiles of 5 and of 4.
const SCALES_5: (f32, f32) = (1.0 / 90.0, 32.0 / 45.0);
const SCALES_4: (f32, f32) = (1.0 / 45.0, 16.0 / 45.0);

/// Output `power`, from what the three pairs contribute.
#[inline(always)]
fn mix<L: Lanes>(one: L, two: L, half: L, scales: (f32, f32), power: i32) -> L {
    let factor = 2f32.powi(power);
    plus(plus(one, scales.0 * factor, two), scales.1 / factor, half)
}

/// The transpose of the three [`pair`]s: what they add to the higher and to the lower half.
#[inline(always)]
fn unpair<L: Lanes>(p: [L; MAX_POINTS]) -> ([L; 3], [L; 3]) {
    let sums = [p[0].add(p[1]), p[2].add(p[3]), p[4].add(p[5])];
    let differences = [
        p[0].sub(p[1]),
        p[2].sub(p[3]).mul(L::splat(2.0)),
        p[4].sub(p[5]).mul(L::splat(0.5)),
    ];
    (unquartic(sums), unquartic(differences))
}

/// The transpose of the [`quartic`]s of the three pairs.
#[inline(always)]
fn unquartic<L: Lanes>([one, two, half]: [L; 3]) -> [L; 3] {
    let weigh = |of_one: f32, of_two: f32, of_half: f32| {
        plus(plus(one.mul(L::splat(of_one)), of_two, two), of_half, half)
    };
    [
        one.add(two).add(half),
        weigh(-BESIDE_ONE.0, -BESIDE_TWO.0, -BESIDE_HALF.0),
        weigh(BESIDE_ONE.1, BESIDE_TWO.1, BESIDE_HALF.1),
    ]
}

/// The transpose of [`mix`] over outputs of even and of odd power: what they ask of ±1, ±2 and ±1/2.
#[inline(always)]
fn unmix<L: Lanes>(even: [L; 3], odd: [L; 2], scales: (f32, f32)) -> ([L; 3], [L; 3]) {
    let one = L::splat(-2.0 / 9.0);
    let (two, half) = (L::splat(scales.0), L::splat(scales.1));
    (
        [
            even[0].add(even[1]).add(even[2]).mul(one),
            plus(plus(even[0], 4.0, even[1]), 16.0, even[2]).mul(two),
            plus(plus(even[0], 0.25, even[1]), 0.0625, even[2]).mul(half),
        ],
        [
            odd[0].add(odd[1]).mul(one),
            plus(odd[0].add(odd[0]), 8.0, odd[1]).mul(two),
            plus(odd[0].mul(L::splat(0.5)), 0.125, odd[1]).mul(half),
        ],
    )
}

impl Tile for Seven5 {
    const OUT: usize = 5;

    #[inline(always)]
    fn input<L: Lanes>(d: [L; MAX_POINTS]) -> [L; MAX_POINTS] {
        let (high, low) = ([d[6], d[4], d[2]], [d[5], d[3], d[1]]);
        let (one, minus_one) = pair(high, low, BESIDE_ONE, 1.0);
        let (two, minus_two) = pair(high, low, BESIDE_TWO, 2.0);
        let (half, minus_half) = pair(high, low, BESIDE_HALF, 0.5);
        let zero = plus(d[6].sub(d[0]), 5.25, d[2].sub(d[4]));
        [one, minus_one, two, minus_two, half, minus_half, zero]
    }

    #[inline(always)]
    fn output<L: Lanes>(p: [L; MAX_POINTS]) -> [L; MAX_OUT] {
        // 1/n: -2/9 at ±1, 1/90 at ±2, 32/45 at ±1/2, -1 at 0.
        let one = L::splat(-2.0 / 9.0);
        let (sum_one, difference_one) = (p[0].add(p[1]).mul(one), p[0].sub(p[1]).mul(one));
        let (sum_two, difference_two) = (p[2].add(p[3]), p[2].sub(p[3]));
        let (sum_half, difference_half) = (p[4].add(p[5]), p[4].sub(p[5]));
        [
            mix(sum_one.sub(p[6]), sum_two, sum_half, SCALES_5, 0),
            mix(difference_one, difference_two, difference_half, SCALES_5, 1),
            mix(sum_one, sum_two, sum_half, SCALES_5, 2),
            mix(difference_one, difference_two, difference_half, SCALES_5, 3),
            mix(sum_one, sum_two, sum_half, SCALES_5, 4),
        ]
    }

    #[inline(always)]
    fn input_transposed<L: Lanes>(p: [L; MAX_POINTS]) -> [L; MAX_POINTS] {
        let ([d6, d4, d2], [d5, d3, d1]) = unpair(p);
        let zero = p[6];
        [
            L::zero().sub(zero),
            d1,
            plus(d2, 5.25, zero),
            d3,
            plus(d4, -5.25, zero),
            d5,
            d6.add(zero),
        ]
    }

    #[inline(always)]
    fn output_transposed<L: Lanes>(y: [L; MAX_OUT]) -> [L; MAX_POINTS] {
        let (even, odd) = unmix([y[0], y[2], y[4]], [y[1], y[3]], SCALES_5);
        [
            even[0].add(odd[0]),
            even[0].sub(odd[0]),
            even[1].add(odd[1]),
            even[1].sub(odd[1]),
            even[2].add(odd[2]),
            even[2].sub(odd[2]),
            L::zero().sub(y[0]),
        ]
    }
}

impl Tile for Seven4 {
    const OUT: usize = 4;

    #[inline(always)]
    fn input<L: Lanes>(d: [L; MAX_POINTS]) -> [L; MAX_POINTS] {
        let (high, low) = ([d[5], d[3], d[1]], [d[4], d[2], d[0]]);
        let (one, minus_one) = pair(high, low, BESIDE_ONE, 1.0);
        let (two, minus_two) = pair(high, low, BESIDE_TWO, 2.0);
        let (half, minus_half) = pair(high, low, BESIDE_HALF, 0.5);
        [
            one,
            minus_one,
            two,
            minus_two,
            half,
            minus_half,
            L::splat(0.0),
        ]
    }

    #[inline(always)]
    fn output<L: Lanes>(p: [L; MAX_POINTS]) -> [L; MAX_OUT] {
        // 1/n: -2/9 at 1, 1/45 at 2, 16/45 at 1/2, and the opposite at the negative points.
        let one = L::splat(-2.0 / 9.0);
        let (odd_one, even_one) = (p[0].add(p[1]).mul(one), p[0].sub(p[1]).mul(one));
        let (odd_two, even_two) = (p[2].add(p[3]), p[2].sub(p[3]));
        let (odd_half, even_half) = (p[4].add(p[5]), p[4].sub(p[5]));
        [
            mix(even_one, even_two, even_half, SCALES_4, 0),
            mix(odd_one, odd_two, odd_half, SCALES_4, 1),
            mix(even_one, even_two, even_half, SCALES_4, 2),
            mix(odd_one, odd_two, odd_half, SCALES_4, 3),
            L::splat(0.0),
        ]
    }

    #[inline(always)]
    fn input_transposed<L: Lanes>(p: [L; MAX_POINTS]) -> [L; MAX_POINTS] {
        let ([d5, d3, d1], [d4, d2, d0]) = unpair(p);
        [d0, d1, d2, d3, d4, d5, L::zero()]
    }

    #[inline(always)]
    fn output_transposed<L: Lanes>(y: [L; MAX_OUT]) -> [L; MAX_POINTS] {
        let (even, odd) = unmix([y[0], y[2], L::zero()], [y[1], y[3]], SCALES_4);
        [
            odd[0].add(even[0]),
            odd[0].sub(even[0]),
            odd[1].add(even[1]),
            odd[1].sub(even[1]),
            odd[2].add(even[2]),
            odd[2].sub(even[2]),
            L::zero(),
        ]
    }
}

impl Tile for Six4 {
    const OUT: usize = 4;

    #[inline(always)]
    fn input<L: Lanes>(d: [L; MAX_POINTS]) -> [L; MAX_POINTS] {
        let (even_one, odd_one) = (plus(d[4], -4.0, d[2]), plus(d[3], -4.0, d[1]));
        let (even_two, odd_two) = (d[4].sub(d[2]), d[3].sub(d[1]));
        [
            quartic(d[4], d[2], d[0], 5.0, 4.0),
            even_one.add(odd_one),
            even_one.sub(odd_one),
            plus(even_two, 2.0, odd_two),
            quartic(d[5], d[3], d[1], 5.0, 4.0),
            plus(even_two, -2.0, odd_two),
            L::splat(0.0),
        ]
    }

    #[inline(always)]
    fn output<L: Lanes>(p: [L; MAX_POINTS]) -> [L; MAX_OUT] {
        // 1/n: 1/4 at 0, -1/6 at ±1, 1/24 at ±2.
        let one = L::splat(-1.0 / 6.0);
        let (sum_one, difference_one) = (p[1].add(p[2]).mul(one), p[1].sub(p[2]).mul(one));
        let (sum_two, difference_two) = (p[3].add(p[5]), p[3].sub(p[5]));
        [
            plus(plus(sum_one, 1.0 / 24.0, sum_two), 0.25, p[0]),
            plus(difference_one, 2.0 / 24.0, difference_two),
            plus(sum_one, 4.0 / 24.0, sum_two),
            plus(difference_one, 8.0 / 24.0, difference_two).add(p[4]),
            L::splat(0.0),
        ]
    }

    #[inline(always)]
    fn input_transposed<L: Lanes>(p: [L; MAX_POINTS]) -> [L; MAX_POINTS] {
        let (sum_one, difference_one) = (p[1].add(p[2]), p[1].sub(p[2]));
        let sum_two = p[3].add(p[5]);
        let difference_two = p[3].sub(p[5]).mul(L::splat(2.0));
        let four = L::splat(4.0);
        [
            four.mul(p[0]),
            four.mul(p[4].sub(difference_one)).sub(difference_two),
            plus(plus(L::zero().sub(sum_two), -4.0, sum_one), -5.0, p[0]),
            plus(difference_one.add(difference_two), -5.0, p[4]),
            p[0].add(sum_one).add(sum_two),
            p[4],
            L::zero(),
        ]
    }

    #[inline(always)]
    fn output_transposed<L: Lanes>(y: [L; MAX_OUT]) -> [L; MAX_POINTS] {
        let one = L::splat(-1.0 / 6.0);
        let (even_one, odd_one) = (y[0].add(y[2]).mul(one), y[1].add(y[3]).mul(one));
        let two = L::splat(1.0 / 24.0);
        let even_two = plus(y[0], 4.0, y[2]).mul(two);
        let odd_two = plus(y[1].add(y[1]), 8.0, y[3]).mul(two);
        [
            y[0].mul(L::splat(0.25)),
            even_one.add(odd_one),
            even_one.sub(odd_one),
            even_two.add(odd_two),
            y[3],
            even_two.sub(odd_two),
            L::zero(),
        ]
    }
}

impl Tile for Six3 {
    const OUT: usize = 3;

    #[inline(always)]
    fn input<L: Lanes>(d: [L; MAX_POINTS]) -> [L; MAX_POINTS] {
        let three_one = d[3].sub(d[1]);
        let none = L::splat(0.0);
        [
            plus(three_one, -2.0, d[2].sub(d[0])),
            plus(d[3].sub(d[2]), -2.0, d[1]),
            plus(plus(d[3], -3.0, d[2]), 2.0, d[1]),
            three_one,
            plus(d[4].sub(d[2]), -2.0, three_one),
            none,
            none,
        ]
    }

    #[inline(always)]
    fn output<L: Lanes>(p: [L; MAX_POINTS]) -> [L; MAX_OUT] {
        // 1/n: 1/2 at 0, -1/2 at 1, -1/6 at -1, 1/6 at 2.
        let (half, sixth) = (L::splat(0.5), L::splat(1.0 / 6.0));
        let (one, minus_one, two) = (p[1].mul(half), p[2].mul(sixth), p[3].mul(sixth));
        let none = L::splat(0.0);
        [
            plus(two.sub(one).sub(minus_one), 0.5, p[0]),
            plus(minus_one.sub(one), 2.0, two),
            plus(p[4].sub(one).sub(minus_one), 4.0, two),
            none,
            none,
        ]
    }

    #[inline(always)]
    fn input_transposed<L: Lanes>(p: [L; MAX_POINTS]) -> [L; MAX_POINTS] {
        let none = L::zero();
        let sum = p[0].add(p[1]).add(p[2]).add(p[3]);
        [
            p[0].add(p[0]),
            plus(none.sub(p[0].add(p[3])), 2.0, p[2].sub(p[1]).add(p[4])),
            plus(none.sub(p[1].add(p[4])), -2.0, p[0]).sub(p[2].mul(L::splat(3.0))),
            plus(sum, -2.0, p[4]),
            p[4],
            none,
            none,
        ]
    }

    #[inline(always)]
    fn output_transposed<L: Lanes>(y: [L; MAX_OUT]) -> [L; MAX_POINTS] {
        let (half, sixth) = (L::splat(0.5), L::splat(1.0 / 6.0));
        let outer = y[0].add(y[2]);
        let none = L::zero();
        [
            y[0].mul(half),
            none.sub(outer.add(y[1])).mul(half),
            y[1].sub(outer).mul(sixth),
            plus(plus(y[0], 2.0, y[1]), 4.0, y[2]).mul(sixth),
            y[2],
            none,
            none,
        ]
    }
}

impl Tile for Four2 {
    const OUT: usize = 2;

    #[inline(always)]
    fn input<L: Lanes>(d: [L; MAX_POINTS]) -> [L; MAX_POINTS] {
        let none = L::splat(0.0);
        [
            d[2].sub(d[0]),
            d[2].add(d[1]),
            d[2].sub(d[1]),
            d[3].sub(d[1]),
            none,
            none,
            none,
        ]
    }

    #[inline(always)]
    fn output<L: Lanes>(p: [L; MAX_POINTS]) -> [L; MAX_OUT] {
        // 1/n: -1 at 0, 1/2 at ±1.
        let half = L::splat(0.5);
        let none = L::splat(0.0);
        let (one, minus_one) = (p[1].mul(half), p[2].mul(half));
        [
            one.add(minus_one).sub(p[0]),
            one.sub(minus_one).add(p[3]),
            none,
            none,
            none,
        ]
    }

    #[inline(always)]
    fn input_transposed<L: Lanes>(p: [L; MAX_POINTS]) -> [L; MAX_POINTS] {
        let none = L::zero();
        [
            none.sub(p[0]),
            p[1].sub(p[2]).sub(p[3]),
            p[0].add(p[1]).add(p[2]),
            p[3],
            none,
            none,
            none,
        ]
    }

    #[inline(always)]
    fn output_transposed<L: Lanes>(y: [L; MAX_OUT]) -> [L; MAX_POINTS] {
        let half = L::splat(0.5);
        let none = L::zero();
        [
            none.sub(y[0]),
            y[0].add(y[1]).mul(half),
            y[0].sub(y[1]).mul(half),
            y[1],
            none,
            none,
            none,
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::lanes::Portable;

    fn first(lanes: Portable) -> f64 {
        let mut numbers = [0.0; Portable::WIDTH];
        lanes.write(&mut numbers);
        f64::from(numbers[0])
    }

    /// The matrix of a linear map, `[output][input]`.
    fn matrix<const I: usize, const O: usize>(
        map: impl Fn([Portable; I]) -> [Portable; O],
    ) -> [[f64; I]; O] {
        let mut matrix = [[0.0; I]; O];
        for input in 0..I {
            let mut unit = [Portable::zero(); I];
            unit[input] = Portable::splat(1.0);
            for (row, output) in matrix.iter_mut().zip(map(unit)) {
                row[input] = first(output);
            }
        }
        matrix
    }

    fn check<T: Tile>(name: &str) {
        let input = matrix(T::input::<Portable>);
        let transposed = matrix(T::input_transposed::<Portable>);
        for i in 0..T::POINTS {
            for j in 0..T::POINTS {
                let (a, b) = (input[i][j], transposed[j][i]);
                assert!((a - b).abs() < 1e-6, "{name} input {i} {j}: {a} {b}");
            }
        }
        let output = matrix(T::output::<Portable>);
        let transposed = matrix(T::output_transposed::<Portable>);
        for i in 0..T::OUT {
            for j in 0..T::POINTS {
                let (a, b) = (output[i][j], transposed[j][i]);
                assert!((a - b).abs() < 1e-6, "{name} output {i} {j}: {a} {b}");
            }
        }
    }

    #[test]
    fn gradients_use_the_transposes_of_the_transforms() {
        check::<Seven5>("F(5,3)");
        check::<Seven4>("F(4,3) with the points of F(5,3)");
        check::<Six4>("F(4,3)");
        check::<Six3>("F(3,3)");
        check::<Four2>("F(2,3)");
    }
}
