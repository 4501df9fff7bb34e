//! Large collections, read a few games at a time.
//!
//! What the pipeline writes has a game a line, so it can be cut into games without being parsed
//! and no more than a handful of them need to be in memory. A file that is written otherwise comes as one piece.

use std::io::{self, BufRead};

/// A stretch of a collection that can be parsed by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The number of its first game in the file, from 1.
    pub first: usize,
    /// The text: one game, or all that follows where games and lines do not go together.
    pub text: Vec<u8>,
}

/// The pieces of a collection, in order.
pub fn pieces<R: BufRead>(input: R) -> Pieces<R> {
    Pieces { input, games: 0 }
}

/// See [`pieces`].
pub struct Pieces<R> {
    input: R,
    games: usize,
}

impl<R: BufRead> Iterator for Pieces<R> {
    type Item = io::Result<Piece>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut text = Vec::new();
        let read = self.read(&mut text);
        match read {
            Ok(()) if text.is_empty() => None,
            Ok(()) => {
                self.games += 1;
                let first = self.games;
                Some(Ok(Piece { first, text }))
            }
            Err(error) => Some(Err(error)),
        }
    }
}

impl<R: BufRead> Pieces<R> {
    fn read(&mut self, text: &mut Vec<u8>) -> io::Result<()> {
        while text.is_empty() {
            if self.input.read_until(b'\n', text)? == 0 {
                return Ok(());
            }
            if text.trim_ascii().is_empty() {
                text.clear();
            }
        }
        if !is_whole_game(text) {
            self.input.read_to_end(text)?;
        }
        Ok(())
    }
}

/// Whether a line is one game from its first parenthesis to its last. In an encoding whose letters
/// contain brackets it may seem not to be, which costs memory and nothing else.
fn is_whole_game(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    if !line.starts_with(b"(;") {
        return false;
    }
    let (mut depth, mut in_value, mut is_escaped) = (0_usize, false, false);
    for (at, &byte) in line.iter().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if in_value => is_escaped = true,
            b'[' => in_value = true,
            b']' => in_value = false,
            b'(' if !in_value => depth += 1,
            b')' if !in_value => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return at + 1 == line.len();
                }
            }
            _ => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(file: &str) -> Vec<(usize, String)> {
        pieces(file.as_bytes())
            .map(|piece| piece.unwrap())
            .map(|piece| (piece.first, String::from_utf8(piece.text).unwrap()))
            .collect()
    }

    #[test]
    fn a_game_a_line_is_a_piece_a_line() {
        let file = "(;A[1](;B[2])(;B[3\\]\\)]))\n\n(;A[(]C[)])\r\n(;A[4])";
        assert_eq!(
            texts(file),
            [
                (1, "(;A[1](;B[2])(;B[3\\]\\)]))\n".to_owned()),
                (2, "(;A[(]C[)])\r\n".to_owned()),
                (3, "(;A[4])".to_owned()),
            ]
        );
    }

    #[test]
    fn what_goes_over_lines_stays_together() {
        for rest in [
            "(;A[1]\n;B[2])\n(;A[3])\n",
            "(;A[1])(;A[2])\n",
            "junk\n(;A[1])",
        ] {
            assert_eq!(texts(rest), [(1, rest.to_owned())]);
            let file = format!("(;A[0])\n{rest}");
            assert_eq!(texts(&file).len(), 2);
            assert_eq!(texts(&file)[1], (2, rest.to_owned()));
        }
    }
}
