//! Where GTP puts fixed handicap stones.

use crate::{BoardSize, Point};

/// Boards from here on have their star points on the fourth line, smaller ones on the third.
const FOURTH_LINE_FROM: usize = 13;
/// Smaller boards have no star points.
const SMALLEST_WITH_STARS: usize = 7;
/// Boards without a centre point, and 7x7, have corner stars only.
const CORNERS: usize = 4;
/// Corners, sides and centre.
const ALL_STARS: usize = 9;

/// The most stones [`fixed_handicap`] places on a board.
pub fn max_fixed_handicap(size: BoardSize) -> usize {
    match size.get() {
        side if side < SMALLEST_WITH_STARS => 0,
        side if side == SMALLEST_WITH_STARS || side % 2 == 0 => CORNERS,
        _ => ALL_STARS,
    }
}

/// The points GTP's `fixed_handicap` gives `stones` handicap stones, from 2 to
/// [`max_fixed_handicap`]; nothing for any other number.
pub fn fixed_handicap(size: BoardSize, stones: usize) -> Option<Vec<Point>> {
    if stones < 2 || stones > max_fixed_handicap(size) {
        return None;
    }
    let low = if size.get() < FOURTH_LINE_FROM { 2 } else { 3 };
    let high = size.get() - 1 - low;
    let middle = size.get() / 2;
    let corners = [(low, low), (high, high), (low, high), (high, low)];
    let left_and_right = [(low, middle), (high, middle)];
    let bottom_and_top = [(middle, low), (middle, high)];

    let mut points = corners[..stones.min(CORNERS)].to_vec();
    if stones >= 6 {
        points.extend(left_and_right);
    }
    if stones >= 8 {
        points.extend(bottom_and_top);
    }
    if stones > CORNERS && stones % 2 == 1 {
        points.push((middle, middle));
    }
    Some(points.into_iter().map(|(x, y)| Point::new(x, y)).collect())
}

/// The star points to draw on a board: those of the largest fixed handicap.
pub fn star_points(size: BoardSize) -> Vec<Point> {
    fixed_handicap(size, max_fixed_handicap(size)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vertices(side: usize, stones: usize) -> String {
        let points = fixed_handicap(BoardSize::new(side).unwrap(), stones).unwrap();
        points
            .iter()
            .map(Point::to_string)
            .collect::<Vec<_>>()
            .join(" ")
    }

    #[test]
    fn stones_stand_where_the_protocol_says() {
        assert_eq!(vertices(19, 2), "D4 Q16");
        assert_eq!(vertices(19, 3), "D4 Q16 D16");
        assert_eq!(vertices(19, 5), "D4 Q16 D16 Q4 K10");
        assert_eq!(vertices(19, 6), "D4 Q16 D16 Q4 D10 Q10");
        assert_eq!(vertices(19, 7), "D4 Q16 D16 Q4 D10 Q10 K10");
        assert_eq!(vertices(19, 8), "D4 Q16 D16 Q4 D10 Q10 K4 K16");
        assert_eq!(vertices(19, 9), "D4 Q16 D16 Q4 D10 Q10 K4 K16 K10");
        assert_eq!(vertices(9, 4), "C3 G7 C7 G3");
        assert_eq!(vertices(13, 2), "D4 K10");
    }

    #[test]
    fn boards_without_stars_refuse() {
        let max = |side| max_fixed_handicap(BoardSize::new(side).unwrap());
        assert_eq!([max(6), max(7), max(8), max(9), max(18)], [0, 4, 4, 9, 4]);
        assert_eq!(fixed_handicap(BoardSize::NINE, 1), None);
        assert_eq!(fixed_handicap(BoardSize::NINE, 10), None);
    }
}
