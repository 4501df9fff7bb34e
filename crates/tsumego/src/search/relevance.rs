//! What a result depends on: its relevance zone.
//!
//! The zone of a solved node is a set of cells such that the winner wins every position with the
//! same stones there, whatever the loser has added elsewhere. A loser's move outside the zone of
//! the answer to a pass (or to another such move) therefore changes nothing and needs no search.
//! Zones are built from the leaves up; each rule below adds the cells that keep the moves of
//! the proof legal, its captures complete, and the loser's other moves impossible or harmless.

use crate::problem::Side;
use crate::search::bits::Bits;
use crate::search::field::{Field, index};
use crate::search::position::{NO_CELL, Position};

impl<B: Bits> Field<B> {
    /// The cells that keep a target in atari capturable: its stones and all around them.
    pub fn atari_zone(&self, position: &Position<B>, liberty: usize) -> B {
        let own = position.stones[index(Side::Defender)];
        let block = self.flood(self.beside(B::cell(liberty)) & own, own);
        block | self.beside(block)
    }

    /// What makes a position hopeless: the attacker's stones that reach the wall, and the stones
    /// that deny room for an eye.
    pub fn hopeless_zone(&self, position: &Position<B>) -> B {
        let links = position.walled.without(self.wall[index(Side::Attacker)]);
        let own = position.stones[index(Side::Defender)];
        let inner = (own & position.arena).without(self.beside(position.walled));
        links | inner
    }

    /// What the winner's move at `cell` needs to be legal and to capture what it captures.
    pub fn support_of_winner(&self, position: &Position<B>, side: Side, cell: u16, zone: B) -> B {
        if cell == NO_CELL {
            return B::NONE;
        }
        let stone = B::cell(cell as usize);
        let (captured, mut needed) = self.effect(position, side, stone, zone | stone);
        needed |= stone;
        if captured {
            return needed;
        }
        let around = self.beside(stone);
        let empty = self.empty(position);
        let free = around & empty;
        if free.any() {
            return needed | pick(free, zone);
        }
        let own = position.stones[index(side)];
        let mut touched = around & own;
        while touched.any() {
            let block = self.flood(B::cell(touched.first()), own);
            touched = touched.without(block);
            if self.is_static(block, side) {
                return needed;
            }
            let liberties = (self.beside(block) & empty).without(stone);
            if liberties.any() {
                return needed | block | pick(liberties, zone);
            }
        }
        // The move is legal, so it has one of the supports above.
        self.everything()
    }

    /// Completes the zone of a node where the loser moves: every move he has inside it must have
    /// the effect it had in the proof, and every move he does not have must stay impossible.
    pub fn close_for_loser(&self, position: &Position<B>, loser: Side, zone: B) -> B {
        let winner = loser.opponent();
        let mut zone = zone;
        loop {
            let before = zone;
            zone |= self.liberties_of_winner(position, winner, zone);
            for cell in (zone & self.zone & self.empty(position)).iter() {
                if !position.arena.has(cell) {
                    return self.everything();
                }
                let stone = B::cell(cell);
                let (captured, needed) = self.effect(position, loser, stone, zone);
                zone |= needed;
                if !captured {
                    zone |= self.suicide_support(position, loser, stone);
                    if loser == Side::Defender {
                        zone |= self.own_eye_support(position, stone);
                    }
                }
            }
            if zone == before {
                return zone;
            }
        }
    }

    /// A zone grown until no move outside it captures a stone of the winner inside it.
    pub fn with_winners_liberties(&self, position: &Position<B>, winner: Side, zone: B) -> B {
        let mut zone = zone;
        loop {
            let before = zone;
            zone |= self.liberties_of_winner(position, winner, zone);
            if zone == before {
                return zone;
            }
        }
    }

    /// What keeps the target in atari against every move but the rescues.
    pub fn close_atari(&self, position: &Position<B>, liberty: usize) -> B {
        let mut zone = self.atari_zone(position, liberty);
        let enemy = position.stones[index(Side::Attacker)];
        let empty = self.empty(position);
        let mut touched = zone & enemy;
        while touched.any() {
            let block = self.flood(B::cell(touched.first()), enemy);
            touched = touched.without(block);
            if self.is_static(block, Side::Attacker) {
                continue;
            }
            zone |= block;
            let liberties = self.beside(block) & empty;
            let first = pick(liberties, zone);
            zone |= first | pick(liberties.without(first), zone);
        }
        zone
    }

    /// Each block of the winner that reaches into the zone keeps a liberty there, so that no move
    /// outside can capture it.
    fn liberties_of_winner(&self, position: &Position<B>, winner: Side, zone: B) -> B {
        let own = position.stones[index(winner)];
        let empty = self.empty(position);
        let mut needed = B::NONE;
        let mut touched = zone & own;
        while touched.any() {
            let block = self.flood(B::cell(touched.first()), own);
            touched = touched.without(block);
            if !self.is_static(block, winner) {
                needed |= block | pick(self.beside(block) & empty, zone);
            }
        }
        needed
    }

    /// Whether a stone captures, and what fixes the fate of the blocks it touches.
    fn effect(&self, position: &Position<B>, side: Side, stone: B, zone: B) -> (bool, B) {
        let other = position.stones[index(side.opponent())];
        let empty = self.empty(position);
        let mut captured = false;
        let mut needed = B::NONE;
        let mut touched = self.beside(stone) & other;
        while touched.any() {
            let block = self.flood(B::cell(touched.first()), other);
            touched = touched.without(block);
            if self.is_static(block, side.opponent()) {
                continue;
            }
            let liberties = (self.beside(block) & empty).without(stone);
            needed |= block;
            if liberties.none() {
                captured = true;
                needed |= self.beside(block);
            } else {
                needed |= pick(liberties, zone);
            }
        }
        (captured, needed)
    }

    /// If the stone would be suicide: everything that takes its liberties.
    fn suicide_support(&self, position: &Position<B>, side: Side, stone: B) -> B {
        let own = position.stones[index(side)] | stone;
        let block = self.flood(stone, own);
        let has_liberty = (self.beside(block) & self.empty(position))
            .without(stone)
            .any();
        if has_liberty || self.is_static(block, side) {
            B::NONE
        } else {
            block | self.beside(block)
        }
    }

    /// If the cell is an eye inside one block of the defender: that block.
    fn own_eye_support(&self, position: &Position<B>, stone: B) -> B {
        let own = position.stones[index(Side::Defender)];
        let around = self.beside(stone);
        if around.without(own).any() {
            return B::NONE;
        }
        self.flood(around, own)
    }

    /// Whether a block has a stone or a liberty that no play can take away.
    pub fn is_static(&self, block: B, side: Side) -> bool {
        (block & self.wall[index(side)]).any() || (self.beside(block) & self.open).any()
    }
}

/// One cell of a set, from `preferred` if there is one.
fn pick<B: Bits>(set: B, preferred: B) -> B {
    let best = set & preferred;
    if best.any() {
        B::cell(best.first())
    } else if set.any() {
        B::cell(set.first())
    } else {
        B::NONE
    }
}
