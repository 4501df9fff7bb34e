//! Checks a proof by the rules alone.
//!
//! Every move is played on the rules crate's board, the loser's replies are compared with all legal
//! moves of the zone, and life is Benson's theorem as the rules crate states it. Nothing is taken
//! from the search.

use std::collections::BTreeSet;

use go::{Benson, Board, Color, Move, Point};
use thiserror::Error;

use crate::problem::{Goal, Problem, Side};
use crate::problem::{Ko, Threats};
use crate::solver::{Plan, Proof};

/// What is wrong with a proof.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Flaw {
    /// A node that is not there.
    #[error("node {0} is referred to but missing")]
    MissingNode(usize),
    /// A node is reached in two different situations.
    #[error("node {0} stands for two different situations")]
    Ambiguous(usize),
    /// A move that the rules do not allow.
    #[error("node {0}: {1:?} is not legal")]
    IllegalMove(usize, Move),
    /// A reply of the loser is not answered.
    #[error("node {0}: the reply {1:?} is not answered")]
    MissingReply(usize, Move),
    /// The wrong kind of node for the side to move.
    #[error("node {0}: the plan does not fit the side to move")]
    WrongSide(usize),
    /// A leaf that is not what it says.
    #[error("node {0}: the target is not {1}")]
    FalseLeaf(usize, &'static str),
    /// The target falls in a proof that it does not.
    #[error("node {0}: the target is captured")]
    Captured(usize),
    /// A cycle that the winner does not win.
    #[error("node {0} lies on a cycle that does not win")]
    LosingCycle(usize),
}

#[derive(Clone, PartialEq, Eq)]
struct Seen {
    stones: Vec<Option<Color>>,
    to_move: Side,
    ban: Option<Point>,
    ko: Ko,
    standing: Vec<bool>,
}

struct Edge {
    to: usize,
    is_defenders_pass: bool,
}

/// Checks that the proof wins the problem; returns the number of situations checked.
pub fn verify(problem: &Problem, proof: &Proof) -> Result<usize, Flaw> {
    let mut checker = Checker {
        problem,
        proof,
        benson: Benson::new(),
        seen: vec![None; proof.nodes.len()],
        edges: (0..proof.nodes.len()).map(|_| Vec::new()).collect(),
    };
    let root = Seen {
        stones: stones_of(problem.board()),
        to_move: proof.first,
        ban: ban_on(problem.board(), problem.color(proof.first)),
        ko: proof.ko,
        standing: vec![true; problem.target().len()],
    };
    let mut open = vec![(0, root)];
    while let Some((node, situation)) = open.pop() {
        open.extend(checker.visit(node, situation)?);
    }
    checker.check_cycles()?;
    Ok(checker.seen.iter().flatten().count())
}

struct Checker<'a> {
    problem: &'a Problem,
    proof: &'a Proof,
    benson: Benson,
    seen: Vec<Option<Seen>>,
    edges: Vec<Vec<Edge>>,
}

