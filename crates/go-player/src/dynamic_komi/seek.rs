//! Seeking the komi at which a curve meets a winrate.
//!
//! A ladder of komi that doubles away from the trained range brackets it, two rungs to a batch.
//! Then the bracket is closed: a network's winrate is close to a logistic function of komi, so the
//! straight line between the logits of the ends is a good guess, and a point on either side of it
//! cuts the bracket to an eighth. Halving needs eight rounds for what this does in two or three,
//! and the network is asked less often in all. A curve that is nothing like that is cut in quarters.

use go::Color;

use super::{Curves, Settings, TurnKomi, curve::Missing, turn_komi::TRAINED_KOMI};

/// How often komi may double before the network is given up as deaf to it.
const MAX_EXPANSIONS: usize = 9;
/// Rungs of the ladder that are asked for at once.
const RUNGS_AT_ONCE: usize = 2;
/// How often a bracket is closed at most.
const NARROWINGS: usize = 4;
/// Points asked for at once inside a bracket.
const INNER_POINTS: usize = 3;
/// The distance of a guess's neighbours from it, as a part of the bracket.
const FLANK: f64 = 1.0 / 16.0;
/// A bracket this narrow, in points of komi, is not worth another batch.
const FINE_KOMI: f64 = 0.05;
/// A winrate this close is the one that was sought.
const FINE_WINRATE: f64 = 0.002;
/// Winrates nearer to 0 or 1 than this all have the same logit.
const SMALLEST_WINRATE: f64 = 1e-6;

/// Seeks along the curve of one colour's turn.
pub(super) struct Seeker<'a> {
    pub settings: &'a Settings,
    pub curves: &'a Curves,
    pub komi: TurnKomi,
    pub turn: Color,
}

impl Seeker<'_> {
    /// A higher komi at which White's winrate reaches `aim`.
    pub fn raise(&self, aim: f64) -> Result<f64, Missing> {
        self.expand(aim, Direction::Up)
    }

    /// A lower komi at which White's winrate comes down to `aim`; a handicap game never goes below its target.
    pub fn lower(&self, aim: f64) -> Result<f64, Missing> {
        if self.settings.is_nonslack() {
            return self.expand(aim, Direction::Down);
        }
        let target = self.settings.target_komi;
        if self.curves.winrate(self.turn, target)? < aim {
            let found = self.narrow(self.present(), target, aim)?;
            self.if_better(found, aim)
        } else {
            Ok(target)
        }
    }

    /// The komi that is preferred when it will do: both turns then share one.
    pub fn is_anchor(settings: &Settings, komi: f64) -> bool {
        komi == settings.target_komi || komi.abs() == TRAINED_KOMI
    }

    fn present(&self) -> f64 {
        self.komi.on_turn(self.turn)
    }

    /// Steps away from the present komi until the winrate passes `aim`, then narrows the last step.
    fn expand(&self, aim: f64, direction: Direction) -> Result<f64, Missing> {
        let (rungs, pinned) = self.ladder(direction);
        let mut previous = self.present();
        for some in rungs.chunks(RUNGS_AT_ONCE) {
            let winrates = self.curves.winrates(self.turn, some)?;
            for (&komi, winrate) in some.iter().zip(winrates) {
                let comfortable =
                    self.settings.low_aim() < winrate && winrate < self.settings.high_aim();
                if comfortable && Self::is_anchor(self.settings, komi) {
                    return Ok(komi);
                }
                if direction.has_passed(winrate, aim) {
                    let found = self.narrow(previous, komi, aim)?;
                    return self.if_better(found, aim);
                }
                previous = komi;
            }
        }
        if pinned {
            return Ok(direction.sign() * TRAINED_KOMI);
        }
        // The aim is out of reach: as far as komi may go, if that helps at all.
        if rungs.last() == Some(&direction.limit(self.settings)) {
            self.if_better(direction.limit(self.settings), aim)
        } else {
            Ok(self.present())
        }
    }

    /// The komi to step through, the ends of the trained range first, doubling beyond it; and whether
    /// it ends because the colour's evaluations would not be trusted further out.
    fn ladder(&self, direction: Direction) -> (Vec<f64>, bool) {
        let mut rungs = Vec::new();
        let mut current = self.present();
        let limit = direction.limit(self.settings);
        while rungs.len() < MAX_EXPANSIONS && direction.has_room(current, limit) {
            let (next, doubled) = direction.step(current);
            let next = direction.clip(next, limit);
            let trusts = |komi| {
                let komi = self.komi.with(self.turn, komi);
                self.settings.trust.accepts(komi, self.turn)
            };
            if doubled && self.settings.original_policy && !trusts(next) {
                return (rungs, true);
            }
            rungs.push(next);
            current = next;
        }
        (rungs, false)
    }

    /// Closes in on `aim` between two komi. White's winrate is taken to grow with komi.
    fn narrow(&self, one_end: f64, other_end: f64, aim: f64) -> Result<f64, Missing> {
        let end = |komi| {
            let winrate = self.curves.winrate(self.turn, komi)?;
            Ok((komi, winrate))
        };
        let mut low = end(one_end.min(other_end))?;
        let mut high = end(one_end.max(other_end))?;
        let mut guesses_well = true;
        for _ in 0..NARROWINGS {
            let width = high.0 - low.0;
            if width <= FINE_KOMI {
                break;
            }
            let inner = if guesses_well {
                around(guess(low, high, aim), low.0, width)
            } else {
                quarters(low.0, width)
            };
            let winrates = self.curves.winrates(self.turn, &inner)?;
            let points: Vec<(f64, f64)> = inner.into_iter().zip(winrates).collect();
            let found = points
                .iter()
                .find(|(_, winrate)| (winrate - aim).abs() < FINE_WINRATE);
            if let Some(&(komi, _)) = found {
                return Ok(komi);
            }
            let above = points.iter().position(|&(_, winrate)| winrate > aim);
            let above = above.unwrap_or(points.len());
            (low, high) = (
                above.checked_sub(1).map_or(low, |below| points[below]),
                points.get(above).copied().unwrap_or(high),
            );
            guesses_well = (high.0 - low.0) * (INNER_POINTS + 1) as f64 <= width;
        }
        Ok(guess(low, high, aim))
    }

    /// `found` if the winrate there is nearer to `aim` than at present: networks need not be monotone.
    fn if_better(&self, found: f64, aim: f64) -> Result<f64, Missing> {
        let present = self.present();
        let winrates = self.curves.winrates(self.turn, &[present, found])?;
        Ok(if (winrates[1] - aim).abs() < (winrates[0] - aim).abs() {
            found
        } else {
            present
        })
    }
}

