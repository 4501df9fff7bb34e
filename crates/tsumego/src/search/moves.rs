//! The moves worth reading: all others are no better than a pass.

use crate::problem::{Goal, Side};
use crate::search::bits::Bits;
use crate::search::field::{Field, index};
use crate::search::position::Position;

impl<B: Bits> Field<B> {
    /// The cells worth trying for a side.
    pub fn candidates(&self, position: &Position<B>, side: Side) -> B {
        let cells = position.arena & self.zone & self.empty(position);
        match side {
            Side::Attacker => cells,
            Side::Defender => {
                let cells = match self.last_liberty(position) {
                    Some(liberty) => self.rescues(position, liberty) & cells,
                    None => cells,
                };
                cells.without(self.own_eyes(position, cells))
            }
        }
    }

    /// The cells a fight is mostly about: within two steps of the target, or beside stones of the
    /// defender within four.
    pub fn near(&self, position: &Position<B>) -> B {
        let own = position.stones[index(Side::Defender)];
        let two_steps = self.grown(self.grown(position.target));
        let four_steps = self.grown(self.grown(two_steps));
        two_steps | self.grown(own & four_steps)
    }

    /// The point that decides the fight: the only liberty of a block whose capture is the goal.
    pub fn last_liberty(&self, position: &Position<B>) -> Option<usize> {
        let empty = self.empty(position);
        let mut first_block = None;
        for block in self.target_blocks(position) {
            let liberties = self.beside(block) & empty;
            let in_atari = liberties.is_single()
                && (liberties & self.zone).any()
                && (block & self.wall[index(Side::Defender)]).none();
            match self.goal {
                Goal::Any if in_atari => return Some(liberties.first()),
                Goal::Any => {}
                Goal::All => {
                    if !in_atari || *first_block.get_or_insert(block) != block {
                        return None;
                    }
                }
            }
        }
        let block = first_block?;
        Some((self.beside(block) & empty).first())
    }

    /// The moves that get the target out of atari: extend, or capture a block beside it.
    fn rescues(&self, position: &Position<B>, liberty: usize) -> B {
        let enemy = position.stones[index(Side::Attacker)];
        let own = position.stones[index(Side::Defender)];
        let empty = self.empty(position);
        let target = self.flood(self.beside(B::cell(liberty)) & own, own);
        let mut rescues = B::cell(liberty);
        let mut touched = self.beside(target) & enemy;
        while touched.any() {
            let block = self.flood(B::cell(touched.first()), enemy);
            touched = touched.without(block);
            let liberties = self.beside(block) & empty;
            if liberties.is_single() {
                rescues |= liberties;
            }
        }
        rescues
    }

    /// Empty cells whose neighbours are all stones of one block of the defender. Filling such an
    /// eye is never better than a pass: the attacker cannot play there before he can capture.
    fn own_eyes(&self, position: &Position<B>, cells: B) -> B {
        let own = position.stones[index(Side::Defender)];
        // A cell with a neighbour that is not his is no eye; few are left after this.
        let surrounded = cells.without(self.beside(self.everything().without(own)));
        let mut eyes = B::NONE;
        for cell in surrounded.iter() {
            let around = self.around[cell];
            let block = self.flood(B::cell(around.first()), own);
            if around.without(block).none() {
                eyes |= B::cell(cell);
            }
        }
        eyes
    }
}
