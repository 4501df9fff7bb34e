//! How strong every player of a run is, from all match games together.
//!
//! The Bradley-Terry model: a player beats another with odds of ten to the power of their difference over 400. The
//! ratings that make all results most likely are found by Newton's method; the curvature there gives the error bars.
//! Sums of gating scores would not do: only matches that went well promote, so their luck would add up.
//!
//! Each pair that met is given one tied game more than it played. It keeps a rating finite that would run away after
//! nothing but wins, and hardly moves the others.

use crate::{Elo, MatchGame};

/// Elo points of one unit of the natural logarithm of the odds: 400 / ln 10.
const ELO_PER_NAT: f64 = 173.717_792_761_195_8;
/// Standard normal quantile of a two-sided 95 % interval.
const Z_95: f64 = 1.959_964;
/// Wins added to each side of every pair that met.
const PRIOR_WINS: f64 = 0.5;
/// Newton's steps end when no rating moves by more than this, in nats, or after so many.
const PRECISION: f64 = 1e-9;
const MOST_STEPS: usize = 100;
/// A step is never longer than this, in nats: far from the top the curvature says little.
const LONGEST_STEP: f64 = 2.0;

/// A player's rating.
#[derive(Clone, Debug, PartialEq)]
pub struct Rating {
    /// The player: a network's name or an anchor's.
    pub name: String,
    /// Elo over the reference player.
    pub elo: Elo,
    /// Half the 95 % interval of the difference to the reference; none for a player no chain of games joins to it.
    pub error: Option<f64>,
    /// Match games it played.
    pub games: u32,
}

/// The ratings of all players of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ratings {
    players: Vec<Rating>,
}

impl Ratings {
    /// Rates everybody in `games` relative to `reference`, which stands at 0. Ties count half for each side.
    pub fn fit(games: &[MatchGame], reference: &str) -> Ratings {
        let mut names = vec![reference];
        let mut index_of = std::collections::HashMap::from([(reference, 0)]);
        let mut wins = std::collections::BTreeMap::<(usize, usize), f64>::new();
        let mut played = vec![0];
        for game in games.iter().filter(|game| game.first != game.second) {
            let [first, second] = [&game.first, &game.second].map(|name| {
                *index_of.entry(name.as_str()).or_insert_with(|| {
                    names.push(name);
                    played.push(0);
                    names.len() - 1
                })
            });
            played[first] += 1;
            played[second] += 1;
            let share = game.first_won.map_or(0.5, |won| f64::from(u8::from(won)));
            *wins.entry((first, second)).or_insert(0.0) += share;
            *wins.entry((second, first)).or_insert(0.0) += 1.0 - share;
        }
        let pairs: Vec<(usize, usize)> = wins.keys().copied().collect();
        for pair in pairs {
            *wins.entry(pair).or_default() += PRIOR_WINS;
        }
        let joined = joined(names.len(), &wins);
        let (strengths, errors) = solve(names.len(), &wins, &joined);
        let players = names.iter().enumerate().map(|(index, name)| Rating {
            name: (*name).to_owned(),
            elo: Elo(strengths[index] * ELO_PER_NAT),
            error: joined[index].then(|| Z_95 * errors[index] * ELO_PER_NAT),
            games: played[index],
        });
        Ratings {
            players: players.collect(),
        }
    }

    /// The rating of a player.
    pub fn of(&self, name: &str) -> Option<&Rating> {
        self.players.iter().find(|player| player.name == name)
    }

    /// All players, the strongest first.
    pub fn table(&self) -> Vec<&Rating> {
        let mut players: Vec<&Rating> = self.players.iter().collect();
        players.sort_by(|one, other| other.elo.0.total_cmp(&one.elo.0));
        players
    }
}

