//! Clocks: how much time is left, and how much of it the next move may take.
//!
//! A clock never looks at the wall: it is told how long a move took. Times are whole
//! centiseconds, the unit Leela Zero counts in, so its time table is met exactly.

use std::fmt;

/// A time in hundredths of a second.
pub type Centiseconds = i64;

pub const CENTISECONDS_PER_SECOND: Centiseconds = 100;

/// What one move may take when there is no clock: 31 days.
const NO_LIMIT: Centiseconds = 31 * 24 * 60 * 60 * CENTISECONDS_PER_SECOND;

/// The clock before anyone has set one: an hour for the game.
const DEFAULT_MAIN: Centiseconds = 60 * 60 * CENTISECONDS_PER_SECOND;

/// How time is granted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeControl {
    /// No clock at all.
    Unlimited,
    /// No clock, but no move takes longer than this.
    PerMove {
        /// The most a move takes.
        time: Centiseconds,
    },
    /// One stock of time for the game.
    Absolute { main: Centiseconds },
    /// After the main time, `stones` moves in each `period`.
    Canadian {
        /// Time before overtime.
        main: Centiseconds,
        /// Length of an overtime period.
        period: Centiseconds,
        /// Moves to make in a period.
        stones: u32,
    },
    /// After the main time, each move gets a `period`; exceeding it costs one of `periods`.
    ByoYomi {
        /// Time before overtime.
        main: Centiseconds,
        /// Length of an overtime period.
        period: Centiseconds,
        /// Periods that can be lost.
        periods: u32,
    },
    /// Each move adds `increment` to the stock.
    Fischer {
        /// The stock at the start.
        main: Centiseconds,
        /// What a move earns.
        increment: Centiseconds,
    },
}

impl Default for TimeControl {
    fn default() -> Self {
        TimeControl::Absolute { main: DEFAULT_MAIN }
    }
}

impl TimeControl {
    /// No clock, and the time a person gladly waits for a move.
    pub const NO_CLOCK: TimeControl = TimeControl::PerMove { time: seconds(5) };

    /// The control that GTP's `time_settings` means: overtime without stones is "no limit",
    /// no overtime is absolute time.
    pub fn from_gtp(main_seconds: u32, overtime_seconds: u32, stones: u32) -> TimeControl {
        let main = seconds(main_seconds);
        match (overtime_seconds, stones) {
            (0, _) => TimeControl::Absolute { main },
            (_, 0) => TimeControl::Unlimited,
            (overtime, stones) => TimeControl::Canadian {
                main,
                period: seconds(overtime),
                stones,
            },
        }
    }

    fn main(self) -> Centiseconds {
        match self {
            TimeControl::Unlimited => NO_LIMIT,
            TimeControl::PerMove { time } => time,
            TimeControl::Absolute { main }
            | TimeControl::Canadian { main, .. }
            | TimeControl::ByoYomi { main, .. }
            | TimeControl::Fischer { main, .. } => main,
        }
    }

    fn period(self) -> Option<Centiseconds> {
        match self {
            TimeControl::Canadian { period, .. } | TimeControl::ByoYomi { period, .. } => {
                Some(period)
            }
            _ => None,
        }
    }
}

/// Seconds as centiseconds.
pub const fn seconds(seconds: u32) -> Centiseconds {
    seconds as Centiseconds * CENTISECONDS_PER_SECOND
}

/// How many more moves of its own a player should expect to make.
///
/// A ninth of the board, or a fifth when no time is saved by stopping early, and more in the
/// opening, which lasts a sixth of the board.
pub fn expected_moves(area: usize, move_number: usize, saves_time: bool) -> usize {
    let base = if saves_time { area / 9 } else { area / 5 };
    base + (area / 6).saturating_sub(move_number)
}

/// One player's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    control: TimeControl,
    remaining: Centiseconds,
    in_overtime: bool,
    stones_left: u32,
    periods_left: u32,
}

impl Default for Clock {
    fn default() -> Self {
        Clock::new(TimeControl::default())
    }
}

