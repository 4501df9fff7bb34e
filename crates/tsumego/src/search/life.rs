//! Positions that need no reading: alive by Benson's theorem, or without room for two eyes.

use crate::problem::{Goal, Side};
use crate::search::bits::Bits;
use crate::search::field::{Field, index};
use crate::search::position::Position;

/// A chain needs two regions of its own to live whatever happens (Benson 1976).
const EYES_TO_LIVE: usize = 2;

/// A cell and its four neighbours.
const LARGEST_STAR: u32 = 5;

impl<B: Bits> Field<B> {
    /// If the defender has reached his goal for good (the targets live even if he passes for
    /// ever): the cells this rests on.
    pub fn life(&self, position: &Position<B>) -> Option<B> {
        let mut blocks = self.target_blocks(position);
        let lives = |block| self.life_of_block(position, block);
        match self.goal {
            Goal::All => blocks.find_map(lives),
            Goal::Any => blocks.try_fold(B::NONE, |zone, block| Some(zone | lives(block)?)),
        }
    }

    fn life_of_block(&self, position: &Position<B>, block: B) -> Option<B> {
        let own = position.stones[index(Side::Defender)];
        let beside = self.beside(block);
        if (block & self.wall[index(Side::Defender)]).any() || (beside & self.open).any() {
            return Some(self.everything());
        }
        // The full test is dear and mostly fails: first ask whether the block has two regions
        // that would do if all their other walls were alive. A region with a wall of the attacker
        // or an empty cell away from the block is none.
        let empty = self.empty(position);
        let liberties = beside & empty;
        let not_own = self.everything().without(own);
        let spoilt = self.flood(
            position.walled | self.open | empty.without(liberties),
            not_own,
        );
        let eyes = liberties.without(spoilt);
        let has_two = eyes.any() && {
            let first = self.flood(B::cell(eyes.first()), not_own);
            eyes.without(first).any()
        };
        if has_two {
            self.benson(position, block)
        } else {
            None
        }
    }

    /// Benson's fixpoint: drop chains with fewer than two vital regions and regions that touch a
    /// dropped chain, until nothing changes.
    fn benson(&self, position: &Position<B>, asked: B) -> Option<B> {
        let own = position.stones[index(Side::Defender)];
        let empty = self.empty(position);
        let immortal = self.immortal(position, Side::Defender);
        let mut regions: Vec<B> = Vec::new();
        let mut unseen = self.everything().without(own);
        while unseen.any() {
            let region = self.flood(B::cell(unseen.first()), !own & self.everything());
            unseen = unseen.without(region);
            if (region & (position.walled | self.open)).none() {
                regions.push(region);
            }
        }
        let mut chains: Vec<B> = Vec::new();
        let mut unseen = own;
        while unseen.any() {
            let chain = self.flood(B::cell(unseen.first()), own);
            unseen = unseen.without(chain);
            chains.push(chain);
        }
        loop {
            let before = chains.len() + regions.len();
            chains.retain(|&chain| {
                (chain & immortal).any() || {
                    let liberties = self.beside(chain);
                    let vital = |region: &&B| {
                        (self.beside(**region) & chain).any()
                            && (**region & empty).without(liberties).none()
                    };
                    regions.iter().filter(vital).count() >= EYES_TO_LIVE
                }
            });
            let alive = chains.iter().fold(B::NONE, |all, &chain| all | chain);
            if (alive & asked).none() {
                return None;
            }
            regions.retain(|&region| (self.beside(region) & own).without(alive).none());
            if chains.len() + regions.len() == before {
                return Some(if (alive & immortal).any() {
                    self.everything()
                } else {
                    regions.iter().fold(alive, |zone, &region| zone | region)
                });
            }
        }
    }

    /// Where the defender could still have an eye: cells of the arena without his stones that do
    /// not touch the wall. Everywhere else the attacker can play a stone that lives.
    pub fn eye_room(&self, position: &Position<B>) -> B {
        let own = position.stones[index(Side::Defender)];
        position.arena.without(own | self.beside(position.walled))
    }

    /// If the defender cannot get two eyes, nor a seki, however often he plays: the eye room this
    /// rests on.
    ///
    /// With one cell (or two neighbours) of eye room in all, the attacker fills everything else
    /// with stones connected to his wall, and then the eye. The same holds for a star of cells
    /// with his stone at its centre: each stone of the defender only shrinks it, and when he
    /// captures there the attacker takes the centre again.
    pub fn hopeless_room(&self, position: &Position<B>, eye_room: B) -> Option<B> {
        let cells = eye_room.count();
        let arena = position.arena;
        if cells > LARGEST_STAR
            || arena.without(self.zone).any()
            || (self.immortal(position, Side::Defender) & arena).any()
        {
            return None;
        }
        match cells {
            0 | 1 => Some(B::NONE),
            2 => {
                let touching = (self.beside(B::cell(eye_room.first())) & eye_room).any();
                touching.then_some(B::NONE)
            }
            _ => {
                let mut centres = eye_room & position.stones[index(Side::Attacker)];
                while centres.any() {
                    let centre = B::cell(centres.first());
                    centres = centres.without(centre);
                    if eye_room.without(centre | self.beside(centre)).none() {
                        return Some(eye_room);
                    }
                }
                None
            }
        }
    }
}
