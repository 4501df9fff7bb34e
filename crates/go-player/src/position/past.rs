//! The boards that stood before a position.

use go::{Board, BoardSize, Color, Game, KoRule, Move, Point, Stones, situation};

/// A board of the past.
#[derive(Clone, Copy, Debug)]
pub struct PastBoard {
    /// The stones on it.
    pub stones: Stones,
    /// The hash of the stones.
    pub hash: u64,
    /// The point that a ko forbade then.
    pub ko: Option<Point>,
}

impl PastBoard {
    /// The board itself, set up again.
    pub fn board(&self, size: BoardSize) -> Board {
        let (black, white) = (self.stones.of(Color::Black), self.stones.of(Color::White));
        let mut board =
            Board::with_stones(size, black, white).expect("these stones stood on a board");
        board.set_ko(self.ko);
        board
    }

    pub(super) fn of(board: &Board) -> PastBoard {
        PastBoard {
            stones: *board.all_stones(),
            hash: board.hash(),
            ko: board.ko_point(),
        }
    }
}

/// Every board of a game, oldest first, by playing it again.
pub(super) fn boards_of(game: &Game) -> Vec<PastBoard> {
    let anchor = &game.positions()[0];
    let (black, white) = (anchor.of(Color::Black), anchor.of(Color::White));
    let Ok(mut board) = Board::with_stones(game.size(), black, white) else {
        // A game's first position stood on a board, so this does not happen.
        return vec![PastBoard::of(game.board())];
    };
    let mut boards = vec![PastBoard::of(&board)];
    for (color, mv) in game.moves() {
        let _ = match mv {
            Move::Play(point) => board.play(point, color),
            Move::Pass => board.pass(),
        };
        boards.push(PastBoard::of(&board));
    }
    boards
}

/// What superko compares: the stones, and under situational superko the side to move.
pub(super) fn repetition(ko: KoRule, hash: u64, to_move: Color) -> u64 {
    match ko {
        KoRule::Simple | KoRule::Positional => hash,
        KoRule::Situational => situation(hash, to_move),
    }
}
