//! Area as a strong program counts it without reading a move: Tromp-Taylor area, where stones that are dead inside
//! unconditionally alive territory belong to the owner of the territory.
//!
//! This is what KataGo's networks are shown, so every detail matters: which regions count as vital depends on whether
//! suicide is legal, and the colours are marked one after the other.

use crate::{Board, Color, Point, PointSet};

/// A connected piece of the points that are not of one colour.
struct Region {
    points: PointSet,
    /// Places in the list of chains.
    touched: Vec<usize>,
    vital_to: Vec<usize>,
    has_enemy: bool,
    /// Points beside no stone of the colour.
    inner: usize,
    is_kept: bool,
}

/// A region whose points all but one touch its owner leaves no room for two eyes inside.
const MOST_INNER_POINTS: usize = 1;

impl Board {
    /// The area of each colour, Black's first: alive stones, surrounded points, and enemy stones that are dead inside
    /// unconditionally alive territory. A colour without stones owns nothing.
    pub fn settled_area(&self, suicide_is_legal: bool) -> [PointSet; 2] {
        let mut area = [PointSet::EMPTY; 2];
        for color in Color::BOTH {
            self.mark_area(color, suicide_is_legal, &mut area);
        }
        let marked = area[0] | area[1];
        for color in Color::BOTH {
            area[color.index()] = area[color.index()] | (*self.stone_set(color) - marked);
        }
        area
    }

    fn mark_area(&self, color: Color, suicide_is_legal: bool, area: &mut [PointSet; 2]) {
        let stones = *self.stone_set(color);
        if stones.is_empty() {
            return;
        }
        let chains: Vec<PointSet> = stones.components().collect();
        let mut regions = self.regions(color, &chains, suicide_is_legal);
        let is_alive = strike_out(chains.len(), &mut regions);
        let (own, other) = (color.index(), color.opponent().index());
        for (chain, _) in chains.iter().zip(&is_alive).filter(|(_, alive)| **alive) {
            area[own] = area[own] | *chain;
        }
        for region in &regions {
            let is_enclosed = region.touched.iter().all(|&chain| is_alive[chain]);
            if is_enclosed && (region.inner <= MOST_INNER_POINTS || !region.has_enemy) {
                area[own] = area[own] | region.points;
                area[other] = area[other] - region.points;
            } else if !region.has_enemy {
                area[own] = area[own] | (region.points - area[other]);
            }
        }
    }

    fn regions(&self, color: Color, chains: &[PointSet], suicide_is_legal: bool) -> Vec<Region> {
        let stones = *self.stone_set(color);
        let mut chain_at = [u16::MAX; Point::GRID];
        for (place, chain) in chains.iter().enumerate() {
            for stone in chain.iter() {
                chain_at[stone.grid_index()] = place as u16;
            }
        }
        let beside = stones.neighbors();
        let reaches: Vec<PointSet> = chains.iter().map(PointSet::neighbors).collect();
        let others = PointSet::full(self.size()) - stones;
        let empty = self.empty_set();
        others
            .components()
            .map(|points| {
                let mut touched = Vec::new();
                for stone in (points.neighbors() & stones).iter() {
                    let chain = usize::from(chain_at[stone.grid_index()]);
                    if !touched.contains(&chain) {
                        touched.push(chain);
                    }
                }
                let needed = if suicide_is_legal {
                    points
                } else {
                    points & empty
                };
                let is_vital = |&chain: &usize| needed.is_subset(&reaches[chain]);
                Region {
                    vital_to: touched.iter().copied().filter(is_vital).collect(),
                    touched,
                    has_enemy: !points.is_subset(&empty),
                    inner: (points - beside).len(),
                    is_kept: true,
                    points,
                }
            })
            .collect()
    }
}

/// Benson's algorithm on all chains and regions of a colour: which chains live.
fn strike_out(chains: usize, regions: &mut [Region]) -> Vec<bool> {
    let mut is_alive = vec![true; chains];
    loop {
        let mut vital = vec![0; chains];
        for region in regions.iter().filter(|region| region.is_kept) {
            for &chain in &region.vital_to {
                vital[chain] += 1;
            }
        }
        let mut struck = false;
        for (alive, vital) in is_alive.iter_mut().zip(vital) {
            if *alive && vital < 2 {
                *alive = false;
                struck = true;
            }
        }
        if !struck {
            return is_alive;
        }
        for region in regions.iter_mut() {
            region.is_kept &= region.touched.iter().all(|&chain| is_alive[chain]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::BoardSize;

    /// The areas of a drawn board, drawn: `B` and `W` for owners, `.` for nobody.
    fn areas(side: usize, rows: &str, suicide_is_legal: bool) -> Vec<String> {
        let board = Board::from_diagram(BoardSize::new(side).unwrap(), rows).unwrap();
        let [black, white] = board.settled_area(suicide_is_legal);
        assert!(!black.intersects(&white));
        let letter = |x, y| match Point::new(x, y) {
            point if black.contains(point) => 'B',
            point if white.contains(point) => 'W',
            _ => '.',
        };
        let row = |y| (0..side).map(|x| letter(x, y)).collect::<String>();
        (0..side).rev().map(row).collect()
    }

    #[test]
    fn nobody_owns_an_empty_board_and_one_stone_owns_it_all() {
        let mut board = Board::new(BoardSize::new(5).unwrap());
        assert_eq!(board.settled_area(true), [PointSet::EMPTY; 2]);
        let _ = board.play(Point::new(2, 2), Color::White);
        let full = PointSet::full(board.size());
        assert_eq!(board.settled_area(false), [PointSet::EMPTY, full]);
    }

    #[test]
    fn dead_stones_in_alive_territory_are_the_owners() {
        // Black lives with the eyes A5 and A3; White C5 stands in a region of five points, of which only E5 and E4
        // touch no Black stone, which is one too many to call it dead.
        let alive_and_dead = areas(
            5,
            ". # . . .
             # # . O .
             . # . . .
             # # . . .
             . # . . .",
            false,
        );
        // Black: A1, A3 and A5 are eyes of one chain, which lives. White has a stone and the region is open.
        assert_eq!(
            alive_and_dead,
            ["BB...", "BB.W.", "BB...", "BB...", "BB..."]
        );
        let small = areas(
            5,
            ". # O . #
             # # # # #
             . # . . .
             # # # # .
             . . . # #",
            false,
        );
        // White C5 has one empty point beside it: no room for two eyes.
        assert_eq!(small, ["BBBBB", "BBBBB", "BBBBB", "BBBBB", "BBBBB"]);
    }

    #[test]
    fn with_suicide_every_point_of_an_eye_must_touch_the_chain() {
        // White A1 touches no Black stone. If White may remove it himself, the corner is no eye of Black's.
        let rows = ". . O . .
             . . . . .
             # # . . .
             . # # # #
             O . # . .";
        let forbidden = areas(5, rows, false);
        assert_eq!(forbidden, ["..W..", ".....", "BB...", "BBBBB", "BBBBB"]);
        let legal = areas(5, rows, true);
        assert_eq!(legal, ["..W..", ".....", "BB...", ".BBBB", "W.BBB"]);
    }
}
