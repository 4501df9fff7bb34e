//! Which chains are caught in a ladder, in the sense KataGo's networks were trained with.
//!
//! Every chain of one or two liberties is asked about: one in atari with its owner to move, one of two liberties with
//! the attacker to move. The attacker plays on liberties of the chain only, and each of his moves must be atari. Any
//! ko that he takes saves the chain; the defender's first ko capture is always allowed. This differs from
//! [`LadderReader`](crate::LadderReader) in kos alone, and in its limits: a chase too long to read counts as caught,
//! one of too many branches as escaped.

use crate::{Board, Color, Point, PointSet};

/// Moves tried for one chain before it counts as escaped.
const MOST_MOVES: usize = 25_000;
/// A chase longer than the board's area times this (in halves) counts as caught.
const DEPTH_IN_HALF_AREAS: usize = 3;

/// The ladders of a board.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LadderMarks {
    /// Every stone of a chain that is caught, of either colour.
    pub caught: PointSet,
    /// The moves that catch chains of two liberties of each colour, Black's chains first.
    pub working: [PointSet; 2],
}

impl Board {
    /// The ladders on the board as it is, a ko included.
    pub fn ladder_marks(&self) -> LadderMarks {
        let mut marks = LadderMarks::default();
        let mut chase = Chase::new(self);
        for color in Color::BOTH {
            for chain in self.stone_set(color).components() {
                let Some(prey) = chain.first() else { continue };
                let is_caught = match self.liberty_count(prey) {
                    1 => chase.is_caught_in_atari(prey),
                    2 => {
                        let working = chase.working_moves(prey);
                        let has_any = !working.is_empty();
                        marks.working[color.index()] = marks.working[color.index()] | working;
                        has_any
                    }
                    _ => false,
                };
                if is_caught {
                    marks.caught = marks.caught | chain;
                }
            }
        }
        marks
    }
}

/// One chase after another on a copy of the board.
struct Chase {
    board: Board,
    prey: Point,
    defender: Color,
    moves: usize,
    deepest: usize,
}

impl Chase {
    fn new(board: &Board) -> Chase {
        Chase {
            board: board.clone(),
            prey: Point::new(0, 0),
            defender: Color::Black,
            moves: 0,
            deepest: board.size().area() * DEPTH_IN_HALF_AREAS / 2,
        }
    }

    fn start(&mut self, prey: Point) {
        self.prey = prey;
        self.defender = self.board.stone(prey).unwrap_or(Color::Black);
        self.moves = 0;
    }

    fn is_caught_in_atari(&mut self, prey: Point) -> bool {
        self.start(prey);
        self.defend_first(0)
    }

    fn working_moves(&mut self, prey: Point) -> PointSet {
        self.start(prey);
        let liberties: PointSet = self.board.liberties(prey).collect();
        let attacker = self.defender.opponent();
        let mut working = PointSet::EMPTY;
        for attack in liberties.iter() {
            if !self.board.is_legal(attack, attacker) {
                continue;
            }
            self.moves = 0;
            let undo = self.board.play(attack, attacker);
            if self.defend_first(0) {
                working.insert(attack);
            }
            self.board.undo(undo);
        }
        working
    }

    /// The defender to move for the first time: no ko binds him.
    fn defend_first(&mut self, depth: usize) -> bool {
        let ko = self.board.ko_point();
        self.board.clear_ko();
        let is_caught = self.is_caught_defending(depth);
        self.board.set_ko(ko);
        is_caught
    }

    /// The defender to move: is the chain caught?
    fn is_caught_defending(&mut self, depth: usize) -> bool {
        if self.board.liberty_count(self.prey) > 1 || self.board.ko_point().is_some() {
            return false;
        }
        if depth >= self.deepest {
            return true;
        }
        self.defences().into_iter().all(|defence| {
            if self.board.is_suicide(defence, self.defender) {
                return true;
            }
            self.moves += 1;
            if self.moves > MOST_MOVES {
                return false;
            }
            let undo = self.board.play(defence, self.defender);
            let is_caught = self.is_caught_attacking(depth + 1);
            self.board.undo(undo);
            is_caught
        })
    }

    /// Captures of chasers, then the last liberty.
    fn defences(&self) -> Vec<Point> {
        let attacker = self.defender.opponent();
        let mut defences = Vec::new();
        let mut add = |point: Option<Point>| {
            if let Some(point) = point.filter(|point| !defences.contains(point)) {
                defences.push(point);
            }
        };
        for stone in self.board.stones(self.prey) {
            for neighbor in stone.neighbors() {
                if self.board.is_stone(neighbor, attacker)
                    && self.board.liberty_count(neighbor) == 1
                {
                    add(self.board.liberties(neighbor).next());
                }
            }
        }
        add(self.board.liberties(self.prey).next());
        defences
    }

