//! Clocks of a game: absolute time, byo-yomi, Fischer, Canadian overtime.
//!
//! What is left after each move is kept in the record (`BL`, `OB`, `WL`, `OW`), so taking back gives time back, and a
//! restart of the program loses no more than the move under way. A clock starts with the first move and runs only at the
//! place where the game is played, while somebody looks or the engine thinks.

use std::time::{Duration, Instant};

use go::{Color, sgf::NodeId};
use go_player::clock::{Centiseconds, Clock, TimeControl};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{
    document::Document,
    wire::{Failure, in_range},
};

/// The longest main time and period, in seconds, and the most periods or stones.
const MOST_MAIN: f64 = 24.0 * 3600.0;
const MOST_PERIOD: f64 = 3600.0;
const MOST_COUNT: u32 = 100;
/// What the engine leaves on its clock for whatever delays its move: so much, and a share of what it has on a busy machine.
const RESERVE: Centiseconds = 30;
const RESERVED_SHARE: Centiseconds = 4;
const MOST_RESERVE: Centiseconds = 200;

/// How time is granted; times in seconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Control {
    /// One stock of time.
    Absolute { main: f64 },
    /// After the main time each move has a period; what exceeds it costs one of them.
    ByoYomi {
        main: f64,
        period: f64,
        periods: u32,
    },
    /// Each move adds to the stock.
    Fischer { main: f64, increment: f64 },
    /// After the main time so many stones in each period.
    Canadian { main: f64, period: f64, stones: u32 },
}

impl Control {
    /// Refuses what no game is played with.
    pub fn checked(self) -> Result<Control, Failure> {
        let (main, period, count) = match self {
            Control::Absolute { main } => (main, 1.0, 1),
            Control::ByoYomi {
                main,
                period,
                periods,
            } => (main, period, periods),
            Control::Fischer { main, increment } => (main, increment.max(1.0), 1),
            Control::Canadian {
                main,
                period,
                stones,
            } => (main, period, stones),
        };
        let has_overtime = matches!(self, Control::ByoYomi { .. } | Control::Canadian { .. });
        in_range(
            "main",
            main,
            if has_overtime { 0.0 } else { 1.0 },
            MOST_MAIN,
        )?;
        in_range("period", period, 1.0, MOST_PERIOD)?;
        in_range("periods", count, 1, MOST_COUNT)?;
        Ok(self)
    }

    fn main(self) -> Centiseconds {
        let (Control::Absolute { main }
        | Control::ByoYomi { main, .. }
        | Control::Fischer { main, .. }
        | Control::Canadian { main, .. }) = self;
        centiseconds(main)
    }

    /// The same for the engine's own planning.
    fn for_engine(self) -> TimeControl {
        let main = self.main();
        match self {
            Control::Absolute { .. } => TimeControl::Absolute { main },
            Control::ByoYomi {
                period, periods, ..
            } => TimeControl::ByoYomi {
                main,
                period: centiseconds(period),
                periods,
            },
            Control::Fischer { increment, .. } => TimeControl::Fischer {
                main,
                increment: centiseconds(increment),
            },
            Control::Canadian { period, stones, .. } => TimeControl::Canadian {
                main,
                period: centiseconds(period),
                stones,
            },
        }
    }

    /// As SGF's `OT` says it.
    pub fn overtime_text(self) -> Option<String> {
        match self {
            Control::Absolute { .. } => None,
            Control::ByoYomi {
                period, periods, ..
            } => Some(format!("{periods}x{period} byo-yomi")),
            Control::Fischer { increment, .. } => Some(format!("{increment} fischer")),
            Control::Canadian { period, stones, .. } => Some(format!("{stones}/{period} Canadian")),
        }
    }

    /// The main time as SGF's `TM` says it.
    pub fn main_text(self) -> String {
        (self.main() as f64 / 100.0).to_string()
    }
}

fn centiseconds(seconds: f64) -> Centiseconds {
    (seconds * 100.0).round() as Centiseconds
}

