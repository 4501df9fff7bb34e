//! A finished game, looked at move by move: who stood how, what was best, which moves cost most.

use std::fmt::Write as _;

use go::{
    Color, Komi, Move,
    sgf::{NodeId, SgfError, Tree},
};
use thiserror::Error;

use crate::{
    player::{Player, PlayerError},
    restriction::Restrictions,
};

/// Why a game cannot be reviewed.
#[derive(Debug, Error)]
pub enum ReviewError {
    /// The record is damaged.
    #[error(transparent)]
    Sgf(#[from] SgfError),
    /// The network cannot play this board.
    #[error(transparent)]
    Player(#[from] PlayerError),
}

/// A position of the game.
#[derive(Clone, Debug)]
pub struct Reviewed {
    /// Its node in the record.
    pub node: NodeId,
    /// Moves played before it.
    pub move_number: usize,
    /// The move that led here.
    pub played: Option<(Color, Move)>,
    /// Whose turn it is.
    pub to_move: Color,
    /// Black's winning chance.
    pub winrate_black: f64,
    /// Visits behind it.
    pub visits: u64,
    /// The line the search expects, its best move first.
    pub best_line: Vec<Move>,
}

/// A move and what it cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Swing {
    /// Where in [`Review::positions`] the move led.
    pub index: usize,
    /// The number of the move, from 1.
    pub move_number: usize,
    /// Who played it.
    pub color: Color,
    /// The move.
    pub mv: Move,
    /// Winning chance lost by it, for who played it; negative if it gained.
    pub loss: f64,
}

/// A reviewed game.
#[derive(Clone, Debug)]
pub struct Review {
    /// Every position of the main line.
    pub positions: Vec<Reviewed>,
}

impl Review {
    /// Looks at every position of a record's main line with the player's limits. `progress` hears how
    /// many positions are done, of how many.
    pub fn of(
        player: &mut Player,
        tree: &Tree,
        progress: &mut dyn FnMut(usize, usize),
    ) -> Result<Review, ReviewError> {
        let line = tree.main_line();
        let komi = tree.komi()?.unwrap_or(Komi::SEVEN_AND_A_HALF);
        let mut positions = Vec::with_capacity(line.len());
        for (index, &node) in line.iter().enumerate() {
            let mut game = tree.game_at(node)?;
            game.set_komi(komi);
            let (to_move, played) = (game.to_move(), game.last_move());
            let move_number = game.move_number();
            let is_over = game.is_over();
            let score = game.score();
            player.set_game(game)?;
            let (snapshot, report) = player
                .analyze(&Restrictions::default(), &|| false, &mut ())
                .map_err(PlayerError::from)?;
            let winrate_black = match score.winner() {
                Some(winner) if is_over => f64::from(u8::from(winner == Color::Black)),
                _ => snapshot.value,
            };
            let best_line = snapshot.moves.first().map(|best| best.pv.clone());
            positions.push(Reviewed {
                node,
                move_number,
                played: played.filter(|_| !tree.moves(node).is_ok_and(|moves| moves.is_empty())),
                to_move,
                winrate_black,
                visits: report.visits,
                best_line: best_line.unwrap_or_default(),
            });
            progress(index + 1, line.len());
        }
        Ok(Review { positions })
    }

    /// Every move with what it cost, in the order of the game. Of a colour that plays twice in a row the second move is
    /// left out: what was looked at before it was the other side's turn.
    pub fn swings(&self) -> Vec<Swing> {
        let pairs = self.positions.windows(2).enumerate();
        pairs
            .filter_map(|(index, pair)| {
                let (color, mv) = pair[1]
                    .played
                    .filter(|&(color, _)| color == pair[0].to_move)?;
                let gained_by_black = pair[1].winrate_black - pair[0].winrate_black;
                Some(Swing {
                    index: index + 1,
                    move_number: pair[1].move_number,
                    color,
                    mv,
                    loss: match color {
                        Color::Black => -gained_by_black,
                        Color::White => gained_by_black,
                    },
                })
            })
            .collect()
    }

    /// The moves that cost most, the dearest first. A move that the search itself would have played
    /// is no mistake, whatever came of it.
    pub fn largest_swings(&self, count: usize) -> Vec<Swing> {
        let mut swings = self.swings();
        swings.retain(|swing| {
            let best = self.positions[swing.index - 1].best_line.first();
            swing.loss > 0.0 && best != Some(&swing.mv)
        });
        swings.sort_by(|a, b| b.loss.total_cmp(&a.loss));
        swings.truncate(count);
        swings
    }