/// Who is joined to player 0 by a chain of games.
fn joined(players: usize, wins: &std::collections::BTreeMap<(usize, usize), f64>) -> Vec<bool> {
    let mut reached = vec![false; players];
    let mut open = vec![0];
    reached[0] = true;
    while let Some(player) = open.pop() {
        for &(_, other) in wins
            .range((player, 0)..=(player, usize::MAX))
            .map(|(pair, _)| pair)
        {
            if !std::mem::replace(&mut reached[other], true) {
                open.push(other);
            }
        }
    }
    reached
}

/// Strengths in nats with player 0 at 0, and the standard errors of the differences to it.
fn solve(
    players: usize,
    wins: &std::collections::BTreeMap<(usize, usize), f64>,
    joined: &[bool],
) -> (Vec<f64>, Vec<f64>) {
    // The unknowns: everybody joined to the reference but the reference itself.
    let unknowns: Vec<usize> = (1..players).filter(|&player| joined[player]).collect();
    let mut row_of = vec![None; players];
    for (row, &player) in unknowns.iter().enumerate() {
        row_of[player] = Some(row);
    }
    let size = unknowns.len();
    let mut strengths = vec![0.0_f64; players];
    let mut factor = vec![0.0; size * size];
    for _ in 0..MOST_STEPS {
        let mut slope = vec![0.0; size];
        factor.fill(0.0);
        for (&(one, other), &won) in wins {
            if one > other || !joined[one] {
                continue;
            }
            let lost = wins.get(&(other, one)).copied().unwrap_or_default();
            let expected = 1.0 / (1.0 + (strengths[other] - strengths[one]).exp());
            let surplus = won - (won + lost) * expected;
            let curvature = (won + lost) * expected * (1.0 - expected);
            let (a, b) = (row_of[one], row_of[other]);
            for (row, sign) in [(a, 1.0), (b, -1.0)] {
                if let Some(row) = row {
                    slope[row] += sign * surplus;
                    factor[row * size + row] += curvature;
                }
            }
            if let (Some(a), Some(b)) = (a, b) {
                factor[a * size + b] -= curvature;
                factor[b * size + a] -= curvature;
            }
        }
        cholesky(&mut factor, size);
        let step = substitute(&factor, size, &slope);
        let longest = step
            .iter()
            .fold(0.0_f64, |most, value| most.max(value.abs()));
        let share = if longest > LONGEST_STEP {
            LONGEST_STEP / longest
        } else {
            1.0
        };
        for (&player, value) in unknowns.iter().zip(&step) {
            strengths[player] += share * value;
        }
        if longest < PRECISION {
            break;
        }
    }
    let mut errors = vec![0.0; players];
    for (row, &player) in unknowns.iter().enumerate() {
        let mut unit = vec![0.0; size];
        unit[row] = 1.0;
        errors[player] = substitute(&factor, size, &unit)[row].max(0.0).sqrt();
    }
    (strengths, errors)
}

/// The lower triangle L of a positive definite matrix L·Lᵀ, in place.
fn cholesky(matrix: &mut [f64], size: usize) {
    for column in 0..size {
        for row in column..size {
            let dot: f64 = (0..column)
                .map(|k| matrix[row * size + k] * matrix[column * size + k])
                .sum();
            let value = matrix[row * size + column] - dot;
            matrix[row * size + column] = if row == column {
                value.max(f64::MIN_POSITIVE).sqrt()
            } else {
                value / matrix[column * size + column]
            };
        }
    }
}

