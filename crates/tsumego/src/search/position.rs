//! Stones on a field, and play.
//!
//! A [`Position`] is a few words that are copied for each move, so nothing is ever taken back. What
//! the search asks of every position (which stones are safe for ever, where something can still
//! happen, where the target is) changes with few moves, so it is carried along.

use go::{Board, Color, Point};

use crate::problem::{Goal, Problem, Side};
use crate::problem::{Ko, Threats};
use crate::search::bits::Bits;
use crate::search::field::{Field, index};

/// A cell index that is no cell: no ban, or a pass.
pub(crate) const NO_CELL: u16 = u16::MAX;

/// Stones and ko state, without whose turn it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Position<B> {
    pub stones: [B; 2],
    /// The attacker's stones that can never be captured, by a liberty outside the zone.
    pub walled: B,
    /// Where something can still happen to the targets: what they reach without crossing
    /// `walled`.
    pub arena: B,
    /// The stones of the target blocks that were never captured.
    pub target: B,
    /// Where the side to move may not retake now.
    pub ban: u16,
    /// A bit for each target block that was never captured.
    pub standing: u8,
    pub threats: [Threats; 2],
    /// Hash of all but the ban.
    key: u128,
}

/// What a move led to.
pub(crate) struct Played<B> {
    pub position: Position<B>,
    pub captured: bool,
}

impl<B: Bits> Position<B> {
    fn state(&self) -> u64 {
        u64::from(self.standing)
            | u64::from(self.threats[0].byte()) << 8
            | u64::from(self.threats[1].byte()) << 16
            | STATE_TAG
    }
}

impl<B: Bits> Field<B> {
    /// The problem's position as seen by `to_move` under a ko rule.
    pub fn position(&self, problem: &Problem, to_move: Side, ko: Ko) -> Position<B> {
        let board = problem.board();
        let side_at = |point: Point| {
            let color = board.stone(point)?;
            Some(if color == problem.defender() {
                Side::Defender
            } else {
                Side::Attacker
            })
        };
        let standing: Vec<bool> = self
            .targets
            .iter()
            .map(|&cell| board.is_stone(self.point(cell), problem.defender()))
            .collect();
        let ban = banned_point(board, problem.color(to_move));
        self.position_of(side_at, to_move, ban, &standing, ko)
    }

    /// A position from its parts.
    pub fn position_of(
        &self,
        side_at: impl Fn(Point) -> Option<Side>,
        to_move: Side,
        ban: Option<Point>,
        standing: &[bool],
        ko: Ko,
    ) -> Position<B> {
        let mut position = Position {
            stones: [B::NONE; 2],
            walled: B::NONE,
            arena: B::NONE,
            target: B::NONE,
            ban: NO_CELL,
            standing: 0,
            threats: [ko.attacker, ko.defender],
            key: 0,
        };
        for (cell, &point) in self.points().iter().enumerate() {
            if let Some(side) = side_at(point) {
                position.stones[index(side)] |= B::cell(cell);
                position.key ^= self.stone_keys[index(side)][cell];
            }
        }
        for (bit, &stands) in standing.iter().enumerate() {
            position.standing |= u8::from(stands) << bit;
        }
        position.key ^= wide_hash(position.state());
        position.walled = self.immortal(&position, Side::Attacker);
        self.find_target(&mut position);
        if let Some(point) = ban {
            self.set_ban(&mut position, to_move, self.cell(point));
        }
        position
    }

    /// The stones of a side that can never be captured because of a liberty outside the zone.
    pub fn immortal(&self, position: &Position<B>, side: Side) -> B {
        let own = position.stones[index(side)];
        let seeds = (self.wall[index(side)] | self.beside(self.open)) & own;
        self.flood(seeds, own)
    }

    /// The empty cells of the window, also those outside the zone.
    #[inline]
    pub fn empty(&self, position: &Position<B>) -> B {
        self.everything()
            .without(position.stones[0] | position.stones[1])
    }

    /// Identifies the position with the side to move.
    #[inline]
    pub fn key(&self, position: &Position<B>, to_move: Side) -> u128 {
        let ban = match position.ban {
            NO_CELL => 0,
            cell => self.ban_keys[cell as usize],
        };
        position.key ^ ban ^ self.side_keys[index(to_move)]
    }

