//! Names that follow from content, so that the same thing has the same name on every machine.

use sha2::{Digest, Sha256};

/// The version of the canonical form of a game.
const GAME_FORM: u8 = 1;

/// SHA-256 in hexadecimal digits.
pub fn sha256_hex(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Bytes as hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |nibble: u8| char::from(DIGITS[usize::from(nibble)]);
    bytes
        .iter()
        .flat_map(|byte| [digit(byte >> 4), digit(byte & 15)])
        .collect()
}

/// The bytes of hexadecimal digits; nothing if they are none.
pub fn unhex(text: &str) -> Option<Vec<u8>> {
    if !text.len().is_multiple_of(2) {
        return None;
    }
    let digits: Option<Vec<u8>> = text
        .chars()
        .map(|letter| letter.to_digit(16).map(|digit| digit as u8))
        .collect();
    Some(
        digits?
            .chunks_exact(2)
            .map(|pair| pair[0] << 4 | pair[1])
            .collect(),
    )
}

/// The id of a game: a hash of where it belongs, who played under which settings, its moves and its result. The uploader
/// and the training records are not in it.
pub fn game_id(
    game: &str,
    task: &str,
    networks: &[&str],
    settings_hash: &str,
    moves_and_result: &str,
) -> String {
    let mut hasher = Sha256::new();
    hasher.update([GAME_FORM]);
    // With its length before each part, no two games have the same bytes.
    let mut add = |part: &str| {
        hasher.update((part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    };
    add(game);
    add(task);
    add(&networks.len().to_string());
    networks.iter().for_each(|network| add(network));
    add(settings_hash);
    add(moves_and_result);
    hex(&hasher.finalize())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sha256_of_nothing_is_the_well_known_one() {
        assert_eq!(
            sha256_hex(b""),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        );
    }

    #[test]
    fn digits_come_back_as_bytes() {
        assert_eq!(unhex(&hex(&[0, 1, 0xab, 255])), Some(vec![0, 1, 0xab, 255]));
        assert_eq!(unhex("0g"), None);
        assert_eq!(unhex("0"), None);
    }

    #[test]
    fn every_part_of_a_game_is_in_its_id() {
        let id = |game, task, networks: &[&str], settings, moves| {
            game_id(game, task, networks, settings, moves)
        };
        let ids = [
            id("go", "r/selfplay/1", &["n"], "s", "D4 E5|B+1.5"),
            id("mario", "r/selfplay/1", &["n"], "s", "D4 E5|B+1.5"),
            id("go", "r/selfplay/2", &["n"], "s", "D4 E5|B+1.5"),
            id("go", "r/selfplay/1", &["m"], "s", "D4 E5|B+1.5"),
            id("go", "r/selfplay/1", &["n", ""], "s", "D4 E5|B+1.5"),
            id("go", "r/selfplay/1", &["n"], "t", "D4 E5|B+1.5"),
            id("go", "r/selfplay/1", &["n"], "s", "D4 E5|W+1.5"),
            // The same letters, parted elsewhere.
            id("go", "r/selfplay/1", &["ns"], "", "D4 E5|B+1.5"),
        ];
        for (index, one) in ids.iter().enumerate() {
            assert_eq!(one.len(), 64);
            assert!(!ids[..index].contains(one), "{index}");
        }
    }
}
