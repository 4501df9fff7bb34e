//! Nets against their definition: the same question with every reply on the board tried.

mod common;

use common::random_board;
use go::{Board, Color, First, GetaReader, LadderReader, LadderVerdict, Point, sgf};
use proptest::prelude::*;

/// Net moves in a row, here and in the reader that is tested.
const NET_MOVES: usize = 2;
/// More than any reading of these tests needs, so that no answer is "unknown".
const NODES: usize = 2_000_000;

/// The definition without any choice of replies. The attacker's candidates are those of the
/// reader: which net moves it looks for is part of the question.
struct Literal {
    ladders: LadderReader,
    /// Replies tried so far; past the limit the question is left alone.
    replies: usize,
}

impl Literal {
    const MOST_REPLIES: usize = 100_000;

    fn works(&mut self, board: &mut Board, prey: Point, net_move: Point, moves: usize) -> bool {
        let defender = board.stone(prey).unwrap();
        if !board.is_legal(net_move, defender.opponent()) {
            return false;
        }
        let undo = board.play(net_move, defender.opponent());
        let works = self.holds(board, prey, defender, moves);
        board.undo(undo);
        works
    }

    fn holds(&mut self, board: &mut Board, prey: Point, defender: Color, moves: usize) -> bool {
        let pass = board.pass();
        let threat = self.ladders.verdict(board, prey, First::Attacker);
        board.undo(pass);
        threat == LadderVerdict::Captured
            && board.empty_set().iter().all(|reply| {
                if board.is_suicide(reply, defender) {
                    return true;
                }
                self.replies += 1;
                let undo = board.play(reply, defender);
                let captured = self.captured(board, prey, moves - 1);
                board.undo(undo);
                captured
            })
    }

    fn captured(&mut self, board: &mut Board, prey: Point, moves: usize) -> bool {
        if self.ladders.verdict(board, prey, First::Attacker) == LadderVerdict::Captured {
            return true;
        }
        moves > 0
            && self.replies < Self::MOST_REPLIES
            && GetaReader::candidates(board, prey)
                .into_iter()
                .any(|candidate| self.works(board, prey, candidate, moves))
    }
}

/// Compares every net move on the board with the definition. Returns how many were claimed.
fn compare(board: &mut Board) -> usize {
    let mut reader = GetaReader::new(NET_MOVES, NODES);
    let heads: Vec<Point> = board
        .size()
        .points()
        .filter(|&point| board.stone(point).is_some() && board.block(point) == point)
        .collect();
    let mut claimed = 0;
    for prey in heads {
        let reading = reader.read(board, prey);
        assert_ne!(reading.verdict, LadderVerdict::Unknown, "{board:?}");
        let ladders = LadderReader::default().capturing_moves(board, prey).0;
        for candidate in GetaReader::candidates(board, prey) {
            if ladders.contains(&candidate) {
                continue;
            }
            let mut literal = Literal {
                ladders: LadderReader::default(),
                replies: 0,
            };
            let expected = literal.works(board, prey, candidate, NET_MOVES);
            if literal.replies >= Literal::MOST_REPLIES {
                continue;
            }
            let found = reading.working_moves.contains(&candidate);
            assert_eq!(found, expected, "{candidate} nets {prey}:\n{board:?}");
            claimed += usize::from(found);
        }
    }
    claimed
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_claimed_net_holds_against_every_reply(side in 4usize..=9, seed: u64) {
        compare(&mut random_board(side, seed));
    }
}

/// Positions of real games have the nets that random boards lack.
#[test]
fn nets_in_games_hold_against_every_reply() {
    const STRIDE: usize = 400;
    const EVERY: usize = 40;
    let Some(folder) = common::data("games/kgs-6d") else {
        return;
    };
    let mut claimed = 0;
    for (name, bytes) in common::archived_games(&folder, STRIDE) {
        let collection = sgf::read(&bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
        let tree = &collection.games[0];
        for &node in tree.main_line().iter().skip(EVERY).step_by(EVERY) {
            let game = tree.game_at(node).unwrap();
            claimed += compare(&mut game.board().clone());
        }
    }
    println!("{claimed} nets claimed, all hold");
    assert!(claimed > 100);
}

/// After Black G1, White H2 takes J2 and gets time: H1, which was suicide for White before a
/// chaser lost its liberty, becomes a capture.
#[test]
fn a_reply_that_turns_suicide_into_a_capture_is_tried() {
    let mut board = Board::from_diagram(
        go::BoardSize::NINE,
        "O . O O . . # . #\n. O . O # # . . .\n. . # # O # O O .\n. . O . . . O . #\n. # O O O . O # #\n\
         O O . # . # O . #\nO . . . O O . . O\n# O . # # O # . #\n. . . # . O . . O",
    )
    .unwrap();
    let prey: Point = "J1".parse().unwrap();
    let reading = GetaReader::new(NET_MOVES, NODES).read(&mut board, prey);
    assert!(!reading.working_moves.contains(&"G1".parse().unwrap()));
    compare(&mut board);
}