    /// Plays a stone; `None` if the point is not playable or the move is suicide or banned.
    #[inline]
    pub fn play(&self, position: &Position<B>, side: Side, cell: usize) -> Option<Played<B>> {
        let stone = B::cell(cell);
        let (own, other) = (index(side), 1 - index(side));
        if (stone & self.zone.without(position.stones[0] | position.stones[1])).none() {
            return None;
        }
        let mut next = *position;
        if position.ban == cell as u16 {
            next.threats[own] = position.threats[own].spend()?;
            next.key ^= wide_hash(position.state()) ^ wide_hash(next.state());
        }
        next.stones[own] |= stone;
        next.key ^= self.stone_keys[own][cell];
        let around = self.around[cell];
        let empty = self.empty(&next);
        let captured = self.captured_by(&next, side, around, empty);
        if captured.any() {
            next.stones[other] = next.stones[other].without(captured);
            for stone in captured.iter() {
                next.key ^= self.stone_keys[other][stone];
            }
        } else if (around & empty).none() {
            let block = self.flood(stone, next.stones[own]);
            if (self.beside(block) & empty).none() && (block & self.wall[own]).none() {
                return None;
            }
        }
        match side {
            Side::Attacker => {
                if (captured & position.target).any() {
                    self.strike_targets(&mut next, captured);
                }
                if (around & (position.walled | self.open)).any() {
                    let own_stones = next.stones[own];
                    next.walled = self.flood(position.walled | stone, own_stones);
                    next.arena = self.reach(&next);
                }
            }
            Side::Defender => {
                if (around & position.target).any() {
                    next.target = self.flood(position.target | stone, next.stones[own]);
                }
            }
        }
        let retakable = captured.is_single()
            && (around & next.stones[own]).none()
            && (around & self.empty(&next)).is_single();
        self.set_ban(
            &mut next,
            side.opponent(),
            retakable.then(|| captured.first()),
        );
        Some(Played {
            position: next,
            captured: captured.any(),
        })
    }

    /// Plays a pass: the ban lapses.
    pub fn pass(&self, position: &Position<B>) -> Position<B> {
        Position {
            ban: NO_CELL,
            ..*position
        }
    }

    /// Whether the attacker has reached the goal.
    #[inline]
    pub fn is_captured(&self, position: &Position<B>) -> bool {
        match self.goal {
            Goal::All => position.standing == 0,
            Goal::Any => position.standing.count_ones() < self.targets.len() as u32,
        }
    }

    /// The blocks of the targets that were never captured; one block may come twice.
    #[inline]
    pub fn target_blocks(&self, position: &Position<B>) -> impl Iterator<Item = B> + '_ {
        let Position {
            standing, target, ..
        } = *position;
        let only_one = self.targets.len() == 1;
        self.targets
            .iter()
            .enumerate()
            .filter(move |(bit, _)| standing >> bit & 1 == 1)
            .map(move |(_, &cell)| {
                if only_one {
                    target
                } else {
                    self.flood(B::cell(cell), target)
                }
            })
    }

    /// The stones of the other side that a stone just played takes the last liberty of.
    #[inline]
    fn captured_by(&self, next: &Position<B>, side: Side, around: B, empty: B) -> B {
        let other = index(side.opponent());
        let mut captured = B::NONE;
        let mut touched = around & next.stones[other];
        match side {
            Side::Defender => touched = touched.without(next.walled),
            // Its only target is the block an attacker touches most.
            Side::Attacker if self.targets.len() == 1 && (touched & next.target).any() => {
                let outlives = (self.beside(next.target) & empty).any()
                    || (next.target & self.wall[other]).any();
                if !outlives {
                    captured = next.target;
                }
                touched = touched.without(next.target);
            }
            Side::Attacker => {}
        }
        while touched.any() {
            let block = self.flood(B::cell(touched.first()), next.stones[other]);
            touched = touched.without(block);
            let outlives = (self.beside(block) & empty).any() || (block & self.wall[other]).any();
            if !outlives {
                captured |= block;
            }
        }
        captured
    }

    /// Notes which targets fell.
    fn strike_targets(&self, position: &mut Position<B>, captured: B) {
        let before = position.state();
        for (bit, &cell) in self.targets.iter().enumerate() {
            if captured.has(cell) {
                position.standing &= !(1 << bit);
            }
        }
        position.key ^= wide_hash(before) ^ wide_hash(position.state());
        self.find_target(position);
    }

    fn find_target(&self, position: &mut Position<B>) {
        let standing = self
            .targets
            .iter()
            .enumerate()
            .filter(|(bit, _)| position.standing >> bit & 1 == 1)
            .fold(B::NONE, |set, (_, &cell)| set | B::cell(cell));
        position.target = self.flood(standing, position.stones[index(Side::Defender)]);
        position.arena = self.reach(position);
    }

    fn reach(&self, position: &Position<B>) -> B {
        self.flood(position.target, self.everything().without(position.walled))
    }

    /// A ban that binds nobody is not kept, so that equal situations have equal keys.
    #[inline]
    fn set_ban(&self, position: &mut Position<B>, to_move: Side, cell: Option<usize>) {
        position.ban = match cell {
            Some(cell)
                if position.threats[index(to_move)] != Threats::ENDLESS && self.zone.has(cell) =>
            {
                cell as u16
            }
            _ => NO_CELL,
        };
    }
}

/// Set in the number of a state, so that it never meets a stone's.
const STATE_TAG: u64 = 1 << 63;

/// The ko point of a board, if the ban is on `color`: the stones around it are the opponent's.
fn banned_point(board: &Board, color: Color) -> Option<Point> {
    board.ko_point().filter(|point| {
        point
            .neighbors()
            .iter()
            .any(|&n| board.is_stone(n, color.opponent()))
    })
}

/// A 128-bit hash of a small number, from two steps of the SplitMix64 generator.
pub(crate) fn wide_hash(number: u64) -> u128 {
    let low = base::mix(number);
    let high = base::mix(low ^ number.rotate_left(32));
    u128::from(high) << 64 | u128::from(low)
}
