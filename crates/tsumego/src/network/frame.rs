//! Where a network looks: the part of a board that a window shows.

use crate::network::features::{FeatureSet, Planes, TENGEN_PLANES};

/// A cell as x and y from the top left of the planes, ring not counted.
pub type Cell = (usize, usize);

/// The plane of our set that shows where the fight is.
pub const ZONE_PLANE: usize = {
    let mut plane = 0;
    while !is_zone(TENGEN_PLANES[plane]) {
        plane += 1;
    }
    plane
};

const fn is_zone(name: &str) -> bool {
    matches!(name.as_bytes(), b"zone")
}

/// The middle of the fight: what a window on our planes is centred on.
///
/// In each direction it is the middle of zone and target, so that a window shows all of a fight
/// that fits into it; of the target alone where it does not.
pub fn middle(zone: impl IntoIterator<Item = Cell>, target: &[Cell], window: usize) -> Cell {
    let mut fight: Vec<Cell> = target.to_vec();
    fight.extend(zone);
    let along = |coordinate: fn(&Cell) -> usize| {
        let span = |cells: &[Cell]| {
            let least = cells.iter().map(coordinate).min().unwrap_or(0);
            (least, cells.iter().map(coordinate).max().unwrap_or(0))
        };
        let (from, to) = span(&fight);
        let (from, to) = if to - from < window {
            (from, to)
        } else {
            span(target)
        };
        from.midpoint(to)
    };
    (along(|cell| cell.0), along(|cell| cell.1))
}

impl Planes {
    /// What a window on these planes is centred on: with our set the [middle] of the fight, with the
    /// original's sets the first stone of the target.
    pub fn centre(&self, window: usize) -> Cell {
        if self.set != FeatureSet::Tengen {
            return self.target[0];
        }
        let cells = (0..self.side).flat_map(|y| (0..self.side).map(move |x| (x, y)));
        let zone = cells.filter(|&(x, y)| {
            self.values[(y * self.side + x) * self.set.planes() + ZONE_PLANE] != 0
        });
        middle(zone, &self.target, window)
    }
}

/// Where a cell falls in a window turned by one of eight symmetries, as [`Planes::window`] turns it:
/// the place in the window, row by row, or none if it lies outside.
pub fn place_in_window(cell: Cell, centre: Cell, window: usize, symmetry: usize) -> Option<usize> {
    let reach = (window / 2) as isize;
    let mut x = cell.0 as isize - centre.0 as isize;
    let mut y = cell.1 as isize - centre.1 as isize;
    // The way back of a value that is fetched: transposed first, then turned the other way.
    if symmetry & 4 != 0 {
        (x, y) = (y, x);
    }
    for _ in 0..symmetry % 4 {
        (x, y) = (-y, x);
    }
    let inside = -reach..=reach;
    (inside.contains(&x) && inside.contains(&y))
        .then(|| (y + reach) as usize * window + (x + reach) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fight_that_fits_is_in_the_middle() {
        let zone = [(0, 0), (4, 2)];
        assert_eq!(middle(zone, &[(1, 1)], 11), (2, 1));
        assert_eq!(middle(zone, &[(1, 1)], 5), (2, 1));
        // Too wide for three columns, not for three rows.
        assert_eq!(middle(zone, &[(1, 2)], 3), (1, 1));
    }

    #[test]
    fn places_are_where_windows_show_the_cell() {
        const SIDE: usize = 7;
        for (x, y) in [(0, 0), (3, 1), (6, 5), (2, 6)] {
            let mut values = vec![0; SIDE * SIDE * FeatureSet::Original14.planes()];
            values[(y * SIDE + x) * FeatureSet::Original14.planes()] = 1;
            let planes = Planes {
                set: FeatureSet::Original14,
                side: SIDE,
                values,
                target: vec![(3, 3)],
            };
            for window in [5, 9] {
                for symmetry in 0..8 {
                    let shown = planes.window((3, 3), window, symmetry);
                    let shown = shown.iter().position(|&value| value == 1.0);
                    let place = place_in_window((x, y), (3, 3), window, symmetry);
                    assert_eq!(place, shown, "{x} {y} {window} {symmetry}");
                }
            }
        }
    }
}
