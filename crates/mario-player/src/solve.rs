//! Fewest pills when the whole list is known: a beam search.
//!
//! All boards reachable after n pills are scored, the best few thousand kept, and placed upon
//! again. The first board without viruses ends the search. That is a good answer, not a proof:
//! [`lower_bound`] says how far from the best it can be at most.

use std::collections::HashSet;

use mario::{Board, Color, Ending, Game, Placement, flood};
use rayon::prelude::*;

use crate::heuristic::Weights;

/// How the beam search is run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SolveSettings {
    /// Boards kept after each pill.
    pub width: usize,
    /// Points for each virus gone, beside what the weights say.
    pub virus_points: f32,
    /// Pills after which to give up.
    pub most_pills: u32,
}

impl Default for SolveSettings {
    fn default() -> Self {
        Self {
            width: 4000,
            virus_points: 20.0,
            most_pills: 400,
        }
    }
}

/// A way to clear a board.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Solution {
    /// Where each pill goes.
    pub placements: Vec<Placement>,
    /// No way with fewer pills than this exists.
    pub lower_bound: u32,
}

/// A board of the beam and how it came about.
#[derive(Clone, Copy)]
struct Entry {
    board: Board,
    parent: u32,
    placement: Placement,
    score: f32,
}

/// Clears `game`'s board with as few of its pills as the beam finds; `None` when the beam dies
/// out or the limit is reached. `progress` is called with the pills placed and the fewest viruses left.
pub fn solve(
    game: &Game,
    weights: &Weights,
    settings: &SolveSettings,
    mut progress: impl FnMut(u32, u32),
) -> Option<Solution> {
    let lower_bound = lower_bound(game.board());
    if game.ending() == Some(Ending::Cleared) {
        return Some(Solution {
            placements: Vec::new(),
            lower_bound,
        });
    }
    let first = Entry {
        board: *game.board(),
        parent: 0,
        placement: Placement::new(0, 0, 0),
        score: 0.0,
    };
    let mut layers = vec![vec![first]];
    for depth in 0..settings.most_pills {
        let pill = game.pills().get((game.placed() + depth) as usize);
        let beam = &layers[layers.len() - 1];
        let mut reached: Vec<Entry> = beam
            .par_iter()
            .enumerate()
            .flat_map_iter(|(parent, entry)| {
                let before = entry.board;
                flood(&before).placements(pill).map(move |placement| {
                    let mut board = before;
                    board.play(pill, placement);
                    let viruses = board.viruses_left() as f32;
                    let score = weights.score(&board) - settings.virus_points * viruses;
                    Entry {
                        board,
                        parent: parent as u32,
                        placement,
                        score,
                    }
                })
            })
            .collect();
        if let Some(&solved) = reached.iter().find(|entry| entry.board.viruses_left() == 0) {
            let placements = placements_to(&layers, solved);
            return Some(Solution {
                placements,
                lower_bound,
            });
        }
        reached.retain(|entry| !entry.board.is_topped_out());
        reached.sort_unstable_by(|a, b| {
            b.score
                .total_cmp(&a.score)
                .then(a.parent.cmp(&b.parent))
                .then(a.placement.cmp(&b.placement))
        });
        let mut seen = HashSet::new();
        let mut kept = Vec::with_capacity(settings.width);
        for entry in reached {
            if kept.len() == settings.width {
                break;
            }
            if seen.insert(entry.board) {
                kept.push(entry);
            }
        }
        let fewest = kept.iter().map(|entry| entry.board.viruses_left()).min()?;
        progress(depth + 1, fewest);
        layers.push(kept);
    }
    None
}

fn placements_to(layers: &[Vec<Entry>], last: Entry) -> Vec<Placement> {
    let mut placements = vec![last.placement];
    let mut parent = last.parent as usize;
    for layer in layers[1..].iter().rev() {
        placements.push(layer[parent].placement);
        parent = layer[parent].parent as usize;
    }
    placements.reverse();
    placements
}

/// Fewer pills than this cannot clear a board: a clear of one colour takes at least one half of
/// a pill for every three viruses, and one pill clears at most six.
pub fn lower_bound(board: &Board) -> u32 {
    let halves: u32 = Color::ALL
        .into_iter()
        .map(|color| {
            (board.viruses() & board.of_color(color))
                .count_ones()
                .div_ceil(3)
        })
        .sum();
    board.viruses_left().div_ceil(6).max(halves.div_ceil(2))
}

#[cfg(test)]
mod tests {
    use super::*;
    use mario::Rules;

    #[test]
    fn a_solution_replays_to_a_cleared_board() {
        let game = Game::console(0x8988, 1, Rules::default());
        let settings = SolveSettings {
            width: 60,
            ..SolveSettings::default()
        };
        let solution = solve(&game, &Weights::default(), &settings, |_, _| {}).unwrap();
        let mut replay = game.clone();
        for &placement in &solution.placements {
            assert_eq!(replay.ending(), None);
            replay.play(placement).unwrap();
        }
        assert_eq!(replay.ending(), Some(Ending::Cleared));
        assert!(solution.placements.len() as u32 >= solution.lower_bound);
    }

    #[test]
    fn the_bound_counts_colours() {
        let board = |row: &str| ("d".repeat(120) + row).parse::<Board>().unwrap();
        assert_eq!(lower_bound(&board("aaadddcc")), 1);
        assert_eq!(lower_bound(&board("addbdddc")), 2);
        assert_eq!(lower_bound(&Board::new()), 0);
    }
}
