//! Steps on the board, and the eight ways to look at a running ladder.

use std::ops::{Add, Neg, Sub};

/// A move of the eye: `x` to the east, `y` to the north.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Step {
    /// Columns to the east.
    pub x: i8,
    /// Rows to the north.
    pub y: i8,
}

/// No step at all.
pub const HERE: Step = Step { x: 0, y: 0 };
/// One row up.
pub const NORTH: Step = Step { x: 0, y: 1 };
/// One column to the right.
pub const EAST: Step = Step { x: 1, y: 0 };
/// One row down.
pub const SOUTH: Step = Step { x: 0, y: -1 };
/// One column to the left.
pub const WEST: Step = Step { x: -1, y: 0 };

/// The four neighbours.
pub const SIDES: [Step; 4] = [NORTH, EAST, SOUTH, WEST];
/// The four diagonal neighbours.
pub const DIAGONALS: [Step; 4] = [
    Step { x: 1, y: 1 },
    Step { x: 1, y: -1 },
    Step { x: -1, y: -1 },
    Step { x: -1, y: 1 },
];

impl Add for Step {
    type Output = Step;
    fn add(self, other: Step) -> Step {
        Step {
            x: self.x + other.x,
            y: self.y + other.y,
        }
    }
}

impl Sub for Step {
    type Output = Step;
    fn sub(self, other: Step) -> Step {
        self + -other
    }
}

impl Neg for Step {
    type Output = Step;
    fn neg(self) -> Step {
        Step {
            x: -self.x,
            y: -self.y,
        }
    }
}

/// One way to turn the board so that the runner has just come from the south, is blocked in the west and would go
/// on to the east: the four diagonals, each with the runner's last step along either of its two axes.
///
/// All formulas are written for one frame, in words of the turned board; the other seven follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Frame {
    /// Where "north" of the turned board is: the direction of the runner's last step.
    pub north: Step,
    /// Where "east" is: the direction of the runner's next step.
    pub east: Step,
}

impl Frame {
    /// All eight.
    pub fn all() -> impl Iterator<Item = Frame> {
        SIDES.into_iter().flat_map(|north| {
            let sideways = Step {
                x: north.y,
                y: north.x,
            };
            [sideways, -sideways]
                .into_iter()
                .map(move |east| Frame { north, east })
        })
    }

    /// The frame after the runner's next step: its two axes change places.
    pub fn next(self) -> Frame {
        Frame {
            north: self.east,
            east: self.north,
        }
    }

    /// "South": where the runner came from.
    pub fn south(self) -> Step {
        -self.north
    }

    /// "West": where the last chaser stands.
    pub fn west(self) -> Step {
        -self.east
    }

    /// "North-east": where the runner is after two more steps.
    pub fn northeast(self) -> Step {
        self.north + self.east
    }

    /// "North-west": beyond the next chaser, on the outer side.
    pub fn northwest(self) -> Step {
        self.north - self.east
    }

    /// "South-east": the chaser on the inner side.
    pub fn southeast(self) -> Step {
        self.east - self.north
    }

    /// A short name, such as `N-E`: last step, next step.
    pub fn name(self) -> String {
        format!("{}-{}", side_name(self.north), side_name(self.east))
    }
}

/// `N`, `E`, `S` or `W`, or two letters for a diagonal.
pub fn side_name(step: Step) -> String {
    let mut name = String::new();
    match step.y {
        1 => name.push('N'),
        -1 => name.push('S'),
        _ => {}
    }
    match step.x {
        1 => name.push('E'),
        -1 => name.push('W'),
        _ => {}
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn the_frames_are_the_eight_symmetries_of_the_square() {
        let frames: HashSet<Frame> = Frame::all().collect();
        assert_eq!(frames.len(), 8);
        for frame in frames {
            assert_eq!(frame.next().next(), frame);
            assert_eq!(
                frame.north.x * frame.east.x + frame.north.y * frame.east.y,
                0,
                "the axes are at right angles"
            );
            assert!(DIAGONALS.contains(&frame.northwest()));
        }
    }
}
