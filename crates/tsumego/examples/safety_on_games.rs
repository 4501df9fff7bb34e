//! How often the safety network is right about enclosed groups of real games:
//! `cargo run --release -p tsumego --example safety_on_games -- FOLDER [POSITIONS]`.
//!
//! Takes positions from the SGF files of a folder, asks the solver about every enclosed group, and compares where the
//! solver knows. Says how many groups of all were asked about: most groups of a game are not enclosed.

use std::{env, error::Error, fs};

use go::{Fate, Point};
use tsumego::{Ko, Limits, Problem, SafetyNet, Side, Solver, Verdict};

/// Moves between two positions of a game, and the first of them.
const STRIDE: usize = 40;
/// Nodes for the solver's answer.
const NODES: u64 = 100_000;

fn main() -> Result<(), Box<dyn Error>> {
    let mut words = env::args().skip(1);
    let folder = words.next().ok_or("which folder of SGF files?")?;
    let most: usize = words.next().map_or(Ok(400), |word| word.parse())?;
    let net = SafetyNet::find(None, None)?;
    let mut files: Vec<_> = fs::read_dir(folder)?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .collect();
    files.sort();
    let mut table = Table::default();
    'files: for file in files {
        let Ok(collection) = go::sgf::read(&fs::read(&file)?) else {
            continue;
        };
        for tree in collection.games {
            for &node in tree.main_line().iter().skip(STRIDE).step_by(STRIDE) {
                if table.positions == most {
                    break 'files;
                }
                if let Ok(game) = tree.game_at(node) {
                    table.look(game.board(), &net);
                }
            }
        }
    }
    table.print();
    Ok(())
}

#[derive(Default)]
struct Table {
    positions: usize,
    /// All groups, those that need no reading, those that are enclosed, and those of them that the solver decided.
    groups: usize,
    settled: usize,
    enclosed: usize,
    decided: usize,
    /// Of those: safe ones, and how often the network agrees.
    safe: usize,
    right_on_safe: usize,
    right_on_unsafe: usize,
}

impl Table {
    fn look(&mut self, board: &go::Board, net: &SafetyNet) {
        self.positions += 1;
        let fates = board.fates();
        let blocks: Vec<Point> = board
            .size()
            .points()
            .filter(|&point| board.stone(point).is_some() && board.block(point) == point)
            .collect();
        for at in blocks {
            self.groups += 1;
            if matches!(fates.at(at), Fate::Alive | Fate::Dead) {
                self.settled += 1;
                continue;
            }
            let Ok(problem) = Problem::new(board.clone(), &[at]) else {
                continue;
            };
            self.enclosed += 1;
            let mut solver = Solver::new(&problem, Limits::default().with_nodes(NODES));
            let verdict = solver.solve(&problem, Side::Attacker, Ko::ATTACKER).verdict;
            if verdict == Verdict::Unknown {
                continue;
            }
            self.decided += 1;
            let guess = net.chance_of_life(&problem, Side::Attacker, true) >= 0.5;
            match verdict {
                Verdict::Safe => {
                    self.safe += 1;
                    self.right_on_safe += usize::from(guess);
                }
                _ => self.right_on_unsafe += usize::from(!guess),
            }
        }
    }

    fn print(&self) {
        let unsafe_ones = self.decided - self.safe;
        let share = |part: usize, all: usize| 100.0 * part as f64 / all.max(1) as f64;
        println!("{} positions, {} groups", self.positions, self.groups);
        println!("settled without reading: {}", self.settled);
        println!(
            "enclosed: {}; decided by the solver: {}",
            self.enclosed, self.decided
        );
        println!(
            "the network is right about {:.1} % of {} safe and {:.1} % of {} unsafe groups, {:.1} % of all",
            share(self.right_on_safe, self.safe),
            self.safe,
            share(self.right_on_unsafe, unsafe_ones),
            unsafe_ones,
            share(self.right_on_safe + self.right_on_unsafe, self.decided),
        );
    }
}
