//! Numbers as Leela Zero files spell them.
//!
//! Reading is exact: every spelling gives the nearest f32. Nearly all numbers of a file are a digit, a point and up to
//! fifteen digits more; those are read eight digits at a time, without a branch that depends on how many there are,
//! and end in one division that is itself exact. A file of 23 million numbers then takes a quarter of a second.

use std::io::Write;

/// Powers of ten that an f64 holds exactly.
const EXACT_POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
];
/// Integers up to here are exact in an f64.
const EXACT_INTEGER: u64 = 1 << 53;
/// Decimal digits that always fit a u64.
const MAX_DIGITS: usize = 19;
/// Below this an f32 may be subnormal, where fewer bits are kept.
const SMALLEST_FAST: f64 = 1e-37;
/// The bits an f64 has more than an f32, and their value exactly half way between two f32.
const EXTRA_BITS: u64 = (1 << 29) - 1;
const HALF_WAY: u64 = 1 << 28;

/// Powers of ten that an f32 holds exactly, and the first integer that it may not hold.
const EXACT_POWERS_F32: [f32; 11] = [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10];
const EXACT_INTEGER_F32: u64 = 1 << 24;

/// Calls `put` for every number of a line until it refuses one; what is not a number, or refused, is the error.
pub(super) fn parse_line(line: &[u8], mut put: impl FnMut(f32) -> bool) -> Result<(), &[u8]> {
    let mut at = 0;
    loop {
        while let Some((number, length)) = line[at..].first_chunk().and_then(parse_plain) {
            if !put(number) {
                return Err(&line[at..at + length - 1]);
            }
            at += length;
        }
        let rest = &line[at..];
        let Some(start) = rest.iter().position(|byte| !byte.is_ascii_whitespace()) else {
            return Ok(());
        };
        let rest = &rest[start..];
        let end = rest.iter().position(u8::is_ascii_whitespace);
        let token = &rest[..end.unwrap_or(rest.len())];
        if !parse(token).is_some_and(&mut put) {
            return Err(token);
        }
        // The space after it, too, so that the next number starts right here.
        at = (at + start + token.len() + 1).min(line.len());
    }
}

/// Digits after the point that are read at once, the last place being for the space.
const FRACTION: usize = 16;
/// A sign, a digit, a point and the fraction.
const PLAIN: usize = 3 + FRACTION;
/// Eight times the character `0`, and what takes a byte over 127 unless it is below 10.
const ZEROS: u64 = u64::from_ne_bytes([b'0'; 8]);
const TEN_TO_128: u64 = u64::from_ne_bytes([128 - 10; 8]);
const HIGHEST_BITS: u64 = u64::from_ne_bytes([128; 8]);
/// Powers of ten by which the digit before the point is moved.
const POWERS: [u64; FRACTION] = powers_of_ten();

const fn powers_of_ten() -> [u64; FRACTION] {
    let mut powers = [1; FRACTION];
    let mut index = 1;
    while index < FRACTION {
        powers[index] = powers[index - 1] * 10;
        index += 1;
    }
    powers
}

/// The number and its length, the space after it included, if it is spelled `1.234 ` or `-1.234 `.
#[inline(always)]
fn parse_plain(text: &[u8; PLAIN]) -> Option<(f32, usize)> {
    let negative = usize::from(text[0] == b'-');
    let whole = u64::from(text[negative].wrapping_sub(b'0'));
    let word = |at: usize| {
        let bytes = text[negative + at..].first_chunk();
        u64::from_le_bytes(*bytes.expect("the text has room for a sign")) ^ ZEROS
    };
    let (front, back) = (word(2), word(10));
    // A carry out of a byte that is no digit spoils the bytes above it only, and the lowest is what is looked for.
    let others = |word: u64| (word.wrapping_add(TEN_TO_128) | word) & HIGHEST_BITS;
    let (front_others, back_others) = (others(front), others(back));
    let digits = if front_others != 0 {
        front_others.trailing_zeros() / 8
    } else {
        8 + back_others.trailing_zeros() / 8
    } as usize;
    let well_formed = whole < 10 && text[negative + 1] == b'.' && (1..FRACTION).contains(&digits);
    if !well_formed || text[negative + 2 + digits] != b' ' {
        return None;
    }
    let fraction = u128::from(front) | u128::from(back) << 64;
    let fraction = fraction << (8 * (FRACTION - digits));
    let fraction =
        eight_digits(fraction as u64) * POWERS[8] + eight_digits((fraction >> 64) as u64);
    let mantissa = whole * POWERS[digits] + fraction;
    // An exact integer over an exact power: one division, which rounds once.
    let size = match EXACT_POWERS_F32.get(digits) {
        Some(power) if mantissa < EXACT_INTEGER_F32 => mantissa as f32 / power,
        _ => over_power(mantissa, digits)?,
    };
    let sign = (negative as u32) << 31;
    Some((f32::from_bits(size.to_bits() | sign), negative + digits + 3))
}

