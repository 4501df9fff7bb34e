//! The fewest button presses that bring a pill to each resting place, with no clock running.

use crate::board::{Board, HEIGHT, WIDTH, bit};
use crate::pill::{LAUNCH_X, LAUNCH_Y, Placement};

/// A button of the controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Button {
    /// One column left.
    Left,
    /// One column right.
    Right,
    /// One row down.
    Down,
    /// A quarter turn clockwise.
    A,
    /// A quarter turn counterclockwise.
    B,
}

impl Button {
    /// All buttons, in the order the breadth-first search tries them.
    pub const ALL: [Button; 5] = [
        Button::Left,
        Button::Right,
        Button::A,
        Button::B,
        Button::Down,
    ];

    /// The letter of the text protocol.
    pub fn letter(self) -> char {
        match self {
            Button::Left => 'l',
            Button::Right => 'r',
            Button::Down => 'd',
            Button::A => 'a',
            Button::B => 'b',
        }
    }

    /// The button of a letter.
    pub fn from_letter(letter: char) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|button| button.letter() == letter)
    }
}

/// A pill in the air: [`Placement`] is the same data for one at rest.
pub(crate) type Pose = Placement;

/// The pose every pill starts in.
pub(crate) const LAUNCH: Pose = Pose::new(0, LAUNCH_X, LAUNCH_Y);

/// Whether a pill can be in a pose: its cells are free, and row 16 counts as free.
pub(crate) fn fits(free: u128, pose: Pose) -> bool {
    if pose.x >= WIDTH || pose.y >= HEIGHT || free & bit(pose.x, pose.y) == 0 {
        return false;
    }
    if pose.is_vertical() {
        pose.y + 1 == HEIGHT || free & bit(pose.x, pose.y + 1) != 0
    } else {
        pose.x + 1 < WIDTH && free & bit(pose.x + 1, pose.y) != 0
    }
}

/// The pose one column over, if it fits; `None` too at the walls.
pub(crate) fn moved(free: u128, pose: Pose, left: bool) -> Option<Pose> {
    let x = if left {
        pose.x.checked_sub(1)?
    } else {
        pose.x + 1
    };
    let moved = Pose { x, ..pose };
    fits(free, moved).then_some(moved)
}

/// The pose one row down, if it fits.
pub(crate) fn dropped(free: u128, pose: Pose) -> Option<Pose> {
    let dropped = Pose {
        y: pose.y.checked_sub(1)?,
        ..pose
    };
    fits(free, dropped).then_some(dropped)
}

/// The pose after a quarter turn: flat to upright needs the cell above, upright to flat the
/// cell on the right, or else kicks one column left.
pub(crate) fn turned(free: u128, pose: Pose, clockwise: bool) -> Option<Pose> {
    let turns = if clockwise {
        pose.turns + 1
    } else {
        pose.turns + 3
    } & 3;
    let turned = Pose { turns, ..pose };
    if fits(free, turned) {
        return Some(turned);
    }
    if pose.is_vertical() {
        moved(free, turned, true)
    } else {
        None
    }
}

/// Every resting place with the fewest presses that reach it, a last `Down` to lock not
/// counted. All four turns are listed, for doubles too.
pub fn presses(board: &Board) -> Vec<(Placement, Vec<Button>)> {
    let free = !board.occupied();
    let mut result = Vec::new();
    if board.is_topped_out() {
        return result;
    }
    // The button and the pose it was pressed in, per pose index.
    let mut came_from: Vec<Option<(Button, Pose)>> = vec![None; 512];
    let mut queue = vec![LAUNCH];
    let mut next = 0;
    while let Some(&pose) = queue.get(next) {
        next += 1;
        for button in Button::ALL {
            let after = match button {
                Button::Left => moved(free, pose, true),
                Button::Right => moved(free, pose, false),
                Button::Down => dropped(free, pose),
                Button::A => turned(free, pose, true),
                Button::B => turned(free, pose, false),
            };
            if let Some(after) = after
                && after != LAUNCH
                && came_from[after.index()].is_none()
            {
                came_from[after.index()] = Some((button, pose));
                queue.push(after);
            }
        }
        if dropped(free, pose).is_none() {
            result.push((pose, pressed_to(&came_from, pose)));
        }
    }
    result
}

fn pressed_to(came_from: &[Option<(Button, Pose)>], mut pose: Pose) -> Vec<Button> {
    let mut pressed = Vec::new();
    while let Some((button, before)) = came_from[pose.index()] {
        pressed.push(button);
        pose = before;
    }
    pressed.reverse();
    pressed
}
