//! The line of play being read, and results that lean on it.
//!
//! A result may lean on a repetition: "this leads back to a position above". It then carries the
//! depths it leans on. Until the search has returned through the last of them, the result is kept
//! here, with the positions it needs above it, and used again only below all of them.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use crate::search::Answer;

/// No line of play gets longer: the search gives up instead.
pub(crate) const MAX_DEPTH: usize = 255;

/// Leaning results kept at a time.
const MAX_LEANING: usize = 1 << 16;

/// A set of depths of the current path.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Depths([u128; 2]);

impl Depths {
    pub const EMPTY: Depths = Depths([0; 2]);

    pub fn only(depth: usize) -> Depths {
        let mut set = Depths::EMPTY;
        set.0[depth / 128] |= 1 << (depth % 128);
        set
    }

    #[inline]
    pub fn is_empty(self) -> bool {
        self == Depths::EMPTY
    }

    pub fn with(self, other: Depths) -> Depths {
        Depths([self.0[0] | other.0[0], self.0[1] | other.0[1]])
    }

    pub fn without(self, depth: usize) -> Depths {
        let gone = Depths::only(depth);
        Depths([self.0[0] & !gone.0[0], self.0[1] & !gone.0[1]])
    }

    pub fn len(self) -> u32 {
        self.0[0].count_ones() + self.0[1].count_ones()
    }

    fn iter(self) -> impl Iterator<Item = usize> {
        (0..=MAX_DEPTH).filter(move |depth| self.0[depth / 128] >> (depth % 128) & 1 == 1)
    }
}

/// A node of the current path.
#[derive(Clone, Copy)]
pub(crate) struct Above {
    pub key: u128,
    /// Passes of the defender on the way to it.
    pub passes: u16,
}

/// A result that holds below certain positions: each with whether the defender passed between
/// that position and this one.
struct Leaning {
    answer: Answer,
    needs: Vec<(u128, bool)>,
}

/// A position's key is a hash already.
#[derive(Default)]
struct KeyHasher(u64);

impl Hasher for KeyHasher {
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(byte);
        }
    }

    fn write_u128(&mut self, key: u128) {
        self.0 = key as u64;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// The positions from the root to the one being read.
#[derive(Default)]
pub(crate) struct Path {
    nodes: Vec<Above>,
    leaning: HashMap<u128, Leaning, BuildHasherDefault<KeyHasher>>,
    /// Whether the attacker wins an endless ko fight.
    attacker_is_ko_master: bool,
}

impl Path {
    /// Starts anew at a root.
    pub fn reset(&mut self, attacker_is_ko_master: bool) {
        self.nodes.clear();
        self.leaning.clear();
        self.attacker_is_ko_master = attacker_is_ko_master;
    }

    pub fn depth(&self) -> usize {
        self.nodes.len()
    }

    pub fn push(&mut self, node: Above) {
        self.nodes.push(node);
    }

    pub fn pop(&mut self) {
        self.nodes.pop();
    }

    /// The result of a position one step below the path, if it leads back to the path, at once or
    /// by lines read before, and the depths that result leans on.
    pub fn leads_back(&self, below: Above) -> Option<(Answer, Depths)> {
        let has_pass_since = |depth: usize| below.passes > self.nodes[depth].passes;
        if let Some(depth) = self.depth_of(below.key) {
            let answer = self.judge_cycle(has_pass_since(depth));
            return Some((answer, Depths::only(depth)));
        }
        let leaning = self.leaning.get(&below.key)?;
        let mut leans = Depths::EMPTY;
        for &(key, had_pass) in &leaning.needs {
            let depth = self.depth_of(key)?;
            // A capture needs a cycle without a pass, a disproof the pass it found above.
            let fits = match leaning.answer {
                Answer::Captured => !has_pass_since(depth),
                Answer::Safe => !had_pass || has_pass_since(depth),
            };
            if !fits {
                return None;
            }
            leans = leans.with(Depths::only(depth));
        }
        Some((leaning.answer, leans))
    }

    /// Keeps a result that leans on the path for as long as it may be of use.
    pub fn remember(&mut self, node: Above, answer: Answer, leans: Depths) {
        if self.leaning.len() >= MAX_LEANING {
            self.leaning.clear();
        }
        let need = |depth: usize| {
            let above = self.nodes[depth];
            let passed = self.attacker_is_ko_master && node.passes > above.passes;
            (above.key, passed)
        };
        let needs = leans.iter().map(need).collect();
        self.leaning.insert(node.key, Leaning { answer, needs });
    }

    fn depth_of(&self, key: u128) -> Option<usize> {
        self.nodes.iter().position(|node| node.key == key)
    }

    /// Who wins a game that goes round for ever: the defender, unless the attacker is the ko
    /// master and never lets him pass.
    fn judge_cycle(&self, defender_passes: bool) -> Answer {
        if self.attacker_is_ko_master && !defender_passes {
            Answer::Captured
        } else {
            Answer::Safe
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(keys: &[(u128, u16)], attacker_is_ko_master: bool) -> Path {
        let mut path = Path::default();
        path.reset(attacker_is_ko_master);
        for &(key, passes) in keys {
            path.push(Above { key, passes });
        }
        path
    }

    #[test]
    fn depths_are_a_set() {
        let set = Depths::only(3).with(Depths::only(200));
        assert_eq!(set.iter().collect::<Vec<_>>(), [3, 200]);
        assert_eq!((set.len(), set.without(3).len()), (2, 1));
        assert!(set.without(3).without(200).is_empty());
    }

    #[test]
    fn only_a_ko_master_wins_a_cycle_and_only_without_a_pass() {
        let back = Above { key: 7, passes: 0 };
        let back_with_pass = Above { key: 7, passes: 1 };
        let master = path(&[(5, 0), (7, 0), (9, 0)], true);
        let leads = |path: &Path, to| path.leads_back(to).map(|(answer, _)| answer);
        assert_eq!(leads(&master, back), Some(Answer::Captured));
        assert_eq!(leads(&master, back_with_pass), Some(Answer::Safe));
        let nobody = path(&[(5, 0), (7, 0), (9, 0)], false);
        assert_eq!(leads(&nobody, back), Some(Answer::Safe));
        assert_eq!(leads(&nobody, Above { key: 8, passes: 0 }), None);
    }

    #[test]
    fn a_leaning_result_is_used_below_what_it_leans_on_alone() {
        let mut above = path(&[(5, 0), (7, 0)], false);
        let node = Above { key: 9, passes: 0 };
        above.remember(node, Answer::Safe, Depths::only(1));
        assert_eq!(
            above.leads_back(node),
            Some((Answer::Safe, Depths::only(1)))
        );
        above.pop();
        assert_eq!(above.leads_back(node), None);
    }
}
