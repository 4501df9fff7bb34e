//! Sums over named planes: what goes into a ReLU.
//!
//! A formula such as `relu(runner.at(WEST) + 2 * empty - 3)` is written in Rust as it is spoken: planes and sums can
//! be added, subtracted and multiplied by whole numbers, and looked at from a neighbouring point with `at`.

use std::ops::{Add, Mul, Sub};

use crate::frame::{HERE, Offset, SIDES};

/// A plane of a circuit: one whole number per point of the board. It is a handle; the circuit knows its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Plane(pub(crate) usize);

impl Plane {
    /// The plane as seen from `step` away: the value at `point + step`, zero off the board.
    pub fn at(self, step: Offset) -> Sum {
        Sum::from(self).at(step)
    }
}

/// One plane, seen from some step away, times a whole number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Term {
    pub plane: Plane,
    /// Where to look.
    pub step: Offset,
    pub weight: i32,
}

/// A weighted sum of planes and a constant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sum {
    /// What is added up, every plane and step at most once.
    pub terms: Vec<Term>,
    /// Added everywhere on the board.
    pub constant: i32,
}

impl Sum {
    /// The sum as seen from `step` away. The constant is not moved: it is the same at every point of the board.
    pub fn at(mut self, step: Offset) -> Sum {
        for term in &mut self.terms {
            term.step = term.step + step;
        }
        self
    }

    fn add_term(&mut self, added: Term) {
        let same = |term: &&mut Term| term.plane == added.plane && term.step == added.step;
        match self.terms.iter_mut().find(same) {
            Some(term) => term.weight += added.weight,
            None => self.terms.push(added),
        }
        self.terms.retain(|term| term.weight != 0);
    }
}

/// The sum of `what` over the four neighbours.
pub fn around(what: impl Into<Sum>) -> Sum {
    let what = what.into();
    assert_eq!(
        what.constant, 0,
        "a constant has no neighbours: it would count off the board"
    );
    total(SIDES.map(|side| what.clone().at(side)))
}

/// Adds up any number of sums.
pub fn total(sums: impl IntoIterator<Item = Sum>) -> Sum {
    sums.into_iter().fold(Sum::default(), |all, sum| all + sum)
}

impl From<Plane> for Sum {
    fn from(plane: Plane) -> Sum {
        Sum {
            terms: vec![Term {
                plane,
                step: HERE,
                weight: 1,
            }],
            constant: 0,
        }
    }
}

impl From<i32> for Sum {
    fn from(constant: i32) -> Sum {
        Sum {
            terms: Vec::new(),
            constant,
        }
    }
}

impl<T: Into<Sum>> Add<T> for Sum {
    type Output = Sum;
    fn add(mut self, other: T) -> Sum {
        let other = other.into();
        for term in other.terms {
            self.add_term(term);
        }
        self.constant += other.constant;
        self
    }
}

impl<T: Into<Sum>> Sub<T> for Sum {
    type Output = Sum;
    fn sub(self, other: T) -> Sum {
        self + -1 * other.into()
    }
}

impl<T: Into<Sum>> Add<T> for Plane {
    type Output = Sum;
    fn add(self, other: T) -> Sum {
        Sum::from(self) + other
    }
}

impl<T: Into<Sum>> Sub<T> for Plane {
    type Output = Sum;
    fn sub(self, other: T) -> Sum {
        Sum::from(self) - other
    }
}

impl Mul<Sum> for i32 {
    type Output = Sum;
    fn mul(self, mut sum: Sum) -> Sum {
        for term in &mut sum.terms {
            term.weight *= self;
        }
        sum.constant *= self;
        sum
    }
}

impl Mul<Plane> for i32 {
    type Output = Sum;
    fn mul(self, plane: Plane) -> Sum {
        self * Sum::from(plane)
    }
}

impl Sub<Sum> for i32 {
    type Output = Sum;
    fn sub(self, sum: Sum) -> Sum {
        Sum::from(self) - sum
    }
}

impl Sub<Plane> for i32 {
    type Output = Sum;
    fn sub(self, plane: Plane) -> Sum {
        Sum::from(self) - plane
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::{EAST, NORTH};

    #[test]
    fn terms_of_the_same_plane_and_step_are_joined() {
        let stone = Plane(3);
        let sum = 2 * stone + stone.at(NORTH) - stone - 1 + stone.at(NORTH);
        assert_eq!(sum.constant, -1);
        assert_eq!(sum.terms.len(), 2);
        assert_eq!(sum.terms[0].weight, 1);
        assert_eq!(sum.terms[1].weight, 2);
        assert!((stone.at(EAST) - stone.at(EAST)).terms.is_empty());
    }

    #[test]
    fn a_neighbourhood_has_four_points() {
        let sum = around(Plane(0));
        assert_eq!(sum.terms.len(), 4);
        assert!(sum.terms.iter().all(|term| term.step != HERE));
    }
}
