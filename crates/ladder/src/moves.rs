//! Ladder moves read exactly, sorted by what strong players make of them.

use go::{Board, Color, First, LadderReader, LadderVerdict, Point};

use crate::positions::{Kind, questions, truth};

/// Strings of so many stones or more are alike.
const LARGE: usize = 3;

/// How many sorts of ladder moves there are: two kinds, that work or fail, for one, two and more stones.
pub const MOVE_SORTS: usize = 2 * 2 * LARGE;

/// How many sorts of strings move the value: mine that are lost and theirs that I can take, for one, two and more stones.
pub const STRING_SORTS: usize = 2 * LARGE;

/// A move in a ladder and how it turns out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LadderMove {
    pub kind: Kind,
    pub point: Point,
    /// The extension gets away, the atari captures.
    pub works: bool,
    /// Stones of the string it is about.
    pub stones: usize,
}

impl LadderMove {
    /// Its place among the [sorts](MOVE_SORTS): escapes that work by size, that fail, chases that work, that fail.
    pub fn sort(&self) -> usize {
        let kind = match self.kind {
            Kind::Escape => 0,
            Kind::Chase => 2,
        };
        (kind + usize::from(!self.works)) * LARGE + size_of(self.stones)
    }
}

/// What a sort of moves is, in words.
pub fn sort_name(sort: usize) -> String {
    let what = [
        "escapes that work",
        "escapes that fail",
        "chases that work",
        "chases that fail",
    ];
    format!("{}, {}", what[sort / LARGE], size_name(sort % LARGE))
}

/// What a sort of strings is, in words.
pub fn string_sort_name(sort: usize) -> String {
    let what = ["mine that are lost", "theirs that I can take"];
    format!("{}, {}", what[sort / LARGE], size_name(sort % LARGE))
}

fn size_name(size: usize) -> &'static str {
    ["one stone", "two stones", "three or more"][size]
}

fn size_of(stones: usize) -> usize {
    stones.clamp(1, LARGE) - 1
}

/// The ladder moves of one side, by the exact reader. A move that is about two strings is listed for each.
pub fn ladder_moves(reader: &mut LadderReader, board: &Board, to_move: Color) -> Vec<LadderMove> {
    let asked = questions(board).into_iter();
    let mine = asked.filter(|question| question.to_move == to_move);
    mine.map(|question| LadderMove {
        kind: question.kind,
        point: question.point,
        works: truth(reader, board, &question),
        stones: board.stone_count(question.prey),
    })
    .collect()
}

/// Stones that ladders decide, by [sort](STRING_SORTS): those of the side to move that are in atari and that no move saves,
/// and those of the other side with two liberties that an atari captures.
pub fn decided_strings(
    reader: &mut LadderReader,
    board: &Board,
    to_move: Color,
) -> [usize; STRING_SORTS] {
    let mut counts = [0; STRING_SORTS];
    let mut board = board.clone();
    for (prey, first) in LadderReader::questions(&board) {
        let is_mine = board.stone(prey) == Some(to_move);
        // A string of two liberties of the side to move can still be defended, one of the other side in atari is taken.
        if is_mine != (first == First::Defender) {
            continue;
        }
        if reader.verdict(&mut board, prey, first) == LadderVerdict::Captured {
            let stones = board.stone_count(prey);
            counts[usize::from(!is_mine) * LARGE + size_of(stones)] += stones;
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;
    use go::BoardSize;

    #[test]
    fn every_sort_has_a_name_of_its_own() {
        let names: std::collections::HashSet<String> = (0..MOVE_SORTS).map(sort_name).collect();
        assert_eq!(names.len(), MOVE_SORTS);
        let names: std::collections::HashSet<String> =
            (0..STRING_SORTS).map(string_sort_name).collect();
        assert_eq!(names.len(), STRING_SORTS);
    }

    #[test]
    fn a_lost_ladder_is_a_failing_escape_and_a_decided_string() {
        // A black stone in atari whose only extension runs into the open and is caught.
        let mut board = Board::new(BoardSize::NINE);
        let _ = board.play(Point::new(2, 2), Color::Black);
        for (x, y) in [(1, 2), (2, 1), (3, 2), (1, 3)] {
            let _ = board.play(Point::new(x, y), Color::White);
        }
        let mut reader = LadderReader::default();
        let moves = ladder_moves(&mut reader, &board, Color::Black);
        let expected = LadderMove {
            kind: Kind::Escape,
            point: Point::new(2, 3),
            works: false,
            stones: 1,
        };
        assert_eq!(moves, [expected]);
        assert_eq!(sort_name(expected.sort()), "escapes that fail, one stone");
        let lost = decided_strings(&mut reader, &board, Color::Black);
        assert_eq!(lost, [1, 0, 0, 0, 0, 0]);
        assert_eq!(
            decided_strings(&mut reader, &board, Color::White),
            [0; STRING_SORTS]
        );
    }
}
