//! Unconditional life: blocks that stand even if their owner always passes.
//!
//! Benson's theorem (1976). A region is a connected piece of the points that are not of the
//! blocks' colour. It is vital to a block when each of its empty points is a liberty of that
//! block: the opponent can never take that block's last liberty in there. Strike out blocks
//! with fewer than two vital regions and regions that touch a struck block, until nothing
//! changes. What remains is exactly what lives unconditionally.
//!
//! Regions that are vital to no block play no part, so the search walks from block to vital
//! region to block and gives a region up at its first empty point away from the block. On an
//! ordinary board it never looks at the open side.

use crate::{Board, Color, Point, PointSet, point::GRID};

/// What a colour holds unconditionally.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Life {
    /// The stones of all unconditionally alive blocks.
    pub stones: PointSet,
    /// The points of the vital regions around them, stones of the opponent in there included.
    pub eyes: PointSet,
}

impl Board {
    /// The unconditionally alive stones of `color` and their eyes.
    pub fn unconditional_life(&self, color: Color) -> Life {
        let mut benson = Benson::new();
        let mut blocks = Vec::new();
        let mut unseen = *self.stone_set(color);
        while let Some(stone) = unseen.first() {
            blocks.push(stone);
            for stone in self.stones(stone) {
                unseen.remove(stone);
            }
        }
        benson.solve(self, color, blocks);
        benson.life(self)
    }
}

/// Benson's algorithm for chosen blocks. Its memory is used again from call to call, so a
/// solver that asks at every node keeps one.
pub struct Benson {
    /// A stamp for each point: the last walk that came by.
    walks: [u32; GRID],
    walk: u32,
    /// The place in `blocks` for the head of each block met, checked against the entry there.
    places: [u16; GRID],
    blocks: Vec<Block>,
    regions: Vec<Region>,
    /// Which block each vital region serves, and which blocks each region touches.
    vital: Vec<(u16, u16)>,
    touching: Vec<(u16, u16)>,
    open: Vec<Point>,
    walked: Vec<Point>,
}

struct Block {
    head: Point,
    vital_regions: u16,
    is_alive: bool,
}

struct Region {
    /// The region's lowest point names it.
    lowest: Point,
    is_kept: bool,
}

impl Default for Benson {
    fn default() -> Benson {
        Benson::new()
    }
}

impl Benson {
    /// Memory for the algorithm.
    pub fn new() -> Benson {
        Benson {
            walks: [0; GRID],
            walk: 0,
            places: [0; GRID],
            blocks: Vec::new(),
            regions: Vec::new(),
            vital: Vec::new(),
            touching: Vec::new(),
            open: Vec::new(),
            walked: Vec::new(),
        }
    }

    /// Whether the block at `stone` is unconditionally alive.
    pub fn is_alive(&mut self, board: &Board, stone: Point) -> bool {
        self.any_alive(board, [stone])
    }

    /// Whether one of the blocks at `stones` is unconditionally alive.
    pub fn any_alive(&mut self, board: &Board, stones: impl IntoIterator<Item = Point>) -> bool {
        let mut stones = stones.into_iter().peekable();
        let Some(color) = stones.peek().and_then(|&stone| board.stone(stone)) else {
            return false;
        };
        self.clear();
        for stone in stones {
            self.place_of(board.block(stone));
        }
        let asked = self.blocks.len();
        self.run(board, color);
        self.blocks[..asked].iter().any(|block| block.is_alive)
    }

    /// Decides the given blocks of one colour, and whatever blocks their life hangs on.
    fn solve(&mut self, board: &Board, color: Color, stones: impl IntoIterator<Item = Point>) {
        self.clear();
        for stone in stones {
            self.place_of(board.block(stone));
        }
        self.run(board, color);
    }

    fn clear(&mut self) {
        self.blocks.clear();
        self.regions.clear();
        self.vital.clear();
        self.touching.clear();
        // Stamps of earlier calls stay behind; start over before they could come round again.
        if self.walk > u32::MAX / 2 {
            self.walks = [0; GRID];
            self.walk = 0;
        }
    }

    fn run(&mut self, board: &Board, color: Color) {
        let mut at = 0;
        while at < self.blocks.len() {
            self.find_vital_regions(board, color, at);
            at += 1;
        }
        self.strike_out();
    }