/// Eight digits, one in each byte, the first in the lowest: neighbours are joined three times.
#[inline(always)]
fn eight_digits(digits: u64) -> u64 {
    let pairs = (digits * 10 + (digits >> 8)) & 0x00ff_00ff_00ff_00ff;
    let fours = (pairs * 100 + (pairs >> 16)) & 0x0000_ffff_0000_ffff;
    (fours * 10_000 + (fours >> 32)) & 0xffff_ffff
}

/// `mantissa / 10^digits`, unless rounding to f64 and then to f32 may differ from rounding once.
fn over_power(mantissa: u64, digits: usize) -> Option<f32> {
    if mantissa > EXACT_INTEGER {
        return None;
    }
    round(mantissa as f64 / EXACT_POWERS[digits])
}

/// The nearest f32 of a positive number that was rounded to f64, if it surely is the nearest of the number itself.
fn round(number: f64) -> Option<f32> {
    let rounds_twice = number.to_bits() & EXTRA_BITS == HALF_WAY;
    if rounds_twice || (number != 0.0 && number < SMALLEST_FAST) {
        return None;
    }
    Some(number as f32)
}

/// The number that `token` spells, or `None` if it spells none. NaN and infinity count as numbers here.
pub(super) fn parse(token: &[u8]) -> Option<f32> {
    match parse_fast(token) {
        Some(number) => Some(number),
        None => std::str::from_utf8(token).ok()?.parse().ok(),
    }
}

/// `None` for everything that needs the general method, right or wrong.
fn parse_fast(token: &[u8]) -> Option<f32> {
    let (negative, digits) = match token.first()? {
        b'-' => (true, &token[1..]),
        _ => (false, token),
    };
    let mut mantissa = 0u64;
    let mut length = 0;
    let mut fraction = 0i32;
    let mut in_fraction = false;
    let mut exponent = 0i32;
    for (index, &byte) in digits.iter().enumerate() {
        let digit = byte.wrapping_sub(b'0');
        if digit < 10 {
            mantissa = mantissa.wrapping_mul(10).wrapping_add(u64::from(digit));
            length += 1;
            fraction += i32::from(in_fraction);
        } else if byte == b'.' && !in_fraction {
            in_fraction = true;
        } else if byte == b'e' || byte == b'E' {
            exponent = parse_exponent(&digits[index + 1..])?;
            break;
        } else {
            return None;
        }
    }
    let power = exponent - fraction;
    let size = power.unsigned_abs() as usize;
    if length == 0 || length > MAX_DIGITS || mantissa > EXACT_INTEGER || size >= EXACT_POWERS.len()
    {
        return None;
    }
    let mantissa = mantissa as f64;
    let number = if power < 0 {
        mantissa / EXACT_POWERS[size]
    } else {
        mantissa * EXACT_POWERS[size]
    };
    let number = round(number)?;
    Some(if negative { -number } else { number })
}

fn parse_exponent(digits: &[u8]) -> Option<i32> {
    let (negative, digits) = match digits.first()? {
        b'-' => (true, &digits[1..]),
        b'+' => (false, &digits[1..]),
        _ => (false, digits),
    };
    if digits.is_empty() || digits.len() > 3 || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let value = digits
        .iter()
        .fold(0, |value, digit| value * 10 + i32::from(digit - b'0'));
    Some(if negative { -value } else { value })
}

/// Significant digits of the official files.
const DIGITS: i32 = 6;

