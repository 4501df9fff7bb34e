//! A network for another board: the tower fits any board, only the heads speak of single points.
//!
//! - A move's logit looks at the policy planes around the move. The new row of a point is the row of the old point that
//!   is as far from the nearer edges, shifted to the new place; what it saw beyond the new board is dropped.
//! - The value's hidden units look at the whole board: every old point gives its weight to the new points nearest to it
//!   when one board is laid over the other, so that a board full of the same number gives the same answer.
//! - The pass is seen like the value, as is the part of a move's row that no new point takes up: it would otherwise
//!   change the balance between moves near the edge and in the middle.

use super::{BOARD_SIZES, DenseRows, LeelaNetwork};
use crate::network::ShapeError;

impl LeelaNetwork {
    /// The network for boards of `size`; the same network if it is for that size already.
    ///
    /// # Errors
    /// There is no board of that size.
    pub fn resized(&self, size: usize) -> Result<Self, ShapeError> {
        if !BOARD_SIZES.contains(&size) {
            return Err(ShapeError {
                place: "board".into(),
                found: format!("{size}x{size}"),
                expected: format!("{} to {}", BOARD_SIZES.start(), BOARD_SIZES.end()),
            });
        }
        if size == self.size {
            return Ok(self.clone());
        }
        let boards = Boards {
            old: self.size,
            new: size,
        };
        let shape = self.shape();
        Ok(Self {
            size,
            policy_dense: boards.policy(&self.policy_dense, shape.policy_planes),
            value_hidden: DenseRows {
                weights: self
                    .value_hidden
                    .weights
                    .chunks_exact(boards.old_area())
                    .flat_map(|plane| boards.overlay(plane))
                    .collect(),
                bias: self.value_hidden.bias.clone(),
            },
            ..self.clone()
        })
    }
}

/// The two boards.
#[derive(Clone, Copy)]
struct Boards {
    old: usize,
    new: usize,
}

impl Boards {
    fn old_area(self) -> usize {
        self.old * self.old
    }

    fn new_area(self) -> usize {
        self.new * self.new
    }

    /// The old line that is as far from the nearer edge as the new line `line`, or as far as there are lines.
    fn anchor(self, line: usize) -> usize {
        let from_end = self.new - 1 - line;
        if line <= from_end {
            line.min((self.old - 1) / 2)
        } else {
            self.old - 1 - from_end.min((self.old - 1) / 2)
        }
    }

    /// For each new line the old lines that lie on it, each with the share of its weight that goes there.
    fn shares(self) -> Vec<Vec<(usize, f32)>> {
        let (old, new) = (self.old as f32, self.new as f32);
        (0..self.new)
            .map(|line| {
                let (from, to) = (line as f32 * old / new, (line + 1) as f32 * old / new);
                (from as usize..self.old.min(to.ceil() as usize))
                    .filter_map(|source| {
                        let overlap = to.min((source + 1) as f32) - from.max(source as f32);
                        (overlap > 0.0).then_some((source, overlap))
                    })
                    .collect()
            })
            .collect()
    }

    /// A plane of weights laid over the new board; their sum stays.
    fn overlay(self, plane: &[f32]) -> Vec<f32> {
        let shares = self.shares();
        let mut weights = Vec::with_capacity(self.new_area());
        for rows in &shares {
            for columns in &shares {
                let sum = rows.iter().flat_map(|&(row, down)| {
                    columns.iter().map(move |&(column, across)| {
                        plane[row * self.old + column] * down * across
                    })
                });
                weights.push(sum.sum());
            }
        }
        weights
    }

    /// The old point that `point` of the new board is like.
    fn like(self, point: usize) -> [usize; 2] {
        [point / self.new, point % self.new].map(|line| self.anchor(line))
    }

    /// A move's plane of weights, moved from the old board to the new one so that it stays around the move.
    fn moved(self, plane: &[f32], point: usize) -> Vec<f32> {
        let [old_row, old_column] = self.like(point);
        let (row, column) = (point / self.new, point % self.new);
        let mut weights = vec![0.0; self.new_area()];
        let mut kept = 0.0;
        for (index, weight) in weights.iter_mut().enumerate() {
            let source_row = (old_row + index / self.new).checked_sub(row);
            let source_column = (old_column + index % self.new).checked_sub(column);
            if let (Some(source_row), Some(source_column)) = (source_row, source_column)
                && source_row < self.old
                && source_column < self.old
            {
                *weight = plane[source_row * self.old + source_column];
                kept += *weight;
            }
        }
        let dropped = (plane.iter().sum::<f32>() - kept) / self.new_area() as f32;
        weights.iter_mut().for_each(|weight| *weight += dropped);
        weights
    }

