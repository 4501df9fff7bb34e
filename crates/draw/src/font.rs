//! A small font of five by seven dots, for pictures that are made of pixels.

/// Dots of a letter, across and down.
pub(crate) const WIDTH: usize = 5;
pub(crate) const HEIGHT: usize = 7;
/// From one letter to the next, in dots.
pub(crate) const ADVANCE: usize = WIDTH + 1;

/// Whether a letter has a dot at column `x`, row `y` from the top.
pub(crate) fn has_dot(letter: char, x: usize, y: usize) -> bool {
    dots(letter) >> (WIDTH * HEIGHT - 1 - y * WIDTH - x) & 1 == 1
}

/// The dots of a letter, row by row from the highest of 35 bits; a letter that is missing is a box.
fn dots(letter: char) -> u64 {
    match letter {
        ' ' => 0,
        '!' => 0x1_0842_1004,
        '"' => 0x2_9400_0000,
        '#' => 0x2_95f5_7d4a,
        '%' => 0x6_7222_2273,
        '&' => 0x3_2544_564d,
        '\'' => 0x1_0880_0000,
        '(' => 0x0_8884_2082,
        ')' => 0x2_0821_0888,
        '*' => 0x0_2aef_baa0,
        '+' => 0x0_084f_9080,
        ',' => 0x0_0000_3088,
        '-' => 0x0_000f_8000,
        '.' => 0x0_0000_018c,
        '/' => 0x0_4222_2210,
        '0' => 0x3_a33a_e62e,
        '1' => 0x1_1842_108e,
        '2' => 0x3_a213_221f,
        '3' => 0x3_a213_062e,
        '4' => 0x0_8ca9_7c42,
        '5' => 0x7_e1e0_862e,
        '6' => 0x3_a10f_462e,
        '7' => 0x7_c222_1108,
        '8' => 0x3_a317_462e,
        '9' => 0x3_a317_842e,
        ':' => 0x0_18c0_3180,
        ';' => 0x0_18c0_3088,
        '<' => 0x0_8888_2082,
        '=' => 0x0_01f0_7c00,
        '>' => 0x2_0820_8888,
        '?' => 0x3_a211_1004,
        '@' => 0x3_a37a_de0e,
        'A' => 0x3_a31f_c631,
        'B' => 0x7_a31f_463e,
        'C' => 0x3_a308_422e,
        'D' => 0x7_a318_c63e,
        'E' => 0x7_e10f_421f,
        'F' => 0x7_e10f_4210,
        'G' => 0x3_a30b_c62e,
        'H' => 0x4_631f_c631,
        'I' => 0x3_8842_108e,
        'J' => 0x1_c421_0a4c,
        'K' => 0x4_654c_5251,
        'L' => 0x4_2108_421f,
        'M' => 0x4_775a_c631,
        'N' => 0x4_739a_ce71,
        'O' => 0x3_a318_c62e,
        'P' => 0x7_a31f_4210,
        'Q' => 0x3_a318_d64d,
        'R' => 0x7_a31f_5251,
        'S' => 0x3_e107_043e,
        'T' => 0x7_c842_1084,
        'U' => 0x4_6318_c62e,
        'V' => 0x4_6318_a944,
        'W' => 0x4_631a_d771,
        'X' => 0x4_62a2_2a31,
        'Y' => 0x4_62a2_1084,
        'Z' => 0x7_c222_221f,
        '[' => 0x3_9084_210e,
        ']' => 0x3_8421_084e,
        '_' => 0x0_0000_001f,
        'a' => 0x0_00e0_be2f,
        'b' => 0x4_21e8_c63e,
        'c' => 0x0_00e8_420e,
        'd' => 0x0_42f8_c62f,
        'e' => 0x0_00e8_fe0e,
        'f' => 0x1_91e4_2108,
        'g' => 0x0_1f18_bc2e,
        'h' => 0x4_21e8_c631,
        'i' => 0x1_00c2_108e,
        'j' => 0x0_8061_0a4c,
        'k' => 0x4_212a_6292,
        'l' => 0x3_0842_108e,
        'm' => 0x0_01aa_d6b1,
        'n' => 0x0_01e8_c631,
        'o' => 0x0_00e8_c62e,
        'p' => 0x0_3d18_fa10,
        'q' => 0x0_1f18_bc21,
        'r' => 0x0_016c_4210,
        's' => 0x0_00f8_383e,
        't' => 0x2_11e4_2106,
        'u' => 0x0_0118_c62f,
        'v' => 0x0_0118_c544,
        'w' => 0x0_011a_d6aa,
        'x' => 0x0_0115_1151,
        'y' => 0x0_2317_842e,
        'z' => 0x0_01f1_111f,
        _ => 0x7_e318_c63f,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_look_as_they_should() {
        let rows = |letter: char| -> Vec<String> {
            let row = |y| (0..WIDTH).map(move |x| if has_dot(letter, x, y) { '#' } else { '.' });
            (0..HEIGHT).map(|y| row(y).collect()).collect()
        };
        assert_eq!(rows('T')[1..], ["..#.."; 6]);
        assert_eq!(rows('L')[6], "#####");
        assert_eq!(rows('7')[0], "#####");
        assert_eq!(rows('\u{5929}')[3], "#...#");
    }

    #[test]
    fn no_two_letters_look_alike() {
        let letters: Vec<char> = (' '..='~')
            .filter(|&letter| dots(letter) != dots('~'))
            .collect();
        let mut shapes: Vec<u64> = letters.iter().map(|&letter| dots(letter)).collect();
        shapes.sort_unstable();
        shapes.dedup();
        assert_eq!(shapes.len(), letters.len());
        assert!(
            ('0'..='9')
                .chain('A'..='Z')
                .chain('a'..='z')
                .all(|letter| letters.contains(&letter))
        );
    }
}
