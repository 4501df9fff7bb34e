//! The console frame by frame: what a controller can do while the pill falls by itself.
//!
//! Each frame, in this order: the drop (forced when the counter ends, or asked for with down,
//! which is looked at every second frame only), the step to the side, the turns. A button acts
//! when it goes down, not while it is held, so a side step needs two frames. Holding left while
//! an upright pill turns flat gives one more step left. A drop that is blocked locks the pill.
//! The console's own repeat of a held direction is slower than tapping and is not modelled.
//!
//! [`Falling::step`] is that frame; [`search`] tries every sequence of held buttons, breadth
//! first, so the first way it finds to a resting place is a fastest one.

use std::collections::BTreeMap;

use crate::board::Board;
use crate::cell::Color;
use crate::pill::{Pill, Placement};
use crate::reach::presses::{LAUNCH, Pose, dropped, fits, moved, turned};
use crate::reach::{Button, flood};

/// The buttons held during one frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Hash)]
pub struct Held(u8);

impl Held {
    /// No button.
    pub const NONE: Held = Held(0);

    /// This set and `button`.
    pub fn with(self, button: Button) -> Self {
        Self(self.0 | 1 << button as u8)
    }

    /// This set without `button`.
    pub fn without(self, button: Button) -> Self {
        Self(self.0 & !(1 << button as u8))
    }

    /// Whether `button` is down.
    pub fn holds(self, button: Button) -> bool {
        self.0 >> button as u8 & 1 == 1
    }

    /// Whether `button` is down now and was not in `before`.
    fn pressed(self, before: Held, button: Button) -> bool {
        self.holds(button) && !before.holds(button)
    }
}

/// A pill in the air, with everything that decides what the next frame does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Falling {
    pub pose: Pose,
    /// Frames until it drops by itself; at 1 it drops in the coming frame.
    pub frames_left: u8,
    /// Whether the coming frame looks at the down button.
    pub checks_down: bool,
    /// Buttons held in the last frame.
    pub held: Held,
}

/// What a frame did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextFrame {
    /// The pill is still in the air.
    Falling(Falling),
    /// The pill could not drop any further and lies here.
    Locked(Placement),
}

impl Falling {
    /// A pill just launched.
    pub fn launched(frames_per_row: u8, checks_down: bool) -> Self {
        Self {
            pose: LAUNCH,
            frames_left: frames_per_row,
            checks_down,
            held: Held::NONE,
        }
    }

    /// One frame with `held` buttons down.
    pub fn step(self, board: &Board, frames_per_row: u8, held: Held) -> NextFrame {
        let free = !board.occupied();
        let mut pose = self.pose;
        let mut frames_left = self.frames_left.saturating_sub(1);
        let down = self.checks_down && held.holds(Button::Down);
        if down || frames_left == 0 {
            match dropped(free, pose) {
                None => return NextFrame::Locked(pose),
                Some(lower) => pose = lower,
            }
            frames_left = frames_per_row;
        }
        for (button, left) in [(Button::Left, true), (Button::Right, false)] {
            if held.pressed(self.held, button) {
                pose = moved(free, pose, left).unwrap_or(pose);
            }
        }
        for (button, clockwise) in [(Button::A, true), (Button::B, false)] {
            if held.pressed(self.held, button)
                && let Some(after) = turned(free, pose, clockwise)
            {
                let falls_flat = pose.is_vertical();
                pose = after;
                if falls_flat && held.holds(Button::Left) {
                    pose = moved(free, pose, true).unwrap_or(pose);
                }
            }
        }
        NextFrame::Falling(Falling {
            pose,
            frames_left,
            checks_down: !self.checks_down,
            held,
        })
    }
}

/// A fastest way to a resting place: the buttons held in each frame, the locking one included.
pub type Schedule = Vec<Held>;

/// Every resting place reachable from `start` in time, with a fastest schedule for each.
pub fn search(board: &Board, start: Falling, frames_per_row: u8) -> BTreeMap<Placement, Schedule> {
    // No clock lets a launched pill reach more than no clock at all does, so once all of that
    // is found the search may stop.
    let most = if start.pose == LAUNCH {
        flood(board).count(TWO_COLORS) as usize
    } else {
        512
    };
    let mut found = BTreeMap::new();
    explore(board, start, frames_per_row, |placement, schedule| {
        found.entry(placement).or_insert_with(schedule);
        found.len() < most
    });
    found
}

