//! How a player behaves with a network that knows scores, as KataGo does: moves drawn with a little temperature,
//! resignation only after several hopeless turns, symmetric moves searched once.

use go::{Board, BoardSize, Color, Move, Symmetry};
use rand::RngExt;
use search::SearchRng;

use crate::{position::Position, think::RootMove};

/// The temperature of the choice of a move.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Temperature {
    /// At the first move.
    pub early: f64,
    /// Long after it.
    pub late: f64,
    /// Moves after which half of the difference is gone, on 19x19; fewer on smaller boards.
    pub halflife: f64,
}

impl Default for Temperature {
    /// KataGo's values for play.
    fn default() -> Temperature {
        Temperature {
            early: 0.5,
            late: 0.1,
            halflife: 19.0,
        }
    }
}

impl Temperature {
    /// The temperature after so many moves.
    pub fn at(&self, move_number: usize, size: BoardSize) -> f64 {
        let halflife = self.halflife * size.get() as f64 / BoardSize::NINETEEN.get() as f64;
        let left = 0.5f64.powf(move_number as f64 / halflife.max(f64::MIN_POSITIVE));
        self.late + (self.early - self.late) * left
    }
}

/// Below this temperature the best move is taken.
const COLD: f64 = 1e-4;

/// Draws a move by what speaks for it, to the power of one over the temperature.
pub(crate) fn draw(moves: &[RootMove], temperature: f64, rng: &mut SearchRng) -> usize {
    let value = |entry: &RootMove| entry.weighed.map_or(0.0, |weighed| weighed.play_value);
    let most = moves.iter().map(value).fold(0.0, f64::max);
    if temperature < COLD || most <= 0.0 {
        return 0;
    }
    let weights: Vec<f64> = moves
        .iter()
        .map(|entry| (value(entry) / most).powf(1.0 / temperature))
        .collect();
    let mut left = rng.random::<f64>() * weights.iter().sum::<f64>();
    for (index, weight) in weights.iter().enumerate() {
        left -= weight;
        if left < 0.0 {
            return index;
        }
    }
    0
}

/// Moves of a smaller share of the best one's prior are not drawn: a person would not play them either.
const LEAST_PRIOR_SHARE: f64 = 0.01;

/// Draws a move by its prior: what a network that imitates people says they would play.
pub(crate) fn draw_by_prior(moves: &[RootMove], rng: &mut SearchRng) -> usize {
    let most = moves.iter().map(|entry| entry.prior).fold(0.0, f64::max);
    let weight = |entry: &RootMove| match entry.prior {
        prior if prior >= LEAST_PRIOR_SHARE * most => prior,
        _ => 0.0,
    };
    let mut left = rng.random::<f64>() * moves.iter().map(weight).sum::<f64>();
    for (index, entry) in moves.iter().enumerate() {
        left -= weight(entry);
        if left < 0.0 {
            return index;
        }
    }
    0
}

/// Own turns in a row that must be hopeless before a player resigns.
const HOPELESS_TURNS: u32 = 3;
/// The winrate below which a turn is hopeless.
const HOPELESS_WINRATE: f64 = 0.05;
/// In a game with handicap stones the side that gave them resigns only when it is behind what it may still hope to
/// catch up, in points a stone, by this move's share of the board.
const POINTS_A_STONE: f64 = 14.0;

/// Counts hopeless turns of each colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Patience {
    hopeless: [u32; 2],
}

/// What a player knows when it may resign.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Prospects {
    pub color: Color,
    /// For the player.
    pub winrate: f64,
    /// Points, for the player.
    pub lead: f64,
    pub handicap: usize,
    pub move_number: usize,
    pub area: usize,
    /// A percentage that was asked for, instead of the usual.
    pub percent: Option<u32>,
}

impl Patience {
    /// Counts this turn; true if it is time to resign.
    pub fn is_over(&mut self, prospects: &Prospects) -> bool {
        let threshold = prospects
            .percent
            .map_or(HOPELESS_WINRATE, |percent| f64::from(percent) / 100.0);
        let turns = &mut self.hopeless[prospects.color.index()];
        if prospects.winrate < threshold && !prospects.is_on_schedule() {
            *turns += 1;
        } else {
            *turns = 0;
        }
        *turns >= HOPELESS_TURNS
    }
}

impl Prospects {
    /// Whether a side that gave stones is no further behind than they are worth at this stage.
    fn is_on_schedule(&self) -> bool {
        if self.color == Color::Black || self.handicap < 2 {
            return false;
        }
        let left = 1.0 - (self.move_number as f64 / self.area as f64).min(1.0);
        let excused = POINTS_A_STONE * (self.handicap - 1) as f64 * left;
        -self.lead <= excused
    }
}

/// Root moves that are symmetric to another, with the symmetry that takes the other one to them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Twins {
    symmetries: Vec<Symmetry>,
    size: Option<BoardSize>,
}

impl Twins {
    /// The symmetries of a position; none if a ko or the game's past tells them apart.
    pub fn of(position: &Position) -> Twins {
        let board = position.board();
        let size = board.size();
        if !position.forbidden_by_ko().is_empty() {
            return Twins::default();
        }
        let symmetries = Symmetry::ALL.into_iter().skip(1);
        Twins {
            symmetries: symmetries
                .filter(|&symmetry| is_symmetric(board, symmetry))
                .collect(),
            size: Some(size),
        }
    }

