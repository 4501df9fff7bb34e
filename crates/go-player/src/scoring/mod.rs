//! The result of a finished game: which stones are dead, who owns what, who has won.
//!
//! Nobody can count a human game without knowing which stones are dead. Some fates follow from the rules alone
//! (Benson's unconditional life). For the rest a network that predicts ownership is asked; without one, random
//! playouts are, twice: what is surely dead is taken off before the second look, which then sees the board as the
//! players do. Where playouts leave doubt, a reader of life and death has the last word.

mod bent_four;
mod playouts;

use go::{Board, Color, Count, Fate, Game, Point, PointSet, Score, Scoring};
use rand::SeedableRng;
use search::SearchRng;

use crate::player::Player;

/// Playouts of each look.
const PLAYOUTS: usize = 400;
/// The same random games each time, so that a result does not change when asked for again.
const SEED: u64 = 1;
/// A chain is surely dead if its owner keeps its points at most this often, from -1 to 1.
const SURELY_DEAD: f32 = -0.6;
/// A chain is dead if its owner has its points less often than the opponent.
const DEAD: f32 = 0.0;

/// A chain whose owner keeps its points more often than this, one way or the other, is not read.
const DOUBT: f32 = 0.9;

/// Reads whether chains can be captured, where playouts leave doubt.
pub trait LifeReader {
    /// Whether the chain at `stone` dies although its owner moves first; `None` if that could not be read.
    fn is_dead(&self, board: &Board, stone: Point) -> Option<bool>;
}

/// Nobody reads.
impl LifeReader for () {
    fn is_dead(&self, _: &Board, _: Point) -> Option<bool> {
        None
    }
}

/// What becomes of a chain at the end of the game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// It stays.
    Alive,
    /// It is taken off.
    Dead,
    /// It stays, and neither side could attack.
    Seki,
}

/// A finished game, settled.
#[derive(Clone, Debug, PartialEq)]
pub struct Settled {
    /// Who owns what.
    pub count: Count,
    /// The result by the game's rules, komi and handicap included.
    pub score: Score,
    /// Every chain with its status, named by its lowest stone, row by row from the bottom.
    pub chains: Vec<(Point, Status)>,
}

impl Settled {
    /// Settles a game once its dead stones are known.
    pub fn with_dead(game: &Game, dead: &PointSet) -> Settled {
        let board = game.board();
        let mut count = board.count(dead);
        if game.rules().scoring == Scoring::Territory {
            let more = bent_four::dead_around(board, &count);
            if !more.is_empty() {
                count = board.count(&(*dead | more));
            }
        }
        let status = |stone: Point| {
            if count.dead.contains(stone) {
                Status::Dead
            } else if count.seki.contains(stone) {
                Status::Seki
            } else {
                Status::Alive
            }
        };
        Settled {
            score: count.score(game),
            chains: chains(board)
                .map(|chain| first(&chain))
                .map(|stone| (stone, status(stone)))
                .collect(),
            count,
        }
    }

    /// Settles a game by what the rules and playouts say.
    pub fn by_playouts(game: &Game) -> Settled {
        Settled::by_reading(game, &())
    }

    /// Settles a game by what the rules, a reader and playouts say.
    pub fn by_reading(game: &Game, reader: &dyn LifeReader) -> Settled {
        Settled::with_dead(game, &dead_by_playouts(game.board(), reader))
    }

    /// Settles a game by who will own each point, from -1 (White) to 1 (Black), row by row from the bottom.
    pub fn by_ownership(game: &Game, ownership_black: &[f32]) -> Settled {
        let board = game.board();
        let dead = dead_by_ownership(board, ownership_black, DEAD);
        Settled::with_dead(game, &with_sure_fates(board, dead))
    }

    /// The stones of chains with a status.
    pub fn stones(&self, board: &Board, status: Status) -> PointSet {
        let chains = self.chains.iter().filter(|(_, other)| *other == status);
        chains.flat_map(|&(stone, _)| board.stones(stone)).collect()
    }
}

