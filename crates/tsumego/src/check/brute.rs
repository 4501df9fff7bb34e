//! The slow solver the fast one is held against.
//!
//! It lists every situation that legal play can reach (all moves, passes included, on the rules
//! crate's board), and then applies the definition of safety to the whole graph at once. No search,
//! no pruning, no memory of paths: nothing here is shared with the fast solver.

use std::collections::HashMap;

use go::{Board, Color, Point};

use crate::problem::{Goal, Problem, Side};
use crate::problem::{Ko, Threats};

/// Everything the rest of the game depends on.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Situation {
    /// The stone on each point, in the order of the board's points.
    pub stones: Box<[Option<Color>]>,
    /// Who plays next.
    pub to_move: Side,
    /// Where the side to move may not retake without a threat.
    pub ban: Option<Point>,
    /// For each target, whether it still stands.
    pub standing: Vec<bool>,
    /// The threats left to attacker and defender.
    pub ko: Ko,
}

struct Edge {
    to: usize,
    is_defenders_pass: bool,
}

/// All situations reachable from a problem, and whether the target survives in each.
pub struct BruteForce {
    situations: Vec<Situation>,
    safe: Vec<bool>,
}

impl BruteForce {
    /// Solves everything reachable from the problem with either side to move; `None` if that is
    /// more than `most` situations.
    pub fn solve(problem: &Problem, ko: Ko, most: usize) -> Option<BruteForce> {
        let mut graph = Graph {
            problem,
            situations: Vec::new(),
            numbers: HashMap::new(),
            edges: Vec::new(),
        };
        for to_move in Side::BOTH {
            graph.number(Situation {
                stones: stones_of(problem.board()),
                to_move,
                ban: None,
                standing: vec![true; problem.target().len()],
                ko,
            });
        }
        while graph.edges.len() < graph.situations.len() {
            if graph.situations.len() > most {
                return None;
            }
            let edges = graph.edges_from(graph.edges.len());
            graph.edges.push(edges);
        }
        let safe = if ko.attacker == Threats::ENDLESS {
            graph.safe_against_a_ko_master()
        } else {
            graph.safe_with_endless_play()
        };
        Some(BruteForce {
            situations: graph.situations,
            safe,
        })
    }

    /// Each situation and whether the target survives.
    pub fn answers(&self) -> impl Iterator<Item = (&Situation, bool)> {
        self.situations.iter().zip(self.safe.iter().copied())
    }
}

struct Graph<'a> {
    problem: &'a Problem,
    situations: Vec<Situation>,
    numbers: HashMap<Situation, usize>,
    edges: Vec<Vec<Edge>>,
}

impl Graph<'_> {
    fn number(&mut self, situation: Situation) -> usize {
        let next = self.situations.len();
        let number = *self.numbers.entry(situation.clone()).or_insert(next);
        if number == next {
            self.situations.push(situation);
        }
        number
    }

    fn is_captured(&self, number: usize) -> bool {
        let standing = &self.situations[number].standing;
        match self.problem.goal() {
            Goal::All => standing.iter().all(|stands| !stands),
            Goal::Any => standing.iter().any(|stands| !stands),
        }
    }

    fn edges_from(&mut self, number: usize) -> Vec<Edge> {
        if self.is_captured(number) {
            return Vec::new();
        }
        let situation = self.situations[number].clone();
        let to_move = situation.to_move;
        let color = self.problem.color(to_move);
        let mut board = Board::new(self.problem.board().size());
        for (point, stone) in board.size().points().zip(situation.stones.iter()) {
            if let Some(color) = *stone {
                // A legal position can be laid stone by stone without a capture.
                let _ = board.play(point, color);
            }
        }
        let pass = Situation {
            to_move: to_move.opponent(),
            ban: None,
            ..situation.clone()
        };
        let mut edges = vec![Edge {
            to: self.number(pass),
            is_defenders_pass: to_move == Side::Defender,
        }];
        for &point in self.problem.zone() {
            if !board.is_legal(point, color) {
                continue;
            }
            let mut ko = situation.ko;
            if situation.ban == Some(point) {
                let threats = match to_move {
                    Side::Attacker => &mut ko.attacker,
                    Side::Defender => &mut ko.defender,
                };
                match threats.count() {
                    Some(0) => continue,
                    Some(some) => *threats = Threats::new(some - 1),
                    None => {}
                }
            }
            let undo = board.play(point, color);
            let standing = self
                .problem
                .target()
                .iter()
                .zip(&situation.standing)
                .map(|(&stone, &stood)| stood && board.is_stone(stone, self.problem.defender()))
                .collect();
            let after = Situation {
                stones: stones_of(&board),
                to_move: to_move.opponent(),
                ban: board.ko_point(),
                standing,
                ko,
            };
            board.undo(undo);
            let to = self.number(after);
            edges.push(Edge {
                to,
                is_defenders_pass: false,
            });
        }
        edges
    }

    /// Captured situations and those from which the attacker forces one; the rest is safe.
    fn safe_with_endless_play(&self) -> Vec<bool> {
        let mut lost: Vec<bool> = (0..self.edges.len()).map(|n| self.is_captured(n)).collect();
        loop {
            let mut changed = false;
            for number in 0..lost.len() {
                if lost[number] {
                    continue;
                }
                let mut next = self.edges[number].iter().map(|edge| lost[edge.to]);
                lost[number] = match self.situations[number].to_move {
                    Side::Attacker => next.any(|lost| lost),
                    Side::Defender => next.all(|lost| lost),
                };
                changed |= lost[number];
            }
            if !changed {
                return lost.into_iter().map(|lost| !lost).collect();
            }
        }
    }

    /// The defender is safe where he can come to pass again and again: from every such situation
    /// he forces another pass into such a situation.
    fn safe_against_a_ko_master(&self) -> Vec<bool> {
        let mut hopeful: Vec<bool> = (0..self.edges.len())
            .map(|n| !self.is_captured(n))
            .collect();
        loop {
            let forces_pass = self.forces_pass_into(&hopeful);
            if forces_pass == hopeful {
                return hopeful;
            }
            hopeful = forces_pass;
        }
    }

    fn forces_pass_into(&self, good: &[bool]) -> Vec<bool> {
        let mut forced = vec![false; good.len()];
        loop {
            let mut changed = false;
            for number in 0..forced.len() {
                if forced[number] || !good[number] {
                    continue;
                }
                let mut next = self.edges[number]
                    .iter()
                    .map(|edge| forced[edge.to] || edge.is_defenders_pass && good[edge.to]);
                forced[number] = match self.situations[number].to_move {
                    Side::Attacker => next.all(|forced| forced),
                    Side::Defender => next.any(|forced| forced),
                };
                changed |= forced[number];
            }
            if !changed {
                return forced;
            }
        }
    }
}

fn stones_of(board: &Board) -> Box<[Option<Color>]> {
    board.size().points().map(|p| board.stone(p)).collect()
}