/// What one side has left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Left {
    time: Centiseconds,
    /// Periods or stones; nothing in the main time.
    overtime: Option<u32>,
}

impl Left {
    fn at_start(control: Control) -> Left {
        Left {
            time: control.main(),
            overtime: None,
        }
        .after(control, 0)
        .unwrap_or(Left {
            time: 0,
            overtime: None,
        })
    }

    /// What is left when a move has taken so long and is not made yet; nothing if time is up.
    fn after(self, control: Control, elapsed: Centiseconds) -> Option<Left> {
        let time = self.time - elapsed;
        if time > 0 {
            return Some(Left { time, ..self });
        }
        let over = -time;
        match control {
            Control::Absolute { .. } | Control::Fischer { .. } => None,
            Control::ByoYomi {
                period, periods, ..
            } => {
                let period = centiseconds(period);
                let ended = u32::try_from(over / period).ok()?;
                let left = match self.overtime {
                    None => periods.checked_sub(ended)?,
                    Some(left) => left.checked_sub(ended + 1)?,
                };
                (left > 0).then_some(Left {
                    time: period - over % period,
                    overtime: Some(left),
                })
            }
            Control::Canadian { period, stones, .. } => {
                let time = centiseconds(period) - over;
                (self.overtime.is_none() && time > 0).then_some(Left {
                    time,
                    overtime: Some(stones),
                })
            }
        }
    }

    /// What is left once the move is made.
    fn moved(self, control: Control) -> Left {
        match (control, self.overtime) {
            (Control::Fischer { increment, .. }, _) => Left {
                time: self.time + centiseconds(increment),
                ..self
            },
            (Control::ByoYomi { period, .. }, Some(_)) => Left {
                time: centiseconds(period),
                ..self
            },
            (Control::Canadian { period, stones, .. }, Some(left)) if left <= 1 => Left {
                time: centiseconds(period),
                overtime: Some(stones),
            },
            (Control::Canadian { .. }, Some(left)) => Left {
                overtime: Some(left - 1),
                ..self
            },
            _ => self,
        }
    }

    fn to_json(self) -> Value {
        json!({ "seconds": self.time as f64 / 100.0, "overtime": self.overtime })
    }
}

/// The time of the move under way.
#[derive(Clone, Debug, Default)]
pub struct TurnClock {
    /// The place where the game is played; looking elsewhere stops the clock.
    live: Option<NodeId>,
    spent: Duration,
    since: Option<Instant>,
}

/// Properties of the record: time and overtime left.
fn properties(color: Color) -> [&'static str; 2] {
    match color {
        Color::Black => ["BL", "OB"],
        Color::White => ["WL", "OW"],
    }
}

impl Document {
    /// What a side had left when the present place was reached.
    fn time_left(&self, control: Control, color: Color) -> Left {
        let [time, overtime] = properties(color);
        let path = self.tree.path(self.node);
        let known = path.iter().rev().find_map(|&node| {
            let seconds: f64 = self.tree.text(node, time)?.trim().parse().ok()?;
            let overtime = self.tree.text(node, overtime);
            Some(Left {
                time: centiseconds(seconds),
                overtime: overtime.and_then(|text| text.trim().parse().ok()),
            })
        });
        known.unwrap_or_else(|| Left::at_start(control))
    }

    fn elapsed(&self, now: Instant) -> Centiseconds {
        let running = self.turn_clock.since.map(|since| now - since);
        let spent = self.turn_clock.spent + running.unwrap_or_default();
        Centiseconds::try_from(spent.as_millis() / 10).unwrap_or(Centiseconds::MAX)
    }

    /// The present place is where the game is played from now on.
    pub fn turn_begins(&mut self) {
        let has_moved = self.tree.parent(self.node).is_some();
        self.turn_clock = TurnClock {
            live: Some(self.node),
            spent: Duration::ZERO,
            since: has_moved.then(Instant::now),
        };
    }