impl Player {
    /// Settles the current position: by the network if it predicts ownership, else by playouts. White gets what the
    /// player counts with, which is less than the rules say where komi follows the game.
    pub fn settle(&self) -> Settled {
        self.settle_by(&())
    }

    /// The same, with a reader beside the playouts.
    pub fn settle_by(&self, reader: &dyn LifeReader) -> Settled {
        let game = self.game();
        let position = self.position();
        let mut settled = match self.ownership_black() {
            Some(ownership) => Settled::by_ownership(game, &ownership),
            None => Settled::by_reading(game, reader),
        };
        let more = game.compensation() - position.assumptions().compensation;
        settled.score = Score::from_black(settled.score.lead(Color::Black) + more);
        settled
    }

    /// Who will own each point, from -1 (White) to 1 (Black), if the network says so.
    fn ownership_black(&self) -> Option<Vec<f32>> {
        // A network of a family without ownership need not be asked.
        if self.judge().encoder().as_leela().is_some() {
            return None;
        }
        // Playouts stand in for a network that cannot be evaluated.
        let opinion = self.judge().mean_opinion(&self.position()).ok()?;
        let sign = match self.game().to_move() {
            Color::Black => 1.0,
            Color::White => -1.0,
        };
        Some(
            opinion
                .ownership?
                .iter()
                .map(|owner| owner * sign)
                .collect(),
        )
    }
}

fn chains(board: &Board) -> impl Iterator<Item = PointSet> {
    let [black, white] = Color::BOTH.map(|color| board.stone_set(color).components());
    black.chain(white)
}

fn first(chain: &PointSet) -> Point {
    chain.first().expect("a chain has a stone")
}

/// How much the owner of a chain keeps its points, from -1 to 1.
fn keeps(board: &Board, chain: &PointSet, ownership_black: &[f32]) -> f32 {
    let size = board.size();
    let sum: f32 = chain
        .iter()
        .map(|stone| ownership_black[size.index(stone)])
        .sum();
    let mean = sum / chain.len() as f32;
    match board.stone(first(chain)) {
        Some(Color::White) => -mean,
        _ => mean,
    }
}

fn dead_by_ownership(board: &Board, ownership_black: &[f32], below: f32) -> PointSet {
    chains(board)
        .filter(|chain| keeps(board, chain, ownership_black) < below)
        .fold(PointSet::EMPTY, |dead, chain| dead | chain)
}

/// What cannot be saved is dead, what cannot be captured is not, whatever was guessed.
fn with_sure_fates(board: &Board, dead: PointSet) -> PointSet {
    let fates = board.fates();
    let stones = *board.stone_set(Color::Black) | *board.stone_set(Color::White);
    let fated = |wanted: Fate| -> PointSet {
        stones
            .iter()
            .filter(|&stone| fates.at(stone) == wanted)
            .collect()
    };
    (dead | fated(Fate::Dead)) - fated(Fate::Alive)
}

fn dead_by_playouts(board: &Board, reader: &dyn LifeReader) -> PointSet {
    let mut rng = SearchRng::seed_from_u64(SEED);
    let first_look = playouts::ownership(board, PLAYOUTS, &mut rng);
    let surely = with_sure_fates(board, dead_by_ownership(board, &first_look, SURELY_DEAD));
    let [black, white] = Color::BOTH.map(|color| *board.stone_set(color) - surely);
    let Ok(cleared) = Board::with_stones(board.size(), &black, &white) else {
        return surely;
    };
    let second_look = playouts::ownership(&cleared, PLAYOUTS, &mut rng);
    let mut dead = surely;
    for chain in chains(&cleared) {
        let kept = keeps(&cleared, &chain, &second_look);
        let read = (kept.abs() < DOUBT)
            .then(|| reader.is_dead(board, first(&chain)))
            .flatten();
        if read.unwrap_or(kept < DEAD) {
            dead = dead | chain;
        }
    }
    with_sure_fates(board, dead)
}