impl Clock {
    /// A clock at the start of a game.
    pub fn new(control: TimeControl) -> Clock {
        let mut clock = Clock {
            control,
            remaining: control.main(),
            in_overtime: false,
            stones_left: 0,
            periods_left: 0,
        };
        match control {
            TimeControl::Canadian { stones, .. } => clock.stones_left = stones,
            TimeControl::ByoYomi { periods, .. } => clock.periods_left = periods,
            _ => {}
        }
        if clock.remaining <= 0 && control.period().is_some() {
            clock.enter_overtime();
        }
        clock
    }

    /// Whether time is taken off it.
    fn runs(&self) -> bool {
        !matches!(
            self.control,
            TimeControl::Unlimited | TimeControl::PerMove { .. }
        )
    }

    /// The rules the clock runs by.
    pub fn control(&self) -> TimeControl {
        self.control
    }

    /// What is left of the main time, or of the current period.
    pub fn remaining(&self) -> Centiseconds {
        self.remaining
    }

    /// The stones (Canadian) or periods (byo-yomi) left; `None` in the main time.
    pub fn overtime_left(&self) -> Option<u32> {
        match self.control {
            TimeControl::Canadian { .. } if self.in_overtime => Some(self.stones_left),
            TimeControl::ByoYomi { .. } if self.in_overtime => Some(self.periods_left),
            _ => None,
        }
    }

    /// Takes the time of one finished move off the clock.
    pub fn spend(&mut self, elapsed: Centiseconds) {
        if !self.runs() {
            return;
        }
        self.remaining -= elapsed;
        if self.in_overtime {
            match self.control {
                TimeControl::Canadian { .. } => {
                    self.stones_left = self.stones_left.saturating_sub(1);
                    if self.stones_left == 0 {
                        self.enter_overtime();
                    }
                }
                TimeControl::ByoYomi { period, .. } => {
                    let lost = (elapsed - 1).max(0) / period.max(1);
                    self.periods_left = self
                        .periods_left
                        .saturating_sub(u32::try_from(lost).unwrap_or(u32::MAX));
                    self.remaining = period;
                }
                _ => {}
            }
        } else if self.remaining <= 0 && self.control.period().is_some() {
            self.enter_overtime();
        } else if let TimeControl::Fischer { increment, .. } = self.control
            && self.remaining >= 0
        {
            self.remaining += increment;
        }
        self.remaining = self.remaining.max(0);
    }

    /// Sets the clock to what the other side of the wire says is left. `stones` is 0 in the main
    /// time, else the stones (Canadian) or periods (byo-yomi) left.
    pub fn set_left(&mut self, left: Centiseconds, stones: u32) {
        if !self.runs() {
            return;
        }
        if self.control.period().is_none() {
            self.remaining = left;
            return;
        }
        if left == 0 && stones == 0 {
            self.enter_overtime();
            return;
        }
        self.remaining = left;
        self.in_overtime = stones > 0;
        if stones > 0 {
            match self.control {
                TimeControl::Canadian { .. } => self.stones_left = stones,
                _ => self.periods_left = stones,
            }
        }
    }

    /// The time the next move may take. `lag` is kept in reserve for the wire.
    pub fn time_for_move(&self, expected_moves: usize, lag: Centiseconds) -> Centiseconds {
        let (stock, moves, extra) = match self.control {
            TimeControl::Unlimited => return NO_LIMIT,
            TimeControl::PerMove { time } => return time,
            TimeControl::Absolute { .. } => (self.remaining, expected_moves, 0),
            TimeControl::Canadian { .. } if self.in_overtime => {
                (self.remaining, self.stones_left as usize, 0)
            }
            TimeControl::Canadian { period, stones, .. } => {
                let per_stone = period / Centiseconds::from(stones.max(1));
                (self.remaining + per_stone, expected_moves, per_stone)
            }
            TimeControl::ByoYomi { period, .. } if self.in_overtime => (0, expected_moves, period),
            TimeControl::ByoYomi { period, .. } => {
                let spare = Centiseconds::from(self.periods_left.saturating_sub(1));
                (self.remaining + period * spare, expected_moves, period)
            }
            TimeControl::Fischer { increment, .. } => {
                let share = budget(self.remaining, expected_moves, increment, lag);
                // The increment is earned only once the move is made.
                return share.min((self.remaining - lag).max(0));
            }
        };
        budget(stock, moves, extra, lag)
    }

