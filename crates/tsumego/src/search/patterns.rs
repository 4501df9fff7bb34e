//! Solved positions by what they rest on.
//!
//! A result holds in every position that has the same stones in its relevance zone. In a wide zone
//! the same fight comes up again and again beside stones that have nothing to do with it, and the
//! transposition table sees a new position each time. Here a solved position is kept as a pattern,
//! the stones of its zone, and found again whatever stands elsewhere (the pattern table of
//! relevance-zone search, Shih, Wei, Wu and Wu 2025).
//!
//! Patterns form one tree for each state that is not on the board (side to move, ban, targets that
//! stand, threats). A branch asks about one cell, those near the target first, and has a way on
//! for each content and one for the patterns that do not mention the cell.

use std::collections::HashMap;

use super::bits::Bits;
use super::dfpn::Answer;
use super::field::{Field, index};
use super::position::Position;
use crate::problem::{Side, Threats};

/// A way on that leads nowhere.
const NOWHERE: u32 = u32::MAX;

/// Marks a way on that leads to a result instead of a branch.
const RESULT: u32 = 1 << 31;

/// The way on for patterns that do not mention a branch's cell; the others are by content.
const ANY: usize = 3;

/// Everything about a position but its stones.
type State = (Side, u16, u8, [Threats; 2]);

#[derive(Clone, Copy)]
struct Branch {
    /// The place of the cell in the order in which cells are asked about.
    rank: u16,
    ways: [u32; 4],
}

pub(crate) struct Patterns<B> {
    /// The cells in the order in which branches ask about them, and each cell's place in it.
    order: Vec<u16>,
    trees: HashMap<State, u32>,
    branches: Vec<Branch>,
    results: Vec<(Answer, B)>,
    most_branches: usize,
}

impl<B: Bits> Patterns<B> {
    /// No patterns yet, and never more than fit into `bytes`.
    pub fn new(bytes: usize) -> Patterns<B> {
        Patterns {
            order: Vec::new(),
            trees: HashMap::new(),
            branches: Vec::new(),
            results: Vec::new(),
            most_branches: (bytes / size_of::<Branch>()).min(RESULT as usize - 1),
        }
    }

    /// The result of a position that a pattern fits, and the zone it rests on.
    pub fn find(&self, position: &Position<B>, side: Side) -> Option<(Answer, B)> {
        let root = *self.trees.get(&state(position, side))?;
        let mut open = vec![root];
        while let Some(way) = open.pop() {
            if way == NOWHERE {
                continue;
            }
            if way & RESULT != 0 {
                return Some(self.results[(way & !RESULT) as usize]);
            }
            let branch = &self.branches[way as usize];
            let cell = self.order[branch.rank as usize] as usize;
            open.push(branch.ways[ANY]);
            open.push(branch.ways[content(position, cell)]);
        }
        None
    }

    /// Keeps the result of a position that rests on `zone`.
    pub fn keep(
        &mut self,
        field: &Field<B>,
        position: &Position<B>,
        side: Side,
        answer: Answer,
        zone: B,
    ) {
        if self.order.is_empty() {
            self.order = near_to_far(field);
        }
        if self.branches.len() + self.order.len() > self.most_branches {
            return;
        }
        let cells = field.pattern_cells(position, zone);
        let ranks: Vec<u16> = (0..self.order.len() as u16)
            .filter(|&rank| cells.has(self.order[rank as usize] as usize))
            .collect();
        let result = self.results.len() as u32 | RESULT;
        self.results.push((answer, zone));
        let state = state(position, side);
        let root = self.trees.get(&state).copied().unwrap_or(NOWHERE);
        let root = self.insert(root, position, &ranks, result);
        self.trees.insert(state, root);
    }

    /// Adds a pattern below a way on and returns the new way.
    fn insert(&mut self, way: u32, position: &Position<B>, ranks: &[u16], result: u32) -> u32 {
        let Some((&rank, later)) = ranks.split_first() else {
            // Whatever mentions more cells than this says nothing new.
            return result;
        };
        if way != NOWHERE && way & RESULT != 0 {
            return way;
        }
        let at = match way {
            NOWHERE => self.add(rank, NOWHERE),
            way if self.branches[way as usize].rank > rank => self.add(rank, way),
            way => way,
        };
        let branch = self.branches[at as usize];
        let (slot, rest) = if branch.rank == rank {
            let cell = self.order[rank as usize] as usize;
            (content(position, cell), later)
        } else {
            (ANY, ranks)
        };
        let below = self.insert(branch.ways[slot], position, rest, result);
        self.branches[at as usize].ways[slot] = below;
        at
    }

    fn add(&mut self, rank: u16, otherwise: u32) -> u32 {
        let mut ways = [NOWHERE; 4];
        ways[ANY] = otherwise;
        self.branches.push(Branch { rank, ways });
        self.branches.len() as u32 - 1
    }
}

impl<B: Bits> Field<B> {
    /// The cells a position must share for a result that rests on `zone`: the zone, and every
    /// block there that lives by a wall or a liberty for ever, since its link may lie outside.
    fn pattern_cells(&self, position: &Position<B>, zone: B) -> B {
        let mut cells = zone;
        for side in Side::BOTH {
            let own = position.stones[index(side)];
            let mut touched = zone & own;
            while touched.any() {
                let block = self.flood(B::cell(touched.first()), own);
                touched = touched.without(block);
                if self.is_static(block, side) {
                    cells |= block;
                }
            }
        }
        cells.without(self.wall[0] | self.wall[1])
    }
}

/// What is in a cell, as a way on.
fn content<B: Bits>(position: &Position<B>, cell: usize) -> usize {
    if position.stones[0].has(cell) {
        1
    } else if position.stones[1].has(cell) {
        2
    } else {
        0
    }
}

fn state<B>(position: &Position<B>, side: Side) -> State {
    (side, position.ban, position.standing, position.threats)
}

/// All cells, the nearest to the targets first.
fn near_to_far<B: Bits>(field: &Field<B>) -> Vec<u16> {
    let mut order = Vec::new();
    let targets = field.targets.iter();
    let mut seen = targets.fold(B::NONE, |set, &cell| set | B::cell(cell));
    let mut new = seen;
    while new.any() {
        order.extend(new.iter().map(|cell| cell as u16));
        let grown = field.grown(seen);
        new = grown.without(seen);
        seen = grown;
    }
    order
}