#[cfg(test)]
mod tests {
    use super::*;
    use go::{BoardSize, Komi, Rules};

    fn game(rows: &str, rules: Rules) -> Game {
        let side = rows.lines().count();
        let board = Board::from_diagram(BoardSize::new(side).unwrap(), rows).unwrap();
        let mut game = Game::from_board(board, Color::Black, Komi::ZERO);
        game.set_rules(rules);
        game
    }

    fn points(text: &str) -> PointSet {
        text.split_whitespace()
            .map(|vertex| vertex.parse::<Point>().unwrap())
            .collect()
    }

    /// Two territories with a hopeless stone in each.
    const FINISHED: &str = ". . . . # O . . .
. O . . # O . . .
. . . . # O . # .
. . . . # O . . .
. . . . # O O . .
. # . . # # O . .
. . . . . # O . .
. . . . . # O . .
. . . . . # O . .";

    #[test]
    fn hopeless_stones_are_found_and_taken_off() {
        let japanese = game(FINISHED, Rules::JAPANESE);
        let settled = Settled::by_playouts(&japanese);
        assert_eq!(
            settled.stones(japanese.board(), Status::Dead),
            points("B8 H7")
        );
        // Black: 20 points above, 3 beside B4, 15 below, and a prisoner. White: 12 above, 10 below, and a prisoner.
        assert_eq!(settled.score.to_string(), "B+16");
        let chinese = game(FINISHED, Rules::CHINESE);
        // Black has 11 stones to stay, White 10.
        assert_eq!(Settled::by_playouts(&chinese).score.to_string(), "B+17");
    }

    #[test]
    fn a_reader_decides_where_playouts_leave_doubt() {
        struct Says(bool);
        impl LifeReader for Says {
            fn is_dead(&self, board: &Board, stone: Point) -> Option<bool> {
                (board.stone(stone) == Some(Color::White)).then_some(self.0)
            }
        }
        // Three points in a row: whoever plays B1 decides.
        let rows = ". . . . . . .
. . . . . . .
. . . . . . .
. . . . . . .
# # # # # . .
O O O O # . .
. . . O # . .";
        let game = game(rows, Rules::CHINESE);
        for is_dead in [false, true] {
            let dead = Settled::by_reading(&game, &Says(is_dead));
            let dead = dead.stones(game.board(), Status::Dead);
            assert_eq!(dead.contains("A2".parse().unwrap()), is_dead);
            assert!(!dead.contains("A3".parse().unwrap()));
        }
    }

    #[test]
    fn ownership_decides_whole_chains_but_never_against_the_rules() {
        let game = game(FINISHED, Rules::CHINESE);
        let mut owners = vec![0.9; game.size().area()];
        for point in game
            .size()
            .points()
            .filter(|point| point.x() > 5 || point.x() == 5 && point.y() > 3)
        {
            owners[game.size().index(point)] = -0.9;
        }
        let settled = Settled::by_ownership(&game, &owners);
        assert_eq!(settled.stones(game.board(), Status::Dead), points("B8 H7"));
        // One point of the wall that leans the other way changes nothing.
        owners[game.size().index("E7".parse().unwrap())] = -1.0;
        assert_eq!(Settled::by_ownership(&game, &owners), settled);
    }

    #[test]
    fn both_sides_of_a_seki_stay() {
        // Neither side can fill C5 or C4 without being captured.
        let rows = ". O . # .
O O . # #
# # O O #
# # # O O
. # . # O";
        let game = game(rows, Rules::JAPANESE);
        let board = game.board();
        assert_eq!(board.liberty_count("D5".parse().unwrap()), 3);
        let settled = Settled::with_dead(&game, &PointSet::EMPTY);
        assert!(
            settled
                .stones(board, Status::Seki)
                .contains("A4".parse().unwrap())
        );
    }
}