/// A fastest schedule from `start` to one of the places `wanted`, if there is one.
pub fn find(
    board: &Board,
    start: Falling,
    frames_per_row: u8,
    wanted: impl Fn(Placement) -> bool,
) -> Option<Schedule> {
    let mut found = None;
    explore(board, start, frames_per_row, |placement, schedule| {
        if wanted(placement) {
            found = Some(schedule());
        }
        found.is_none()
    });
    found
}

/// Any pill with two colours: all four turns of it differ.
const TWO_COLORS: Pill = Pill::new(Color::Red, Color::Blue);

/// Tries all buttons, frame by frame, and tells `visit` of each pill that locks and of the
/// schedule that led there, until it answers false.
fn explore(
    board: &Board,
    start: Falling,
    frames_per_row: u8,
    mut visit: impl FnMut(Placement, &mut dyn FnMut() -> Schedule) -> bool,
) {
    if !fits(!board.occupied(), start.pose) {
        return;
    }
    let numbering = Numbering {
        frames: usize::from(frames_per_row.max(start.frames_left)) + 1,
    };
    let mut known = vec![false; numbering.count()];
    // Each reached state with the index of the one before it.
    let mut reached: Vec<(Falling, usize)> = vec![(start, usize::MAX)];
    known[numbering.index(start)] = true;
    let mut next = 0;
    while let Some(&(falling, _)) = reached.get(next) {
        for held in choices(falling) {
            match falling.step(board, frames_per_row, held) {
                NextFrame::Locked(placement) => {
                    let mut schedule = || {
                        let mut schedule = schedule_to(&reached, next);
                        schedule.push(held);
                        schedule
                    };
                    if !visit(placement, &mut schedule) {
                        return;
                    }
                }
                NextFrame::Falling(after) => {
                    let index = numbering.index(after);
                    if !known[index] {
                        known[index] = true;
                        reached.push((after, next));
                    }
                }
            }
        }
        next += 1;
    }
}

/// The button sets worth trying. A button that was held already does nothing but block its next
/// press, so only fresh ones count; the exception is left, which a turn looks at while held.
/// Both turns at once cancel, unless left is held and they carry the pill along. Down is tried
/// only when it is looked at.
fn choices(falling: Falling) -> impl Iterator<Item = Held> {
    let before = falling.held;
    let fresh = move |button: Button| !before.holds(button);
    let sides = [None, Some(Button::Left), Some(Button::Right)];
    let turns: [&[Button]; 4] = [&[], &[Button::A], &[Button::B], &[Button::A, Button::B]];
    let downs: &[Option<Button>] = if falling.checks_down {
        &[None, Some(Button::Down)]
    } else {
        &[None]
    };
    downs.iter().flat_map(move |&down| {
        sides.into_iter().flat_map(move |side| {
            let left = side == Some(Button::Left);
            let worth = move |turns: &&[Button]| {
                turns.iter().all(|&button| fresh(button))
                    && (turns.len() < 2 || left)
                    && side.is_none_or(|side| fresh(side) || left && !turns.is_empty())
            };
            turns.into_iter().filter(worth).map(move |turns| {
                let buttons = turns.iter().copied().chain(side).chain(down);
                buttons.fold(Held::NONE, Held::with)
            })
        })
    })
}

fn schedule_to(reached: &[(Falling, usize)], mut index: usize) -> Schedule {
    let mut schedule = Vec::new();
    while reached[index].1 != usize::MAX {
        schedule.push(reached[index].0.held);
        index = reached[index].1;
    }
    schedule.reverse();
    schedule
}

/// A dense number for each state. Whether down was held does not matter for what follows.
struct Numbering {
    frames: usize,
}

impl Numbering {
    /// Combinations of the four buttons that act when pressed; left and right never both.
    const HELD: usize = 12;

    fn count(&self) -> usize {
        512 * self.frames * Self::HELD * 2
    }

    fn index(&self, falling: Falling) -> usize {
        let held = falling.held;
        let side = match (held.holds(Button::Left), held.holds(Button::Right)) {
            (true, _) => 1,
            (_, true) => 2,
            _ => 0,
        };
        let turns = usize::from(held.holds(Button::A)) + 2 * usize::from(held.holds(Button::B));
        let mut index = falling.pose.index();
        index = index * self.frames + usize::from(falling.frames_left);
        index = index * Self::HELD + 4 * side + turns;
        2 * index + usize::from(falling.checks_down)
    }
}