    /// Whether time not used now can be used later. In byo-yomi, and for the last stone of a
    /// Canadian period, it is lost.
    pub fn can_save_time(&self) -> bool {
        match self.control {
            TimeControl::ByoYomi { .. } => !self.in_overtime,
            TimeControl::Canadian { .. } => !self.in_overtime || self.stones_left != 1,
            TimeControl::PerMove { .. } => false,
            _ => true,
        }
    }

    fn enter_overtime(&mut self) {
        self.in_overtime = true;
        match self.control {
            TimeControl::Canadian { period, stones, .. } => {
                self.remaining = period;
                self.stones_left = stones;
            }
            TimeControl::ByoYomi { period, .. } => self.remaining = period,
            _ => {}
        }
    }
}

/// A share of the stock plus what comes back with every move, both less the lag.
fn budget(
    stock: Centiseconds,
    moves: usize,
    extra: Centiseconds,
    lag: Centiseconds,
) -> Centiseconds {
    (stock - lag).max(0) / (moves.max(1) as Centiseconds) + (extra - lag).max(0)
}

impl fmt::Display for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.control {
            TimeControl::Unlimited => return f.write_str("no limit"),
            TimeControl::PerMove { time } => {
                let seconds = time as f64 / CENTISECONDS_PER_SECOND as f64;
                return write!(f, "no clock, {seconds} seconds a move");
            }
            _ => {}
        }
        let total = self.remaining / CENTISECONDS_PER_SECOND;
        let (hours, minutes, seconds) = (total / 3600, total / 60 % 60, total % 60);
        write!(f, "{hours:02}:{minutes:02}:{seconds:02}")?;
        match self.control {
            TimeControl::Canadian { .. } if self.in_overtime => {
                write!(f, ", {} stones left", self.stones_left)
            }
            TimeControl::ByoYomi { period, .. } if self.in_overtime => write!(
                f,
                ", {} period(s) of {} seconds left",
                self.periods_left,
                period / CENTISECONDS_PER_SECOND
            ),
            TimeControl::Fischer { increment, .. } => {
                write!(
                    f,
                    ", {} seconds a move",
                    increment / CENTISECONDS_PER_SECOND
                )
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAG: Centiseconds = 100;
    const AREA: usize = 361;

    #[test]
    fn without_a_clock_a_move_takes_the_same_on_every_board() {
        let mut clock = Clock::new(TimeControl::NO_CLOCK);
        for area in [4, 25, 81, 361] {
            let moves = expected_moves(area, 0, true);
            assert_eq!(clock.time_for_move(moves, LAG), seconds(5));
            clock.spend(seconds(5));
        }
        assert_eq!(clock.to_string(), "no clock, 5 seconds a move");
    }

    #[test]
    fn the_opening_of_an_hour_gets_what_leela_zero_gives_it() {
        let clock = Clock::default();
        assert_eq!(
            clock.time_for_move(expected_moves(AREA, 0, true), LAG),
            3599
        );
        assert_eq!(
            clock.time_for_move(expected_moves(AREA, 3, true), LAG),
            3710
        );
        assert_eq!(expected_moves(AREA, 0, false), 72 + 60);
        assert_eq!(expected_moves(AREA, 200, true), 40);
    }

    #[test]
    fn gtp_settings_map_to_the_right_control() {
        assert_eq!(TimeControl::from_gtp(0, 1, 0), TimeControl::Unlimited);
        assert_eq!(
            TimeControl::from_gtp(60, 0, 5),
            TimeControl::Absolute { main: 6000 }
        );
        assert_eq!(
            TimeControl::from_gtp(60, 30, 5),
            TimeControl::Canadian {
                main: 6000,
                period: 3000,
                stones: 5
            }
        );
    }

    #[test]
    fn canadian_periods_count_stones_and_start_afresh() {
        let mut clock = Clock::new(TimeControl::Canadian {
            main: 0,
            period: seconds(120),
            stones: 25,
        });
        assert_eq!(clock.to_string(), "00:02:00, 25 stones left");
        assert_eq!(clock.time_for_move(100, LAG), (12000 - 100) / 25);
        clock.spend(seconds(20));
        assert_eq!(clock.to_string(), "00:01:40, 24 stones left");
        for _ in 0..24 {
            clock.spend(100);
        }
        assert_eq!(clock.to_string(), "00:02:00, 25 stones left");
    }

    #[test]
    fn canadian_main_time_borrows_one_share_of_the_period() {
        let clock = Clock::new(TimeControl::Canadian {
            main: 6000,
            period: 3000,
            stones: 10,
        });
        assert_eq!(clock.time_for_move(50, LAG), (6000 + 300 - 100) / 50 + 200);
        assert!(clock.can_save_time());
    }

    #[test]
    fn byo_yomi_loses_a_period_only_when_it_is_exceeded() {
        let mut clock = Clock::new(TimeControl::ByoYomi {
            main: 0,
            period: seconds(100),
            periods: 3,
        });
        assert_eq!(
            clock.to_string(),
            "00:01:40, 3 period(s) of 100 seconds left"
        );
        assert!(!clock.can_save_time());
        assert_eq!(clock.time_for_move(50, LAG), 10_000 - 100);
        clock.spend(seconds(100));
        assert_eq!(
            clock.to_string(),
            "00:01:40, 3 period(s) of 100 seconds left"
        );
        clock.spend(seconds(101));
        assert_eq!(
            clock.to_string(),
            "00:01:40, 2 period(s) of 100 seconds left"
        );
    }

    #[test]
    fn byo_yomi_main_time_counts_the_spare_periods() {
        let clock = Clock::new(TimeControl::ByoYomi {
            main: 6000,
            period: 1000,
            periods: 4,
        });
        assert_eq!(clock.time_for_move(50, LAG), (6000 + 3000 - 100) / 50 + 900);
    }

    #[test]
    fn main_time_runs_into_overtime() {
        let mut clock = Clock::new(TimeControl::ByoYomi {
            main: 500,
            period: 1000,
            periods: 2,
        });
        clock.spend(600);
        assert_eq!(clock.remaining(), 1000);
        assert!(!clock.can_save_time());
    }

    #[test]
    fn fischer_earns_its_increment_after_the_move_and_never_plans_beyond_the_stock() {
        let mut clock = Clock::new(TimeControl::Fischer {
            main: seconds(60),
            increment: seconds(10),
        });
        assert_eq!(clock.time_for_move(50, LAG), 5900 / 50 + 900);
        clock.spend(seconds(58));
        assert_eq!(clock.remaining(), seconds(12));
        clock.spend(seconds(20));
        assert_eq!(clock.remaining(), 0);
        clock.set_left(300, 0);
        assert_eq!(clock.time_for_move(1, LAG), 200);
    }

    #[test]
    fn time_left_moves_the_clock_between_main_time_and_overtime() {
        let mut clock = Clock::new(TimeControl::Canadian {
            main: seconds(600),
            period: seconds(60),
            stones: 10,
        });
        clock.set_left(seconds(30), 4);
        assert_eq!(clock.to_string(), "00:00:30, 4 stones left");
        clock.set_left(seconds(500), 0);
        assert_eq!(clock.to_string(), "00:08:20");
        clock.set_left(0, 0);
        assert_eq!(clock.to_string(), "00:01:00, 10 stones left");
        let mut unlimited = Clock::new(TimeControl::Unlimited);
        unlimited.set_left(100, 0);
        assert_eq!(unlimited.time_for_move(10, LAG), NO_LIMIT);
    }

    #[test]
    fn the_last_stone_of_a_canadian_period_cannot_save_time() {
        let mut clock = Clock::new(TimeControl::Canadian {
            main: 0,
            period: seconds(60),
            stones: 2,
        });
        assert!(clock.can_save_time());
        clock.spend(100);
        assert!(!clock.can_save_time());
    }
}
