//! Numbers as Leela Zero files spell them.
//!
//! Reading is exact: every spelling gives the nearest f32. Most numbers take a path of a few integer steps and one
//! f64 operation that is itself exact, which makes a 240 MB file load in about a second.

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
    while at < line.len() {
        if line[at].is_ascii_whitespace() {
            at += 1;
            continue;
        }
        let start = at;
        let negative = line[at] == b'-';
        at += usize::from(negative);
        let first_digit = at;
        let (mut mantissa, mut point) = (0u64, None);
        while let Some(&byte) = line.get(at) {
            let digit = byte.wrapping_sub(b'0');
            if digit < 10 {
                mantissa = mantissa.wrapping_mul(10).wrapping_add(u64::from(digit));
            } else if byte == b'.' && point.is_none() {
                point = Some(at);
            } else {
                break;
            }
            at += 1;
        }
        let fraction = point.map_or(0, |point| at - point - 1);
        let ends = line.get(at).is_none_or(u8::is_ascii_whitespace);
        let digits = at - first_digit - usize::from(point.is_some());
        // An exact integer over an exact power: one division, which rounds once.
        let simple = ends && (1..=MAX_DIGITS).contains(&digits) && mantissa < EXACT_INTEGER_F32;
        let number = match EXACT_POWERS_F32.get(fraction) {
            Some(power) if simple => {
                let size = mantissa as f32 / power;
                Some(if negative { -size } else { size })
            }
            _ => {
                at += line[at..]
                    .iter()
                    .position(u8::is_ascii_whitespace)
                    .unwrap_or(line.len() - at);
                parse(&line[start..at])
            }
        };
        if !number.is_some_and(&mut put) {
            return Err(&line[start..at]);
        }
    }
    Ok(())
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
    let rounds_twice = number.to_bits() & EXTRA_BITS == HALF_WAY;
    if rounds_twice || (number != 0.0 && number < SMALLEST_FAST) {
        return None;
    }
    let number = number as f32;
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

    #[test]
    fn tokens_that_are_no_numbers_are_refused() {
        for token in [
            "", "-", ".", "1.2.3", "1e", "1e+", "0x10", "12a", "--1", "1,5", "e5",
        ] {
            assert_eq!(parse(token.as_bytes()), None, "{token}");
            assert_eq!(line_of_one(token), None, "{token}");
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
            }
        }

        #[test]
        fn shortest_spelling_reads_back_exactly(bits in 0u32..0x7f80_0000) {
            let number = f32::from_bits(bits);
            for text in [number.to_string(), format!("{number:e}")] {
                prop_assert_eq!(parse(text.as_bytes()), Some(number));
                prop_assert_eq!(line_of_one(&text), Some(number));
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