    /// Writes what was found into the record: a comment and a winrate at each position, and at the
    /// `marked` dearest moves a mark and the better line as a variation.
    pub fn annotate(&self, tree: &mut Tree, marked: usize) {
        let dearest = self.largest_swings(marked);
        let swings = self.swings();
        for (index, position) in self.positions.iter().enumerate() {
            let swing = swings.iter().find(|swing| swing.index == index);
            let remark = self.remark(position, swing);
            let comment = match tree.text(position.node, "C") {
                Some(before) if !before.is_empty() => format!("{remark}\n\n{before}"),
                _ => remark,
            };
            tree.set_text(position.node, "C", &comment);
            // Sabaki draws its winrate graph from this property.
            let percent = format!("{:.2}", position.winrate_black * 100.0);
            tree.set_text(position.node, "SBKV", &percent);
        }
        for swing in dearest {
            let before = &self.positions[swing.index - 1];
            tree.set_text(self.positions[swing.index].node, "BM", "1");
            let mut node = before.node;
            let mut color = swing.color;
            for &mv in &before.best_line {
                node = tree.add_move(node, color, mv);
                color = color.opponent();
            }
            if node != before.node {
                let text = format!("Better than {} by {:.1} %.", swing.mv, swing.loss * 100.0);
                tree.set_text(node, "C", &text);
            }
        }
    }

    fn remark(&self, position: &Reviewed, swing: Option<&Swing>) -> String {
        let mut text = format!("Black {:.1} %", position.winrate_black * 100.0);
        if let Some(swing) = swing {
            let _ = write!(text, " ({} {:+.1} %)", swing.color, -swing.loss * 100.0);
        }
        if !position.best_line.is_empty() {
            let line: Vec<String> = position.best_line.iter().map(Move::to_string).collect();
            let _ = write!(text, "\nBest for {}: {}", position.to_move, line.join(" "));
        }
        let _ = write!(text, "\n{} visits", position.visits);
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use go::BoardSize;

    fn review(tree: &Tree, winrates: &[f64]) -> Review {
        let positions = tree
            .main_line()
            .into_iter()
            .zip(winrates)
            .enumerate()
            .map(|(index, (node, &winrate_black))| Reviewed {
                node,
                move_number: index,
                played: tree.moves(node).unwrap().first().copied(),
                to_move: match index.is_multiple_of(2) {
                    true => Color::Black,
                    false => Color::White,
                },
                winrate_black,
                visits: 10,
                best_line: vec!["C3".parse().unwrap(), "G7".parse().unwrap()],
            })
            .collect();
        Review { positions }
    }

    fn tree() -> Tree {
        let mut tree = Tree::new(BoardSize::NINE);
        let mut node = tree.root();
        let moves = [
            (Color::Black, "E5"),
            (Color::White, "E3"),
            (Color::Black, "A1"),
        ];
        for (color, vertex) in moves {
            node = tree.add_move(node, color, vertex.parse().unwrap());
        }
        tree
    }

    #[test]
    fn a_swing_is_what_its_mover_lost() {
        let review = review(&tree(), &[0.5, 0.4, 0.7, 0.2]);
        let losses: Vec<f64> = review.swings().iter().map(|swing| swing.loss).collect();
        let expected = [0.1, 0.3, 0.5];
        assert!(
            losses
                .iter()
                .zip(expected)
                .all(|(a, b)| (a - b).abs() < 1e-9)
        );
        let dearest = review.largest_swings(2);
        assert_eq!(dearest[0].mv.to_string(), "A1");
        assert_eq!(dearest[1].color, Color::White);
    }

    #[test]
    fn what_was_the_other_sides_turn_is_not_held_against_a_move() {
        let mut review = review(&tree(), &[0.5, 0.4, 0.7, 0.2]);
        review.positions[2].to_move = Color::White;
        let moves: Vec<usize> = review.swings().iter().map(|swing| swing.index).collect();
        assert_eq!(moves, [1, 2]);
    }

    #[test]
    fn moves_that_gained_or_were_best_are_no_swings_to_mark() {
        let mut gaining = review(&tree(), &[0.5, 0.6, 0.5, 0.6]);
        assert!(gaining.largest_swings(5).is_empty());
        gaining.positions[3].winrate_black = 0.1;
        assert_eq!(gaining.largest_swings(5).len(), 1);
        gaining.positions[2].best_line = vec!["A1".parse().unwrap()];
        assert!(gaining.largest_swings(5).is_empty());
    }

    #[test]
    fn the_record_gets_comments_winrates_and_better_lines() {
        let mut tree = tree();
        let last = *tree.main_line().last().unwrap();
        tree.set_text(last, "C", "a remark of the players");
        review(&tree, &[0.5, 0.5, 0.5, 0.2]).annotate(&mut tree, 3);
        let comment = tree.text(last, "C").unwrap();
        assert!(
            comment.starts_with("Black 20.0 % (black -30.0 %)"),
            "{comment}"
        );
        assert!(comment.ends_with("a remark of the players"));
        assert_eq!(tree.text(last, "SBKV"), Some("20.00"));
        assert_eq!(tree.text(last, "BM"), Some("1"));
        let before = tree.parent(last).unwrap();
        assert_eq!(tree.children(before).len(), 2);
        let variation = tree.children(before)[1];
        assert_eq!(tree.moves(variation).unwrap()[0].1.to_string(), "C3");
        assert_eq!(tree.main_line().len(), 4, "the game stays the main line");
    }
}
