//! Steps on the board, and the eight ways to look at a running ladder.

use std::ops::{Add, Neg, Sub};

/// A move of the eye: `x` to the east, `y` to the north.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Offset {
    /// Columns to the east.
    pub x: i8,
    /// Rows to the north.
    pub y: i8,
}

/// No step at all.
pub const HERE: Offset = Offset { x: 0, y: 0 };
/// One row up.
pub const NORTH: Offset = Offset { x: 0, y: 1 };
/// One column to the right.
pub const EAST: Offset = Offset { x: 1, y: 0 };
/// One row down.
pub const SOUTH: Offset = Offset { x: 0, y: -1 };
/// One column to the left.
pub const WEST: Offset = Offset { x: -1, y: 0 };

/// The four neighbours.
pub const SIDES: [Offset; 4] = [NORTH, EAST, SOUTH, WEST];
/// The four diagonal neighbours.
pub const DIAGONALS: [Offset; 4] = [
    Offset { x: 1, y: 1 },
    Offset { x: 1, y: -1 },
    Offset { x: -1, y: -1 },
    Offset { x: -1, y: 1 },
];

impl Offset {
    /// One of the two steps at right angles to it.
    pub fn turned(self) -> Offset {
        Offset {
            x: self.y,
            y: self.x,
        }
    }
}

impl Add for Offset {
    type Output = Offset;
    fn add(self, other: Offset) -> Offset {
        Offset {
            x: self.x + other.x,
            y: self.y + other.y,
        }
    }
}

impl Sub for Offset {
    type Output = Offset;
    fn sub(self, other: Offset) -> Offset {
        self + -other
    }
}

impl Neg for Offset {
    type Output = Offset;
    fn neg(self) -> Offset {
        Offset {
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
    pub north: Offset,
    /// Where "east" is: the direction of the runner's next step.
    pub east: Offset,
}

impl Frame {
    /// All eight.
    pub fn all() -> impl Iterator<Item = Frame> {
        SIDES.into_iter().flat_map(|north| {
            [north.turned(), -north.turned()]
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
    pub fn south(self) -> Offset {
        -self.north
    }

    /// "West": where the last chaser stands.
    pub fn west(self) -> Offset {
        -self.east
    }

    /// "North-east": where the runner is after two more steps.
    pub fn northeast(self) -> Offset {
        self.north + self.east
    }

    /// "North-west": beyond the next chaser, on the outer side.
    pub fn northwest(self) -> Offset {
        self.north - self.east
    }

    /// "South-east": the chaser on the inner side.
    pub fn southeast(self) -> Offset {
        self.east - self.north
    }

    /// A short name, such as `N-E`: last step, next step.
    pub fn name(self) -> String {
        format!("{}-{}", side_name(self.north), side_name(self.east))
    }
}

/// `N`, `E`, `S` or `W`, or two letters for a diagonal.
pub fn side_name(step: Offset) -> String {
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