    fn place_of(&mut self, head: Point) -> u16 {
        let place = self.places[head.grid_index()];
        if self
            .blocks
            .get(place as usize)
            .is_some_and(|block| block.head == head)
        {
            return place;
        }
        let place = self.blocks.len() as u16;
        self.places[head.grid_index()] = place;
        self.blocks.push(Block {
            head,
            vital_regions: 0,
            is_alive: true,
        });
        place
    }

    fn find_vital_regions(&mut self, board: &Board, color: Color, place: usize) {
        let head = self.blocks[place].head;
        let first_walk = self.walk + 1;
        for liberty in board.liberties(head) {
            let seen_for_this_block = self.walks[liberty.grid_index()] >= first_walk;
            if seen_for_this_block || !self.walk_region(board, color, head, liberty, first_walk) {
                continue;
            }
            let region = self.region_walked(board, color);
            self.vital.push((place as u16, region));
            self.blocks[place].vital_regions += 1;
        }
    }

    /// Walks the region around `start` while it looks vital to the block; whether it is.
    fn walk_region(
        &mut self,
        board: &Board,
        color: Color,
        head: Point,
        start: Point,
        first_walk: u32,
    ) -> bool {
        self.walk += 1;
        self.walks[start.grid_index()] = self.walk;
        self.open.clear();
        self.walked.clear();
        self.open.push(start);
        while let Some(point) = self.open.pop() {
            let is_liberty = || {
                point
                    .neighbors()
                    .into_iter()
                    .any(|n| board.is_stone(n, color) && board.block(n) == head)
            };
            if board.is_empty(point) && !is_liberty() {
                return false;
            }
            self.walked.push(point);
            for neighbor in point.neighbors() {
                if !board.is_on_board(neighbor) || board.is_stone(neighbor, color) {
                    continue;
                }
                let stamp = &mut self.walks[neighbor.grid_index()];
                if *stamp == self.walk {
                    continue;
                }
                if *stamp >= first_walk {
                    // An earlier walk for this block gave up in this very region.
                    return false;
                }
                *stamp = self.walk;
                self.open.push(neighbor);
            }
        }
        true
    }

    /// The region just walked; when it is new, all blocks around it are noted.
    fn region_walked(&mut self, board: &Board, color: Color) -> u16 {
        let lowest = self
            .walked
            .iter()
            .copied()
            .min()
            .expect("a walk has a start");
        if let Some(known) = self
            .regions
            .iter()
            .position(|region| region.lowest == lowest)
        {
            return known as u16;
        }
        let region = self.regions.len() as u16;
        self.regions.push(Region {
            lowest,
            is_kept: true,
        });
        let noted_from = self.touching.len();
        for at in 0..self.walked.len() {
            for neighbor in self.walked[at].neighbors() {
                if !board.is_stone(neighbor, color) {
                    continue;
                }
                let place = self.place_of(board.block(neighbor));
                if !self.touching[noted_from..].contains(&(place, region)) {
                    self.touching.push((place, region));
                }
            }
        }
        region
    }

    fn strike_out(&mut self) {
        loop {
            let mut struck = false;
            for &(place, region) in &self.touching {
                let block = &mut self.blocks[place as usize];
                block.is_alive &= block.vital_regions >= 2;
                let region_state = &mut self.regions[region as usize];
                if !block.is_alive && region_state.is_kept {
                    region_state.is_kept = false;
                    struck = true;
                    for &(served, _) in self.vital.iter().filter(|&&(_, vital)| vital == region) {
                        self.blocks[served as usize].vital_regions -= 1;
                    }
                }
            }
            if !struck {
                break;
            }
        }
        for block in &mut self.blocks {
            block.is_alive &= block.vital_regions >= 2;
        }
    }

    fn life(&self, board: &Board) -> Life {
        let mut life = Life::default();
        for block in self.blocks.iter().filter(|block| block.is_alive) {
            life.stones.extend(board.stones(block.head));
        }
        for region in self.regions.iter().filter(|region| region.is_kept) {
            let around = PointSet::full(board.size()) - life.stones;
            life.eyes = life.eyes | PointSet::from_iter([region.lowest]).flood(&around);
        }
        life
    }
}