    /// Whether the clock may run here.
    pub fn is_timed(&self) -> bool {
        let is_live = self.turn_clock.live == Some(self.node);
        let begun = self.tree.parent(self.node).is_some();
        is_live && begun && self.loser.is_none() && self.table.clock.is_some()
    }

    /// What the mover has left for the record; `Err` if the time is up. Nothing without a clock.
    pub fn stop_clock(&self, color: Color) -> Result<Option<Left>, ()> {
        let Some(control) = self.table.clock else {
            return Ok(None);
        };
        let left = self.time_left(control, color);
        if !self.is_timed() {
            return Ok(Some(left));
        }
        let left = left
            .after(control, self.elapsed(Instant::now()))
            .ok_or(())?;
        Ok(Some(left.moved(control)))
    }

    /// Writes what the mover has left at the move it has just made.
    pub fn write_clock(&mut self, color: Color, left: Left) {
        let [time, overtime] = properties(color);
        let seconds = left.time as f64 / 100.0;
        self.tree.set_text(self.node, time, &seconds.to_string());
        if let Some(count) = left.overtime {
            self.tree.set_text(self.node, overtime, &count.to_string());
        }
    }

    /// Looks at the clock; says whether tabs must hear of it.
    pub fn tick(&mut self, is_watched: bool, now: Instant) -> bool {
        let Some(control) = self.table.clock else {
            return false;
        };
        let Some(game) = self.is_timed().then(|| self.game().ok()).flatten() else {
            return false;
        };
        let should_run = !game.is_over() && (is_watched || self.owes_move());
        let ran = self.turn_clock.since.is_some();
        if let Some(since) = self.turn_clock.since.take() {
            self.turn_clock.spent += now - since;
        }
        self.turn_clock.since = should_run.then_some(now);
        let color = game.to_move();
        let left = self.time_left(control, color);
        if should_run && left.after(control, self.elapsed(now)).is_none() {
            self.lose_on_time(color);
            return true;
        }
        ran != should_run
    }

    /// The most seconds the engine may take for the move under way, if there is a clock.
    pub fn seconds_for_move(&self, area: usize) -> Option<f64> {
        let control = self.table.clock?;
        let color = self.game().ok()?.to_move();
        let elapsed = if self.is_timed() {
            self.elapsed(Instant::now())
        } else {
            0
        };
        let left = self.time_left(control, color).after(control, elapsed)?;
        let mut clock = Clock::new(control.for_engine());
        clock.set_left(left.time, left.overtime.unwrap_or(0));
        let moves = self.tree.path(self.node).len();
        let expected = go_player::clock::expected_moves(area, moves, true);
        let reserve = RESERVE.max((left.time / RESERVED_SHARE).min(MOST_RESERVE));
        Some(clock.time_for_move(expected, reserve) as f64 / 100.0)
    }

    /// Both clocks as the page shows them, and which of them runs.
    pub fn clock_json(&self, to_move: Color) -> Value {
        let Some(control) = self.table.clock else {
            return Value::Null;
        };
        let is_running = self.is_timed() && self.turn_clock.since.is_some();
        let left = |color: Color| {
            let left = self.time_left(control, color);
            let elapsed = if self.is_timed() && color == to_move {
                self.elapsed(Instant::now())
            } else {
                0
            };
            let out = Left {
                time: 0,
                overtime: left.overtime,
            };
            left.after(control, elapsed).unwrap_or(out).to_json()
        };
        json!({
            "control": control, "black": left(Color::Black), "white": left(Color::White),
            "running": is_running.then(|| crate::state::color_name(to_move)),
        })
    }
}