    fn policy(self, dense: &DenseRows, planes: usize) -> DenseRows {
        let row_length = planes * self.old_area();
        let row = |output: usize| {
            dense.weights[output * row_length..][..row_length].chunks_exact(self.old_area())
        };
        let mut weights = Vec::with_capacity((self.new_area() + 1) * planes * self.new_area());
        let mut bias = Vec::with_capacity(self.new_area() + 1);
        for point in 0..self.new_area() {
            let [old_row, old_column] = self.like(point);
            let old_point = old_row * self.old + old_column;
            weights.extend(row(old_point).flat_map(|plane| self.moved(plane, point)));
            bias.push(dense.bias[old_point]);
        }
        let pass = self.old_area();
        weights.extend(row(pass).flat_map(|plane| self.overlay(plane)));
        bias.push(dense.bias[pass]);
        DenseRows { weights, bias }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::leela::{LeelaShape, LeelaVersion};
    use proptest::prelude::*;

    /// Weights that differ everywhere.
    fn ramp(length: usize) -> Vec<f32> {
        (0..length)
            .map(|index| (index % 97) as f32 - 48.0)
            .collect()
    }

    fn network(size: usize) -> LeelaNetwork {
        let mut network = LeelaNetwork::zeros(LeelaVersion::V1, LeelaShape::stock(size, 1, 2));
        network.policy_dense.weights = ramp(network.policy_dense.weights.len());
        network.policy_dense.bias = ramp(network.policy_dense.bias.len());
        network.value_hidden.weights = ramp(network.value_hidden.weights.len());
        network
    }

    #[test]
    fn corners_edges_and_centres_keep_their_kind() {
        let boards = Boards { old: 19, new: 13 };
        let anchors: Vec<_> = (0..13).map(|line| boards.anchor(line)).collect();
        assert_eq!(anchors, [0, 1, 2, 3, 4, 5, 6, 13, 14, 15, 16, 17, 18]);
        let boards = Boards { old: 5, new: 9 };
        let anchors: Vec<_> = (0..9).map(|line| boards.anchor(line)).collect();
        assert_eq!(anchors, [0, 1, 2, 2, 2, 2, 2, 3, 4]);
    }

    #[test]
    fn a_head_that_looks_only_at_the_move_itself_still_does() {
        // Each point's logit is the number on the first plane at that point, so it must be on any board.
        let mut old = network(9);
        old.policy_dense.weights.fill(0.0);
        for point in 0..81 {
            old.policy_dense.weights[point * 2 * 81 + point] = 1.0;
        }
        for size in [2, 7, 13, 19] {
            let area = size * size;
            let new = old.resized(size).unwrap();
            for point in 0..area {
                let row = &new.policy_dense.weights[point * 2 * area..][..2 * area];
                for (index, &weight) in row.iter().enumerate() {
                    assert_eq!(
                        weight,
                        if index == point { 1.0 } else { 0.0 },
                        "{size} {point}"
                    );
                }
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        /// What a row says about a board full of ones does not depend on the board's size.
        #[test]
        fn sums_stay(old in 2_usize..=13, new in 2_usize..=13) {
            let before = network(old);
            let after = before.resized(new).unwrap();
            after.check().unwrap();
            let sum = |weights: &[f32]| weights.iter().sum::<f32>();
            let (old_area, new_area) = (old * old, new * new);
            let near = |a: f32, b: f32| (a - b).abs() <= 0.02 * (1.0 + a.abs());
            for (a, b) in before.value_hidden.weights.chunks(old_area).zip(after.value_hidden.weights.chunks(new_area)) {
                prop_assert!(near(sum(a), sum(b)), "{} {}", sum(a), sum(b));
            }
            let boards = Boards { old, new };
            for point in 0..new_area {
                let [row, column] = boards.like(point);
                let a = &before.policy_dense.weights[(row * old + column) * 2 * old_area..][..2 * old_area];
                let b = &after.policy_dense.weights[point * 2 * new_area..][..2 * new_area];
                prop_assert!(near(sum(a), sum(b)), "{} {}", sum(a), sum(b));
            }
        }
    }

    #[test]
    fn the_same_size_changes_nothing_and_no_board_is_refused() {
        let nine = network(9);
        assert_eq!(nine.resized(9).unwrap(), nine);
        assert!(nine.resized(26).unwrap_err().to_string().contains("26x26"));
    }
}
