//! Rows of weights in few bits.

/// How weights are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Precision {
    /// As they are.
    F32,
    /// Half precision: 11 significant bits.
    F16,
    /// -127..=127 times a scale per row.
    Int8,
    /// -15..=15 times a scale per row, eight weights in five bytes.
    Int5,
}

impl Precision {
    /// All of them, from many bits to few; the place is the tag in a file.
    pub const ALL: [Self; 4] = [Self::F32, Self::F16, Self::Int8, Self::Int5];

    /// Bytes that a row of `len` weights takes.
    pub(crate) fn row_bytes(self, len: usize) -> Option<usize> {
        match self {
            Self::F32 => len.checked_mul(4),
            Self::F16 => len.checked_mul(2),
            Self::Int8 => len.checked_add(SCALE_BYTES),
            Self::Int5 => len
                .div_ceil(GROUP)
                .checked_mul(GROUP_BYTES)?
                .checked_add(SCALE_BYTES),
        }
    }
}

const SCALE_BYTES: usize = 4;
/// Weights packed together with 5 bits, and the bytes they take.
const GROUP: usize = 8;
const GROUP_BYTES: usize = 5;
/// The largest integers of the two kinds.
const LARGEST_8: f32 = 127.0;
const LARGEST_5: f32 = 15.0;
/// What is added to a 5-bit integer to make it positive.
const OFFSET_5: i32 = 16;

pub(crate) fn pack_row(row: &[f32], precision: Precision, bytes: &mut Vec<u8>) {
    match precision {
        Precision::F32 => bytes.extend(row.iter().flat_map(|weight| weight.to_le_bytes())),
        Precision::F16 => {
            bytes.extend(row.iter().flat_map(|&weight| to_half(weight).to_le_bytes()))
        }
        Precision::Int8 => {
            let scale = scale_of(row, LARGEST_8, bytes);
            bytes.extend(
                row.iter()
                    .map(|&weight| level(weight, scale, LARGEST_8) as i8 as u8),
            );
        }
        Precision::Int5 => {
            let scale = scale_of(row, LARGEST_5, bytes);
            for group in row.chunks(GROUP) {
                let mut packed = 0u64;
                for (place, &weight) in group.iter().enumerate() {
                    packed |= ((level(weight, scale, LARGEST_5) + OFFSET_5) as u64)
                        << (GROUP_BYTES * place);
                }
                bytes.extend(&packed.to_le_bytes()[..GROUP_BYTES]);
            }
        }
    }
}

/// `bytes` are exactly those of a row of `len`; `row` receives the weights.
pub(crate) fn unpack_row(bytes: &[u8], precision: Precision, len: usize, row: &mut Vec<f32>) {
    match precision {
        Precision::F32 => row.extend(
            bytes
                .as_chunks()
                .0
                .iter()
                .map(|bytes| f32::from_le_bytes(*bytes)),
        ),
        Precision::F16 => row.extend(
            bytes
                .as_chunks()
                .0
                .iter()
                .map(|bytes| from_half(u16::from_le_bytes(*bytes))),
        ),
        Precision::Int8 | Precision::Int5 => {
            let (scale, levels) = bytes.split_at(SCALE_BYTES);
            let scale = f32::from_le_bytes([scale[0], scale[1], scale[2], scale[3]]);
            if precision == Precision::Int8 {
                row.extend(levels.iter().map(|&level| f32::from(level as i8) * scale));
                return;
            }
            let levels = levels.chunks_exact(GROUP_BYTES).flat_map(|group| {
                let packed = group
                    .iter()
                    .rev()
                    .fold(0u64, |packed, &byte| packed << 8 | u64::from(byte));
                (0..GROUP)
                    .map(move |place| (packed >> (GROUP_BYTES * place) & 31) as i32 - OFFSET_5)
            });
            row.extend(levels.take(len).map(|level| level as f32 * scale));
        }
    }
}

/// The scale with which the largest weight of the row becomes the largest integer.
fn scale_of(row: &[f32], largest_level: f32, bytes: &mut Vec<u8>) -> f32 {
    let largest = row
        .iter()
        .fold(0.0, |largest: f32, weight| largest.max(weight.abs()));
    let scale = largest / largest_level;
    bytes.extend(scale.to_le_bytes());
    scale
}

