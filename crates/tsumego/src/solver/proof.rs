//! A winning plan, written out: one move for the winner, every reply of the loser.

use std::collections::HashMap;

use go::Move;
use thiserror::Error;

use crate::problem::Side;
use crate::problem::{Ko, Threats};
use crate::search::bits::Bits;
use crate::search::field::index;
use crate::search::position::{NO_CELL, Position};
use crate::search::{Answer, Search, SearchMove};

/// A node of a [`Proof`], by its place in [`Proof::nodes`].
pub type ProofId = usize;

/// What the plan says in a situation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Plan {
    /// The target has been captured.
    Captured,
    /// The target lives for good, whoever plays how often (Benson's theorem).
    Alive,
    /// The winner plays this.
    Play(Move, ProofId),
    /// The loser may play any of these, and nothing else is legal.
    Replies(Vec<(Move, ProofId)>),
}

/// A plan that wins against every reply, as a graph whose root is node 0: equal situations are
/// one node, so lines may meet again.
#[derive(Clone, Debug)]
pub struct Proof {
    /// Who wins.
    pub winner: Side,
    /// Who plays first.
    pub first: Side,
    /// The ko rule.
    pub ko: Ko,
    /// The situations.
    pub nodes: Vec<Plan>,
}

/// Why no proof could be written out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ProofError {
    /// The verdict is not known.
    #[error("the problem was not solved within its limits, so there is nothing to prove")]
    Unsolved,
    /// The plan has more nodes than allowed.
    #[error("the proof has more than {0} positions")]
    TooLarge(usize),
    /// Every plan found runs in a circle that does not win.
    #[error("no plan without an idle cycle was found")]
    Circular,
}

pub(crate) struct Extraction<'s, 'a, B> {
    pub search: &'s mut Search<'a, B>,
    pub winner: Side,
    pub most_nodes: usize,
    nodes: Vec<Plan>,
    done: HashMap<u128, ProofId>,
    /// The situations above, with the passes of the defender so far.
    open: HashMap<u128, (ProofId, u16)>,
}

impl<'s, 'a, B: Bits> Extraction<'s, 'a, B> {
    pub fn new(search: &'s mut Search<'a, B>, winner: Side, most_nodes: usize) -> Self {
        search.judge.knows_hopeless = false;
        Extraction {
            search,
            winner,
            most_nodes,
            nodes: Vec::new(),
            done: HashMap::new(),
            open: HashMap::new(),
        }
    }

    pub fn run(mut self, position: &Position<B>, first: Side, ko: Ko) -> Result<Proof, ProofError> {
        self.node(position, first, 0)?;
        Ok(Proof {
            winner: self.winner,
            first,
            ko,
            nodes: self.nodes,
        })
    }

    fn node(
        &mut self,
        position: &Position<B>,
        side: Side,
        passes: u16,
    ) -> Result<ProofId, ProofError> {
        let key = self.search.field.key(position, side);
        if let Some(&known) = self.done.get(&key) {
            return Ok(known);
        }
        if let Some(&(above, passes_above)) = self.open.get(&key) {
            let master = position.threats[index(Side::Attacker)] == Threats::ENDLESS;
            let cycle_is_captured = master && passes == passes_above;
            let good = (self.winner == Side::Attacker) == cycle_is_captured;
            return if good {
                Ok(above)
            } else {
                Err(ProofError::Circular)
            };
        }
        let id = self.nodes.len();
        if id >= self.most_nodes {
            return Err(ProofError::TooLarge(self.most_nodes));
        }
        self.nodes.push(Plan::Captured);
        if self.search.field.is_captured(position) {
            self.done.insert(key, id);
            return Ok(id);
        }
        if self.winner == Side::Defender && self.search.field.life(position).is_some() {
            self.nodes[id] = Plan::Alive;
            self.done.insert(key, id);
            return Ok(id);
        }
        self.open.insert(key, (id, passes));
        let plan = if side == self.winner {
            self.choose(position, side, passes)
        } else {
            self.answer_all(position, side, passes)
        };
        self.open.remove(&key);
        match plan {
            Ok(plan) => {
                self.nodes[id] = plan;
                self.done.insert(key, id);
                Ok(id)
            }
            Err(error) => {
                // A dead end may have been finished above this point; its nodes go with it.
                self.nodes.truncate(id);
                self.done.retain(|_, &mut node| node < id);
                Err(error)
            }
        }
    }

    fn choose(
        &mut self,
        position: &Position<B>,
        side: Side,
        passes: u16,
    ) -> Result<Plan, ProofError> {
        let wanted = Answer::wanted_by(side);
        let mut steps: Vec<SearchMove<B>> = self.search.legal_steps(position, side);
        let lasting = self.search.field.beside(position.walled);
        steps.sort_by_cached_key(|step| {
            let solved = self.search.plain(&step.position, side.opponent()) == Some(wanted);
            let captures = self.search.field.is_captured(&step.position);
            let quiet = step.cell == NO_CELL;
            let lasts = !quiet && lasting.has(step.cell as usize);
            // The attacker's stones that last make progress; his passes make none.
            let idle = match side {
                Side::Attacker => (quiet, !lasts),
                Side::Defender => (!quiet, false),
            };
            (!captures, !solved, idle)
        });
        let mut failure = ProofError::Unsolved;
        for step in steps {
            match self.search.solve(&step.position, side.opponent()) {
                Ok(answer) if answer == wanted => {}
                Ok(_) => continue,
                Err(_) => continue,
            }
            let passed = passes + u16::from(step.cell == NO_CELL && side == Side::Defender);
            match self.node(&step.position, side.opponent(), passed) {
                Ok(next) => return Ok(Plan::Play(self.search.field.to_move(step.cell), next)),
                Err(error @ ProofError::TooLarge(_)) => return Err(error),
                Err(error) => failure = error,
            }
        }
        Err(failure)
    }

    fn answer_all(
        &mut self,
        position: &Position<B>,
        side: Side,
        passes: u16,
    ) -> Result<Plan, ProofError> {
        let mut replies = Vec::new();
        for step in self.search.legal_steps(position, side) {
            let passed = passes + u16::from(step.cell == NO_CELL && side == Side::Defender);
            let next = self.node(&step.position, side.opponent(), passed)?;
            replies.push((self.search.field.to_move(step.cell), next));
        }
        Ok(Plan::Replies(replies))
    }
}
