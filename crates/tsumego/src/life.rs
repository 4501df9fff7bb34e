//! Positions that need no reading: alive by Benson's theorem, or without room for two eyes.

use crate::bits::Bits;
use crate::field::{Field, Position, index};
use crate::problem::{Goal, Side};

/// A chain needs two regions of its own to live whatever happens (Benson 1976).
const EYES_TO_LIVE: usize = 2;

/// A cell and its four neighbours.
const LARGEST_STAR: u32 = 5;

impl<B: Bits> Field<B> {
    /// If the defender has reached his goal for good (the targets live even if he passes for
    /// ever): the cells this rests on.
    pub fn life(&self, position: &Position<B>, walled: B) -> Option<B> {
        let mut standing = self.standing_targets(position);
        let lives = |cell| self.life_of_block(position, cell, walled);
        match self.goal {
            Goal::All => standing.find_map(lives),
            Goal::Any => standing.try_fold(B::NONE, |zone, cell| Some(zone | lives(cell)?)),
        }
    }

    fn life_of_block(&self, position: &Position<B>, cell: usize, walled: B) -> Option<B> {
        let own = position.stones[index(Side::Defender)];
        let block = self.flood(B::cell(cell), own);
        if (block & self.wall[index(Side::Defender)]).any()
            || (self.beside(block) & self.open).any()
        {
            return Some(self.everything());
        }
        // The full test is dear and mostly fails: first ask whether the block has two regions
        // that would do if all their other walls were alive.
        let empty = self.empty(position);
        let liberties = self.beside(block) & empty;
        let mut unseen = liberties;
        let mut eyes = 0;
        while unseen.any() {
            let region = self.flood(B::cell(unseen.first()), !own & self.everything());
            unseen = unseen.without(region);
            if (region & (walled | self.open)).none() && (region & empty).without(liberties).none()
            {
                eyes += 1;
            }
        }
        if eyes < EYES_TO_LIVE {
            return None;
        }
        self.benson(position, walled, block)
    }

    /// Benson's fixpoint: drop chains with fewer than two vital regions and regions that touch a
    /// dropped chain, until nothing changes.
    fn benson(&self, position: &Position<B>, walled: B, asked: B) -> Option<B> {
        let own = position.stones[index(Side::Defender)];
        let empty = self.empty(position);
        let immortal = self.immortal(position, Side::Defender);
        let mut regions: Vec<B> = Vec::new();
        let mut unseen = self.everything().without(own);
        while unseen.any() {
            let region = self.flood(B::cell(unseen.first()), !own & self.everything());
            unseen = unseen.without(region);
            if (region & (walled | self.open)).none() {
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

    /// The part of the field where something can still happen to the targets: what they reach
    /// without crossing stones of the attacker that cannot be captured.
    pub fn arena(&self, position: &Position<B>, walled: B) -> B {
        let seeds = self
            .standing_targets(position)
            .fold(B::NONE, |set, cell| set | B::cell(cell));
        self.flood(seeds, self.everything().without(walled))
    }

    /// Where the defender could still have an eye: cells of the arena without his stones that do
    /// not touch the wall. Everywhere else the attacker can play a stone that lives.
    pub fn eye_room(&self, position: &Position<B>, walled: B, arena: B) -> B {
        arena.without(position.stones[index(Side::Defender)] | self.beside(walled))
    }

    /// If the defender cannot get two eyes, nor a seki, however often he plays: the eye room this
    /// rests on.
    ///
    /// With one cell (or two neighbours) of eye room in all, the attacker fills everything else
    /// with stones connected to his wall, and then the eye. The same holds for a star of cells
    /// with his stone at its centre: each stone of the defender only shrinks it, and when he
    /// captures there the attacker takes the centre again.
    pub fn hopeless_room(&self, position: &Position<B>, arena: B, eye_room: B) -> Option<B> {
        if arena.without(self.zone).any() || (self.immortal(position, Side::Defender) & arena).any()
        {
            return None;
        }
        match eye_room.count() {
            0 | 1 => Some(B::NONE),
            2 => {
                let touching = (self.beside(B::cell(eye_room.first())) & eye_room).any();
                touching.then_some(B::NONE)
            }
            3..=LARGEST_STAR => {
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
            _ => None,
        }
    }
}
