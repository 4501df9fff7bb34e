//! How one generated game goes: board, rules, komi, how wild its moves are. Drawn from the game's seed alone.

use go::{BoardSize, Rules, max_fixed_handicap};
use rand::{Rng, RngExt, SeedableRng};
use rand_distr::{Distribution, Normal};
use rand_xoshiro::Xoshiro256PlusPlus;

/// What games to generate.
#[derive(Clone, Debug, PartialEq)]
pub struct PlaySettings {
    /// Board sizes and how often each is played, in any unit.
    pub sizes: Vec<(usize, f64)>,
    /// Decides every game.
    pub seed: u64,
    /// Stop after so many labels, those in the file counted.
    pub labels: usize,
    /// Threads that ask the teacher.
    pub threads: usize,
}

impl Default for PlaySettings {
    fn default() -> PlaySettings {
        PlaySettings {
            sizes: vec![
                (5, 2.0),
                (6, 1.0),
                (7, 6.0),
                (8, 4.0),
                (9, 30.0),
                (10, 3.0),
                (11, 5.0),
                (12, 3.0),
                (13, 16.0),
                (14, 2.0),
                (15, 3.0),
                (16, 2.0),
                (17, 3.0),
                (18, 2.0),
                (19, 17.0),
                (25, 1.0),
            ],
            seed: 1,
            labels: 100_000,
            threads: 2,
        }
    }
}

/// How rules are drawn: the more players use them, the more often.
const RULES: [(Rules, f64); 6] = [
    (Rules::TROMP_TAYLOR, 30.0),
    (Rules::CHINESE, 25.0),
    (Rules::JAPANESE, 25.0),
    (Rules::AGA, 10.0),
    (Rules::NEW_ZEALAND, 6.0),
    (Rules::STONE_SCORING, 4.0),
];

/// Fair komi on a full board, about which komi is drawn.
const FAIR_KOMI: f64 = 7.0;

/// The plan of one game.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) size: BoardSize,
    pub(super) rules: Rules,
    pub(super) handicap: usize,
    pub(super) komi: f32,
    /// At this turn komi is set to what makes the game even, give or take this many points.
    pub(super) evened: Option<(usize, f32)>,
    /// The first moves are drawn at temperature 2, then at 1 until `cool_from`, then at 0.6.
    pub(super) wild_until: usize,
    pub(super) cool_from: usize,
    /// The chance of a move drawn from all legal ones.
    pub(super) blunders: f64,
    /// Whether the game goes on to its end however clear it is.
    pub(super) to_the_end: bool,
    /// The game is cut after so many moves.
    pub(super) longest: usize,
}

impl Plan {
    /// Games of one cohort share a board size, so that their positions fill batches.
    pub(super) fn size_of_cohort(settings: &PlaySettings, cohort: u64) -> usize {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(base::nth_seed(!settings.seed, cohort));
        draw(&settings.sizes, &mut rng)
    }

    pub(super) fn draw(size: BoardSize, rng: &mut impl Rng) -> Plan {
        let area = size.area();
        let side = size.get() as f64 / BoardSize::NINETEEN.get() as f64;
        let rules = draw(&RULES, rng);
        let handicap = match max_fixed_handicap(size) {
            most if most >= 2 && rng.random_bool(0.12) => rng.random_range(2..=most.min(6)),
            _ => 0,
        };
        let spread = |sigma: f64, rng: &mut _| {
            Normal::new(0.0, sigma).map_or(0.0, |normal| normal.sample(rng))
        };
        let komi = match rng.random_range(0..100) {
            // Handicap games are played without komi.
            _ if handicap > 0 && rng.random_bool(0.7) => 0.5,
            0..40 => f64::from(rules.default_komi().points_for_white()),
            40..70 => FAIR_KOMI + spread(3.0, rng),
            _ => rng.random_range(-20.0 * side..30.0 * side),
        };
        let evened = rng.random_bool(0.6).then(|| {
            let turn = rng.random_range(area / 20..=area / 2);
            (turn, spread(1.5, rng) as f32)
        });
        let blunders = [0.0, 0.0, 0.02, 0.05, 0.1];
        Plan {
            size,
            rules,
            handicap,
            komi: in_halves(komi as f32),
            evened,
            wild_until: if rng.random_bool(0.5) {
                rng.random_range(0..=6)
            } else {
                0
            },
            cool_from: area / 4,
            blunders: blunders[rng.random_range(0..blunders.len())],
            to_the_end: rng.random_bool(0.35),
            longest: 2 * area + area / 2,
        }
    }

    /// The temperature of the move at a turn.
    pub(super) fn temperature(&self, turn: usize) -> f32 {
        if turn < self.wild_until {
            2.0
        } else if turn < self.cool_from {
            1.0
        } else {
            0.6
        }
    }
}

/// The nearest komi that is a whole or half number.
pub(super) fn in_halves(komi: f32) -> f32 {
    (2.0 * komi).round() / 2.0
}

fn draw<T: Clone>(choices: &[(T, f64)], rng: &mut impl Rng) -> T {
    let total: f64 = choices.iter().map(|(_, share)| share).sum();
    let mut left = rng.random_range(0.0..total);
    for (choice, share) in choices {
        left -= share;
        if left < 0.0 {
            return choice.clone();
        }
    }
    // Only rounding leads here.
    choices[choices.len() - 1].0.clone()
}