impl Checker<'_> {
    /// Checks one situation and lists those it leads to.
    fn visit(&mut self, node: usize, situation: Seen) -> Result<Vec<(usize, Seen)>, Flaw> {
        let plan = self.proof.nodes.get(node).ok_or(Flaw::MissingNode(node))?;
        match &self.seen[node] {
            Some(seen) if *seen == situation => return Ok(Vec::new()),
            Some(_) => return Err(Flaw::Ambiguous(node)),
            None => self.seen[node] = Some(situation.clone()),
        }
        let fallen = situation.standing.iter().filter(|stands| !**stands).count();
        let captured = match self.problem.goal() {
            Goal::All => fallen == situation.standing.len(),
            Goal::Any => fallen > 0,
        };
        if captured && self.proof.winner == Side::Defender {
            return Err(Flaw::Captured(node));
        }
        match plan {
            Plan::Captured if captured && self.proof.winner == Side::Attacker => Ok(Vec::new()),
            Plan::Captured => Err(Flaw::FalseLeaf(node, "captured")),
            Plan::Alive => self.check_life(node, &situation).map(|()| Vec::new()),
            Plan::Play(mv, next) => {
                if situation.to_move != self.proof.winner {
                    return Err(Flaw::WrongSide(node));
                }
                let after = self
                    .play(&situation, *mv)
                    .ok_or(Flaw::IllegalMove(node, *mv))?;
                Ok(vec![self.edge(node, &situation, *mv, *next, after)])
            }
            Plan::Replies(replies) => {
                if situation.to_move == self.proof.winner {
                    return Err(Flaw::WrongSide(node));
                }
                self.check_replies(node, &situation, replies)
            }
        }
    }

    fn check_replies(
        &mut self,
        node: usize,
        situation: &Seen,
        replies: &[(Move, usize)],
    ) -> Result<Vec<(usize, Seen)>, Flaw> {
        let mut answered: BTreeSet<Option<Point>> = BTreeSet::new();
        let mut next = Vec::new();
        for &(mv, to) in replies {
            let after = self
                .play(situation, mv)
                .ok_or(Flaw::IllegalMove(node, mv))?;
            answered.insert(mv.point());
            next.push(self.edge(node, situation, mv, to, after));
        }
        let all = std::iter::once(Move::Pass)
            .chain(self.problem.zone().iter().map(|&point| Move::Play(point)));
        for mv in all {
            if !answered.contains(&mv.point()) && self.play(situation, mv).is_some() {
                return Err(Flaw::MissingReply(node, mv));
            }
        }
        Ok(next)
    }

    fn edge(
        &mut self,
        from: usize,
        situation: &Seen,
        mv: Move,
        to: usize,
        after: Seen,
    ) -> (usize, Seen) {
        self.edges[from].push(Edge {
            to,
            is_defenders_pass: mv.is_pass() && situation.to_move == Side::Defender,
        });
        (to, after)
    }

    fn check_life(&mut self, node: usize, situation: &Seen) -> Result<(), Flaw> {
        let board = self.board(situation);
        let standing = self
            .problem
            .target()
            .iter()
            .zip(&situation.standing)
            .filter(|(_, stands)| **stands)
            .map(|(&stone, _)| stone);
        let zone = self.problem.zone();
        let benson = &mut self.benson;
        let mut lives = standing.map(|stone| {
            board.liberties(stone).any(|p| !zone.contains(&p)) || benson.is_alive(&board, stone)
        });
        let alive = match self.problem.goal() {
            Goal::All => lives.any(|lives| lives),
            Goal::Any => lives.all(|lives| lives),
        };
        let fits = alive && self.proof.winner == Side::Defender;
        fits.then_some(()).ok_or(Flaw::FalseLeaf(node, "alive"))
    }

    fn board(&self, situation: &Seen) -> Board {
        let mut board = Board::new(self.problem.board().size());
        for (point, stone) in board.size().points().zip(&situation.stones) {
            if let Some(color) = *stone {
                // Stones of a legal position never capture one another while they are laid.
                let _ = board.play(point, color);
            }
        }
        board
    }

    /// The situation after a move, if the rules allow it.
    fn play(&self, situation: &Seen, mv: Move) -> Option<Seen> {
        let mut after = Seen {
            to_move: situation.to_move.opponent(),
            ban: None,
            ..situation.clone()
        };
        let Some(point) = mv.point() else {
            return mv.is_pass().then_some(after);
        };
        let color = self.problem.color(situation.to_move);
        let mut board = self.board(situation);
        if !self.problem.zone().contains(&point) || !board.is_legal(point, color) {
            return None;
        }
        if situation.ban == Some(point) {
            let threats = match situation.to_move {
                Side::Attacker => &mut after.ko.attacker,
                Side::Defender => &mut after.ko.defender,
            };
            match threats.count() {
                Some(0) => return None,
                Some(some) => *threats = Threats::new(some - 1),
                None => {}
            }
        }
        let _ = board.play(point, color);
        after.ban = board.ko_point().filter(|ko| {
            // A ban that binds nobody does not tell situations apart.
            let threats = match after.to_move {
                Side::Attacker => after.ko.attacker,
                Side::Defender => after.ko.defender,
            };
            threats != Threats::ENDLESS && self.problem.zone().contains(ko)
        });
        after.stones = stones_of(&board);
        for (stands, &stone) in after.standing.iter_mut().zip(self.problem.target()) {
            *stands &= board.is_stone(stone, self.problem.defender());
        }
        Some(after)
    }

    /// A defender's plan may go round, but against a ko master only if he passes on the way; an
    /// attacker's only if he is the ko master and the defender never passes.
    fn check_cycles(&self) -> Result<(), Flaw> {
        let master = self.proof.ko.attacker == Threats::ENDLESS;
        let components = self.components();
        for (from, edges) in self.edges.iter().enumerate() {
            for edge in edges {
                let on_cycle = components[from] == components[edge.to];
                let losing = match self.proof.winner {
                    Side::Attacker => on_cycle && (!master || edge.is_defenders_pass),
                    Side::Defender => false,
                };
                if losing {
                    return Err(Flaw::LosingCycle(from));
                }
            }
        }
        if self.proof.winner == Side::Defender && master {
            return self.check_every_cycle_passes();
        }
        Ok(())
    }

    /// Without the defender's passes nothing may go round: strip the nodes without successors
    /// until none is left.
    fn check_every_cycle_passes(&self) -> Result<(), Flaw> {
        let count = self.edges.len();
        let mut successors = vec![0; count];
        let mut predecessors: Vec<Vec<usize>> = vec![Vec::new(); count];
        for (from, edges) in self.edges.iter().enumerate() {
            for edge in edges.iter().filter(|edge| !edge.is_defenders_pass) {
                successors[from] += 1;
                predecessors[edge.to].push(from);
            }
        }
        let mut ready: Vec<usize> = (0..count).filter(|&n| successors[n] == 0).collect();
        let mut stripped = 0;
        while let Some(node) = ready.pop() {
            stripped += 1;
            for &from in &predecessors[node] {
                successors[from] -= 1;
                if successors[from] == 0 {
                    ready.push(from);
                }
            }
        }
        if stripped == count {
            return Ok(());
        }
        let stuck = successors.iter().position(|&left| left > 0).unwrap_or(0);
        Err(Flaw::LosingCycle(stuck))
    }

    /// The strongly connected component of each node (Kosaraju's two sweeps).
    fn components(&self) -> Vec<usize> {
        let count = self.edges.len();
        let mut order = Vec::with_capacity(count);
        let mut visited = vec![false; count];
        for start in 0..count {
            if visited[start] {
                continue;
            }
            visited[start] = true;
            let mut stack = vec![(start, 0)];
            while let Some((node, at)) = stack.pop() {
                if let Some(edge) = self.edges[node].get(at) {
                    stack.push((node, at + 1));
                    if !visited[edge.to] {
                        visited[edge.to] = true;
                        stack.push((edge.to, 0));
                    }
                } else {
                    order.push(node);
                }
            }
        }
        let mut predecessors: Vec<Vec<usize>> = vec![Vec::new(); count];
        for (from, edges) in self.edges.iter().enumerate() {
            for edge in edges {
                predecessors[edge.to].push(from);
            }
        }
        let mut component = vec![usize::MAX; count];
        for &root in order.iter().rev() {
            if component[root] != usize::MAX {
                continue;
            }
            let mut stack = vec![root];
            component[root] = root;
            while let Some(node) = stack.pop() {
                for &from in &predecessors[node] {
                    if component[from] == usize::MAX {
                        component[from] = root;
                        stack.push(from);
                    }
                }
            }
        }
        component
    }
}

fn stones_of(board: &Board) -> Vec<Option<Color>> {
    board.size().points().map(|p| board.stone(p)).collect()
}

/// The ko point of a board, if its ban is on `color`.
fn ban_on(board: &Board, color: Color) -> Option<Point> {
    board.ko_point().filter(|point| {
        let mut around = point.neighbors().into_iter();
        around.any(|n| board.is_stone(n, color.opponent()))
    })
}
