//! Whole strings: how many liberties they have, and how many a runner would have after landing beside them.
//!
//! A convolution cannot count the liberties of a string: the same liberty is seen from several stones. It can keep a
//! claim that is dropped stone by stone. So every point that lies `v` from a stone is put into one of [`CLASSES`] by
//! `v` modulo a lattice, and each stone claims, for each class, that its string has no liberty there. A stone that sees
//! one drops the claim, its neighbours drop theirs of the class that means the same point, and so on, one stone a block.
//! What is left tells the liberties apart, as long as no two of them differ by a vector of the lattice; the shortest
//! such vectors are [`LATTICE`] steps along both axes.
//!
//! The same claims of all strings beside an empty point, put together, count the liberties of the string that a stone
//! there would make of them.

use crate::circuit::Circuit;
use crate::formula::{Plane, Sum, around, total};
use crate::frame::{Offset, SIDES};
use crate::reader::{Lane, NEVER};

/// The lattice is spanned by (LATTICE, LATTICE) and (LATTICE, -LATTICE).
const LATTICE: i32 = 3;

/// Classes of points modulo the lattice.
pub(crate) const CLASSES: usize = (2 * LATTICE * LATTICE) as usize;

/// A runner with this many liberties on the hunter's turn is out.
const LIBERTIES_TO_ESCAPE: i32 = 3;

/// The class of the point that lies `x` to the east and `y` to the north.
fn class_of(x: i32, y: i32) -> usize {
    let modulus = 2 * LATTICE;
    let (sum, difference) = ((x + y).rem_euclid(modulus), (x - y).rem_euclid(modulus));
    (sum * LATTICE + difference / 2) as usize
}

/// A short vector of each class.
fn vector_of(class: usize) -> (i32, i32) {
    let all = (-LATTICE..=LATTICE).flat_map(|x| (-LATTICE..=LATTICE).map(move |y| (x, y)));
    let mut all = all.filter(|&(x, y)| class_of(x, y) == class);
    all.next().expect("every class has a short vector")
}

/// The class of the same point as seen from a neighbour.
fn seen_from(class: usize, side: Offset) -> usize {
    let (x, y) = vector_of(class);
    class_of(x - i32::from(side.x), y - i32::from(side.y))
}

/// The neighbours of one class.
fn beside(empty: &Sum, class: usize) -> Sum {
    let sides = SIDES.into_iter();
    let of_class = sides.filter(|side| class_of(side.x.into(), side.y.into()) == class);
    total(of_class.map(|side| empty.clone().at(side)))
}

/// What is known of strings once the claims have settled.
#[derive(Clone, Copy)]
pub(crate) struct Strings {
    /// Runner's stones of strings with exactly one liberty (escapes) or two (chases).
    pub hunted: Plane,
    /// How many liberties a runner that lands on this empty point is short of escaping: 0 is out, 1 two liberties.
    pub lacking: Plane,
}

impl Lane {
    /// One round: a stone drops its claim if a neighbour of the same string has dropped it.
    ///
    /// Doubling and subtracting one keeps rounding errors of fast convolutions from growing from round to round.
    pub(crate) fn flood(&self, circuit: &mut Circuit) {
        let mut round = |claim: Plane, dropped: Sum| {
            let name = format!("{} dropped nearby", circuit.name(claim));
            let dropped = circuit.inner(self.index, name, 2 * dropped - 1);
            circuit.add_to(claim, -1 * dropped);
        };
        for (class, &claim) in self.claims.iter().enumerate() {
            round(claim, self.dropped(class));
        }
        if let Some(claim) = self.untouchable {
            round(claim, around(self.runner) - around(claim));
        }
    }

    /// How many neighbours of a runner's stone or of an empty point know of a liberty of this class.
    fn dropped(&self, class: usize) -> Sum {
        total(SIDES.map(|side| self.runner.at(side) - self.claims[seen_from(class, side)].at(side)))
    }

    /// The claims begin, with their first round.
    pub(crate) fn claim(&mut self, circuit: &mut Circuit) {
        let (lane, who) = (self.index, self.who());
        let name = |class: usize| format!("{who}: no liberty of class {class}");
        let seen: Vec<Plane> = (0..CLASSES)
            .map(|class| {
                let sum = self.runner - beside(&self.empty(), class);
                circuit.inner(lane, format!("{} beside", name(class)), sum)
            })
            .collect();
        let runner = circuit.inner(lane, format!("{who}: runner copied"), self.runner.into());
        self.claims = (0..CLASSES)
            .map(|class| {
                let dropped = total(
                    SIDES.map(|side| runner.at(side) - seen[seen_from(class, side)].at(side)),
                );
                circuit.lasting(lane, name(class), seen[class] - dropped)
            })
            .collect();
    }

    /// Counts: the claims end here.
    pub(crate) fn count_strings(&self, circuit: &mut Circuit) -> Strings {
        let (lane, who) = (self.index, self.who());
        let kept = total(self.claims.iter().map(|&claim| Sum::from(claim)));
        let at_most = |liberties: usize| kept.clone() - (CLASSES - liberties - 1) as i32;
        let one = circuit.inner(lane, format!("{who}: one liberty found"), at_most(1));
        let hunted = if self.is_escape() {
            Sum::from(one)
        } else {
            let two = circuit.inner(lane, format!("{who}: two liberties found"), at_most(2));
            two - 2 * one
        };
        // A landing takes its own point away, and in a chase the atari takes another.
        let taken = i32::from(!self.is_escape());
        let empty = circuit.inner(lane, format!("{who}: empty copied"), self.empty());
        let absent = (0..CLASSES).filter(|&class| class != class_of(0, 0));
        let absent: Vec<Sum> = absent
            .map(|class| {
                let name = format!("{who}: no liberty of class {class} around");
                let sum = 1 - self.dropped(class) - beside(&self.empty(), class);
                Sum::from(circuit.inner(lane, name, sum))
            })
            .collect();
        let most = absent.len() as i32;
        // A chaser that the landing takes is as good as the liberties that it leaves.
        let atari = self.atari.expect("block 1 has counted");
        let atari = circuit.inner(lane, format!("{who}: atari copied"), atari.into());
        let lacking = total(absent) + LIBERTIES_TO_ESCAPE + taken
            - most
            - around(atari)
            - NEVER * (1 - empty);
        let strings = Strings {
            hunted: circuit.lasting(lane, format!("{who}: hunted"), hunted),
            lacking: circuit.lasting(lane, format!("{who}: lacking"), lacking),
        };
        for &claim in &self.claims {
            circuit.drop_plane(claim);
        }
        strings
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_tell_points_apart_that_are_near() {
        for x in -5_i32..=5 {
            for y in -5_i32..=5 {
                let steps = x.abs() + y.abs();
                if (1..2 * LATTICE).contains(&steps) {
                    assert_ne!(class_of(x, y), class_of(0, 0), "({x}, {y})");
                }
            }
        }
    }

    #[test]
    fn a_point_is_the_same_point_from_every_neighbour() {
        for class in 0..CLASSES {
            let (x, y) = vector_of(class);
            for side in SIDES {
                let from_there = class_of(x - i32::from(side.x), y - i32::from(side.y));
                assert_eq!(seen_from(class, side), from_there);
                let back = seen_from(from_there, -side);
                assert_eq!(back, class);
            }
        }
    }
}