/// Appends `number` as the official files spell it: six significant digits, `.0` after integers.
pub(super) fn write_official(number: f32, text: &mut Vec<u8>) {
    let mut buffer = [0u8; 24];
    let mut rest = &mut buffer[..];
    write!(rest, "{:.5e}", number.abs()).expect("a buffer of 24 bytes holds 1.23456e-38");
    let unused = rest.len();
    let spelled = &buffer[..buffer.len() - unused];
    let mark = spelled
        .iter()
        .position(|&byte| byte == b'e')
        .expect("scientific notation has an e");
    let exponent = spelled[mark + 1..].iter().filter(|&&byte| byte != b'-');
    let exponent = exponent.fold(0, |value, digit| value * 10 + i32::from(digit - b'0'));
    let exponent = if spelled[mark + 1] == b'-' {
        -exponent
    } else {
        exponent
    };
    let mut digits = [0u8; DIGITS as usize];
    digits[0] = spelled[0];
    digits[1..].copy_from_slice(&spelled[2..mark]);
    let kept = digits
        .iter()
        .rposition(|&digit| digit != b'0')
        .map_or(1, |last| last + 1);

    if number.is_sign_negative() {
        text.push(b'-');
    }
    if !(-4..DIGITS).contains(&exponent) {
        text.push(digits[0]);
        if kept > 1 {
            text.push(b'.');
            text.extend(&digits[1..kept]);
        }
        let sign = if exponent < 0 { '-' } else { '+' };
        write!(text, "e{sign}{:02}", exponent.abs()).expect("writing to memory does not fail");
    } else if exponent < 0 {
        text.extend(b"0.");
        text.extend(std::iter::repeat_n(b'0', (-exponent - 1) as usize));
        text.extend(&digits[..kept]);
    } else {
        let whole = exponent as usize + 1;
        text.extend(&digits[..whole]);
        text.push(b'.');
        match digits.get(whole..kept) {
            Some(decimals) if !decimals.is_empty() => text.extend(decimals),
            _ => text.push(b'0'),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn official(number: f32) -> String {
        let mut text = Vec::new();
        write_official(number, &mut text);
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn six_significant_digits_and_point_zero_after_integers() {
        // What C's printf("%.6g") prints, with ".0" added where no point or exponent is.
        for (number, expected) in [
            (0.0, "0.0"),
            (1.0, "1.0"),
            (-2.0, "-2.0"),
            (0.99999, "0.99999"),
            (0.067_639_3, "0.0676393"),
            (0.000_1, "0.0001"),
            (0.000_08, "8e-05"),
            (-4.110_88e-6, "-4.11088e-06"),
            (123_456.0, "123456.0"),
            (1_234_567.0, "1.23457e+06"),
            (999_999.5, "1e+06"),
            (100.25, "100.25"),
        ] {
            assert_eq!(official(number), expected);
        }
    }

    fn line_of_one(token: &str) -> Option<f32> {
        let mut found = None;
        parse_line(token.as_bytes(), |number| found.replace(number).is_none()).ok()?;
        found
    }

    /// The same number thrice, so that the fast way over a line meets it with text behind it, too.
    fn line_of_three(token: &str) -> Option<Vec<f32>> {
        let mut found = Vec::new();
        let line = format!("{token} {token} {token}  0.5 -0.25 123456789012345678 1");
        let all = parse_line(line.as_bytes(), |number| {
            found.push(number);
            true
        });
        all.ok()?;
        assert_eq!(
            found.split_off(3),
            [0.5, -0.25, 123_456_789_012_345_678.0, 1.0]
        );
        Some(found)
    }

    #[test]
    fn tokens_that_are_no_numbers_are_refused() {
        for token in [
            "",
            "-",
            ".",
            "1.2.3",
            "1e",
            "1e+",
            "0x10",
            "12a",
            "--1",
            "1,5",
            "e5",
            "0.12a4",
            "-0.1-",
            "0.12345678901x",
            "0.1234567\u{b2}",
            ":.5",
            "/.5",
            "0,5",
            "0.1/2",
            "0.1:2",
        ] {
            assert_eq!(parse(token.as_bytes()), None, "{token}");
            assert_eq!(line_of_one(token), None, "{token}");
            assert!(
                token.is_empty() || line_of_three(token).is_none(),
                "{token}"
            );
        }
    }

    proptest! {
        #[test]
        fn reading_agrees_with_the_standard_library(mantissa in 0u64..=u64::MAX, point in 0usize..12, exponent in -45i32..38) {
            let digits = mantissa.to_string();
            let (whole, fraction) = digits.split_at(point.min(digits.len()));
            for text in [format!("{whole}.{fraction}"), format!("-{whole}.{fraction}e{exponent}"), digits.clone()] {
                if whole.is_empty() && fraction.is_empty() { continue; }
                let expected = text.parse::<f32>().ok().map(f32::to_bits);
                prop_assert_eq!(parse(text.as_bytes()).map(f32::to_bits), expected);
                prop_assert_eq!(line_of_one(&text).map(f32::to_bits), expected);
                let thrice = line_of_three(&text).map(|three| three.into_iter().map(f32::to_bits).collect::<Vec<_>>());
                prop_assert_eq!(thrice, expected.map(|bits| vec![bits; 3]));
            }
        }

        /// A digit, a point, any number of digits: what nearly every number of a file looks like.
        #[test]
        fn plain_decimals_agree_with_the_standard_library(text in "-?[0-9]\\.[0-9]{0,20}") {
            let expected = text.parse::<f32>().unwrap().to_bits();
            let thrice: Vec<u32> = line_of_three(&text).unwrap().into_iter().map(f32::to_bits).collect();
            prop_assert_eq!(thrice, vec![expected; 3]);
        }

        #[test]
        fn any_bytes_are_read_or_refused_as_the_standard_library_does(text in "[-+0-9.eE ]{0,40}") {
            let expected: Option<Vec<u32>> = text
                .split_ascii_whitespace()
                .map(|token| token.parse::<f32>().ok().map(f32::to_bits))
                .collect();
            let mut found = Vec::new();
            let read = parse_line(text.as_bytes(), |number| {
                found.push(number.to_bits());
                true
            });
            prop_assert_eq!(read.is_ok().then_some(found), expected);
        }

        #[test]
        fn shortest_spelling_reads_back_exactly(bits in 0u32..0x7f80_0000) {
            let number = f32::from_bits(bits);
            for text in [number.to_string(), format!("{number:e}")] {
                prop_assert_eq!(parse(text.as_bytes()), Some(number));
                prop_assert_eq!(line_of_one(&text), Some(number));
                prop_assert_eq!(line_of_three(&text), Some(vec![number; 3]));
            }
        }

        #[test]
        fn writing_keeps_six_digits(number in -1e7f32..1e7) {
            let back: f32 = official(number).parse().unwrap();
            prop_assert_eq!(line_of_one(&official(number)), Some(back));
            prop_assert!((back - number).abs() <= number.abs() * 5.1e-6);
        }
    }
}