    /// Whether the move is searched: of those that are alike, the highest and rightmost.
    pub fn is_first(&self, mv: Move) -> bool {
        self.first(mv) == mv
    }

    /// The move that stands for this one.
    pub fn first(&self, mv: Move) -> Move {
        let (Move::Play(point), Some(size)) = (mv, self.size) else {
            return mv;
        };
        let images = self
            .symmetries
            .iter()
            .map(|symmetry| symmetry.point(size, point));
        let best = images
            .chain([point])
            .max_by_key(|point| (point.y(), point.x()));
        best.map_or(mv, Move::Play)
    }

    /// The symmetries, without the identity.
    pub fn symmetries(&self) -> &[Symmetry] {
        &self.symmetries
    }

    pub fn is_empty(&self) -> bool {
        self.symmetries.is_empty()
    }
}

fn is_symmetric(board: &Board, symmetry: Symmetry) -> bool {
    let size = board.size();
    size.points()
        .all(|point| board.stone(point) == board.stone(symmetry.point(size, point)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::position::Assumptions;
    use go::{Game, Komi};
    use rand::SeedableRng;
    use search::Weighed;

    fn position(moves: &str) -> Position {
        let mut game = Game::new(BoardSize::NINETEEN, Komi::default());
        for word in moves.split_whitespace() {
            game.play(word.parse().unwrap()).unwrap();
        }
        Position::new(&game, Assumptions::default())
    }

    #[test]
    fn on_an_empty_board_one_move_in_eight_is_searched() {
        let twins = Twins::of(&position(""));
        let searched = BoardSize::NINETEEN
            .points()
            .filter(|&point| twins.is_first(Move::Play(point)));
        assert_eq!(searched.count(), 55);
        assert!(twins.is_first(Move::Pass));
        let star: Move = "Q16".parse().unwrap();
        assert_eq!(twins.first("D4".parse().unwrap()), star);
        assert_eq!(twins.symmetries().len(), 7);
    }

    #[test]
    fn a_stone_breaks_the_symmetry_but_for_its_diagonal() {
        let twins = Twins::of(&position("Q16"));
        assert_eq!(twins.symmetries.len(), 1);
        assert_eq!(twins.first("Q4".parse().unwrap()), "D16".parse().unwrap());
        assert!(Twins::of(&position("Q17")).is_empty());
    }

    #[test]
    fn temperature_halves_its_way_down() {
        let temperature = Temperature::default();
        assert!((temperature.at(0, BoardSize::NINETEEN) - 0.5).abs() < 1e-12);
        assert!((temperature.at(19, BoardSize::NINETEEN) - 0.3).abs() < 1e-12);
        assert!((temperature.at(9, BoardSize::NINE) - 0.3).abs() < 1e-12);
        assert!(temperature.at(400, BoardSize::NINETEEN) < 0.101);
    }

    fn moves(values: &[f64]) -> Vec<RootMove> {
        let entry = |(order, &play_value): (usize, &f64)| RootMove {
            mv: Move::Pass,
            visits: 1,
            winrate: None,
            prior: 0.0,
            lcb: None,
            order,
            pv: Vec::new(),
            pv_visits: Vec::new(),
            weighed: Some(Weighed {
                utility: 0.0,
                utility_lcb: 0.0,
                weight: 1.0,
                play_value,
                means: Default::default(),
            }),
        };
        values.iter().enumerate().map(entry).collect()
    }

    #[test]
    fn moves_are_drawn_by_the_power_of_what_speaks_for_them() {
        let mut rng = SearchRng::seed_from_u64(7);
        let moves = moves(&[20.0, 10.0, 0.0]);
        let mut counts = [0; 3];
        for _ in 0..20_000 {
            counts[draw(&moves, 0.5, &mut rng)] += 1;
        }
        // 20^2 to 10^2.
        let share = f64::from(counts[0]) / 20_000.0;
        assert!((share - 0.8).abs() < 0.015, "{share}");
        assert_eq!(counts[2], 0);
        assert_eq!(draw(&moves, 0.0, &mut rng), 0);
    }

    fn prospects(winrate: f64, lead: f64, handicap: usize) -> Prospects {
        Prospects {
            color: Color::White,
            winrate,
            lead,
            handicap,
            move_number: 100,
            area: 361,
            percent: None,
        }
    }

    #[test]
    fn three_hopeless_turns_in_a_row_are_needed() {
        let mut patience = Patience::default();
        let turns: Vec<bool> = [0.01, 0.01, 0.06, 0.01, 0.01, 0.01]
            .into_iter()
            .map(|winrate| patience.is_over(&prospects(winrate, -30.0, 0)))
            .collect();
        assert_eq!(turns, [false, false, false, false, false, true]);
    }

    #[test]
    fn a_handicap_excuses_points_until_the_board_is_full() {
        let mut patience = Patience::default();
        for _ in 0..5 {
            assert!(
                !patience.is_over(&prospects(0.01, -28.0, 4)),
                "3*14*0.72 = 30 points"
            );
        }
        let far: Vec<bool> = (0..3)
            .map(|_| patience.is_over(&prospects(0.01, -40.0, 4)))
            .collect();
        assert_eq!(far, [false, false, true]);
    }
}