    /// The attacker to move: is the chain caught?
    fn is_caught_attacking(&mut self, depth: usize) -> bool {
        match self.board.liberty_count(self.prey) {
            0 | 1 => return true,
            2 => {}
            _ => return false,
        }
        if depth >= self.deepest {
            return true;
        }
        let mut liberties = self.board.liberties(self.prey);
        let (Some(a), Some(b)) = (liberties.next(), liberties.next()) else {
            return true;
        };
        drop(liberties);
        if self.is_double_ko_death([a, b]) {
            return true;
        }
        let attacker = self.defender.opponent();
        // First the liberty on which the chain would gain most.
        let order = if self.room(b, a) > self.room(a, b) {
            [b, a]
        } else {
            [a, b]
        };
        order.into_iter().any(|attack| {
            if !self.board.is_legal(attack, attacker) {
                return false;
            }
            self.moves += 1;
            if self.moves > MOST_MOVES {
                return false;
            }
            let undo = self.board.play(attack, attacker);
            let is_caught = self.is_caught_defending(depth + 1);
            self.board.undo(undo);
            is_caught
        })
    }

    /// Empty points beside `liberty`, `other` aside.
    fn room(&self, liberty: Point, other: Point) -> usize {
        let free = |n: &Point| self.board.is_empty(*n) && *n != other;
        liberty.neighbors().iter().filter(|n| free(n)).count()
    }

    /// Whether both liberties are kos that the attacker can take, and connecting one does not help: the defender
    /// would need a threat for each turn.
    fn is_double_ko_death(&mut self, liberties: [Point; 2]) -> bool {
        let attacker = self.defender.opponent();
        if !liberties
            .iter()
            .all(|&liberty| self.is_ko_capture(liberty, attacker))
        {
            return false;
        }
        let is_chaser_in_atari = self.board.stones(self.prey).any(|stone| {
            stone
                .neighbors()
                .into_iter()
                .any(|n| self.board.is_stone(n, attacker) && self.board.liberty_count(n) == 1)
        });
        if is_chaser_in_atari {
            return false;
        }
        liberties.into_iter().all(|liberty| {
            let undo = self.board.play(liberty, self.defender);
            let left = self.board.liberty_count(self.prey);
            self.board.undo(undo);
            left <= 2
        })
    }

    /// Whether a stone at the empty `point` would take exactly one stone and stand alone in atari.
    fn is_ko_capture(&self, point: Point, color: Color) -> bool {
        let mut taken = 0;
        for neighbor in point.neighbors() {
            if !self.board.is_on_board(neighbor) {
                continue;
            }
            if !self.board.is_stone(neighbor, color.opponent()) {
                return false;
            }
            if self.board.liberty_count(neighbor) == 1 {
                if self.board.stone_count(neighbor) > 1 {
                    return false;
                }
                taken += 1;
            }
        }
        taken == 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::BoardSize;

    fn board(side: usize, rows: &str) -> Board {
        Board::from_diagram(BoardSize::new(side).unwrap(), rows).unwrap()
    }

    fn points(text: &str) -> PointSet {
        text.split_whitespace()
            .map(|vertex| vertex.parse::<Point>().unwrap())
            .collect()
    }

    #[test]
    fn a_stone_on_the_edge_of_nothing_runs_and_one_on_the_first_line_is_caught() {
        // White A3 has two liberties; from either Black chases it along the edge into the corner.
        let marks = board(
            5,
            ". . . . .
             . # . . .
             O # . . .
             . # . . .
             . . . . .",
        )
        .ladder_marks();
        assert_eq!(marks.caught, points("A3"));
        assert_eq!(marks.working, [PointSet::EMPTY, points("A2 A4")]);
    }

    #[test]
    fn a_chain_in_atari_is_marked_unless_its_owner_saves_it() {
        // White B2 in atari at the top extends to three liberties; White A1 has nowhere to go.
        let marks = board(
            5,
            ". . . . .
             . . . . .
             . O . . .
             # # . . .
             O . # . .",
        )
        .ladder_marks();
        assert_eq!(marks.caught, points("A1"));
        assert_eq!(marks.working, [PointSet::EMPTY; 2]);
    }

    #[test]
    fn the_ladder_of_the_textbook_works_until_a_stone_stands_in_its_way() {
        let diagram = ". . . . . . . . .
             . . . . . . . . .
             . . . . . . . . .
             . . . . . . . . .
             . . . . . . . . .
             . . . . . . . . .
             . # # . . . . . .
             # O O . . . . . .
             . # # . . . . . .";
        let marks = board(9, diagram).ladder_marks();
        // The two White stones have one liberty, D2, and get four by it.
        assert!(marks.caught.is_empty());
    }
}
