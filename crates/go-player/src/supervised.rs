//! Training records from games that others played: each move as if a search had been sure of it.

use go::{
    BoardSize, Color, Game, Move,
    sgf::{GameResult, Tree, WinBy},
};
use rand::{SeedableRng, seq::SliceRandom};
use search::SearchRng;

use crate::{planes::BitPlanes, record::ChunkRecord};

/// Games that share a file.
pub const GAMES_PER_CHUNK: usize = 32;

/// What became of a collection of games.
#[derive(Debug, Default)]
pub struct Supervised {
    /// The records of the games that could be used, a chunk a file.
    pub chunks: Vec<Vec<ChunkRecord>>,
    /// Games that were used.
    pub used: usize,
    /// Games without a winner, of another size, or with a move that is not legal.
    pub skipped: usize,
}

/// Turns games into records, in an order drawn by `seed`.
pub fn from_games(trees: &[Tree], size: BoardSize, seed: u64) -> Supervised {
    let mut order: Vec<usize> = (0..trees.len()).collect();
    order.shuffle(&mut SearchRng::seed_from_u64(seed));
    let games: Vec<Vec<ChunkRecord>> = order
        .into_iter()
        .filter_map(|index| from_game(&trees[index], size))
        .collect();
    Supervised {
        used: games.len(),
        skipped: trees.len() - games.len(),
        chunks: games
            .chunks(GAMES_PER_CHUNK)
            .map(|games| games.concat())
            .collect(),
    }
}

/// The records of one game; `None` if it teaches nothing.
pub fn from_game(tree: &Tree, size: BoardSize) -> Option<Vec<ChunkRecord>> {
    if tree.size().ok()? != size {
        return None;
    }
    let winner = match tree.result() {
        // Who lost on time may have been winning.
        GameResult::Win(_, WinBy::Time) => return None,
        GameResult::Win(winner, _) => winner,
        _ => return None,
    };
    let last = *tree.main_line().last()?;
    let replay = tree.replay(last).ok()?;
    if !replay.irregular.is_empty() {
        return None;
    }
    Some(records_of(&replay.game, winner))
}

/// Plays the game again from its first position and records every move.
fn records_of(finished: &Game, winner: Color) -> Vec<ChunkRecord> {
    let moves: Vec<(Color, Move)> = finished.moves().collect();
    let mut game = finished.clone();
    while game.undo().is_some() {}
    let size = game.size();
    let mut records = Vec::with_capacity(moves.len());
    for (color, mv) in moves {
        let mut probabilities = vec![0.0; size.area() + 1];
        let index = mv.point().map_or(size.area(), |point| size.index(point));
        probabilities[index] = 1.0;
        records.push(ChunkRecord {
            planes: BitPlanes::of(size, color, game.history()),
            to_move: color,
            probabilities,
            won: color == winner,
        });
        if game.play_as(color, mv).is_err() {
            break;
        }
    }
    records
}

#[cfg(test)]
mod tests {
    use super::*;
    use go::sgf;

    fn read(text: &str) -> Supervised {
        let trees = sgf::read_text(text).unwrap();
        from_games(&trees, BoardSize::NINETEEN, 1)
    }

    #[test]
    fn every_move_of_a_decided_game_becomes_a_record() {
        let result = read("(;GM[1]SZ[19]RE[W+R];B[pd];W[dd];B[])");
        assert_eq!((result.used, result.skipped), (1, 0));
        let records = &result.chunks[0];
        assert_eq!(records.len(), 3);
        assert!(!records[0].won && records[1].won && !records[2].won);
        // pd is Q16: column 15, row 15 from the bottom.
        assert_eq!(records[0].probabilities[15 * 19 + 15], 1.0);
        assert_eq!(records[2].probabilities[361], 1.0);
        assert!(records[1].planes.get(8, 15 * 19 + 15));
    }

    #[test]
    fn games_that_teach_nothing_are_skipped() {
        for text in [
            "(;SZ[19]RE[B+T];B[pd])",
            "(;SZ[19]RE[B+Time];B[pd])",
            "(;SZ[19]RE[?];B[pd])",
            "(;SZ[19];B[pd])",
            "(;SZ[9]RE[B+R];B[ee])",
            "(;SZ[19]RE[B+R];B[pd];W[pd])",
        ] {
            let result = read(text);
            assert_eq!((result.used, result.skipped), (0, 1), "{text}");
            assert!(result.chunks.is_empty());
        }
    }

    #[test]
    fn a_full_chunk_is_not_followed_by_an_empty_one() {
        let result = read(&"(;SZ[19]RE[B+R];B[pd])".repeat(GAMES_PER_CHUNK));
        assert_eq!(result.chunks.len(), 1);
        let result = read(&"(;SZ[19]RE[B+R];B[pd])".repeat(GAMES_PER_CHUNK + 1));
        assert_eq!(result.chunks.len(), 2);
    }
}