/// Looks at every clock that runs, ten times a second.
pub fn watch(app: &std::sync::Arc<crate::server::App>) -> std::thread::JoinHandle<()> {
    const LOOK_EVERY: Duration = Duration::from_millis(100);
    let app = app.clone();
    std::thread::spawn(move || {
        while !*app.closing.borrow() {
            std::thread::sleep(LOOK_EVERY);
            let timed: Vec<String> = crate::engine::lock(&app.desk)
                .recent()
                .filter(|document| document.is_timed())
                .map(|document| document.id.clone())
                .collect();
            for id in timed {
                let is_watched = app.is_watched(&id);
                let must_tell = app
                    .with_doc(
                        &id,
                        |document| Ok(document.tick(is_watched, Instant::now())),
                    )
                    .unwrap_or(false);
                if must_tell {
                    app.tell_doc(&id);
                }
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const BYO_YOMI: Control = Control::ByoYomi {
        main: 10.0,
        period: 5.0,
        periods: 3,
    };
    const CANADIAN: Control = Control::Canadian {
        main: 10.0,
        period: 20.0,
        stones: 2,
    };

    fn left(time: Centiseconds, overtime: Option<u32>) -> Left {
        Left { time, overtime }
    }

    #[test]
    fn absolute_time_ends_with_the_stock() {
        let control = Control::Absolute { main: 60.0 };
        let start = Left::at_start(control);
        assert_eq!(start.after(control, 5_999), Some(left(1, None)));
        assert_eq!(start.after(control, 6_000), None);
        assert_eq!(start.moved(control), start);
    }

    #[test]
    fn a_fischer_move_earns_its_increment() {
        let control = Control::Fischer {
            main: 60.0,
            increment: 5.0,
        };
        let after = Left::at_start(control).after(control, 1_000).unwrap();
        assert_eq!(after.moved(control), left(5_500, None));
    }

    #[test]
    fn byo_yomi_costs_a_period_only_where_it_is_exceeded() {
        let start = Left::at_start(BYO_YOMI);
        // The main time ends within the move: all periods are there, the first has begun.
        let first = start.after(BYO_YOMI, 1_200).unwrap();
        assert_eq!(first, left(300, Some(3)));
        assert_eq!(first.moved(BYO_YOMI), left(500, Some(3)));
        // Twelve seconds within overtime cost two periods of five.
        let second = first.moved(BYO_YOMI).after(BYO_YOMI, 1_200).unwrap();
        assert_eq!(second, left(300, Some(1)));
        // The last period ends the game.
        assert_eq!(second.moved(BYO_YOMI).after(BYO_YOMI, 500), None);
        assert_eq!(start.after(BYO_YOMI, 1_000 + 3 * 500), None);
        assert_eq!(
            start.after(BYO_YOMI, 1_000 + 3 * 500 - 1),
            Some(left(1, Some(1)))
        );
    }

    #[test]
    fn a_canadian_period_is_renewed_by_its_last_stone() {
        let first = Left::at_start(CANADIAN).after(CANADIAN, 1_500).unwrap();
        assert_eq!(first, left(1_500, Some(2)));
        let second = first.moved(CANADIAN);
        assert_eq!(second, left(1_500, Some(1)));
        assert_eq!(second.after(CANADIAN, 1_500), None);
        let third = second.after(CANADIAN, 1_400).unwrap().moved(CANADIAN);
        assert_eq!(third, left(2_000, Some(2)));
    }

    #[test]
    fn no_main_time_starts_in_overtime() {
        let control = Control::ByoYomi {
            main: 0.0,
            period: 5.0,
            periods: 3,
        };
        assert_eq!(Left::at_start(control), left(500, Some(3)));
    }

    #[test]
    fn nonsense_is_refused() {
        for control in [
            Control::Absolute { main: 0.0 },
            Control::Absolute { main: f64::NAN },
            Control::ByoYomi {
                main: 10.0,
                period: 0.0,
                periods: 3,
            },
            Control::Canadian {
                main: 10.0,
                period: 10.0,
                stones: 0,
            },
        ] {
            assert!(control.checked().is_err(), "{control:?}");
        }
        assert!(BYO_YOMI.checked().is_ok() && CANADIAN.checked().is_ok());
    }
}