fn level(weight: f32, scale: f32, largest: f32) -> i32 {
    if scale == 0.0 {
        return 0;
    }
    (weight / scale).round_ties_even().clamp(-largest, largest) as i32
}

/// The largest finite half.
const LARGEST_HALF: f32 = 65504.0;
/// Below this a half has fewer than 11 bits, in steps of [`SMALLEST_HALF`].
const SMALLEST_NORMAL_HALF: f32 = 6.103_515_6e-5;
const SMALLEST_HALF: f32 = 5.960_464_5e-8;
/// f32 and half exponents differ by 127 - 15, fractions by 23 - 10 bits.
const EXPONENT_SHIFT: u32 = 112 << 10;
const FRACTION_SHIFT: u32 = 13;

/// The nearest half; what is too large becomes the largest, since networks hold no infinities.
fn to_half(number: f32) -> u16 {
    let sign = (number.to_bits() >> 16) as u16 & 0x8000;
    let size = number.abs();
    if size >= LARGEST_HALF {
        return sign | 0x7bff;
    }
    if size < SMALLEST_NORMAL_HALF {
        return sign | (size / SMALLEST_HALF).round_ties_even() as u16;
    }
    // Round to nearest, ties to even, in integers: a carry moves on to the exponent, which is right.
    let bits = size.to_bits();
    let odd = bits >> FRACTION_SHIFT & 1;
    let rounded = (bits + (1 << (FRACTION_SHIFT - 1)) - 1 + odd) >> FRACTION_SHIFT;
    sign | (rounded - EXPONENT_SHIFT) as u16
}

fn from_half(half: u16) -> f32 {
    let sign = if half & 0x8000 != 0 { -1.0 } else { 1.0 };
    let size = u32::from(half & 0x7fff);
    let magnitude = if size < 0x0400 {
        size as f32 * SMALLEST_HALF
    } else if size < 0x7c00 {
        f32::from_bits((size + EXPONENT_SHIFT) << FRACTION_SHIFT)
    } else {
        f32::NAN
    };
    sign * magnitude
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_half_survives_the_way_to_f32_and_back() {
        for half in 0..0x7c00u16 {
            for half in [half, half | 0x8000] {
                assert_eq!(to_half(from_half(half)), half);
            }
        }
    }

    #[test]
    fn halves_are_what_the_standard_says() {
        for (number, half) in [
            (1.0, 0x3c00),
            (-2.0, 0xc000),
            (0.1, 0x2e66),
            (65504.0, 0x7bff),
            (1e9, 0x7bff),
            (6e-8, 1),
        ] {
            assert_eq!(to_half(number), half, "{number}");
        }
    }

    proptest! {
        #[test]
        fn rounding_to_half_takes_the_nearest(number in -70000.0f32..70000.0) {
            let half = to_half(number);
            let error = (from_half(half) - number).abs();
            for neighbour in [half.wrapping_sub(1), half.wrapping_add(1)] {
                let other = from_half(neighbour);
                if other.is_finite() {
                    prop_assert!(error <= (other - number).abs());
                }
            }
        }

        #[test]
        fn a_row_comes_back_within_half_a_step(row in prop::collection::vec(-3.0f32..3.0, 1..40)) {
            let largest = row.iter().fold(0.0, |largest: f32, weight| largest.max(weight.abs()));
            for (precision, step) in [
                (Precision::F32, 0.0),
                (Precision::F16, 3.0 / 1024.0),
                (Precision::Int8, largest / LARGEST_8),
                (Precision::Int5, largest / LARGEST_5),
            ] {
                let mut bytes = Vec::new();
                pack_row(&row, precision, &mut bytes);
                prop_assert_eq!(Some(bytes.len()), precision.row_bytes(row.len()));
                let mut back = Vec::new();
                unpack_row(&bytes, precision, row.len(), &mut back);
                prop_assert_eq!(back.len(), row.len());
                for (&before, &after) in row.iter().zip(&back) {
                    prop_assert!((before - after).abs() <= step * 0.5001);
                }
            }
        }
    }
}