/// Solves L·Lᵀ·x = b.
fn substitute(lower: &[f64], size: usize, b: &[f64]) -> Vec<f64> {
    let mut x = b.to_vec();
    for row in 0..size {
        let dot: f64 = (0..row).map(|k| lower[row * size + k] * x[k]).sum();
        x[row] = (x[row] - dot) / lower[row * size + row];
    }
    for row in (0..size).rev() {
        let dot: f64 = (row + 1..size).map(|k| lower[k * size + row] * x[k]).sum();
        x[row] = (x[row] - dot) / lower[row * size + row];
    }
    x
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;
    use crate::Winner;

    fn games(first: &str, second: &str, wins: u32, losses: u32) -> Vec<MatchGame> {
        (0..wins + losses)
            .map(|slot| {
                let winner = if slot < wins {
                    Winner::First
                } else {
                    Winner::Second
                };
                MatchGame::new(first, second, slot, winner)
            })
            .collect()
    }

    #[test]
    fn two_players_are_as_far_apart_as_their_score_says() {
        // With half a win more for each, 75.5 to 25.5: 400 log10(75.5 / 25.5) = 188.6.
        let ratings = Ratings::fit(&games("new", "old", 75, 25), "old");
        let new = ratings.of("new").unwrap();
        assert!((new.elo.0 - 188.57).abs() < 0.1, "{}", new.elo);
        // The textbook error of a log odds is sqrt(1/75.5 + 1/25.5) nats.
        let expected = 1.96 * (1.0_f64 / 75.5 + 1.0 / 25.5).sqrt() * 173.72;
        assert!((new.error.unwrap() - expected).abs() < 0.1);
        assert_eq!(ratings.of("old").unwrap().elo, Elo(0.0));
    }

    #[test]
    fn a_promotion_that_gains_nothing_shows_nothing() {
        // Each of six networks passed its gate by luck, yet all of them score even against the first.
        let mut all = Vec::new();
        let name = |index: usize| format!("n{index}");
        for index in 1..=6 {
            all.extend(games(&name(index), &name(index - 1), 55, 45));
            all.extend(games(&name(index), &name(0), 200, 200));
        }
        let ratings = Ratings::fit(&all, "n0");
        let last = ratings.of("n6").unwrap();
        let chained = 6.0 * Elo::from_winrate(0.55).0;
        assert!(chained > 200.0);
        assert!(
            last.elo.0 < 25.0,
            "{} against a chain of {chained}",
            last.elo
        );
        assert!(
            last.elo.0.abs() < last.error.unwrap(),
            "not told apart from nothing"
        );
    }

    #[test]
    fn known_strengths_are_found_within_their_error_bars() {
        let strengths = [0.0, 120.0, -80.0, 300.0, 210.0];
        let mut random = Xoshiro256PlusPlus::seed_from_u64(4);
        let (mut inside, mut all) = (0, 0);
        for _ in 0..40 {
            let mut played = Vec::new();
            for one in 0..strengths.len() {
                for other in 0..one {
                    let chance = Elo(strengths[one] - strengths[other]).winrate();
                    for slot in 0..60 {
                        let won = random.random::<f64>() < chance;
                        let winner = if won { Winner::First } else { Winner::Second };
                        played.push(MatchGame::new(
                            &one.to_string(),
                            &other.to_string(),
                            slot,
                            winner,
                        ));
                    }
                }
            }
            let ratings = Ratings::fit(&played, "0");
            for (index, strength) in strengths.iter().enumerate().skip(1) {
                let rating = ratings.of(&index.to_string()).unwrap();
                inside += u32::from((rating.elo.0 - strength).abs() <= rating.error.unwrap());
                all += 1;
            }
        }
        // 95 % intervals; 160 trials of one seed.
        assert!(
            (0.89..=1.0).contains(&(f64::from(inside) / f64::from(all))),
            "{inside} of {all}"
        );
    }

    #[test]
    fn who_never_met_the_others_has_no_error_bar() {
        let mut all = games("new", "old", 3, 1);
        all.extend(games("far", "away", 3, 1));
        let ratings = Ratings::fit(&all, "old");
        assert_eq!(ratings.of("far").unwrap().error, None);
        assert!(ratings.of("new").unwrap().error.is_some());
        assert_eq!(ratings.table().len(), 4);
    }

    #[test]
    fn nothing_but_wins_gives_a_finite_rating() {
        let rating = Ratings::fit(&games("new", "old", 50, 0), "old");
        let new = rating.of("new").unwrap();
        assert!(new.elo.0.is_finite() && new.elo.0 > 400.0 && new.error.unwrap() > 200.0);
    }
}