/// Where a logistic curve through two points (komi, winrate) meets `aim`, held between them.
fn guess(low: (f64, f64), high: (f64, f64), aim: f64) -> f64 {
    let rise = logit(high.1) - logit(low.1);
    let share = (logit(aim) - logit(low.1)) / rise;
    let share = if rise > 0.0 && share.is_finite() {
        share.clamp(0.0, 1.0)
    } else {
        0.5
    };
    low.0 + share * (high.0 - low.0)
}

fn logit(winrate: f64) -> f64 {
    let winrate = winrate.clamp(SMALLEST_WINRATE, 1.0 - SMALLEST_WINRATE);
    (winrate / (1.0 - winrate)).ln()
}

/// A guess and its neighbours, all inside the bracket.
fn around(guess: f64, low: f64, width: f64) -> [f64; INNER_POINTS] {
    let flank = width * FLANK;
    let middle = guess.clamp(low + 2.0 * flank, low + width - 2.0 * flank);
    [middle - flank, middle, middle + flank]
}

fn quarters(low: f64, width: f64) -> [f64; INNER_POINTS] {
    let part = width / (INNER_POINTS + 1) as f64;
    [low + part, low + 2.0 * part, low + 3.0 * part]
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direction {
    Up,
    Down,
}

impl Direction {
    fn sign(self) -> f64 {
        match self {
            Direction::Up => 1.0,
            Direction::Down => -1.0,
        }
    }

    fn limit(self, settings: &Settings) -> f64 {
        match self {
            Direction::Up => settings.max_komi,
            Direction::Down => settings.min_komi,
        }
    }

    fn has_room(self, komi: f64, limit: f64) -> bool {
        self.sign() * komi < self.sign() * limit
    }

    fn clip(self, komi: f64, limit: f64) -> f64 {
        match self {
            Direction::Up => komi.min(limit),
            Direction::Down => komi.max(limit),
        }
    }

    /// The next komi outwards, and whether it came from doubling.
    fn step(self, komi: f64) -> (f64, bool) {
        let outward = self.sign() * komi;
        if outward < -TRAINED_KOMI {
            (-self.sign() * TRAINED_KOMI, false)
        } else if outward < TRAINED_KOMI {
            (self.sign() * TRAINED_KOMI, false)
        } else {
            (2.0 * komi, true)
        }
    }

    fn has_passed(self, winrate: f64, aim: f64) -> bool {
        match self {
            Direction::Up => winrate >= aim,
            Direction::Down => winrate <= aim,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_go_to_the_ends_of_the_trained_range_and_double_beyond() {
        let up = |komi| Direction::Up.step(komi);
        assert_eq!(up(-20.0), (-7.5, false));
        assert_eq!(up(0.0), (7.5, false));
        assert_eq!(up(7.5), (15.0, true));
        assert_eq!(up(100.0), (200.0, true));
        let down = |komi| Direction::Down.step(komi);
        assert_eq!(down(20.0), (7.5, false));
        assert_eq!(down(7.5), (-7.5, false));
        assert_eq!(down(-7.5), (-15.0, true));
    }

    #[test]
    fn a_guess_on_a_logistic_curve_is_exact() {
        let winrate = |komi: f64| 1.0 / (1.0 + (-(komi - 40.0) / 9.0).exp());
        let met = guess((7.5, winrate(7.5)), (60.0, winrate(60.0)), 0.09);
        assert!((winrate(met) - 0.09).abs() < 1e-9);
    }

    #[test]
    fn a_guess_stays_in_its_bracket_whatever_the_ends_say() {
        for (low, high) in [(0.0, 1.0), (0.5, 0.5), (0.9, 0.1), (0.0, 0.0), (0.3, 0.4)] {
            let met = guess((10.0, low), (20.0, high), 0.09);
            assert!((10.0..=20.0).contains(&met), "{met}");
        }
    }
}
